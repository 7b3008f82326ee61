// Deleting messages: by id, or those that match a filter, in one or several channels.

import {
	type APIMessage,
	type Client,
	type Guild,
	type GuildTextBasedChannel,
	MessageType,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { channelName } from "../../discord/describe.ts";
import { textChannel } from "../../discord/find.ts";
import {
	bitsIn,
	botMember,
	impliedIn,
	requireOf,
	requireOfPerson,
	requirePermissions,
} from "../../discord/permissions.ts";
import { resultLines } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { isDeletable } from "../messages/bulk-delete.ts";
import { cut, keptNotes, messageLinesOf, planMatching } from "../messages/matching-deletion.ts";
import { fetchMessage } from "../messages/message-arguments.ts";
import { requireContent } from "../messages/message-content.ts";
import { deletionPlan, lookUp, purgeDraft, readsHistory, type Target } from "../messages/message-deletion.ts";
import { filterArguments, isBlank } from "../messages/message-filter.ts";
import { messageHead } from "../messages/message-lines.ts";
import { messageReference } from "../messages/sent-message.ts";
import { asking, result } from "../results/result.ts";
import { expected, found, guild_id, integer, list, reason } from "../tool/arguments/arguments.ts";
import type { Plan } from "../tool/context.ts";
import { destructiveTool } from "../tool/define.ts";

const maxCount = 1000;
const maxIds = 500;
const maxLookUps = 20;

const input = {
	guild_id,
	channel_id: v.optional(found(textChannel, "channel")),
	message_ids: v.optional(
		list(
			v.pipe(v.string(), v.regex(messageReference, expected("an id, channel_id/message_id, or a link"))),
			1,
			maxIds,
			"Ids in channel_id, channel_id/message_id or links.",
		),
	),
	...filterArguments,
	has: v.optional(v.pipe(filterArguments.has.wrapped, v.description("As in search_messages."))),
	count: v.optional(integer(1, maxCount, "Maximum, newest first.")),
	reason,
};

/** Filters of messages. To delete messages in all channels, a call must pass at least one of them. */
const contentFilters = ["user_ids", "text", "has"] as const;
const filters = [...contentFilters, "after", "before", "count"] as const;

export const deleteMessages = destructiveTool({
	name: "delete_messages",
	toolset: "messages",
	offered: "listed",
	title: "Delete messages",
	description: "Permanently delete messages by id or filter; filters keep pinned ones.",
	person: { may: "purge" },
	permissions: [
		{
			permission: "ManageMessages",
			with: "message_ids",
			// The bot's own messages need no permission.
			when: ({ message_ids }) => message_ids?.length !== 1,
		},
		{ permission: "ReadMessageHistory", with: "count", when: ({ message_ids }) => message_ids === undefined },
	],
	permissionsIn: "run",
	intents: ["MessageContent"],
	input,
	async plan(args, { discord, guild, channel, channels }) {
		const { message_ids } = args;
		const used = filters.filter((name) => args[name] !== undefined);
		if (message_ids) {
			if (used.length > 0 || channels)
				throw invalidParameters([`${used[0] ?? "channel_ids"}: cannot be combined with message_ids`]);
			const targets = await targetsOf(message_ids, guild, channel);
			const [first, ...others] = targets;
			if (first && others.length === 0) return planOne(discord, first);
			return planMany(guild, targets);
		}
		const places = channel ? [...(channels ?? []), channel] : channels;
		const needed = places ? filters : contentFilters;
		// Nearly every message is without a poll.
		const onlyExcludes = args.has?.every((kind) => kind.startsWith("-"));
		const isUsed = (name: (typeof filters)[number]) => args[name] !== undefined && !(name === "has" && onlyExcludes);
		if (!needed.some(isUsed))
			throw invalidParameters([
				`message_ids, ${needed.join(", ")}: expected at least one of these${places ? "" : ", or channel_ids together with after, before or count"}`,
			]);
		if (args.text !== undefined && isBlank(args.text)) throw invalidParameters(["text: expected visible characters"]);
		if (args.text !== undefined || args.has !== undefined) requireContent(discord, "`text` and `has` match nothing");
		const order = channelsFromTop(guild);
		return planMatching(guild, args, places, { order, maxCount });
	},
});

async function targetsOf(references: readonly string[], guild: Guild, channel: GuildTextBasedChannel | undefined) {
	const targets = new Map<string, Target>();
	for (const text of references) {
		const [, guildId = guild.id, channelId, id = ""] = messageReference.exec(text) ?? [];
		if (guildId !== guild.id)
			throw new ToolError(
				`The message ${text} is in the guild ${guildId}, not in the guild ${guild.id}. Nothing was done.`,
			);
		const place = channelId ? await textChannel(guild, channelId) : channel;
		if (!place)
			throw invalidParameters([
				`message_ids: the channel of ${id} is not given; pass channel_id, or write the id as channel_id/message_id`,
			]);
		targets.set(`${place.id}/${id}`, { channel: place, id });
	}
	return [...targets.values()];
}

async function planOne(discord: Client<true>, { channel, id }: Target): Promise<Plan> {
	// Deleting needs no Read Message History, and the bot's own messages need no Manage Messages. Discord decides about a
	// message that the bot cannot read. https://docs.discord.com/developers/resources/message#delete-message
	const message = readsHistory(channel) ? await fetchMessage(channel, id) : undefined;
	const { guild } = channel;
	const { ManageMessages } = PermissionFlagsBits;
	requireOfPerson(guild, channel, impliedIn(channel));
	// A person's own messages need no Manage Messages of the person.
	if (!message || message.author.id !== actingPerson(guild)?.id) requireOfPerson(guild, channel, ManageMessages);
	if (message && message.author.id !== discord.user.id) requireOf(botMember(guild), channel, ManageMessages);
	const name = message ? `the message of ${messageHead(message)}` : `the message ${id}`;
	if (message && !isDeletable(message))
		throw new ToolError(
			`Discord does not allow deleting messages of the type ${MessageType[message.type]}, such as ${name}. Nothing was done.`,
		);
	const target = `${name} from ${channelName(channel)}.`;
	const targets = [{ channel, id }];
	const one = { messages: said("count.messages", { count: 1 }), where: `<#${channel.id}>` };
	return {
		preview: asking(`Would delete ${target}`, said("result.purge.ask", one)),
		record: message && purgeDraft(guild, targets, [message]),
		write: () => discord.rest.delete(Routes.channelMessage(channel.id, id)),
		result: result(`Deleted ${target}`, said("result.purge", one)),
	};
}

const ignoredIds = "Discord silently ignores ids of messages that do not exist there.";

async function planMany(guild: Guild, targets: readonly Target[]): Promise<Plan> {
	const byChannel = Map.groupBy(targets, ({ channel }) => channel);
	for (const [channel, { length }] of byChannel) {
		const bits = bitsIn(channel, ["ManageMessages"]) | impliedIn(channel);
		requirePermissions(guild, channel, bits);
		// Only threads have messages that nobody can delete, so only there messages have to be read.
		if (channel.isThread() && length > 1) requirePermissions(guild, channel, PermissionFlagsBits.ReadMessageHistory);
	}
	const undeletable: Target[] = [];
	const rest: Target[] = [];
	for (const [channel, inChannel] of byChannel) {
		const isRead = channel.isThread() && inChannel.length > 1;
		const { messages } = isRead
			? await lookUp(channel, inChannel, Infinity)
			: { messages: new Map<string, APIMessage>() };
		for (const target of inChannel) {
			const message = messages.get(target.id);
			(message && !isDeletable(message) ? undeletable : rest).push(target);
		}
	}
	const isAcross = byChannel.size > 1;
	const notes = keptNotes(
		[],
		undeletable.map((target) => nameOf(target, isAcross)),
	);
	return deletionPlan(rest, {
		notes,
		record: purgeDraft(guild, rest, []),
		caveat: ignoredIds,
		nothing: "Nothing was deleted.",
		again: (left) =>
			`To continue, call again with message_ids ${left.map((target) => nameOf(target, isAcross)).join(", ")}.`,
		async describe() {
			const messages: APIMessage[] = [];
			const missing: Target[] = [];
			let isComplete = true;
			let pages = maxLookUps;
			for (const [channel, inChannel] of Map.groupBy(rest, ({ channel }) => channel)) {
				const known = await lookUp(channel, inChannel, pages);
				pages -= known.pages;
				messages.push(...known.messages.values());
				isComplete &&= known.isComplete;
				missing.push(...inChannel.filter(({ id }) => known.missing.has(id)));
			}
			const names = missing.map((target) => nameOf(target, isAcross));
			return {
				missing,
				lines: resultLines(
					messageLinesOf(guild, messages, { isAcross, others: "get_message shows each" }),
					names.length > 0 && `${names.length} not found: ${cut(names)}`,
					!isComplete && ignoredIds,
				),
			};
		},
	});
}

function nameOf({ channel, id }: Target, isAcross: boolean): string {
	return isAcross ? `${channel.id}/${id}` : id;
}
