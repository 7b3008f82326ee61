// Chat commands: what people type behind prefix and root, and the same as slash commands. One dispatcher for all of them:
// who wrote, whether they may, how often, what is left of the line, how to answer; each command knows only its own work.

import {
	type Client,
	Events,
	type Guild,
	type GuildMember,
	type GuildTextBasedChannel,
	type Interaction,
	type Message,
	PermissionFlagsBits,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import {
	describeBits,
	missingToWrite,
	type Permission,
} from "../discord/permissions.ts";
import { describeErrorForPeople, toToolError } from "../discord/rest/errors.ts";
import { noMentions, sendablePieces } from "../messages/split-message.ts";
import { createLimiter, type Limiter, type Turn } from "./cooldown.ts";
import {
	answerInteraction,
	listSlashCommands,
	type SlashName,
} from "./slash-commands.ts";

/** Someone types a command. */
export interface Asked {
	guild: Guild;
	/** Who asks, as Discord knows them at that moment. */
	member: GuildMember;
	channel: GuildTextBasedChannel;
	message: Message<true>;
}

export interface Command {
	/** In lower case: what is typed after prefix and root. */
	name: string;
	/** How what follows it is written, such as "<code>"; nothing follows where it is empty. */
	usage: string;
	/** What it does, for `help`. */
	description: string;
	/** Whoever uses it needs this in the guild, or where they write. It is nobody else's. */
	permission?: { name: Permission; in: "guild" | "channel" };
	/** How often a person may use it in a guild; without one it counts with all others. */
	limiter?: Limiter;
	/** Whether what was typed is nobody else's business: then it is deleted where the bot may, if the operator wants that. */
	secret?: boolean;
	/** The same as a slash command. */
	slash?: {
		name: SlashName;
		run(userId: string, rest: string): Promise<string>;
	};
	/**
	 * Answers a person; `rest` is what is left of the line, without white space at its ends. The text is sent as it is;
	 * undefined: all is said. What it throws for people is answered as well: a ToolError for a mistake, which does not count
	 * for those with the command's permission, or a failure of Discord's.
	 */
	run(asked: Asked, rest: string): Promise<string | undefined>;
}

export interface CommandsOptions {
	/** Prefix and root, such as "!m". */
	prefix: string;
	commands: readonly Command[];
	/** Whether those that have such a form are slash commands, too. */
	slash: boolean;
	/** Whether messages with a secret in them are deleted. */
	deleteSecrets: boolean;
	/** For the commands that have none of their own. */
	limiter?: Limiter;
	/** How long those that are not heard are counted before the log tells of them. */
	tellAfterMs?: number;
	log: Log;
}

/** How many of one room are answered at once, so that a flood of them waits for nothing; those beyond are not heard. */
const maxAtOnce = 100;

const tellAfterMs = 10_000;

/** So that nobody has the bot fill a channel. */
export const commandLimits = { max: 5, windowMs: 10_000 } as const;

/** For what moderators do, as in a raid; their mistakes count apart, since those are only answered. */
export const moderatorLimits = { max: 30, windowMs: 60_000 } as const;

/** Serves the commands on a client, for as long as it lives. */
export function serveCommands(client: Client, options: CommandsOptions): void {
	const { commands, slash, log } = options;
	const common = options.limiter ?? createLimiter(commandLimits);
	const mistakes = createLimiter(moderatorLimits);
	const byName = new Map(commands.map((command) => [command.name, command]));
	const bySlash = new Map(
		commands.flatMap(({ slash, limiter = common }) =>
			slash ? [[slash.name as string, { ...slash, limiter }] as const] : [],
		),
	);
	/** How many are being answered, by their room. */
	const atOnce = new Map<string, number>();

	let unheard = 0;

	/** The operator is told of all those within a while at once: a flood is to fill no log. */
	function noteUnheard(): void {
		unheard += 1;
		if (unheard > 1) return;
		setTimeout(() => {
			const fields = { commands: unheard };
			log.warn("chat commands were not heard: too many at once", fields);
			unheard = 0;
		}, options.tellAfterMs ?? tellAfterMs).unref();
	}

	/** Answers, unless too many others of its room are being answered. */
	async function answering(
		name: string,
		room: string,
		work: () => Promise<void>,
	): Promise<void> {
		const others = atOnce.get(room) ?? 0;
		if (others >= maxAtOnce) {
			noteUnheard();
			return;
		}
		atOnce.set(room, others + 1);
		try {
			await work();
		} catch (error) {
			const refusal = error instanceof ToolError ? error : toToolError(error);
			// Discord does not take the answer: that is no fault of ours.
			if (refusal)
				log.warn("could not answer a chat command", {
					command: name,
					reason: refusal.message,
				});
			else log.error("a chat command failed", { command: name, error });
		} finally {
			const left = (atOnce.get(room) ?? 1) - 1;
			if (left > 0) atOnce.set(room, left);
			else atOnce.delete(room);
		}
	}

	client.on(Events.MessageCreate, (message) => {
		// Webhooks are authors, too, and no people; what Discord says of a new thread has the thread's name as its text.
		const { author, webhookId, system } = message;
		if (author.bot || webhookId || system || !message.inGuild()) return;
		const typed = readCommand(options.prefix, message.content);
		const command = typed && byName.get(typed.name);
		const { guild, channel, member } = message;
		// Who has gone since has nothing to ask.
		if (!command || !member) return;
		const asked = { guild, channel, member, message };
		const refusal = refusalOf(asked, command);
		// Who may not use a command takes nothing from a limit that is meant for moderators.
		const limiter = (refusal ? undefined : command.limiter) ?? common;
		// In each guild by itself: what is said once is to be read where it counts.
		const key = `${guild.id} ${author.id}`;
		const turn = limiter.take(key);
		const run = async () => {
			try {
				return await runFor(asked, command, typed.rest, log);
			} catch (error) {
				if (!(error instanceof ToolError)) throw error;
				// One with a cause tells of what was tried and failed.
				if (!command.permission || error.cause) return error.message;
				limiter.giveBack(key);
				const mistake = mistakes.take(key);
				return mistake.waitS > 0
					? tooOftenOnce(mistakes, mistake)
					: error.message;
			}
		};
		void answering(command.name, roomOf(asked, command), async () => {
			const deleted = hide(message, command, typed.rest, options);
			const text =
				turn.waitS > 0
					? tooOftenOnce(limiter, turn)
					: (refusal ?? (await run()));
			await deleted;
			if (text) await answer(message, text);
		});
	});
	client.on(Events.InteractionCreate, (interaction: Interaction) => {
		if (!slash || !interaction.isChatInputCommand()) return;
		const command = bySlash.get(interaction.commandName);
		if (!command) return;
		const { name, limiter } = command;
		const { id } = interaction.user;
		const { waitS } = limiter.take(`${interaction.guildId} ${id}`);
		const run = async (rest: string) =>
			waitS > 0 ? tooOften(limiter, waitS) : command.run(id, rest);
		void answering(name, "slash", () =>
			answerInteraction(interaction, name, run),
		);
	});
	client.on(Events.ClientReady, (ready) => {
		const names = [...bySlash.values()].map(({ name }) => name);
		listSlashCommands(ready, slash ? names : []).catch((error) =>
			log.warn("could not register the slash commands", {
				reason: String((error as Error).message),
			}),
		);
	});
}

/** The command in a message, and what is left of the line; undefined where it holds none. */
export function readCommand(
	prefix: string,
	content: string,
): { name: string; rest: string } | undefined {
	if (!content.startsWith(prefix)) return undefined;
	const line = content.slice(prefix.length);
	// A prefix that ends in a letter is a word of its own: "!message" is not "!m essage".
	if (/[\p{L}\p{N}]$/u.test(prefix) && !/^\s/.test(line)) return undefined;
	const [, name, rest] = /^\s*(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
	if (name === undefined || rest === undefined) return undefined;
	return { name: name.toLowerCase(), rest: rest.trimEnd() };
}

/** Whether the person may use the command, where they ask. */
export function mayUse(
	{ member, channel }: Pick<Asked, "member" | "channel">,
	{ permission }: Pick<Command, "permission">,
): boolean {
	if (!permission) return true;
	const held =
		permission.in === "guild"
			? member.permissions
			: channel.permissionsFor(member);
	// A thread whose channel is not known gives none.
	return held?.has(PermissionFlagsBits[permission.name]) ?? false;
}

/** A permission as Discord calls it in its settings: "Ban Members". */
function permissionTitle(name: Permission): string {
	if (name === "ManageGuild") return "Manage Server";
	return name.replace(/([a-z])([A-Z])/g, "$1 $2");
}

/** Each guild has rooms of its own; in a raid that types commands, those who can end it have one for themselves. */
function roomOf(asked: Asked, command: Command): string {
	const isTheirs = command.permission && mayUse(asked, command);
	return `${asked.guild.id} ${isTheirs ? "with permission" : "everyone"}`;
}

function refusalOf(
	asked: Asked,
	{ name, permission }: Command,
): string | undefined {
	if (!permission || mayUse(asked, { permission })) return undefined;
	const where = permission.in === "channel" ? " in this channel" : "";
	return `You need ${permissionTitle(permission.name)}${where} to use \`${name}\`.`;
}

function tooOften({ max, windowMs }: Limiter, waitS: number): string {
	return `That was ${max} commands within ${windowMs / 1000} seconds. Try again in ${waitS} s.`;
}

/** As `tooOften`, for the first refusal in a window only. */
function tooOftenOnce(
	limiter: Limiter,
	{ waitS, refusals }: Turn,
): string | undefined {
	return refusals === 1 ? tooOften(limiter, waitS) : undefined;
}

/** What it answers; a failure of Discord's is an answer as well. A ToolError is thrown on. */
async function runFor(
	asked: Asked,
	command: Command,
	rest: string,
	log: Log,
): Promise<string | undefined> {
	try {
		return await command.run(asked, rest);
	} catch (error) {
		if (error instanceof ToolError) throw error;
		const said = describeErrorForPeople(error);
		const refusal = toToolError(error);
		// What else there is for people is theirs alone.
		if (refusal)
			log.warn("Discord did not carry out a chat command", {
				command: command.name,
				reason: refusal.message,
			});
		if (said === undefined) throw error;
		return said;
	}
}

/** Throws a ToolError where the bot may not write. */
async function answer(message: Message<true>, text: string): Promise<void> {
	const { channel } = message;
	const missing = missingToWrite(channel);
	if (missing !== 0n)
		throw new ToolError(
			`The bot lacks ${describeBits(missing)} in ${channelName(channel)}.`,
		);
	for (const content of sendablePieces(text)) await send(message, content);
}

/** As a reply where the bot may, and else as a message: more than to send messages is not asked of it. */
async function send(message: Message<true>, content: string): Promise<void> {
	const options = { content, allowedMentions: noMentions };
	if (!may(message, PermissionFlagsBits.ReadMessageHistory)) {
		await message.channel.send(options);
		return;
	}
	// It may be gone by now.
	await message.reply({ ...options, failIfNotExists: false });
}

/** Whether the bot has the permission where the message is. A thread whose channel is not known gives none. */
function may({ guild, channel }: Message<true>, bit: bigint): boolean {
	const self = guild.members.me;
	return (self && channel.permissionsFor(self)?.has(bit)) ?? false;
}

/** Deletes what only the person who wrote it should read. */
async function hide(
	message: Message<true>,
	{ secret }: Command,
	rest: string,
	{ deleteSecrets, log }: CommandsOptions,
): Promise<void> {
	if (!secret || !deleteSecrets || rest === "") return;
	if (!may(message, PermissionFlagsBits.ManageMessages)) return;
	try {
		await message.delete();
	} catch (error) {
		log.warn("could not delete a message with a code in it", {
			reason: String((error as Error).message),
		});
	}
}
