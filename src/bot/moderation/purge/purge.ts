// Commands that delete messages: /purge, and the chat command nuke.

import type { APIMessage, Guild, Message } from "discord.js";
import * as v from "valibot";
import { currentPerson } from "../../../discord/acting-person.ts";
import { channelsFromTop } from "../../../discord/channel-order.ts";
import { anyChannel, type MemberState, requireKnownMembers } from "../../../discord/find.ts";
import { missingToWrite } from "../../../discord/permissions.ts";
import { channelModerators, isStaff } from "../../../discord/staff.ts";
import { countOf } from "../../../discord/text.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { readDuration } from "../../../lib/times.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { Pending } from "../../../lib/wait.ts";
import { type ArgumentsOf, invalidParameters } from "../../../mcp/tool.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import { type Action, type ActionOption, announceOption } from "../../commands/action.ts";
import type { Command } from "../../commands/commands.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { cut, planMatching, type Selected } from "../../messages/matching-deletion.ts";
import { noMentions } from "../../messages/split-message.ts";
import { mentions, type Part, result } from "../../results/result.ts";
import { type ServerLog, serverLogs } from "../../settings/keys.ts";
import { flag, guild_id, integer, list, moment, reason, snowflake } from "../../tool/arguments/arguments.ts";
import type { BotTool } from "../../tool/context.ts";
import { destructiveTool } from "../../tool/define.ts";
import { Delayed } from "../delayed.ts";

const purgeToolName = "purge";
const maxNuked = 100;
const manyMessages = 20;
const confirmationMs = 5_000;

const moreOptions: readonly ActionOption[] = [
	{ name: "channel", kind: "channel", argument: "channel_ids", several: true },
	{ name: "pinned", kind: "flag", argument: "pinned" },
	{ name: "reason", kind: "reason", argument: "reason" },
	announceOption,
];

const withinOption = (argument: string, suggestions: readonly string[]): ActionOption => ({
	name: "within",
	kind: "duration",
	argument,
	required: true,
	suggestions,
});

/** Otherwise a purge with a count would delete older messages for those that were deleted since the dry run. */
function limitToFound(args: JsonObject, basis: readonly string[]): JsonObject | undefined {
	const sorted = basis.map((line) => line.split("/").at(-1) ?? "").toSorted(compareIds);
	const [oldest] = sorted;
	const newest = sorted.at(-1);
	if (oldest === undefined || newest === undefined) return undefined;
	const after = String(BigInt(oldest) - 1n);
	return { ...args, after, before: String(BigInt(newest) + 1n) };
}

const common = { tool: purgeToolName, may: "purge", heavy: true, complete: atCommand, limitTo: limitToFound } as const;

/** None that were written after the command. Durations become times; the tool validates other texts. */
function atCommand(args: JsonObject, at: number): JsonObject {
	const timeAgo = (value: unknown) => {
		const ms = readDuration(String(value));
		return ms !== undefined && ms < at ? iso(at - ms) : value;
	};
	const { after, joined_after } = args;
	// The end is 1 ms later, so that the range includes the time of the command itself.
	const end = iso(at + 1);
	return {
		...args,
		before: end,
		...(after !== undefined && { after: timeAgo(after) }),
		...(joined_after !== undefined && { joined_after: timeAgo(joined_after), joined_before: end }),
	};
}

const iso = (ms: number) => new Date(ms).toISOString();

export const purgeActions: readonly Action[] = [
	{
		...common,
		name: "purge latest",
		options: [
			{ name: "count", kind: "integer", argument: "count", required: true, min: 1, max: 10_000 },
			...moreOptions,
		],
		here: "channel_ids",
		confirm: ({ count }) => Number(count) > manyMessages,
	},
	{
		...common,
		name: "purge user",
		options: [
			{ name: "user", kind: "user", argument: "user_ids", required: true, several: true },
			withinOption("after", ["10m", "1h", "6h", "1d", "3d", "7d", "13d"]),
			...moreOptions,
		],
		confirm: () => true,
	},
	{
		...common,
		name: "purge joined",
		options: [withinOption("joined_after", ["10m", "30m", "1h", "6h", "1d"]), ...moreOptions],
		confirm: () => true,
	},
];

