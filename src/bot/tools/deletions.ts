// Taking messages away: one, or many of a channel at once.

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
	description: "Delete one message, however old. It cannot be brought back.",
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
		// Its own a bot may delete anywhere.
		if (message.author.id !== guild.client.user.id)
			requirePermissions(guild, channel, PermissionFlagsBits.ManageMessages);
		const what = `the message of ${messageHead(message)} from ${channelName(channel)}.`;
		return {
			preview: `Would delete ${what}`,
			async act() {
				await channel.client.rest.delete(
					Routes.channelMessage(channel.id, message_id),
				);
				return `Deleted ${what}`;
			},
		};
	},
});

/** What Discord does not tell of a bulk deletion. */
const passedOver =
	"Discord passes over ids that name no message there, without a word.";

/** How far back messages are looked at for `count`. */
const searchDepth = 1000;
const pageSize = 100;
const sampleSize = 5;

export const deleteMessages = destructiveTool({
	name: "delete_messages",
	toolset: "messages",
	title: "Delete messages",
	description:
		"Delete messages of one channel for good: those in `message_ids`, or the latest `count` that match. Those over 14 days old are left and named: they can only be deleted one at a time.",
	permissions: [
		"ManageMessages",
		{ permission: "ReadMessageHistory", with: "count" },
	],
	intents: ["MessageContent"],
	idempotent: true,
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		message_ids: v.optional(
			list(snowflake("message"), 1, 100, "Ids of the messages."),
		),
		count: v.optional(
			integer(1, 100, "How many of the latest messages to delete."),
		),
		author_id: v.optional(
			snowflake("author whose messages `count` is limited to"),
		),
		contains: v.optional(
			text(
				1,
				200,
				"Text that the messages counted by `count` must contain, ignoring case.",
			),
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
			return deletion(channel, message_ids, undefined);
		}
		if (contains !== undefined)
			requireContent(discord, "`contains` finds nothing");
		const wanted = contains?.toLowerCase();
		const messages = await latest(
			channel,
			count ?? 0,
			(message) =>
				(author_id === undefined || message.author.id === author_id) &&
				(wanted === undefined ||
					message.content.toLowerCase().includes(wanted)),
		);
		const sample = messages.slice(0, sampleSize).map(messageHead);
		return deletion(
			channel,
			messages.map(({ id }) => id),
			sample,
		);
	},
});

/** Without a `sample`, nobody has looked whether there are such messages. */
function deletion(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
	sample: readonly string[] | undefined,
): Plan {
	const where = channelName(channel);
	const nothing = `No message in ${where} matches: there is nothing to delete.`;
	const single = ids.length === 1;
	const deleted = ids.filter((id) => single || !isTooOldForBulk(id));
	const left = ids.filter((id) => !single && isTooOldForBulk(id));
	const notes: string[] = [];
	if (!sample && deleted.length > 1) notes.push(passedOver);
	if (left.length > 0)
		notes.push(
			`${left.length} over 14 days old, to be deleted one at a time: ${left.join(", ")}`,
		);
	return {
		async preview() {
			if (ids.length === 0) return nothing;
			const looked = sample
				? [`The latest ${sample.length}:`, ...sample]
				: await headsOf(channel, deleted.slice(0, sampleSize));
			return [
				`Would delete ${deleted.length} message(s) from ${where}.`,
				...looked,
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

/** These messages as lines, where the bot may read them; those that are not there say so. */
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
			return found ? messageHead(found) : `no such message there | ID: ${id}`;
		}),
	);
	return heads.length > 0 ? [`The first ${heads.length}:`, ...heads] : [];
}

/** The latest `count` messages for which `matches` holds, newest first, out of the latest 1000. */
async function latest(
	channel: GuildTextBasedChannel,
	count: number,
	matches: (message: APIMessage) => boolean,
): Promise<APIMessage[]> {
	const taken: APIMessage[] = [];
	let before: string | undefined;
	for (let seen = 0; seen < searchDepth; seen += pageSize) {
		const page = await fetchPage(channel, { limit: pageSize, before });
		for (const message of page) {
			if (matches(message)) taken.push(message);
			if (taken.length === count) return taken;
		}
		before = page.at(-1)?.id;
		if (page.length < pageSize) break;
	}
	return taken;
}
