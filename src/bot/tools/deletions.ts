// Deleting messages: one, or many in a channel.

import {
	type APIMessage,
	type GuildTextBasedChannel,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { absentIf, textChannel } from "../discord/find.ts";
import {
	missingPermissions,
	requirePermissions,
} from "../discord/permissions.ts";
import { bulkDelete, isTooOldForBulk } from "../messages/bulk-delete.ts";
import { fetchMessage } from "../messages/message-arguments.ts";
import { requireContent } from "../messages/message-content.ts";
import { messageHead } from "../messages/message-lines.ts";
import { fetchPage } from "../messages/message-pages.ts";
import {
	found,
	guild_id,
	integer,
	list,
	reason,
	snowflake,
	text,
} from "../tool/arguments.ts";
import { destructiveTool, type Plan } from "../tool/define.ts";

export const deleteMessage = destructiveTool({
	name: "delete_message",
	toolset: "messages",
	title: "Delete a message",
	description: "Delete one message of any age. This cannot be undone.",
	permissions: ["ReadMessageHistory"],
	lock: "message_id",
	idempotent: true,
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		message_id: snowflake("message"),
		reason,
	}),
	async plan({ message_id }, { guild, channel }) {
		const message = await fetchMessage(channel, message_id);
		// The bot may always delete its own messages.
		if (message.author.id !== guild.client.user.id)
			requirePermissions(guild, channel, PermissionFlagsBits.ManageMessages);
		const target = `the message of ${messageHead(message)} from ${channelName(channel)}.`;
		return {
			preview: `Would delete ${target}`,
			async act() {
				await channel.client.rest.delete(
					Routes.channelMessage(channel.id, message_id),
				);
				return `Deleted ${target}`;
			},
		};
	},
});

const ignoredIds =
	"Discord silently ignores ids of messages that do not exist there.";

/** How many messages `count` searches through. */
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
	idempotent: true,
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		message_ids: v.optional(list(snowflake("message"), 1, 100, "Message ids.")),
		count: v.optional(integer(1, 100, "How many of the latest to delete.")),
		author_id: v.optional(snowflake("author, to filter `count`")),
		contains: v.optional(
			text(1, 200, "Text in the messages, to filter `count`; ignores case."),
		),
		reason,
	}),
	async plan(
		{ message_ids, count, author_id, contains },
		{ discord, channel },
	) {
		if ((message_ids === undefined) === (count === undefined))
			throw invalidParameters([
				"message_ids, count: expected exactly one of the two",
			]);
		if (message_ids) {
			if (author_id !== undefined || contains !== undefined)
				throw invalidParameters([
					"author_id, contains: expected only together with count",
				]);
			return deletionPlan(channel, message_ids, undefined);
		}
		if (contains !== undefined)
			requireContent(discord, "`contains` matches nothing");
		const text = contains?.toLowerCase();
		const messages = await latestMatching(
			channel,
			count ?? 0,
			(message) =>
				(author_id === undefined || message.author.id === author_id) &&
				(text === undefined || message.content.toLowerCase().includes(text)),
		);
		const sample = messages.slice(0, sampleSize).map(messageHead);
		return deletionPlan(
			channel,
			messages.map(({ id }) => id),
			sample,
		);
	},
});

/** `sample` describes the first messages; undefined if none was fetched. */
function deletionPlan(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
	sample: readonly string[] | undefined,
): Plan {
	const where = channelName(channel);
	const nothing = `No message in ${where} matches: nothing to delete.`;
	const isSingle = ids.length === 1;
	const deleted = ids.filter((id) => isSingle || !isTooOldForBulk(id));
	const tooOld = ids.filter((id) => !isSingle && isTooOldForBulk(id));
	const notes: string[] = [];
	if (!sample && deleted.length > 1) notes.push(ignoredIds);
	if (tooOld.length > 0)
		notes.push(
			`${tooOld.length} over 14 days old, which delete_message can delete one at a time: ${tooOld.join(", ")}`,
		);
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

/** A line for each of these messages; none without Read Message History. */
async function headsOf(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
): Promise<string[]> {
	const { ReadMessageHistory } = PermissionFlagsBits;
	if (missingPermissions(channel.guild, channel, ReadMessageHistory) !== 0n)
		return [];
	const heads = await Promise.all(
		ids.map(async (id) => {
			const found = await absentIf(RESTJSONErrorCodes.UnknownMessage, () =>
				fetchMessage(channel, id),
			);
			return found ? messageHead(found) : `not found | ID: ${id}`;
		}),
	);
	return heads.length > 0 ? [`The first ${heads.length}:`, ...heads] : [];
}

/** The latest `count` messages that match, newest first, among the latest 1,000. */
async function latestMatching(
	channel: GuildTextBasedChannel,
	count: number,
	matches: (message: APIMessage) => boolean,
): Promise<APIMessage[]> {
	const found: APIMessage[] = [];
	let before: string | undefined;
	for (let seen = 0; seen < searchDepth; seen += pageSize) {
		const page = await fetchPage(channel, { limit: pageSize, before });
		for (const message of page) {
			if (matches(message)) found.push(message);
			if (found.length === count) return found;
		}
		before = page.at(-1)?.id;
		if (page.length < pageSize) break;
	}
	return found;
}