type PurgeOptions = Pick<FeatureOptions, "config" | "settings" | "callAs" | "log">;

export function createPurge(options: PurgeOptions) {
	const nuke = createNuke(options);
	const logs = ["messages", ...serverLogs].map((kind) => `log.${kind}` as `log.${ServerLog | "messages"}`);
	const recordKeys = [
		"moderation.log_channel",
		"moderation.reports",
		"audit.channel",
		"approval.channel",
		...logs,
	] as const;
	const recordChannels = (guildId: string) => {
		const values = options.settings.of(guildId);
		return new Set(recordKeys.flatMap((key) => values[key] ?? []));
	};
	return {
		tools: [purgeTool(recordChannels)],
		actions: purgeActions,
		commands: [nuke.command],
		close: nuke.close,
	} satisfies Feature;
}

function createNuke({ config, callAs, log }: PurgeOptions) {
	const removals = new Delayed();
	const sending = new Pending();
	const failed = (what: string) => (error: Error) => {
		log.warn(`could not ${what} the confirmation of the chat command nuke`, { reason: error.message });
	};

	async function confirm({ channel }: Message<true>, content: string): Promise<void> {
		if (missingToWrite(channel) !== 0n) throw new Error(`the bot may not write in the channel ${channel.id}`);
		const message = await channel.send({ content, allowedMentions: noMentions });
		removals.add(confirmationMs, () => message.delete().then(() => {}, failed("delete")));
	}

	const command: Command = {
		name: "nuke",
		usage: `<1-${maxNuked}>`,
		may: "purge",
		heavy: true,
		async run({ guild, channel, member, message }, rest) {
			const count = /^\d{1,3}$/.test(rest) ? Number(rest) : 0;
			const name = `${config.command} nuke`;
			if (count < 1 || count > maxNuked) throw new SaidError(said("purge.nuke", { command: name, max: maxNuked }));
			const { text, isError, wrote } = await callAs({
				guildId: guild.id,
				person: { id: member.id, name: member.user.username },
				command: name,
				tool: purgeToolName,
				args: {
					channel_ids: [channel.id],
					// Also deletes the message with the command, but nothing that was written after it.
					count: count + 1,
					before: String(BigInt(message.id) + 1n),
					// Discord deletes messages older than 14 days only one by one.
					after: "14d",
				},
			});
			if (isError) throw new ToolError(text, wrote ? { cause: text } : undefined);
			// The other lines of the result are for MCP clients.
			const [first = ""] = text.split("\n");
			// Without a confirmation, the purge itself has still succeeded.
			await sending.add(confirm(message, first).catch(failed("send")));
			return undefined;
		},
	};
	return {
		command,
		/** Removes the confirmations that are shown, and those that are being sent. */
		async close() {
			const sent = sending.settled().then(() => removals.close());
			await Promise.all([removals.close(), sent]);
		},
	};
}

const maxCount = 10_000;
const maxUsers = 100;

const input = {
	guild_id,
	user_ids: v.optional(list(snowflake("author"), 1, maxUsers, "Authors, including people who have left.")),
	joined_after: v.optional(moment("Or of members who joined after", true)),
	joined_before: v.optional(moment("And before")),
	channel_ids: v.optional(
		list({ ...snowflake("channel"), find: anyChannel }, 1, 200, "Or forums, categories; default: all."),
	),
	after: v.optional(moment("Written after", true)),
	before: v.optional(moment("Written before")),
	count: v.optional(integer(1, maxCount, "Maximum, newest first.")),
	pinned: flag("Delete pinned messages, too.", false),
	reason,
};

type Args = ArgumentsOf<typeof input>;

