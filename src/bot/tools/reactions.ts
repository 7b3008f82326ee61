// Reactions to messages.

import {
	type APIReaction,
	type APIUser,
	type GuildTextBasedChannel,
	makeURLSearchParams,
	PermissionFlagsBits,
	ReactionType,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { channelName, userFields } from "../discord/describe.ts";
import { requirePermissions } from "../discord/permissions.ts";
import {
	type Emoji,
	emoji,
	emojiName,
	emojiPath,
	reactionCount,
	reactionWith,
	requireOwnEmoji,
} from "../messages/emoji.ts";
import { fetchMessage, onMessage } from "../messages/message-arguments.ts";
import { choice, limit, snowflake } from "../tool/arguments.ts";
import { destructiveTool, editTool, readTool } from "../tool/define.ts";

export const addReaction = editTool({
	name: "add_reaction",
	toolset: "messages",
	title: "Add a reaction",
	description: "React to a message, as the bot.",
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
		const path = emojiPath(asOnMessage(emoji, existing), guild);
		await discord.rest.put(
			Routes.channelMessageOwnReaction(channel.id, message_id, path),
		);
		return `Put ${emojiName(existing?.emoji ?? emoji)} on ${where}.`;
	},
});

export const removeReaction = editTool({
	name: "remove_reaction",
	toolset: "messages",
	title: "Remove a reaction",
	description:
		"Remove a reaction from a message: the bot's own, or with `user_id` another user's.",
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
		const asWritten = asOnMessage(emoji, existing);
		const path = emojiPath(asWritten, guild);
		const isThere = isOwn
			? existing?.me
			: existing && (await hasReacted(channel, message_id, path, user_id));
		const where = messageName(message_id, channel);
		// A guess: the request does not remove super reactions. Discord documents none that removes a single one.
		const isSuper =
			!(isThere || isOwn) &&
			(existing?.count_details?.burst ?? 0) > 0 &&
			(await hasReacted(channel, message_id, path, user_id, "burst"));
		if (isSuper)
			throw new ToolError(
				`The user ${user_id} has put ${emojiName(asWritten)} on ${where} as a super reaction, which only clear_reactions removes, with all others of this emoji. Nothing was done.`,
			);
		if (!isThere)
			throw new ToolError(
				`${isOwn ? "The bot" : `The user ${user_id}`} has not put ${emojiName(asWritten)} on ${where}. Nothing was done; get_reactions shows who has.`,
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

export const getReactions = readTool({
	name: "get_reactions",
	toolset: "messages",
	title: "Get reactions",
	description: "List who reacted with an emoji, by id.",
	permissions: ["ReadMessageHistory"],
	input: v.strictObject({
		...onMessage,
		emoji,
		type: v.optional(
			choice(["normal", "burst"], "Burst: super reactions."),
			"normal",
		),
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last user")),
	}),
	async run({ message_id, emoji, type, limit, after }, { guild, channel }) {
		const path = emojiPath(emoji, guild);
		const page = { type, limit, after };
		const users = await fetchReactions(channel, message_id, path, page);
		const last = users.at(-1);
		const kind = type === "burst" ? " as a super reaction" : "";
		const target = `${emojiName(emoji)}${kind} on ${messageName(message_id, channel)}`;
		if (!last)
			return `Nobody${after === undefined ? "" : ` with an id above ${after}`} has put ${target}.`;
		return [
			`${users.length} user(s) with ${target}, by id:`,
			...users.map(userFields),
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
		const target = `${count} reaction(s) from ${where}: ${removed.map(reactionCount).join(", ")}`;
		return {
			preview: `Would remove ${target}`,
			write: () =>
				discord.rest.delete(
					emoji
						? Routes.channelMessageReaction(
								channel.id,
								message_id,
								emojiPath(asOnMessage(emoji, existing), guild),
							)
						: Routes.channelMessageAllReactions(channel.id, message_id),
				),
			result: `Removed ${target}`,
		};
	},
});

function messageName(
	messageId: string,
	channel: GuildTextBasedChannel,
): string {
	return `the message ${messageId} in ${channelName(channel)}`;
}

/**
 * Returns an emoji with the name that it has in a message's existing reaction; unchanged if there is no such reaction.
 */
function asOnMessage(
	{ id, name }: Emoji,
	existing: APIReaction | undefined,
): Emoji {
	return { id, name: existing?.emoji.name ?? name };
}

interface ReactionPage {
	type: "normal" | "burst";
	limit: number;
	after?: string | undefined;
}

async function fetchReactions(
	{ id, client }: GuildTextBasedChannel,
	messageId: string,
	emojiPath: string,
	page: ReactionPage,
): Promise<APIUser[]> {
	const type = page.type === "burst" ? ReactionType.Super : undefined;
	const query = makeURLSearchParams({ ...page, type });
	const path = Routes.channelMessageReaction(id, messageId, emojiPath);
	return (await client.rest.get(path, { query })) as APIUser[];
}

async function hasReacted(
	channel: GuildTextBasedChannel,
	messageId: string,
	emojiPath: string,
	userId: string,
	type: ReactionPage["type"] = "normal",
): Promise<boolean> {
	const after = String(BigInt(userId) - 1n);
	const page = { type, limit: 1, after };
	const [user] = await fetchReactions(channel, messageId, emojiPath, page);
	return user?.id === userId;
}
