// Options of all types, subcommands and suggestions, as discord.js receives them.

import { describe, expect, test } from "bun:test";
import {
	type AutocompleteInteraction,
	ChannelType,
	type ChatInputCommandInteraction,
	ApplicationCommandOptionType as Option,
} from "discord.js";
import { testWith } from "../../support/test-with.ts";
import { as } from "../support.ts";
import { general, startAnswering } from "./answering.ts";

const worldTest = testWith(() => startKeeping());

const option = (type: Option, name: string, more: object = {}) => ({ type, name, description: "An option", ...more });

const values = [
	option(Option.String, "text"),
	option(Option.Integer, "count", { choices: [{ name: "two", value: 2 }] }),
	option(Option.Number, "share", { maxValue: 1 }),
	option(Option.Boolean, "loud"),
	option(Option.User, "who"),
	option(Option.Channel, "where", { channelTypes: [ChannelType.GuildText] }),
	option(Option.Role, "role"),
	option(Option.Mentionable, "any"),
	option(Option.Mentionable, "other"),
];

const registered = [
	{ name: "all", description: "All types", options: values },
	{
		name: "menu",
		description: "Subcommands",
		options: [
			option(Option.SubcommandGroup, "role", {
				options: [option(Option.Subcommand, "add", { options: [option(Option.Role, "role", { required: true })] })],
			}),
			option(Option.Subcommand, "list"),
		],
	},
	{
		name: "timeout",
		description: "Suggestions",
		options: [
			option(Option.User, "who", { required: true }),
			option(Option.String, "duration", { required: true, autocomplete: true, minLength: 2 }),
			option(Option.Integer, "case", { autocomplete: true }),
			option(Option.String, "reason"),
		],
	},
	{
		name: "group",
		description: "Suggestions of a subcommand",
		options: [option(Option.Subcommand, "one", { options: [option(Option.String, "text", { autocomplete: true })] })],
	},
] as never[];

/** A bot that keeps the commands it receives, and answers requests for suggestions with `respond`. */
async function startKeeping(respond?: (interaction: AutocompleteInteraction) => Promise<unknown>) {
	const received: ChatInputCommandInteraction[] = [];
	const world = await startAnswering(
		{
			command: async (interaction) => {
				received.push(interaction);
				await interaction.reply("done");
			},
			any: (interaction) => (interaction.isAutocomplete() ? respond?.(interaction) : undefined),
		},
		{},
		registered,
	);
	return Object.assign(world, { received });
}

describe("values", () => {
	worldTest("discord.js reads options of all types", async ({ simulator, ada, received }) => {
		const guild = simulator.guild("The Cooks");
		const zoe = simulator.user("zoe");
		const role = [...guild.roles.values()].find(({ id }) => id !== guild.id);
		const { id: where } = simulator.channel(general);
		const asked = await ada.run(general, "all", {
			text: "soup",
			count: 2,
			share: 0.5,
			loud: false,
			who: zoe.id,
			where,
			role: role?.id ?? "",
			any: role?.id ?? "",
			other: zoe.id,
		});
		await asked.reply();
		const options = received[0]?.options;
		expect(options?.getString("text")).toBe("soup");
		expect(options?.getInteger("count")).toBe(2);
		expect(options?.getNumber("share")).toBe(0.5);
		expect(options?.getBoolean("loud")).toBe(false);
		expect(options?.getUser("who")?.username).toBe("zoe");
		expect(options?.getMember("who")).toMatchObject({ id: zoe.id });
		expect(options?.getChannel("where")?.id).toBe(where);
		expect(options?.getRole("role")?.name).toBe(role?.name ?? "");
		expect(options?.getMentionable("any")).toMatchObject({ id: role?.id });
		expect(options?.getMentionable("other")).toMatchObject({ id: zoe.id });
	});

	worldTest("channels are partial, as of threads that the bot does not know", async ({ simulator, ada, bot }) => {
		const { id: where } = simulator.channel(general);
		await (await ada.run(general, "all", { text: "soup", where })).reply();
		const { data } = await bot.event("INTERACTION_CREATE");
		const { resolved } = data as { resolved: { channels: Record<string, object> } };
		expect(resolved.channels[where]).toMatchObject({ id: where, name: "general", permissions: expect.any(String) });
		expect(Object.keys(resolved.channels[where] ?? {})).not.toContain("permission_overwrites");
	});

	worldTest("a subcommand is used with its own options", async ({ simulator, ada, received }) => {
		const guild = simulator.guild("The Cooks");
		const first = { role: guild.id };
		await (await ada.run(general, "menu role add", first)).reply();
		await (await ada.run(general, "menu list")).reply();
		const [add, list] = received;
		expect(add?.options.getSubcommandGroup()).toBe("role");
		expect(add?.options.getSubcommand()).toBe("add");
		expect(add?.options.getRole("role")?.id).toBe(guild.id);
		const said = simulator.world.messages.in(simulator.channel(general).id);
		expect(said.map(({ interaction }) => interaction?.name)).toEqual(["menu role add", "menu list"]);
		expect(list?.options.getSubcommandGroup()).toBeNull();
		expect(list?.options.getSubcommand()).toBe("list");
		await expect(ada.run(general, "menu")).rejects.toThrow("subcommand");
		await expect(ada.run(general, "menu role add")).rejects.toThrow("REQUIRED");
	});

	worldTest.each([
		["a value that is no choice", { count: 3 }],
		["too large a number", { share: 2 }],
		["a channel of another type", { where: "voice" }],
		["an unknown user", { who: "1" }],
		["a user as a role", { role: "user" }],
		["an unknown mentionable", { any: "1" }],
	])("%s is refused", async ({ simulator, ada }, _, given: Record<string, string | number>) => {
		const guild = simulator.guild("The Cooks");
		const voice = [...guild.channels.values()].find(({ type }) => type === 2);
		const ids: Record<string, string | undefined> = { voice: voice?.id, user: ada.id };
		const options = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, ids[value] ?? value]));
		await expect(ada.run(general, "all", options)).rejects.toThrow("APPLICATION_COMMAND_INVALID_OPTION_VALUE");
	});
});

