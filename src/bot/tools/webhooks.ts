// Webhooks and their messages. Tokens are neither shown nor accepted as arguments.

import {
	type APIMessage,
	type APIWebhook,
	type Guild,
	type GuildBasedChannel,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
	SnowflakeUtil,
	WebhookType,
} from "discord.js";
import * as v from "valibot";
import { channelName, nowIs, time } from "../../discord/describe.ts";
import { absentIf, anyChannel, channel } from "../../discord/find.ts";
import { impliedIn, missingPermissions, requirePermissions } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { fieldLine, inlineText, oneField, resultLines } from "../../discord/text.ts";
import { isHidden, visibleChannel } from "../../discord/visible-channels.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { said } from "../../texts/texts.ts";
import { allowedMentions, content, embeds, mentions, messageFields, pingsMany } from "../messages/message-arguments.ts";
import { readsContent } from "../messages/message-content.ts";
import { searchIndex } from "../messages/message-index.ts";
import { apiUserName, messageHead } from "../messages/message-lines.ts";
import { editPlan, linkTo, pingLines, placeOf } from "../messages/sent-message.ts";
import { asking, listed, parts } from "../results/result.ts";
import { changesOf, found, guild_id, list, oneOrMore, reason, snowflake, text } from "../tool/arguments/arguments.ts";
import { planEach } from "../tool/bulk.ts";
import { destructiveTool, editTool, readTool, writeTool } from "../tool/define.ts";

const webhook_id = found(webhook, "webhook");

export const listWebhooks = readTool({
	name: "list_webhooks",
	toolset: "webhooks",
	title: "List webhooks",
	description: "List webhooks with channel, creator and latest known message.",
	permissions: ["ManageWebhooks"],
	permissionsIn: "channel_ids",
	input: { guild_id, channel_ids: v.optional(oneOrMore(found(channel, "channel"), 20, "Default: all.")) },
	async run(_, { discord, guild, channels }) {
		const routes = channels?.map(({ id }) => Routes.channelWebhooks(id)) ?? [Routes.guildWebhooks(guild.id)];
		const all = (await Promise.all(routes.map((route) => discord.rest.get(route)))).flat() as APIWebhook[];
		const webhooks = all.filter(({ channel_id }) => !isHidden(guild, channel_id ?? ""));
		const where = channels?.map(channelName).join(", ") ?? "the guild";
		if (webhooks.length === 0) return `There is no webhook in ${where}.`;
		const last = await lastMessages(guild, channels?.length === 1 ? channels[0]?.id : undefined);
		return [
			`${webhooks.length} webhook(s) in ${where}, by id, times in UTC; ${nowIs()}:`,
			...webhooks.sort((a, b) => compareIds(a.id, b.id)).map((data) => webhookLine(data, guild, last?.get(data.id))),
			last
				? "Last messages are known of webhooks that sent one of the newest 25 messages by webhooks."
				: "When they last sent a message is not known: the bot cannot search the guild now.",
		];
	},
});

const kinds: Record<WebhookType, string> = {
	[WebhookType.Incoming]: "incoming",
	[WebhookType.ChannelFollower]: "follower",
	[WebhookType.Application]: "application",
};

function webhookLine(data: APIWebhook, guild: Guild, lastMessage: string | undefined): string {
	const { user, source_channel, source_guild } = data;
	const channel = visibleChannel(guild, data.channel_id ?? "");
	const reason = whyCannotSend(data.type, data.token);
	const source = [source_channel?.name, source_guild?.name].filter((name) => name !== undefined).map(oneField);
	return fieldLine(
		`${oneField(data.name ?? "")} | ID: ${data.id}`,
		`channel: ${channel ? channelName(channel) : (data.channel_id ?? "none")}`,
		`kind: ${kinds[data.type] ?? data.type}`,
		source.length > 0 && `follows: ${source.join(" of ")}`,
		`made: ${time(SnowflakeUtil.timestampFrom(data.id))}${user ? ` by ${apiUserName(user)}` : ""}`,
		lastMessage && `last message: ${time(Date.parse(lastMessage))}`,
		reason ? `cannot send messages: ${reason}` : "can send messages",
	);
}

