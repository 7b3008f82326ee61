// The real bot with the feature `moderation`, with roles that people may take from menus, and the simulator.

import type { SimulatorOptions } from "../../../../src/simulator/simulator.ts";
import { buttonsIn } from "../../../../src/simulator/world/messages/components.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../../support/test-with.ts";
import { present } from "../../../support/until.ts";
import { channelNamed, roleNamed, startWorld } from "../../../support/world.ts";

export const general = "The Cooks/general";
export const colors = ["Red", "Green", "Blue"] as const;

export type MenuWorld = Awaited<ReturnType<typeof startMenuWorld>>;

/** The bot "alpha" is logged in. Red, Green and Blue are roles without permissions below Staff. */
export async function startMenuWorld(options: SimulatorOptions = {}, changes: Record<string, unknown> = {}) {
	const world = await startWorld(options, {
		toml: { mcp: { toolsets: "all" }, features: { moderation: true }, ...changes },
	});
	const { simulator, guild } = world;
	const channel = channelNamed(world, "general");
	for (const name of [...colors].reverse()) simulator.world.roles.add(guild, { name });
	await world.heard();
	const ids = (...names: string[]) => names.map((name) => roleNamed(world, name).id);
	const member = (name: string) => {
		return present(guild.members.get(simulator.user(name).id), `${name} is not a member`);
	};
	/** The names of a member's roles, sorted. */
	const rolesOf = (name: string) =>
		member(name)
			.roles.map((id) => guild.roles.get(id)?.name ?? id)
			.sort();
	/** Creates or replaces a menu. Resolves with the tool's result. */
	const create = (args: Record<string, unknown>) => world.call("create_role_menu", { channel_id: channel.id, ...args });
	return Object.assign(world, {
		channel,
		roleNamed: (name: string) => roleNamed(world, name),
		ids,
		member,
		rolesOf,
		create,
		/** Creates a menu of the three colors, or of other roles. Resolves with its message. */
		async menu(args: Record<string, unknown> = {}): Promise<Message> {
			const result = await create({ role_ids: ids(...colors), ...args });
			const [, id = ""] = /\(ID: (\d+)\)/.exec(result.text) ?? [];
			const message = simulator.world.messages.get(channel.id, id);
			if (result.isError || !message) throw new Error(result.text);
			return message;
		},
		/** Presses a button. Resolves with the answer's text. */
		async press(name: string, message: Message, button: string) {
			const pressed = await simulator.user(name).press(message, button);
			const { content, ephemeral } = await pressed.reply();
			if (!ephemeral) throw new Error(`everyone sees: ${content}`);
			return content;
		},
		/** Selects roles by their names in a select menu. Resolves with the answer's text. */
		async select(name: string, message: Message, ...names: string[]) {
			const [menu] = (message.components[0] as unknown as Row).components;
			const values = names.map((one) => {
				const option = menu?.options.find(({ label }) => label === one);
				if (!option) throw new Error(`the menu has no option ${one}`);
				return option.value;
			});
			const user = simulator.user(name);
			const id = menu?.custom_id ?? "";
			const used = await user.select(message, id, ...values);
			const { content, ephemeral } = await used.reply();
			if (!ephemeral) throw new Error(`everyone sees: ${content}`);
			return content;
		},
		labels: (message: Message) => buttonsIn(message.components).map(({ label }) => label),
		/** The requests that change members' roles, as method and route, oldest first. */
		roleWrites: () =>
			simulator.requests
				.list()
				.filter(({ method, path }) => method !== "GET" && path.includes("/members/"))
				.map(({ method, path }) => `${method} ${path.split("/").length}`),
	});
}

export const menuTest = testWith(startMenuWorld);

interface Row {
	components: { custom_id: string; options: { label: string; value: string }[] }[];
}
