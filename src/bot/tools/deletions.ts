// Deleting messages: one, or many in a channel.

import {
	type APIMessage,
	type GuildTextBasedChannel,
	MessageType,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { absentIf } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import {
	missingPermissions,
	requirePermissions,
} from "../discord/permissions.ts";
import {
	bulkDelete,
	isDeletable,
	isTooOldForBulk,
} from "../messages/bulk-delete.ts";
import {
	fetchMessage,
	inChannel,
	onMessage,
} from "../messages/message-arguments.ts";
import { requireContent } from "../messages/message-content.ts";
import { messageHead } from "../messages/message-lines.ts";
import { fetchPage } from "../messages/message-pages.ts";
import {
	integer,
	list,
	reason,
	requireEither,
	snowflake,
	text,
} from "../tool/arguments.ts";
import { destructiveTool, type Plan } from "../tool/define.ts";

export const deleteMessage = destructiveTool({
	name: "delete_message",
	toolset: "messages",
	title: "Delete a message",
	description: "Delete one message of any age. This cannot be undone.",
	lock: "message_id",
	input: v.strictObject({ ...onMessage, reason }),
	async plan({ message_id }, { discord, guild, channel }) {
		// Deleting needs no Read Message History, and the bot's own messages need no Manage Messages. Discord decides about a
		// message that the bot cannot read. https://discord.com/developers/docs/resources/message#delete-message
		const message = readsHistory(channel)
			? await fetchMessage(channel, message_id)
			: undefined;
		if (message && message.author.id !== discord.user.id)
			requirePermissions(guild, channel, PermissionFlagsBits.ManageMessages);
		const name = message
			? `the message of ${messageHead(message)}`
			: `the message ${message_id}`;
		if (message && !isDeletable(message))
			throw new ToolError(
				`Discord deletes no messages of the kind ${MessageType[message.type]}, such as ${name}. Nothing was done.`,
			);
		const target = `${name} from ${channelName(channel)}.`;
		return {
			preview: `Would delete ${target}`,
			write: () =>
				discord.rest.delete(Routes.channelMessage(channel.id, message_id)),
			result: `Deleted ${target}`,
		};
	},
});

const ignoredIds =
	"Discord silently ignores ids of messages that do not exist there.";

/** How many of a channel's latest messages are searched for the messages to delete. */
const searchDepth = 1000;
const pageSize = 100;
const sampleSize = 5;

export const deleteMessages = destructiveTool({
	name: "delete_messages",
	toolset: "messages",
	title: "Delete messages",
	description:
		"Permanently delete messages of one channel: those in `message_ids`, or the latest `count` that match. Those over 14 days old are only listed: delete_message deletes them one at a time.",
	permissions: [
		"ManageMessages",
		{ permission: "ReadMessageHistory", with: "count" },
	],
	intents: ["MessageContent"],
	input: v.strictObject({
		...inChannel,
		message_ids: v.optional(list(snowflake("message"), 1, 100, "Message ids.")),
		count: v.optional(integer(1, 100, "How many of the latest to delete.")),
		author_id: v.optional(snowflake("author, to filter `count`")),
		contains: v.optional(
			text(1, 200, "Text in the messages, to filter `count`; ignores case."),
		),
		reason,
	}),
	async plan(args, { discord, channel }) {
		const { message_ids, count, author_id, contains } = args;
		requireEither(args, ["message_ids", "count"]);
		if (message_ids) {
			if (author_id !== undefined || contains !== undefined)
				throw invalidParameters([
					"author_id, contains: expected only together with count",
				]);
			const skipped = await undeletableOf(channel, message_ids);
			const ids = message_ids.filter((id) => !skipped.includes(id));
			return deletionPlan(channel, ids, skipped, undefined);
		}
		if (contains !== undefined)
			requireContent(discord, "`contains` matches nothing");
		const text = contains?.toLowerCase();
		const { found, skipped } = await latestMatching(
			channel,
			count ?? 0,
			(message) =>
				(author_id === undefined || message.author.id === author_id) &&
				(text === undefined || message.content.toLowerCase().includes(text)),
		);
		const ids = found.map(({ id }) => id);
		const sample = found.slice(0, sampleSize).map(messageHead);
		return deletionPlan(channel, ids, skipped, sample);
	},
});

/**
 * Plans a deletion of messages. `skipped` has the ids of messages that Discord does not delete. `sample` has lines that
 * describe the first messages; undefined if the messages were not fetched.
 */
function deletionPlan(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
	skipped: readonly string[],
	sample: readonly string[] | undefined,
): Plan {
	const where = channelName(channel);
	const isSingle = ids.length === 1;
	const deleted = ids.filter((id) => isSingle || !isTooOldForBulk(id));
	const tooOld = ids.filter((id) => !isSingle && isTooOldForBulk(id));
	const notes: string[] = [];
	if (!sample && deleted.length > 1) notes.push(ignoredIds);
	if (tooOld.length > 0)
		notes.push(
			`${tooOld.length} over 14 days old, which delete_message can delete one at a time: ${tooOld.join(", ")}`,
		);
	if (skipped.length > 0)
		notes.push(
			`${skipped.length} skipped, since nobody can delete Discord's notices in a thread: ${skipped.join(", ")}`,
		);
	const nothing = [
		`No message in ${where} matches: nothing to delete.`,
		...notes,
	];
	return {
		async preview() {
			if (ids.length === 0) return nothing;
			const lines = sample
				? [`The latest ${sample.length}:`, ...sample]
				: await headsOf(channel, deleted.slice(0, sampleSize));
			return [
				`Would delete ${deleted.length} message(s) from ${where}.`,
				...lines,
				...notes,
			];
		},
		async act() {
			if (ids.length === 0) return nothing;
			if (deleted.length === 0)
				throw new ToolError(`Nothing was deleted: ${notes.join(" ")}`);
			await bulkDelete(channel, deleted);
			return [`Deleted ${deleted.length} message(s) from ${where}.`, ...notes];
		},
	};
}

/**
 * Fetches messages and describes each in a line with its time, author and id. Returns no lines if the bot lacks Read
 * Message History.
 */
async function headsOf(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
): Promise<string[]> {
	if (!readsHistory(channel)) return [];
	const heads = await Promise.all(
		ids.map(async (id) => {
			const found = await absentIf([RESTJSONErrorCodes.UnknownMessage], () =>
				fetchMessage(channel, id),
			);
			return found ? messageHead(found) : `not found | ID: ${id}`;
		}),
	);
	return heads.length > 0 ? [`The first ${heads.length}:`, ...heads] : [];
}

function readsHistory(channel: GuildTextBasedChannel): boolean {
	const { ReadMessageHistory } = PermissionFlagsBits;
	return missingPermissions(channel.guild, channel, ReadMessageHistory) === 0n;
}

/**
 * Returns those of the `ids` that belong to messages which Discord does not delete. Only threads have such messages, so
 * messages are fetched only in threads.
 */
async function undeletableOf(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
): Promise<string[]> {
	if (!channel.isThread() || ids.length < 2) return [];
	const { ReadMessageHistory } = PermissionFlagsBits;
	requirePermissions(channel.guild, channel, ReadMessageHistory);
	const undeletable = new Set<string>();
	let unread = ids.toSorted(compareIds);
	for (;;) {
		const newest = unread.at(-1);
		if (newest === undefined) break;
		const before = String(BigInt(newest) + 1n);
		const page = await fetchPage(channel, { limit: pageSize, before });
		for (const message of page)
			if (!isDeletable(message)) undeletable.add(message.id);
		const oldest = page.at(-1);
		if (!oldest || page.length < pageSize) break;
		unread = unread.filter((id) => compareIds(id, oldest.id) < 0);
	}
	return ids.filter((id) => undeletable.has(id));
}

/**
 * Finds the latest `count` messages that match and can be deleted, newest first, among a channel's latest 1,000
 * messages. `skipped` has the ids of matching messages that Discord does not delete.
 */
async function latestMatching(
	channel: GuildTextBasedChannel,
	count: number,
	matches: (message: APIMessage) => boolean,
): Promise<{ found: APIMessage[]; skipped: string[] }> {
	const found: APIMessage[] = [];
	const skipped: string[] = [];
	let before: string | undefined;
	for (let seen = 0; seen < searchDepth; seen += pageSize) {
		const page = await fetchPage(channel, { limit: pageSize, before });
		for (const message of page) {
			if (!matches(message)) continue;
			if (isDeletable(message)) found.push(message);
			else skipped.push(message.id);
			if (found.length === count) return { found, skipped };
		}
		before = page.at(-1)?.id;
		if (page.length < pageSize) break;
	}
	return { found, skipped };
}
