// Chat commands ("!m ban …"): reads the message, runs the command within the limits, and replies.

import { ChannelType, type Client, Events, type Message, PermissionFlagsBits } from "discord.js";
import { channelName } from "../../discord/describe.ts";
import { describeBits, missingToWrite } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import type { Log } from "../../lib/log.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said, sayIn } from "../../texts/texts.ts";
import { noMentions, sendablePieces } from "../messages/split-message.ts";
import type { Grants } from "../settings/grants.ts";
import type { Action } from "./action.ts";
import { answerPieces, describeFailure } from "./answer.ts";
import { chatUsage, readChatArguments, UsageError } from "./chat-arguments.ts";
import { slashName } from "./command-texts.ts";
import { type Command, type CommandContext, readCommand } from "./commands.ts";
import type { Limiter } from "./cooldown.ts";
import { helpCommand } from "./definitions.ts";
import { questionButtons } from "./forms.ts";
import type { Help, Helpful } from "./help.ts";
import { type CommandLimits, type ConcurrencyLimit, type Ran, weightOf } from "./limits.ts";
import type { Page } from "./pages.ts";
import type { Answer, Perform } from "./perform.ts";
import { type Holds, holdsOf, permissionOf, type Restricted } from "./who-may.ts";

export interface ChatCommandsOptions extends Omit<Helpful, "menus"> {
	/** Deletes people's messages with a secret, such as a verification code. */
	deleteSecrets: boolean;
	grants: Grants;
	performing: Perform;
	help: Help;
	limits: CommandLimits;
	concurrency: ConcurrencyLimit;
	log: Log;
}

interface ChatCommand extends Restricted, Pick<Command, "name" | "secret"> {
	heavy?: boolean | undefined;
	limiter?: Limiter | undefined;
	run(context: CommandContext, rest: string, holds: Holds): Promise<Ran<Answer | undefined>>;
}

export function createChatCommands(options: ChatCommandsOptions): (client: Client) => void {
	const { prefix, commands, actions, log } = options;
	const help: ChatCommand = {
		name: helpCommand.name,
		run: async ({ guild, member }, _rest, holds) => ({
			answer: options.help({ door: "chat", asker: member.id, locale: guild.preferredLocale, holds }),
			isMistake: false,
		}),
	};
	const all: ChatCommand[] = [help, ...commands.map(ofCommand), ...actions.map((action) => ofAction(action, options))];
	const byName = new Map(all.map((command) => [command.name, command]));

	function find(content: string) {
		const parsed = readCommand(prefix, content);
		if (!parsed) return undefined;
		const [, word = "", after = ""] = /^(\S+)\s*([\s\S]*)$/.exec(parsed.rest) ?? [];
		const group = byName.get(`${parsed.name} ${word.toLowerCase()}`);
		if (group) return { command: group, rest: after };
		const command = byName.get(parsed.name);
		if (command) return { command, rest: parsed.rest };
		const usage = actions.filter((action) => action.name.startsWith(`${parsed.name} `));
		return usage.length > 0 ? { command: usageOnly(parsed.name, usage, prefix), rest: "" } : undefined;
	}

	async function run(
		message: Message<true>,
		command: ChatCommand,
		rest: string,
		context: CommandContext,
	): Promise<void> {
		const holds = holdsOf(options.grants, context.member, context.channel);
		const weight = weightOf(command, holds);
		const isHolder = weight !== "open";
		const deleted = deleteSecret(message, command, rest, options);
		const answer = await options.limits(
			{
				guildId: message.guild.id,
				userId: message.author.id,
				weight,
				// People without the permission are limited by the cooldown that all commands share.
				limiter: permissionOf(command) === undefined || isHolder ? command.limiter : undefined,
				tellsOnce: true,
				locale: message.guild.preferredLocale,
			},
			() => command.run(context, rest, holds).catch((error) => refused(error, command, message)),
		);
		await deleted;
		if (answer === undefined) return;
		await reply(message, typeof answer === "string" ? { text: answer } : answer);
	}

	return (client) => {
		client.on(Events.MessageCreate, (message) => {
			// Only messages of people. System messages have text too, such as the name of a new thread.
			const { author, webhookId, system } = message;
			if (author.bot || webhookId || system || !message.inGuild()) return;
			const found = find(message.content);
			const { guild, channel, member } = message;
			// The member is null if the author has left.
			if (!found || !member) return;
			const { command, rest } = found;
			const context = { guild, channel, member, message };
			options.concurrency(guild.id, weightOf(command, holdsOf(options.grants, member, channel)), async () => {
				try {
					await run(message, command, rest, context);
				} catch (error) {
					const fields = { command: command.name };
					const refusal = error instanceof ToolError ? error : toToolError(error);
					// If Discord rejected the reply, it is no bug of this program.
					if (refusal) log.warn("could not reply to a chat command", { ...fields, reason: refusal.message });
					else log.error("chat command failed: internal error", { ...fields, error });
				}
			});
		});
	};

	/** Other errors are logged and not shown. */
	function refused(error: unknown, { name }: ChatCommand, { guild }: Message<true>): Ran<Answer> {
		if (!(error instanceof ToolError || toToolError(error))) throw error;
		const text = describeFailure(error, guild.preferredLocale, log, { command: name });
		return { answer: { text }, isMistake: error instanceof ToolError && !error.cause };
	}
}

