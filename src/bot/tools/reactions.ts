// Reactions to messages.

import { type APIReaction, type Guild, type GuildTextBasedChannel, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { channelName, personFields, personName } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import {
	type Emoji,
	emoji,
	emojiName,
	emojiPath,
	fetchReactions,
	type ReactionPage,
	reactionCount,
	reactionWith,
	requireOwnEmoji,
} from "../messages/emoji.ts";
import { fetchMessage, onMessage } from "../messages/message-arguments.ts";
import { asking } from "../results/result.ts";
import { choice, flag, limit, snowflake } from "../tool/arguments/arguments.ts";
import type { Plan } from "../tool/context.ts";
import { destructiveTool, editTool, readTool } from "../tool/define.ts";

export const addReaction = editTool(
	{
		name: "add_reaction",
		toolset: "messages",
		title: "Add a reaction",
		description: "React to a message, as the bot.",
		lock: "message_id",
		permissions: ["ReadMessageHistory"],
		person: { inLockedThreads: true },
		input: { ...onMessage, emoji },
		async run({ message_id, emoji }, { discord, guild, channel }) {
			const message = await fetchMessage(channel, message_id);
			const existing = reactionWith(message.reactions, emoji);
			const where = messageName(message_id, channel);
			if (existing?.me)
				throw new ToolError(`The bot has already put ${emojiName(emoji)} on ${where}. Nothing was done.`);
			// Only the first reaction with an emoji needs Add Reactions.
			if (!existing) {
				requirePermissions(guild, channel, PermissionFlagsBits.AddReactions);
				await requireOwnEmoji(guild, [emoji]);
			}
			const path = emojiPath(asOnMessage(emoji, existing), guild);
			await discord.rest.put(Routes.channelMessageOwnReaction(channel.id, message_id, path));
			return `Put ${emojiName(existing?.emoji ?? emoji)} on ${where}.`;
		},
	},
	{ additive: true },
);

export const removeReaction = destructiveTool({
	name: "remove_reaction",
	toolset: "messages",
	title: "Remove reactions",
	description: "Remove reactions from a message: the bot's own, another user's or everyone's.",
	lock: "message_id",
	permissions: [
		"ReadMessageHistory",
		{ permission: "ManageMessages", with: "user_id" },
		{ permission: "ManageMessages", with: "everyone" },
	],
	// Also for the bot's own reaction.
	person: { permissions: ["ManageMessages"] },
	input: {
		...onMessage,
		emoji: v.optional(emoji),
		user_id: v.optional(snowflake("user; default: the bot")),
		everyone: flag("Everyone's; without emoji, all.", false),
	},
	plan(args, { guild, channel }) {
		const { message_id, emoji, user_id } = args;
		if (args.everyone && user_id !== undefined)
			throw invalidParameters(["user_id: cannot be combined with the argument everyone"]);
		if (args.everyone) return clearing(guild, channel, message_id, emoji);
		if (emoji) return removal(guild, channel, message_id, emoji, user_id);
		throw invalidParameters(["emoji: is required unless everyone is true"]);
	},
});

async function removal(
	guild: Guild,
	channel: GuildTextBasedChannel,
	messageId: string,
	emoji: Emoji,
	userId: string | undefined,
): Promise<Plan> {
	const { user: bot } = guild.client;
	const message = await fetchMessage(channel, messageId);
	const existing = reactionWith(message.reactions, emoji);
	const isOwn = userId === undefined || userId === bot.id;
	const asWritten = asOnMessage(emoji, existing);
	const path = emojiPath(asWritten, guild);
	const page = { type: "normal", limit: 1, after: String(BigInt(userId ?? 0) - 1n) } as const;
	const isThere = isOwn
		? existing?.me
		: existing && (await fetchReactions(channel, messageId, path, page))[0]?.id === userId;
	const where = messageName(messageId, channel);
	if (!isThere)
		throw new ToolError(
			`${isOwn ? "The bot" : `The user ${userId}`} has not put ${emojiName(asWritten)} on ${where}. Nothing was done; get_reactions shows who has.`,
		);
	const route = isOwn
		? Routes.channelMessageOwnReaction(channel.id, messageId, path)
		: Routes.channelMessageUserReaction(channel.id, messageId, path, userId);
	return removing(
		channel,
		1,
		`${emojiName(asWritten)} of ${isOwn ? "the bot" : `the user ${userId}`} from ${where}.`,
		route,
	);
}

const removing = (channel: GuildTextBasedChannel, count: number, target: string, route: `/${string}`): Plan => ({
	preview: asking(`Would remove ${target}`, said("preview.reactions", { count, where: `<#${channel.id}>` })),
	write: () => channel.client.rest.delete(route),
	result: `Removed ${target}`,
});

async function clearing(guild: Guild, channel: GuildTextBasedChannel, messageId: string, emoji: Emoji | undefined) {
	const { reactions = [] } = await fetchMessage(channel, messageId);
	const existing = emoji && reactionWith(reactions, emoji);
	const removed = emoji ? (existing ? [existing] : []) : reactions;
	const where = messageName(messageId, channel);
	if (removed.length === 0)
		throw new ToolError(`Nobody has put ${emoji ? emojiName(emoji) : "an emoji"} on ${where}. Nothing was done.`);
	const count = removed.reduce((sum, { count }) => sum + count, 0);
	const target = `${count} reaction(s) from ${where}: ${removed.map(reactionCount).join(", ")}`;
	const route = emoji
		? Routes.channelMessageReaction(channel.id, messageId, emojiPath(asOnMessage(emoji, existing), guild))
		: Routes.channelMessageAllReactions(channel.id, messageId);
	return removing(channel, count, target, route);
}

export const getReactions = readTool({
	name: "get_reactions",
	toolset: "messages",
	title: "Get reactions",
	description: "List who reacted to a message.",
	permissions: ["ReadMessageHistory"],
	input: {
		...onMessage,
		emoji: v.optional(v.pipe(emoji, v.description("Only with this emoji; default: all."))),
		type: v.optional(choice(["normal", "burst"], "Kind.")),
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last user")),
	},
	async run(args, { guild, channel }) {
		const { message_id, emoji, type = "normal", limit, after } = args;
		if (!emoji && after !== undefined) throw invalidParameters(["after: expected only together with emoji"]);
		if (!emoji) return everyReaction(guild, channel, message_id, type, limit);
		const path = emojiPath(emoji, guild);
		const users = await fetchReactions(channel, message_id, path, { type, limit, after });
		const last = users.at(-1);
		const kind = type === "burst" ? " as a super reaction" : "";
		const target = `${emojiName(emoji)}${kind} on ${messageName(message_id, channel)}`;
		if (!last) return `Nobody${after === undefined ? "" : ` with an id above ${after}`} has put ${target}.`;
		return [
			`${users.length} user(s) with ${target}, by id:`,
			...users.map((user) => personFields(guild, user)),
			...(users.length === limit ? [`next_after=${last.id}`] : []),
		];
	},
});

async function everyReaction(
	guild: Guild,
	channel: GuildTextBasedChannel,
	messageId: string,
	type: ReactionPage["type"],
	limit: number,
): Promise<string[]> {
	const message = await fetchMessage(channel, messageId);
	const where = messageName(messageId, channel);
	const present = (message.reactions ?? []).flatMap((reaction) => {
		const { emoji, count, count_details } = reaction;
		const supers = count_details?.burst ?? 0;
		const total = type === "burst" ? supers : count - supers;
		return total > 0 ? [{ emoji, total }] : [];
	});
	const kind = type === "burst" ? "super reactions" : "reactions";
	if (present.length === 0) return [`There are no ${kind} on ${where}.`];
	const lines: string[] = [];
	for (const { emoji, total } of present) {
		const written = asOnMessage({ id: emoji.id ?? undefined, name: emoji.name ?? undefined }, undefined);
		const path = emojiPath(written, guild);
		const users = await fetchReactions(channel, messageId, path, { type, limit });
		const more = total - users.length;
		const names = users.map((user) => personName(guild, user));
		lines.push(
			`${emojiName(emoji)} ${total}: ${names.join(", ")}${more > 0 && users.length === limit ? `, … ${more} more` : ""}`,
		);
	}
	return [`${present.length} emoji with ${kind} on ${where}:`, ...lines];
}

function messageName(messageId: string, channel: GuildTextBasedChannel): string {
	return `the message ${messageId} in ${channelName(channel)}`;
}

/** With its name in the message's reactions, because the given name may differ. */
function asOnMessage({ id, name }: Emoji, existing: APIReaction | undefined): Emoji {
	return { id, name: existing?.emoji.name ?? name };
}
