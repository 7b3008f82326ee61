// Dispatches chat commands ("!m ban …") and their slash command forms: checks the author, permission and cooldown, parses
// the line, and sends the reply.

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
import { type Attempt, Limiter } from "./cooldown.ts";
import {
	answerInteraction,
	registerSlashCommands,
	type SlashName,
} from "./slash-commands.ts";

/** A chat command that someone typed, such as "!m ban": its message, author, channel and guild. */
export interface CommandContext {
	guild: Guild;
	/** The guild member who typed the chat command, as sent by Discord with the message. */
	member: GuildMember;
	channel: GuildTextBasedChannel;
	message: Message<true>;
}

export interface Command {
	/** Name of the chat command in lower case: "ban" in the message "!m ban". */
	name: string;
	/** Syntax of the chat command's arguments, such as "<code>"; "" if it has none. */
	usage: string;
	/** What the chat command does, as shown in the list of commands that the chat command `help` sends. */
	description: string;
	/** Discord permission that a member needs to use the chat command, guild-wide or in the channel of the message. */
	permission?: { name: Permission; in: "guild" | "channel" };
	/**
	 * Limits how often each person can use this chat command in a guild. Default: a limiter that all commands without
	 * their own share.
	 */
	limiter?: Limiter;
	/**
	 * Whether messages with this chat command contain a secret, such as a verification code. The bot then deletes these
	 * messages if it is configured to and has the permission.
	 */
	secret?: boolean;
	/** Slash command that does the same as this chat command. */
	slash?: {
		name: SlashName;
		run(userId: string, rest: string): Promise<string>;
	};
	/**
	 * Runs the chat command and returns the reply; undefined for no reply. `rest` is the trimmed text after the command's
	 * name. The text of a thrown ToolError or Discord API error becomes the reply. A ToolError without a cause counts as
	 * a mistake of the user, such as a wrong argument.
	 */
	run(context: CommandContext, rest: string): Promise<string | undefined>;
}

export interface CommandsOptions {
	/** Text at the start of every chat command, such as "!m". */
	prefix: string;
	commands: readonly Command[];
	/** Whether to register slash commands with Discord for the chat commands that have one. */
	slash: boolean;
	/** Whether to delete users' messages whose chat command contains a secret, such as a verification code. */
	deleteSecrets: boolean;
	/** Limits how often each person can use the commands that have no limiter of their own. */
	limiter?: Limiter;
	/** Milliseconds between log lines about chat commands that were ignored because too many were running. */
	logIntervalMs?: number;
	log: Log;
}

/**
 * Maximum number of commands that run at the same time in a guild, separately for moderators and everyone else. Further
 * commands are ignored.
 */
const maxConcurrent = 100;

const logIntervalMs = 10_000;

/** Default cooldown for each person's chat commands: at most `max` commands in `windowMs` milliseconds. */
export const commandLimits = { max: 5, windowMs: 10_000 } as const;

/**
 * Cooldown for each moderator's chat commands: at most `max` commands in `windowMs` milliseconds. Commands that fail
 * because of a mistake, such as a wrong argument, are counted separately, with the same limit.
 */
export const moderatorLimits = { max: 30, windowMs: 60_000 } as const;

