// The real bot with its moderation commands, and the simulator.

import { PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import { createLog } from "../../../src/lib/log.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { splitSettings, storeSettings } from "../../support/guild-settings.ts";
import { connectTo } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { type Place, storeConfigOf } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { quickTiming } from "../../support/world.ts";
import { grant } from "../features/running-feature.ts";

export const general = "The Cooks/general";
export const staffChannel = "The Cooks/staff";
/** Who may ban, and ranks above all but the owner and the bot. */
export const moderator = "jose.garcia";

export type ModerationWorld = Awaited<ReturnType<typeof startModerationWorld>>;

/** The bot "alpha" is logged in, and its store is open. José may ban, and Mona has a role below his. */
export async function startModerationWorld(
	place?: Pick<Place, "settings">,
	/** More of the guild's settings of that name. */
	moderation: Record<string, unknown> = {},
	sections: (simulator: Simulator) => Record<string, unknown> = () => ({}),
) {
	const simulator = await startSimulator();
	const guild = simulator.guild("The Cooks");
	grant(simulator, "Staff", PermissionFlagsBits.BanMembers);
	const logged: string[] = [];
	const log = createLog({ format: "text", level: "debug" }, (line) => logged.push(line));
	const { toml, stored } = splitSettings({
		features: { moderation: true },
		moderation: { log_channel: simulator.channel(staffChannel).id, ...moderation },
		...sections(simulator),
	});
	const config = connectedConfig(simulator, { guildId: guild.id, toml, ...(place && storeConfigOf(place)) });
	await storeSettings(config, { [guild.id]: stored });
	const start = async () => {
		const started = startBot(config, log, { timing: quickTiming, requestsPerSecond: 1_000_000 });
		await until("the bot has loaded", () => started.loaded);
		return started;
	};
	let bot = await start();
	let running = true;
	const stop = async () => {
		if (running) await bot.close();
		running = false;
	};
	/** The bot's messages in a channel, in order. */
	const answers = (name = general) =>
		simulator.world.messages
			.in(simulator.channel(name).id)
			.filter(({ author }) => author.id === simulator.bot("alpha").id);
	/** The embeds in the staff channel, which is the log channel: title, description, and each field by its name. */
	const notes = (): Record<string, string>[] =>
		answers(staffChannel).flatMap(({ embeds }) =>
			(embeds as unknown as Embed[]).map(({ title, description, fields = [] }) => ({
				title,
				...(description && { description }),
				...Object.fromEntries(fields.map(({ name, value }) => [name, value])),
			})),
		);
	const id = (person: string) => simulator.user(person).id;
	/** Calls a tool in an MCP session of its own. */
	const call = async (tool: string, args?: Record<string, unknown>) => (await connectTo(bot.url)).call(tool, args);
	return {
		simulator,
		guild,
		/** The bot's log lines. */
		logged,
		answers,
		notes,
		id,
		stop,
		get bot() {
			return bot;
		},
		/** Types in a channel. Returns the bot's next answer there; only embeds that are pages of a list count. */
		async ask(person: string, text: string, name = general) {
			const texts = () => answers(name).filter((message) => message.content !== "" || message.message_reference);
			const before = texts().length;
			const { id } = await simulator.user(person).say(name, text);
			// A long answer to an earlier message may not have ended yet.
			const isFor = ({ message_reference }: ReturnType<typeof texts>[number]) =>
				!message_reference || message_reference.message_id === id;
			return until(`an answer to ${text}`, () => {
				const answer = texts().slice(before).find(isFor);
				return answer && textOf(answer);
			});
		},
		call,
		set: async (settings: Record<string, unknown>) => (await call("set_settings", { settings })).text,
		/** The notes, once there are at least `count`. */
		noted: (count: number) =>
			until(`${count} notes`, () => {
				const all = notes();
				return all.length >= count && all;
			}),
		isBanned: (person: string) => guild.bans.has(id(person)),
		/** The member with this name. */
		member(person: string) {
			return present(guild.members.get(id(person)), `${person} is not a member`);
		},
		/** Lifts a ban by hand. Returns its user. */
		liftBan(person: string) {
			const ban = present(guild.bans.get(id(person)), `${person} is not banned`);
			simulator.world.bans.remove(guild, ban);
			return ban.user;
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

export const moderationTest = testWith(startModerationWorld);

/** The text of an answer, which is an embed if it is a page of a list. */
export function textOf({ content, embeds: [embed] }: { content: string; embeds: readonly object[] }): string {
	return content || ((embed as Embed | undefined)?.description ?? "");
}

interface Embed {
	title: string;
	description?: string;
	fields?: { name: string; value: string }[];
}
