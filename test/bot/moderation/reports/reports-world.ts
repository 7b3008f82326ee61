// The real bot with reports, and the simulator. José and Zoë are staff; Ada and Mona are not.

import { PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../../src/bot/bot.ts";
import { HttpClient } from "../../../../src/gateway/http/http-client.ts";
import type { JsonObject } from "../../../../src/lib/json.ts";
import type { Principal } from "../../../../src/lib/principal.ts";
import { createClient } from "../../../../src/mcp/client.ts";
import type { InteractionHandle } from "../../../../src/simulator/interactions/handle.ts";
import type { SimulatorOptions } from "../../../../src/simulator/simulator.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { connectedConfig } from "../../../support/bot-config.ts";
import { storeSettings } from "../../../support/guild-settings.ts";
import { recordLog } from "../../../support/log.ts";
import { startSimulator } from "../../../support/simulator.ts";
import { type Place, storeConfigOf } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { until } from "../../../support/until.ts";
import { quickTiming } from "../../../support/world.ts";
import { readAnswer } from "../../approval/approval-world.ts";
import { grant } from "../../features/running-feature.ts";

export const general = "The Cooks/general";
export const staffChannel = "The Cooks/staff";
/** May ban, time out and delete messages. */
export const moderator = "jose.garcia";

const token = "a-token-of-enough-length";

export type ReportsWorld = Awaited<ReturnType<typeof startReportsWorld>>;

type Ids = Pick<Message, "id" | "channel_id">;

export async function startReportsWorld(place?: Pick<Place, "settings">, options: SimulatorOptions = {}) {
	const simulator = await startSimulator(options);
	const guild = simulator.guild("The Cooks");
	const { BanMembers, ManageMessages, ModerateMembers } = PermissionFlagsBits;
	grant(simulator, "Staff", BanMembers, ManageMessages, ModerateMembers);
	const logged = recordLog("debug");
	const channelId = simulator.channel(staffChannel).id;
	const config = connectedConfig(simulator, {
		guildId: guild.id,
		mcpToken: token,
		toml: { features: { moderation: true } },
		...(place && storeConfigOf(place)),
	});
	await storeSettings(config, { [guild.id]: { "moderation.reports": channelId } });
	const start = async () => {
		const bot = startBot(config, logged.log, {
			timing: quickTiming,
			...(options.rateLimits ? {} : { requestsPerSecond: 1_000_000 }),
		});
		await until("the bot has loaded", () => bot.loaded);
		await until("the bot has registered its commands", () =>
			simulator
				.user("ada")
				.commands(general)
				.some(({ name }) => name === "Report"),
		);
		return bot;
	};
	let bot = await start();
	let running = true;
	const stop = async () => {
		if (running) await bot.close();
		running = false;
	};
	/** The entries of reports, oldest first. */
	const entries = () =>
		simulator.world.messages.in(channelId).filter(({ author }) => author.id === simulator.bot("alpha").id);
	const id = (person: string) => simulator.user(person).id;
	const textOf = async (used: InteractionHandle) => (await used.reply()).content;
	return {
		simulator,
		guild,
		logged,
		channelId,
		entries,
		id,
		stop,
		/** Writes a message in a channel. */
		say: (person: string, text: string, name = general) => simulator.user(person).say(name, text),
		/** Reports a message through its menu. Resolves with the bot's answer. */
		async report(person: string, message: Ids, reason = "spam") {
			const user = simulator.user(person);
			const used = await user.runOnMessage(message, "Report");
			return textOf(await user.submit(used, { reason }));
		},
		/** Uses the menu where the bot answers without a form. */
		async refused(person: string, message: Ids) {
			return textOf(await simulator.user(person).runOnMessage(message, "Report"));
		},
		/** Uses /report. */
		async command(person: string, values: Record<string, string>) {
			return textOf(await simulator.user(person).run(general, "report", values));
		},
		/** Waits for the entry of the report with this number, until it satisfies `look`. */
		entry: (number: number, look: (text: string) => boolean = () => true) =>
			until(`the entry of report ${number}`, () => {
				const found = entries().find(({ embeds }) => embeds[0]?.title?.match(new RegExp(`^Report #${number}\\b`)));
				return found && look(shownIn(found)) ? found : false;
			}),
		/** Presses a button of an entry. Resolves with the bot's answer. */
		async press(person: string, entry: Ids, button: string) {
			return textOf(await simulator.user(person).press(entry, button));
		},
		/** Presses a button of an entry, and sends its form. Resolves with the bot's answer. */
		async fill(person: string, entry: Ids, button: string, values: Record<string, string>) {
			const user = simulator.user(person);
			const used = await user.press(entry, button);
			return textOf(await user.submit(used, values));
		},
		/** Calls a tool as an MCP client, in a person's name if there is one. */
		async call(person: string | undefined, name: string, args: JsonObject) {
			const client = createClient({
				dispatch: new HttpClient({ url: bot.url }).dispatch,
				token,
				info: { name: "test client", version: "0" },
			});
			const session = await client.connect(AbortSignal.timeout(90_000));
			const principal: Principal | undefined =
				person === undefined
					? undefined
					: {
							id: "key:assistant",
							name: "assistant",
							access: "all",
							client: "Claude",
							person: { id: id(person), name: person, signedIn: false },
						};
			const { message } = await client.request(
				session,
				"tools/call",
				JSON.stringify({ name, arguments: args }),
				AbortSignal.timeout(90_000),
				{ principal, requestId: undefined },
			);
			return readAnswer(message);
		},
		/** Starts the bot again with the same data. */
		async start() {
			bot = await start();
			running = true;
		},
		async [Symbol.asyncDispose]() {
			await stop();
			await simulator.close();
		},
	};
}

export const reportsTest = testWith(startReportsWorld);

/** All texts of a message's embeds. */
export function shownIn({ embeds }: Pick<Message, "embeds">): string {
	return embeds
		.flatMap(({ title, description, fields = [] }) => [
			title,
			description,
			...fields.map(({ name, value }) => `${name}: ${value}`),
		])
		.filter(Boolean)
		.join("\n");
}

/** The labels of the buttons of a message that can be pressed. */
export { buttonsOf } from "../../approval/approval-world.ts";