export const createWebhook = writeTool({
	name: "create_webhook",
	toolset: "webhooks",
	title: "Create a webhook",
	description: "Create a webhook that sends messages to a channel (at most 15 each).",
	permissions: ["ManageWebhooks"],
	input: { guild_id, channel_id: found(channel, "channel"), name: text(1, 80, "Author name of its messages."), reason },
	async run({ name }, { discord, channel }) {
		const made = (await discord.rest.post(Routes.channelWebhooks(channel.id), { body: { name } })) as APIWebhook;
		return `Created the webhook ${webhookName({ id: made.id, name: made.name ?? "" })} in ${channelName(channel)}.`;
	},
});

export const editWebhook = editTool({
	name: "edit_webhook",
	toolset: "webhooks",
	offered: "extra",
	title: "Edit a webhook",
	description: "Rename a webhook, or move it to another channel.",
	lock: "webhook_id",
	permissions: ["ManageWebhooks"],
	input: {
		guild_id,
		webhook_id,
		name: v.optional(text(1, 80, "New name.")),
		channel_id: v.optional(found(channel, "channel to move it to")),
		reason,
	},
	async run(args, { discord, webhook, channel }) {
		const current = { name: webhook.name, channel_id: webhook.channel.id };
		const target = `the webhook ${webhookName(webhook)} in ${channelName(webhook.channel)}`;
		const changes = changesOf(current, args, target);
		await discord.rest.patch(Routes.webhook(webhook.id), { body: changes });
		const renamed = changes.name === undefined ? [] : [`name: ${oneField(current.name)} → ${oneField(changes.name)}`];
		const moved =
			changes.channel_id !== undefined && channel
				? [`channel_id: ${channelName(webhook.channel)} → ${channelName(channel)}`]
				: [];
		return `Changed ${target}: ${[...renamed, ...moved].join(", ")}.`;
	},
});

export const deleteWebhook = destructiveTool({
	name: "delete_webhook",
	toolset: "webhooks",
	title: "Delete webhooks",
	description: "Delete webhooks. Programs that use them can no longer send; messages stay. Not undoable.",
	lock: "webhook_ids",
	permissions: ["ManageWebhooks"],
	permissionsIn: "run",
	input: { guild_id, webhook_ids: list(snowflake("webhook"), 1, 50, "Ids of the webhooks."), reason },
	async plan({ webhook_ids }, { discord, guild }) {
		const looked = await Promise.all(webhook_ids.map(async (id) => ({ id, found: await webhookOrNone(guild, id) })));
		const items = looked.flatMap(({ found }) => found ?? []);
		const missing = looked.flatMap(({ id, found }) => (found ? [] : [id]));
		if (items.length === 0)
			throw new ToolError(
				`There is no webhook ${missing.join(", ")} in the guild ${guild.id} that the bot may manage. list_webhooks lists those that it may manage. Nothing was done.`,
			);
		const { ManageWebhooks } = PermissionFlagsBits;
		for (const { channel } of items) requirePermissions(guild, channel, ManageWebhooks | impliedIn(channel));
		const absent = missing.length > 0 && `Not found, or not for the bot to manage: ${missing.join(", ")}.`;
		return planEach({
			items,
			asks: asking(
				resultLines(
					`Would delete ${items.length} webhook(s). Programs that use them could no longer send. Their messages stay.`,
					items.map(madeWebhook),
					absent,
				),
				said("preview.delete_webhook", { names: listed(items.map(({ name }) => inlineText(name, 200))) }),
			),
			idOf: ({ id }) => id,
			describe: madeWebhook,
			write: ({ id }) => discord.rest.delete(Routes.webhook(id)),
			done: (count, of) => `Deleted ${count} of ${of} webhook(s):`,
			after: (output) => parts(output, absent),
		});
	},
});