/** `recordChannels`: in which the bot keeps records, such as its moderation log. */
export function purgeTool(recordChannels: (guildId: string) => ReadonlySet<string>): BotTool {
	return destructiveTool({
		name: purgeToolName,
		title: "Purge messages",
		description:
			"Permanently delete messages of people, or of everyone who joined in a time window, across channels; or the latest of channels (`channel_ids` with `count` or `after`). Messages over 14 days old are deleted one by one.",
		toolset: "moderation",
		person: { may: "purge" },
		permissions: ["ManageMessages", "ReadMessageHistory"],
		permissionsIn: "run",
		input,
		async plan(args, { guild, channels, connection }) {
			requireSelection(args);
			const order = channelsFromTop(guild);
			const except = recordChannels(guild.id);
			const options = { order, maxCount, except };
			if (!args.joined_after) return planMatching(guild, args, channels, options);
			const leavers = new Map<string, number>();
			const { selected, kept } = joinedOnly(args, guild, connection);
			return planMatching(guild, selected, channels, {
				...options,
				onRead: (message) => countLeaver(message, guild, leavers),
				notes: () => [...keptAuthorNotes(kept), ...leaverNotes(leavers)],
			});
		},
	});
}

function requireSelection(args: Args): void {
	const { user_ids, joined_after, joined_before, channel_ids } = args;
	if (joined_before && !joined_after) throw invalidParameters(["joined_before: needs joined_after"]);
	const isOfChannels = channel_ids && (args.count !== undefined || args.after || args.before);
	if (user_ids || joined_after || isOfChannels) return;
	throw invalidParameters([
		"user_ids, joined_after: expected at least one of these, or channel_ids together with count, after or before",
	]);
}

function joinedOnly(
	args: Args,
	guild: Guild,
	connection: MemberState,
): { selected: Selected; kept: readonly string[] } {
	requireKnownMembers(guild, connection);
	const { user_ids, joined_after, joined_before, after = joined_after } = args;
	const [from = -Infinity, until = Infinity] = [joined_after?.atMs, joined_before?.atMs];
	const joined = guild.members.cache.filter(({ joinedTimestamp: at }) => at !== null && at >= from && at < until);
	const all = user_ids?.filter((id) => joined.has(id)) ?? [...joined.keys()];
	const moderators = channelModerators(guild);
	const person = currentPerson()?.id;
	const isKept = (id: string) => {
		const member = joined.get(id);
		if (!member || id === person) return true;
		if (member.user.bot || isStaff(member) || moderators.has(id)) return true;
		return member.roles.cache.some((role) => moderators.has(role.id));
	};
	const authors = all.filter((id) => !isKept(id));
	const kept = all.filter(isKept);
	if (authors.length === 0)
		throw new SaidError(said(kept.length === 0 ? "refusal.nobody_joined" : "refusal.only_staff_joined"));
	return { selected: { ...args, after, user_ids: authors }, kept };
}

function countLeaver({ author, webhook_id }: APIMessage, guild: Guild, counts: Map<string, number>): void {
	const { id, bot } = author;
	if (bot || webhook_id || guild.members.cache.has(id)) return;
	counts.set(id, (counts.get(id) ?? 0) + 1);
}

function keptAuthorNotes(ids: readonly string[]): Part[] {
	if (ids.length === 0) return [];
	return [
		result(
			`Kept: messages of ${ids.length} who joined then, but are bots, staff or you: ${cut(ids)}`,
			said("result.purge.staff", { who: mentions(ids) }),
		),
	];
}

function leaverNotes(counts: ReadonlyMap<string, number>): Part[] {
	if (counts.size === 0) return [];
	const count = [...counts.values()].reduce((sum, count) => sum + count, 0);
	const ids = [...counts.keys()];
	return [
		result(
			`Kept: ${countOf(count, "message")} of people who are no longer members, because it is unknown when they joined. To delete these messages, name the people as authors: ${cut(ids)}`,
			said("result.purge.leavers", { messages: said("count.messages", { count }), who: mentions(ids) }),
		),
	];
}