function ofCommand(command: Command): ChatCommand {
	const { isVerbatim } = command;
	return {
		...command,
		async run(context, rest) {
			const text = await command.run(context, rest);
			return { answer: text === undefined ? undefined : { text, isVerbatim }, isMistake: false };
		},
	};
}

function ofAction(action: Action, { prefix, performing }: ChatCommandsOptions): ChatCommand {
	const { name, permission, may, heavy } = action;
	return {
		name,
		permission,
		may,
		heavy,
		async run({ guild, channel, member, message }, rest, holds) {
			const locale = guild.preferredLocale;
			requirePrivate(action, channel, locale);
			const known = holds(action) ? action : withoutOthers(action);
			const values = await readChatArguments(member, known, rest).catch((error) => {
				if (!(error instanceof UsageError)) throw error;
				throw new SaidError(said("answer.usage", { problem: error.said, usage: usageLine(action, prefix, locale) }));
			});
			return performing.perform(action, values, {
				guildId: guild.id,
				channelId: channel.id,
				at: message.createdTimestamp,
				person: { id: member.id, name: member.displayName },
				command: `${prefix} ${name}`,
				locale,
				isThread: (id) => guild.channels.cache.get(id)?.isThread() ?? false,
			});
		},
	};
}

/** Finds members only. */
function withoutOthers(action: Action): Action {
	return { ...action, options: action.options.map(({ findOther: _, ...option }) => option) };
}

/** `channel`: null if it is unknown. */
export function requirePrivate(action: Action, channel: CommandContext["channel"] | null, locale: string): void {
	if (action.isPrivate && (!channel || canEveryoneRead(channel)))
		throw new SaidError(said("answer.public_channel", { command: slashName(action.name.split(" "), locale) }));
}

// False for private threads, which only invited members can read.
function canEveryoneRead(channel: CommandContext["channel"]): boolean {
	return (
		channel.type !== ChannelType.PrivateThread &&
		(channel.permissionsFor(channel.guild.roles.everyone)?.has(PermissionFlagsBits.ViewChannel) ?? true)
	);
}

function usageLine(action: Action, prefix: string, locale: string): string {
	const parts = [prefix, action.name, chatUsage(action, locale)];
	return `\`${parts.join(" ").trimEnd()}\``;
}

function usageOnly(name: string, actions: readonly Action[], prefix: string): ChatCommand {
	return {
		name,
		async run({ guild }) {
			const usage = actions.map((action) => usageLine(action, prefix, guild.preferredLocale));
			const text = sayIn(guild.preferredLocale)("answer.write_one_of", { usage: usage.join("\n") });
			return { answer: { text }, isMistake: false };
		},
	};
}

async function reply(message: Message<true>, { text, question, isVerbatim, page }: Answer): Promise<void> {
	const { channel } = message;
	const missing = missingToWrite(channel);
	if (missing !== 0n) throw new ToolError(`The bot lacks ${describeBits(missing)} in ${channelName(channel)}.`);
	if (page && (page.embeds.length === 0 || hasPermission(message, PermissionFlagsBits.EmbedLinks)))
		return send(message, page);
	const locale = message.guild.preferredLocale;
	const pieces = isVerbatim ? sendablePieces(text) : answerPieces(text, locale);
	for (const [index, content] of pieces.entries()) {
		const isLast = index === pieces.length - 1;
		const components = isLast && question !== undefined ? [questionButtons(question, locale)] : [];
		await send(message, { content, components });
	}
}

// Replies need Read Message History.
async function send(message: Message<true>, sent: Pick<Page, "content" | "components"> & Partial<Page>): Promise<void> {
	const options = { ...sent, allowedMentions: noMentions };
	if (hasPermission(message, PermissionFlagsBits.ReadMessageHistory))
		// The message may have been deleted.
		await message.reply({ ...options, failIfNotExists: false });
	else await message.channel.send(options);
}

function hasPermission({ guild, channel }: Message<true>, bit: bigint) {
	const self = guild.members.me;
	return (self && channel.permissionsFor(self)?.has(bit)) ?? false;
}

async function deleteSecret(
	message: Message<true>,
	{ secret }: Pick<Command, "secret">,
	rest: string,
	{ deleteSecrets, log }: Pick<ChatCommandsOptions, "deleteSecrets" | "log">,
): Promise<void> {
	if (!secret || !deleteSecrets || rest === "") return;
	if (!hasPermission(message, PermissionFlagsBits.ManageMessages)) return;
	try {
		await message.delete();
	} catch (error) {
		log.warn("could not delete a message with a verification code", { reason: String((error as Error).message) });
	}
}