function madeWebhook({ name, id, channel, creator }: GuildWebhook): string {
	return fieldLine(
		`${oneField(name)} | ID: ${id}`,
		`channel: ${channelName(channel)}`,
		creator && `made by ${apiUserName(creator)}`,
	);
}

const thread_id = v.optional(found(anyChannel, "thread of the webhook's channel"));

export const sendWebhookMessage = writeTool({
	name: "send_webhook_message",
	toolset: "webhooks",
	title: "Send a webhook message",
	description: "Send a message by a webhook. It pings nobody unless `mentions` allows it.",
	// Clients of other MCP servers may send the token; this bot fetches it from Discord.
	// Discord lets any webhook ping everyone, so the bot requires the permission that it would need itself.
	permissions: ["ManageWebhooks", pingsMany],
	input: {
		guild_id,
		webhook_id,
		content,
		username: v.optional(text(1, 80, "Author of this message.")),
		avatar_url: v.optional(
			v.pipe(
				text(1, 2048, "Avatar of this message."),
				v.regex(/^https?:\/\/\S+$/, "expected a URL that begins with https://"),
			),
		),
		thread_id,
		mentions,
		embeds: v.optional(embeds),
	},
	async run(args, { discord, guild, webhook, thread }) {
		const { content, username, avatar_url } = args;
		const destination = webhook.targetFor(thread);
		const [route, options] = webhook.request(destination);
		const body = {
			content,
			embeds: args.embeds,
			allowed_mentions: allowedMentions(args.mentions),
			username,
			avatar_url,
		};
		const message = (await discord.rest.post(route, { ...options, body })) as APIMessage;
		return [
			`Message sent (ID: ${message.id}) by the webhook ${webhookName(webhook)} to ${placeOf(destination, message.id)}`,
			...pingLines(guild, content, message),
		];
	},
});

const sentByWebhook = { guild_id, webhook_id, message_id: snowflake("message"), thread_id };

export const editWebhookMessage = destructiveTool({
	name: "edit_webhook_message",
	toolset: "webhooks",
	offered: "extra",
	title: "Edit a webhook message",
	description: "Replace content or embeds of a webhook's message; not undoable.",
	lock: "message_id",
	permissions: ["ManageWebhooks"],
	person: { inLockedThreads: false },
	input: { ...sentByWebhook, content: v.optional(content), embeds: v.optional(embeds) },
	async plan({ message_id, ...args }, { discord, webhook, thread }) {
		const destination = webhook.targetFor(thread);
		const [route, options] = webhook.request(destination, message_id);
		const message = (await discord.rest.get(route, options)) as APIMessage;
		const target = `the message ${message_id} in ${channelName(destination)}`;
		const changes = changesOf(messageFields(message), args, target);
		const body = { ...changes, allowed_mentions: allowedMentions("none") };
		return editPlan(changes, target, message, {
			link: linkTo(destination, message_id),
			ask: said("preview.edit_message", { where: `<#${destination.id}>` }),
			write: () => discord.rest.patch(route, { ...options, body }),
		});
	},
});

export const deleteWebhookMessage = destructiveTool({
	name: "delete_webhook_message",
	toolset: "webhooks",
	offered: "extra",
	title: "Delete a webhook message",
	description: "Delete a message that a webhook sent. Not undoable.",
	lock: "message_id",
	permissions: ["ManageWebhooks"],
	input: sentByWebhook,
	async plan({ message_id }, { discord, webhook, thread }) {
		const destination = webhook.targetFor(thread);
		const [route, options] = webhook.request(destination, message_id);
		const message = (await discord.rest.get(route, options)) as APIMessage;
		const target = `the message of ${messageHead(message)} in ${channelName(destination)}.`;
		return {
			preview: asking(`Would delete ${target}`, said("preview.delete_message", { where: `<#${destination.id}>` })),
			write: () => discord.rest.delete(route, options),
			result: `Deleted ${target}`,
		};
	},
});

