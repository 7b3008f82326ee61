// Reactions to messages.

import {
	type APIMessage,
	type APIUser,
	type GuildTextBasedChannel,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { textChannel } from "../discord/find.ts";
import { requirePermissions } from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";
import {
	type Emoji,
	emoji,
	emojiName,
	emojiPath,
	reactionWith,
	requireOwnEmoji,
} from "../messages/emoji.ts";
import { fetchMessage } from "../messages/message-arguments.ts";
import { found, guild_id, limit, snowflake } from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";

const onMessage = {
	guild_id,
	channel_id: found(textChannel, "channel or thread"),
	message_id: snowflake("message"),
};

export const addReaction = tool({
	name: "add_reaction",
	toolset: "messages",
	title: "Add a reaction",
	description: "React to a message, as the bot.",
	effect: "write",
	idempotent: true,
	lock: "message_id",
	permissions: ["ReadMessageHistory"],
	input: v.strictObject({ ...onMessage, emoji }),
	async run({ message_id, emoji }, { discord, guild, channel }) {
		const message = await fetchMessage(channel, message_id);
		const existing = reactionWith(message.reactions, emoji);
		const where = messageName(message_id, channel);
		if (existing?.me)
			throw new ToolError(
				`The bot has already put ${emojiName(emoji)} on ${where}. Nothing was done.`,
			);
		// Only the first reaction with an emoji needs Add Reactions.
		if (!existing) {
			requirePermissions(guild, channel, PermissionFlagsBits.AddReactions);
			await requireOwnEmoji(guild, [emoji]);
		}
		await discord.rest.put(
			Routes.channelMessageOwnReaction(
				channel.id,
				message_id,
				emojiPath(existing ? fromMessage(existing.emoji, emoji) : emoji, guild),
			),
		);
		return `Put ${emojiName(existing?.emoji ?? emoji)} on ${where}.`;
	},
});

export const removeReaction = tool({
	name: "remove_reaction",
	toolset: "messages",
	title: "Remove a reaction",
	description:
		"Remove a reaction from a message: the bot's own, or with `user_id` another user's.",
	effect: "write",
	idempotent: true,
	lock: "message_id",
	permissions: [
		"ReadMessageHistory",
		{ permission: "ManageMessages", with: "user_id" },
	],
	input: v.strictObject({
		...onMessage,
		emoji,
		user_id: v.optional(snowflake("user whose reaction it is")),
	}),
	async run({ message_id, emoji, user_id }, { discord, guild, channel }) {
		const message = await fetchMessage(channel, message_id);
		const existing = reactionWith(message.reactions, emoji);
		const isOwn = user_id === undefined || user_id === discord.user.id;
		const asWritten = existing ? fromMessage(existing.emoji, emoji) : emoji;
		const path = emojiPath(asWritten, guild);
		const isThere = isOwn
			? existing?.me
			: existing && (await hasReacted(channel, message_id, path, user_id));
		const who = isOwn ? "The bot" : `The user ${user_id}`;
		const where = messageName(message_id, channel);
		if (!isThere)
			throw new ToolError(
				`${who} has not put ${emojiName(asWritten)} on ${where}. Nothing was done; get_reactions shows who has.`,
			);
		await discord.rest.delete(
			isOwn
				? Routes.channelMessageOwnReaction(channel.id, message_id, path)
				: Routes.channelMessageUserReaction(
						channel.id,
						message_id,
						path,
						user_id,
					),
		);
		return `Removed ${emojiName(asWritten)} of ${isOwn ? "the bot" : `the user ${user_id}`} from ${where}.`;
	},
});

export const getReactions = tool({
	name: "get_reactions",
	toolset: "messages",
	title: "Get reactions",
	description: "List who reacted with an emoji, by id.",
	effect: "read",
	permissions: ["ReadMessageHistory"],
	input: v.strictObject({
		...onMessage,
		emoji,
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last user")),
	}),
	async run({ message_id, emoji, limit, after }, { guild, channel }) {
		const users = await fetchReactions(
			channel,
			message_id,
			emojiPath(emoji, guild),
			{ limit, after },
		);
		const last = users.at(-1);
		const target = `${emojiName(emoji)} on ${messageName(message_id, channel)}`;
		if (!last)
			return `Nobody${after === undefined ? "" : ` with an id above ${after}`} has put ${target}.`;
		return [
			`${users.length} user(s) with ${target}, by id:`,
			...users.map(({ username, id }) => `@${oneField(username)} | ID: ${id}`),
			...(users.length === limit ? [`next_after=${last.id}`] : []),
		];
	},
});

export const clearReactions = destructiveTool({
	name: "clear_reactions",
	toolset: "messages",
	title: "Clear reactions",
	description:
		"Remove everyone's reactions from a message: all, or those with one emoji.",
	permissions: ["ReadMessageHistory", "ManageMessages"],
	lock: "message_id",
	idempotent: true,
	input: v.strictObject({ ...onMessage, emoji: v.optional(emoji) }),
	async plan({ message_id, emoji }, { discord, guild, channel }) {
		const { reactions = [] } = await fetchMessage(channel, message_id);
		const existing = emoji && reactionWith(reactions, emoji);
		const removed = emoji ? (existing ? [existing] : []) : reactions;
		const where = messageName(message_id, channel);
		if (removed.length === 0)
			throw new ToolError(
				`Nobody has put ${emoji ? emojiName(emoji) : "an emoji"} on ${where}. Nothing was done.`,
			);
		const count = removed.reduce((sum, { count }) => sum + count, 0);
		const labels = removed.map(
			({ emoji, count }) => `${emojiName(emoji)} ${count}`,
		);
		const target = `${count} reaction(s) from ${where}: ${labels.join(", ")}`;
		return {
			preview: `Would remove ${target}`,
			async act() {
				await discord.rest.delete(
					emoji && existing
						? Routes.channelMessageReaction(
								channel.id,
								message_id,
								emojiPath(fromMessage(existing.emoji, emoji), guild),
							)
						: Routes.channelMessageAllReactions(channel.id, message_id),
				);
				return `Removed ${target}`;
			},
		};
	},
});

function messageName(
	messageId: string,
	channel: GuildTextBasedChannel,
): string {
	return `the message ${messageId} in ${channelName(channel)}`;
}

type ReactionEmoji = NonNullable<APIMessage["reactions"]>[number]["emoji"];

/** The emoji with the name that the message has for it. */
function fromMessage(existing: ReactionEmoji, requested: Emoji): Emoji {
	return { id: requested.id, name: existing.name ?? requested.name };
}

async function fetchReactions(
	{ id, client }: GuildTextBasedChannel,
	messageId: string,
	emojiPath: string,
	{ limit, after }: { limit: number; after?: string | undefined },
): Promise<APIUser[]> {
	const query = new URLSearchParams({
		limit: String(limit),
		...(after !== undefined && { after }),
	});
	const path = Routes.channelMessageReaction(id, messageId, emojiPath);
	return (await client.rest.get(path, { query })) as APIUser[];
}

async function hasReacted(
	channel: GuildTextBasedChannel,
	messageId: string,
	emojiPath: string,
	userId: string,
): Promise<boolean> {
	const after = String(BigInt(userId) - 1n);
	const page = { limit: 1, after };
	const [user] = await fetchReactions(channel, messageId, emojiPath, page);
	return user?.id === userId;
}
