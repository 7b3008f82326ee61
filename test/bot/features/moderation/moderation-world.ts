// The simulator, and the real bot with the commands for moderators in front of it.

import { PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { type Bot, startBot } from "../../../../src/bot/bot.ts";
import type { BotConfig } from "../../../../src/bot/config/config.ts";
import { toml } from "../../../../src/bot/config/settings.ts";
import { createLog } from "../../../../src/lib/log.ts";
import {
	type Simulator,
	startSimulator,
} from "../../../../src/simulator/simulator.ts";
import type {
	Guild,
	Message,
} from "../../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../../support/bot-config.ts";
import type { Place } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";

export const general = "The Cooks/general";
export const staffChannel = "The Cooks/staff";
/** Who may ban, and ranks above all but the owner and the bot. */
export const moderator = "jose.garcia";

export interface ModerationWorld extends AsyncDisposable {
	simulator: Simulator;
	guild: Guild;
	readonly bot: Bot;
	/** What the bot logged, a line each. */
	logged: string[];
	/** Types in a channel, and gives the bot's next answer there. */
	ask(person: string, text: string, channel?: string): Promise<string>;
	/** What the bot has written in a channel, in order. */
	answers(channel?: string): Message[];
	/** The embeds in the channel for moderation: a title, and each field by its name. */
	notes(): Record<string, string>[];
	/** Waits for so many of them. */
	noted(count: number): Promise<Record<string, string>[]>;
	id(person: string): string;
	isBanned(person: string): boolean;
	/** Ends the bot; `start` begins it again with the same data. */
	stop(): Promise<void>;
	start(): Promise<void>;
}

/** The bot "alpha" is logged in, and its store is open. José may ban, and Mona has a role below his. */
export async function startModerationWorld(
	place?: Pick<Place, "settings">,
	changes: Partial<BotConfig> = {},
): Promise<ModerationWorld> {
	const simulator = await startSimulator();
	const guild = simulator.guild("The Cooks");
	for (const role of guild.roles.values())
		if (role.name === "Staff")
			simulator.world.roles.edit(guild, role, {
				permissions: String(
					BigInt(role.permissions) | PermissionFlagsBits.BanMembers,
				),
			});
	const logged: string[] = [];
	const log = createLog({ format: "text", level: "debug" }, (line) =>
		logged.push(line),
	);
	const channel = simulator.channel(staffChannel).id;
	const { settings } = place ?? {};
	const config = botConfig({
		discordToken: simulator.bot("alpha").token,
		discordApiUrl: simulator.api,
		guildId: guild.id,
		toml: v.parse(toml, {
			bot_name: "Alpha",
			features: { moderation: true },
			moderation: { log_channel: channel },
		}),
		...(settings && {
			databaseUrl: settings.databaseUrl,
			dbSchema: settings.schema,
			dataDirectory: settings.directory,
		}),
		...changes,
	});
	const start = async () => {
		const started = startBot(config, log);
		await until("the bot has loaded", () => started.loaded);
		return started;
	};
	let bot = await start();
	let running = true;
	const stop = async () => {
		if (running) await bot.close();
		running = false;
	};
	const answers = (name = general) =>
		simulator.world.messages
			.in(simulator.channel(name).id)
			.filter(({ author }) => author.id === simulator.bot("alpha").id);
	const notes = () =>
		answers(staffChannel).flatMap(({ embeds }) =>
			(embeds as unknown as Embed[]).map(
				({ title, description, fields = [] }) => ({
					...{ title, ...(description && { description }) },
					...Object.fromEntries(fields.map(({ name, value }) => [name, value])),
				}),
			),
		);
	const id = (person: string) => simulator.user(person).id;
	return {
		...{ simulator, guild, logged, answers, notes, id, stop },
		get bot() {
			return bot;
		},
		async ask(person, text, name = general) {
			// Embeds are no answers.
			const said = () => answers(name).filter(({ content }) => content !== "");
			const before = said().length;
			await simulator.user(person).say(name, text);
			return until(`an answer to ${text}`, () => said()[before]?.content);
		},
		noted: (count) =>
			until(`${count} notes`, () => {
				const all = notes();
				return all.length >= count && all;
			}),
		isBanned: (person) => guild.bans.has(id(person)),
		async start() {
			bot = await start();
			running = true;
		},
		stop,
		async [Symbol.asyncDispose]() {
			await stop();
			await simulator.close();
		},
	};
}

interface Embed {
	title: string;
	description?: string;
	fields?: { name: string; value: string }[];
}
