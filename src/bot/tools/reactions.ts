// Reactions: emoji that people put on messages.

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
	description: "Put an emoji on a message, as the bot.",
	effect: "write",
	idempotent: true,
	lock: "message_id",
	permissions: ["ReadMessageHistory"],
	input: v.strictObject({ ...onMessage, emoji }),
	async run({ message_id, emoji }, { discord, guild, channel }) {
		const message = await fetchMessage(channel, message_id);
		const there = reactionWith(message.reactions, emoji);
		const where = nameOf(message_id, channel);
		if (there?.me)
			throw new ToolError(
				`The bot has put ${emojiName(emoji)} on ${where} already. Nothing was done.`,
			);
		// Whoever joins in an emoji that is there needs no permission.
		if (!there) {
			requirePermissions(guild, channel, PermissionFlagsBits.AddReactions);
			await requireOwnEmoji(guild, [emoji]);
		}
		await discord.rest.put(
			Routes.channelMessageOwnReaction(
				channel.id,
				message_id,
				emojiPath(there ? wholeOf(there.emoji, emoji) : emoji, guild),
			),
		);
		return `Put ${emojiName(there?.emoji ?? emoji)} on ${where}.`;
	},
});

export const removeReaction = tool({
	name: "remove_reaction",
	toolset: "messages",
	title: "Remove a reaction",
	description:
		"Take an emoji off a message: the bot's own, or with `user_id` that of someone else.",
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
		user_id: v.optional(snowflake("person whose reaction it is")),
	}),
	async run({ message_id, emoji, user_id }, { discord, guild, channel }) {
		const message = await fetchMessage(channel, message_id);
		const there = reactionWith(message.reactions, emoji);
		const own = user_id === undefined || user_id === discord.user.id;
		const whole = there ? wholeOf(there.emoji, emoji) : emoji;
		const path = emojiPath(whole, guild);
		const has = own
			? there?.me
			: there && (await hasReacted(channel, message_id, path, user_id));
		const who = own ? "The bot" : `The user ${user_id}`;
		const where = nameOf(message_id, channel);
		if (!has)
			throw new ToolError(
				`${who} has not put ${emojiName(whole)} on ${where}. Nothing was done; get_reactions shows who has.`,
			);
		await discord.rest.delete(
			own
				? Routes.channelMessageOwnReaction(channel.id, message_id, path)
				: Routes.channelMessageUserReaction(
						channel.id,
						message_id,
						path,
						user_id,
					),
		);
		return `Took ${emojiName(whole)} of ${own ? "the bot" : `the user ${user_id}`} off ${where}.`;
	},
});

export const getReactions = tool({
	name: "get_reactions",
	toolset: "messages",
	title: "Get reactions",
	description: "List who put an emoji on a message, by id.",
	effect: "read",
	permissions: ["ReadMessageHistory"],
	input: v.strictObject({
		...onMessage,
		emoji,
		limit: limit(100, 100),
		after: v.optional(snowflake("last user of the page before")),
	}),
	async run({ message_id, emoji, limit, after }, { guild, channel }) {
		const users = await whoReacted(
			channel,
			message_id,
			emojiPath(emoji, guild),
			{ limit, after },
		);
		const last = users.at(-1);
		const what = `${emojiName(emoji)} on ${nameOf(message_id, channel)}`;
		if (!last)
			return `Nobody${after === undefined ? "" : ` with an id above ${after}`} has put ${what}.`;
		return [
			`${users.length} user(s) with ${what}, in the order of their ids:`,
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
		"Take everyone's reactions off a message: all of them, or those with one emoji.",
	permissions: ["ReadMessageHistory", "ManageMessages"],
	lock: "message_id",
	idempotent: true,
	input: v.strictObject({ ...onMessage, emoji: v.optional(emoji) }),
	async plan({ message_id, emoji }, { discord, guild, channel }) {
		const { reactions = [] } = await fetchMessage(channel, message_id);
		const one = emoji && reactionWith(reactions, emoji);
		const gone = emoji ? (one ? [one] : []) : reactions;
		const where = nameOf(message_id, channel);
		if (gone.length === 0)
			throw new ToolError(
				`Nobody has put ${emoji ? emojiName(emoji) : "an emoji"} on ${where}. Nothing was done.`,
			);
		const count = gone.reduce((sum, { count }) => sum + count, 0);
		const shown = gone.map(
			({ emoji, count }) => `${emojiName(emoji)} ${count}`,
		);
		const what = `${count} reaction(s) off ${where}: ${shown.join(", ")}`;
		return {
			preview: `Would take ${what}`,
			async act() {
				await discord.rest.delete(
					emoji && one
						? Routes.channelMessageReaction(
								channel.id,
								message_id,
								emojiPath(wholeOf(one.emoji, emoji), guild),
							)
						: Routes.channelMessageAllReactions(channel.id, message_id),
				);
				return `Took ${what}`;
			},
		};
	},
});

function nameOf(messageId: string, channel: GuildTextBasedChannel): string {
	return `the message ${messageId} in ${channelName(channel)}`;
}

type Reacted = NonNullable<APIMessage["reactions"]>[number]["emoji"];

/** An emoji as the message has it: with its name, and written as there. */
function wholeOf(there: Reacted, asked: Emoji): Emoji {
	return { id: asked.id, name: there.name ?? asked.name };
}

async function whoReacted(
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
	const [user] = await whoReacted(channel, messageId, emojiPath, page);
	return user?.id === userId;
}