describe("suggestions", () => {
	test("the bot sees what is typed, and its choices appear", async () => {
		const seen: unknown[] = [];
		await using world = await startKeeping(async (interaction) => {
			seen.push([interaction.commandName, interaction.options.getFocused(true), interaction.options.get("who")?.value]);
			await interaction.respond([{ name: "1 hour", value: "1h" }]);
		});
		const { simulator, ada, errors } = world;
		const who = simulator.user("zoe").id;
		const typed = { who, duration: "1" };
		expect(await ada.suggest(general, "timeout", typed, "duration")).toEqual([{ name: "1 hour", value: "1h" }]);
		expect(await ada.suggest(general, "timeout", {}, "duration")).toHaveLength(1);
		expect(seen).toEqual([
			["timeout", { name: "duration", type: Option.String, value: "1", focused: true }, who],
			["timeout", { name: "duration", type: Option.String, value: "", focused: true }, undefined],
		]);
		expect(errors).toEqual([]);
	});

	test("numbers are suggested as numbers, though the typed one is a text", async () => {
		const seen: unknown[] = [];
		await using world = await startKeeping(async (interaction) => {
			seen.push(interaction.options.getFocused());
			await interaction.respond([{ name: "Case 12", value: 12 }]);
		});
		const { ada } = world;
		expect(await ada.suggest(general, "timeout", { case: 1 }, "case")).toEqual([{ name: "Case 12", value: 12 }]);
		expect(seen).toEqual(["1"]);
	});

	test("an option of a subcommand has suggestions", async () => {
		await using world = await startKeeping((interaction) =>
			interaction.respond([
				{ name: `${interaction.options.getSubcommand()} ${interaction.options.getFocused()}`, value: "x" },
			]),
		);
		const { ada } = world;
		const found = await ada.suggest(general, "group one", { text: "a" }, "text");
		expect(found).toEqual([{ name: "one a", value: "x" }]);
	});

	worldTest("other values than the suggested ones are accepted", async ({ ada, received }) => {
		const options = { who: ada.id, duration: "forever" };
		await (await ada.run(general, "timeout", options)).reply();
		expect(received[0]?.options.getString("duration")).toBe("forever");
	});

	worldTest.each([
		["26 suggestions", Array(26).fill({ name: "1 hour", value: "1h" })],
		["a long name", [{ name: "x".repeat(101), value: "x" }]],
		["an empty name", [{ name: "", value: "x" }]],
		["a long value", [{ name: "x", value: "x".repeat(101) }]],
		["a number for a text", [{ name: "one", value: 1 }]],
	])("%s: refused, and the person sees an error", async ({ simulator, bot, ada }, _, choices) => {
		const suggested = ada.suggest(general, "timeout", {}, "duration");
		const event = await bot.event("INTERACTION_CREATE");
		const path = `/interactions/${event.id}/${event.token}/callback`;
		const alpha = as(simulator, simulator.bot("alpha"));
		const answer = await alpha("POST", path, { type: 8, data: { choices } });
		expect(answer.code).toBe(50035);
		expect(Object.keys(answer.faults)[0]).toStartWith("data.choices");
		// As when the time for a response is over.
		simulator.interactions.close();
		await expect(suggested).rejects.toThrow("Loading options failed");
	});

	worldTest("a request for suggestions has no other response, and an option without them is refused", async (world) => {
		const { simulator, bot, ada } = world;
		const suggested = ada.suggest(general, "timeout", {}, "duration");
		const event = await bot.event("INTERACTION_CREATE");
		expect(event).toMatchObject({ type: 4, data: { name: "timeout" } });
		const path = `/interactions/${event.id}/${event.token}/callback`;
		const alpha = as(simulator, simulator.bot("alpha"));
		const message = await alpha("POST", path, { type: 4, data: { content: "" } });
		expect(message.faults).toEqual({ type: "BASE_TYPE_CHOICES" });
		const answer = { type: 8, data: { choices: [] } };
		expect((await alpha("POST", path, answer)).status).toBe(204);
		expect((await alpha("POST", path, answer)).code).toBe(40060);
		expect(await suggested).toEqual([]);
		await expect(ada.suggest(general, "timeout", { reason: "x" }, "reason")).rejects.toThrow("has no autocompletion");
	});
});