type GuildWebhook = ReturnType<typeof guildWebhook>;

function guildWebhook(data: APIWebhook, channel: GuildBasedChannel) {
	const { id, type, token, user: creator } = data;
	const name = data.name ?? "";
	const label = webhookName({ id, name });
	return {
		id,
		name,
		channel,
		creator,

		targetFor(thread: GuildBasedChannel | undefined): GuildBasedChannel {
			const own = channelName(channel);
			if (!thread && channel.isThreadOnly())
				throw new ToolError(
					`The webhook's channel, ${own}, is a forum: pass the id of one of its posts as thread_id. Nothing was done.`,
				);
			if (!thread) return channel;
			if (thread.parentId === channel.id) return thread;
			throw new ToolError(
				`${channelName(thread)} is not a thread of ${own}, the channel of the webhook ${label}. Nothing was done.`,
			);
		},

		/** Of the webhook's own message, or to send one. */
		request(target: GuildBasedChannel, messageId?: string) {
			const reason = whyCannotSend(type, token);
			if (reason !== undefined || token === undefined)
				throw new ToolError(
					`The webhook ${label} cannot send messages: ${reason}. Nothing was done; create_webhook creates one that can.`,
				);
			const query = new URLSearchParams(target === channel ? {} : { thread_id: target.id });
			if (messageId === undefined) query.set("wait", "true");
			const route = messageId === undefined ? Routes.webhook(id, token) : Routes.webhookMessage(id, token, messageId);
			return [route, { query, auth: false }] as const;
		},
	};
}

function whyCannotSend(type: WebhookType, token: string | undefined): string | undefined {
	if (type === WebhookType.ChannelFollower) return "it forwards the announcements of another channel";
	if (type === WebhookType.Application) return "it belongs to an application's interactions";
	return token === undefined ? "another application created it, and only that application has its token" : undefined;
}

function webhookName({ name, id }: { name: string; id: string }) {
	return `${oneField(name)} (ID: ${id})`;
}

async function webhook(guild: Guild, id: string): Promise<GuildWebhook> {
	const found = await webhookOrNone(guild, id);
	if (found) return found;
	throw new ToolError(
		`There is no webhook ${id} in the guild ${guild.id} that the bot may manage. list_webhooks lists those that it may manage.`,
	);
}

async function webhookOrNone(guild: Guild, id: string): Promise<GuildWebhook | undefined> {
	const data = await absentIf(
		[RESTJSONErrorCodes.MissingPermissions, RESTJSONErrorCodes.UnknownWebhook],
		() => guild.client.rest.get(Routes.webhook(id)) as Promise<APIWebhook>,
	);
	const channel = visibleChannel(guild, data?.channel_id ?? "");
	return data?.guild_id === guild.id && channel ? guildWebhook(data, channel) : undefined;
}

/** By webhook id, by the newest 25 webhook messages in Discord's search; undefined if the bot cannot search now. */
async function lastMessages(guild: Guild, channelId: string | undefined): Promise<Map<string, string> | undefined> {
	if (missingPermissions(guild, undefined, PermissionFlagsBits.ReadMessageHistory) !== 0n) return undefined;
	if (!readsContent(guild.client)) return undefined;
	const query = { author_type: "webhook", channel_id: channelId, include_nsfw: true };
	try {
		const found = await searchIndex(guild, query, { limit: 25, reserveMs: Infinity });
		if (!found) return undefined;
		const times = found.messages.map(({ webhook_id = "", timestamp }) => [webhook_id, timestamp] as const);
		// The first message of a webhook is the newest one, and has to be set last.
		return new Map(times.toReversed());
	} catch (error) {
		if (!toToolError(error)) throw error;
		return undefined;
	}
}