/** Adds listeners to a Discord client that run the chat commands and slash commands in `options.commands`. */
export function serveCommands(client: Client, options: CommandsOptions): void {
	const { commands, slash, log } = options;
	const sharedLimiter = options.limiter ?? new Limiter(commandLimits);
	const mistakeLimiter = new Limiter(moderatorLimits);
	const byName = new Map(commands.map((command) => [command.name, command]));
	const bySlash = new Map(
		commands.flatMap(({ slash, limiter = sharedLimiter }) =>
			slash ? [[slash.name as string, { ...slash, limiter }] as const] : [],
		),
	);
	/** How many commands are running now, by concurrency limit. */
	const running = new Map<string, number>();

	let ignored = 0;

	/**
	 * Counts a chat command that was ignored because too many were running. Logs how many were ignored once per interval,
	 * so that a flood of commands does not fill the log.
	 */
	function noteIgnored(): void {
		ignored += 1;
		if (ignored > 1) return;
		setTimeout(() => {
			log.warn("chat commands ignored: too many were running at once", {
				commands: ignored,
			});
			ignored = 0;
		}, options.logIntervalMs ?? logIntervalMs).unref();
	}

	/**
	 * Runs `work`, which executes a command, and logs its errors. Ignores the command if too many commands of the same
	 * concurrency limit (`bucket`) are running.
	 */
	async function runLimited(
		name: string,
		bucket: string,
		work: () => Promise<void>,
	): Promise<void> {
		const others = running.get(bucket) ?? 0;
		if (others >= maxConcurrent) {
			noteIgnored();
			return;
		}
		running.set(bucket, others + 1);
		try {
			await work();
		} catch (error) {
			const refusal = error instanceof ToolError ? error : toToolError(error);
			// Discord rejected the reply: not a bug.
			if (refusal)
				log.warn("could not reply to a chat command", {
					command: name,
					reason: refusal.message,
				});
			else
				log.error("chat command failed: internal error", {
					command: name,
					error,
				});
		} finally {
			const remaining = (running.get(bucket) ?? 1) - 1;
			if (remaining > 0) running.set(bucket, remaining);
			else running.delete(bucket);
		}
	}

	client.on(Events.MessageCreate, (message) => {
		// Only messages of people. System messages have text too, such as the name of a new thread.
		const { author, webhookId, system } = message;
		if (author.bot || webhookId || system || !message.inGuild()) return;
		const parsed = readCommand(options.prefix, message.content);
		const command = parsed && byName.get(parsed.name);
		const { guild, channel, member } = message;
		// The member is null if the author has left.
		if (!command || !member) return;
		const context = { guild, channel, member, message };
		const refusal = refusalOf(context, command);
		// Without the permission, the attempt counts for the shared cooldown.
		const limiter = (refusal ? undefined : command.limiter) ?? sharedLimiter;
		// Per guild: the reply about a cooldown is sent once and must appear in the right guild.
		const key = `${guild.id} ${author.id}`;
		const attempt = limiter.take(key);
		const run = async () => {
			try {
				return await runFor(context, command, parsed.rest, log);
			} catch (error) {
				if (!(error instanceof ToolError)) throw error;
				// An error with a cause: the command was tried and failed.
				if (!command.permission || error.cause) return error.message;
				limiter.refund(key);
				const mistake = mistakeLimiter.take(key);
				return mistake.waitS > 0
					? tooOftenOnce(mistakeLimiter, mistake)
					: error.message;
			}
		};
		void runLimited(command.name, bucketOf(context, command), async () => {
			const deleted = deleteSecret(message, command, parsed.rest, options);
			const text =
				attempt.waitS > 0
					? tooOftenOnce(limiter, attempt)
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
		void runLimited(name, "slash", () =>
			answerInteraction(interaction, name, run),
		);
	});
	client.on(Events.ClientReady, (ready) => {
		const names = [...bySlash.values()].map(({ name }) => name);
		registerSlashCommands(ready, slash ? names : []).catch((error) =>
			log.warn("could not register slash commands with Discord", {
				reason: String((error as Error).message),
			}),
		);
	});
}

/**
 * Parses a chat message such as "!m ban 123" into the command's name and the text after it. Returns undefined if the
 * message is not a command.
 */
export function readCommand(
	prefix: string,
	content: string,
): { name: string; rest: string } | undefined {
	if (!content.startsWith(prefix)) return undefined;
	const line = content.slice(prefix.length);
	// A prefix that ends in a letter must be a whole word: "!message" is not "!m essage".
	if (/[\p{L}\p{N}]$/u.test(prefix) && !/^\s/.test(line)) return undefined;
	const [, name, rest] = /^\s*(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
	if (name === undefined || rest === undefined) return undefined;
	return { name: name.toLowerCase(), rest: rest.trimEnd() };
}

/** Whether a guild member has the Discord permission that a chat command requires in the channel. */
export function mayUse(
	{ member, channel }: Pick<CommandContext, "member" | "channel">,
	{ permission }: Pick<Command, "permission">,
): boolean {
	if (!permission) return true;
	const permissions =
		permission.in === "guild"
			? member.permissions
			: channel.permissionsFor(member);
	// null for a thread whose parent is not cached.
	return permissions?.has(PermissionFlagsBits[permission.name]) ?? false;
}

/** Returns a permission's name as Discord's settings show it, such as "Ban Members" for "BanMembers". */
function permissionTitle(name: Permission): string {
	if (name === "ManageGuild") return "Manage Server";
	return name.replace(/([a-z])([A-Z])/g, "$1 $2");
}

/**
 * Returns the name of the concurrency limit for a command. Each guild has one limit for moderators and one for everyone
 * else, so that a flood of commands does not block moderators.
 */
function bucketOf(context: CommandContext, command: Command): string {
	const isModerator = command.permission && mayUse(context, command);
	return `${context.guild.id} ${isModerator ? "with permission" : "everyone"}`;
}

function refusalOf(
	context: CommandContext,
	{ name, permission }: Command,
): string | undefined {
	if (!permission || mayUse(context, { permission })) return undefined;
	const where = permission.in === "channel" ? " in this channel" : "";
	return `You need ${permissionTitle(permission.name)}${where} to use \`${name}\`.`;
}

function tooOften({ options }: Limiter, waitS: number): string {
	const { max, windowMs } = options;
	return `That was ${max} commands within ${windowMs / 1000} seconds. Try again in ${waitS} s.`;
}

/**
 * Returns a reply such as "Try again in … s" for the first command that a cooldown refuses; undefined for further
 * refused commands.
 */
function tooOftenOnce(
	limiter: Limiter,
	{ waitS, refusals }: Attempt,
): string | undefined {
	return refusals === 1 ? tooOften(limiter, waitS) : undefined;
}

/**
 * Runs a chat command and returns the reply. Converts errors of Discord's API to replies; rethrows all other errors.
 */
async function runFor(
	context: CommandContext,
	command: Command,
	rest: string,
	log: Log,
): Promise<string | undefined> {
	try {
		return await command.run(context, rest);
	} catch (error) {
		if (error instanceof ToolError) throw error;
		const text = describeErrorForPeople(error);
		const refusal = toToolError(error);
		// Other errors are only for the author.
		if (refusal)
			log.warn("chat command failed: Discord refused a request", {
				command: command.name,
				reason: refusal.message,
			});
		if (text === undefined) throw error;
		return text;
	}
}

/**
 * Replies to a chat message with `text`, in several messages if it is long. Throws a ToolError if the bot may not write
 * in the channel.
 */
async function answer(message: Message<true>, text: string): Promise<void> {
	const { channel } = message;
	const missing = missingToWrite(channel);
	if (missing !== 0n)
		throw new ToolError(
			`The bot lacks ${describeBits(missing)} in ${channelName(channel)}.`,
		);
	for (const content of sendablePieces(text)) await send(message, content);
}

/**
 * Sends `content` as a reply to a message, or as a plain message if the bot lacks Read Message History, which Discord
 * requires for replies.
 */
async function send(message: Message<true>, content: string): Promise<void> {
	const options = { content, allowedMentions: noMentions };
	if (hasPermission(message, PermissionFlagsBits.ReadMessageHistory))
		// The message may have been deleted.
		await message.reply({ ...options, failIfNotExists: false });
	else await message.channel.send(options);
}

/**
 * Whether the bot has a permission in the channel of a message. False for a thread whose parent channel is not cached.
 */
function hasPermission({ guild, channel }: Message<true>, bit: bigint) {
	const self = guild.members.me;
	return (self && channel.permissionsFor(self)?.has(bit)) ?? false;
}

/**
 * Deletes a user's message whose chat command contains a secret, if the bot is configured to and has the permission.
 */
async function deleteSecret(
	message: Message<true>,
	{ secret }: Command,
	rest: string,
	{ deleteSecrets, log }: CommandsOptions,
): Promise<void> {
	if (!secret || !deleteSecrets || rest === "") return;
	if (!hasPermission(message, PermissionFlagsBits.ManageMessages)) return;
	try {
		await message.delete();
	} catch (error) {
		log.warn("could not delete a message with a verification code", {
			reason: String((error as Error).message),
		});
	}
}
