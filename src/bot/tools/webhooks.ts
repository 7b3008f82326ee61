// Webhooks and their messages. Tokens are neither shown nor accepted as arguments.

import { type APIWebhook, Routes, WebhookType } from "discord.js";
import * as v from "valibot";
import { channelName, userName } from "../discord/describe.ts";
import { anyChannel, channel } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { fieldLine, oneField } from "../discord/text.ts";
import { webhook, webhookName, whyCannotSend } from "../guild/webhooks.ts";
import {
	allowedMentions,
	content,
	embeds,
	mentions,
	messageFields,
	pingsMany,
} from "../messages/message-arguments.ts";
import { messageHead } from "../messages/message-lines.ts";
import { found, guild_id, reason, snowflake, text } from "../tool/arguments.ts";
import {
	destructiveTool,
	editTool,
	readTool,
	writeTool,
} from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

/** Schema of an argument with a webhook's name. Discord refuses names that contain "discord" or "clyde". */
function name(description: string) {
	return v.pipe(
		text(1, 80, description),
		v.check(
			(input) => !/discord|clyde/i.test(input),
			'expected a name without "discord" or "clyde", which Discord refuses',
		),
	);
}

const webhook_id = found(webhook, "webhook");

export const listWebhooks = readTool({
	name: "list_webhooks",
	toolset: "webhooks",
	title: "List webhooks",
	description:
		"List the webhooks of a guild or one of its channels: name, id, channel, kind, creator, and whether send_webhook_message can use it.",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({
		guild_id,
		channel_id: v.optional(found(channel, "channel; default: all")),
	}),
	async run(_, { discord, guild, channel }) {
		const webhooks = (await discord.rest.get(
			channel
				? Routes.channelWebhooks(channel.id)
				: Routes.guildWebhooks(guild.id),
		)) as APIWebhook[];
		const where = channel ? channelName(channel) : "the guild";
		if (webhooks.length === 0) return `There is no webhook in ${where}.`;
		return [
			`${webhooks.length} webhook(s) in ${where}, by id:`,
			...webhooks.sort((a, b) => compareIds(a.id, b.id)).map(webhookLine),
		];
	},
});

const kinds: Record<WebhookType, string> = {
	[WebhookType.Incoming]: "incoming",
	[WebhookType.ChannelFollower]: "follower",
	[WebhookType.Application]: "application",
};

function webhookLine(data: APIWebhook): string {
	const { user, source_channel, source_guild } = data;
	const reason = whyCannotSend(data.type, data.token);
	const source = [source_channel?.name, source_guild?.name]
		.filter((name) => name !== undefined)
		.map(oneField);
	return fieldLine(
		`${oneField(data.name ?? "")} | ID: ${data.id}`,
		`channel: ${data.channel_id ?? "none"}`,
		`kind: ${kinds[data.type] ?? data.type}`,
		source.length > 0 && `follows: ${source.join(" of ")}`,
		user && `by ${userName(user)}`,
		reason ? `cannot send messages: ${reason}` : "can send messages",
	);
}

export const createWebhook = writeTool({
	name: "create_webhook",
	toolset: "webhooks",
	title: "Create a webhook",
	description:
		"Create a webhook that sends messages to a channel (at most 15 per channel). Returns its id for send_webhook_message.",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({
		guild_id,
		channel_id: found(channel, "channel"),
		name: name("Default author name."),
		reason,
	}),
	async run({ name }, { discord, channel }) {
		const made = (await discord.rest.post(Routes.channelWebhooks(channel.id), {
			body: { name },
		})) as APIWebhook;
		return `Created the webhook ${webhookName({ id: made.id, name: made.name ?? "" })} in ${channelName(channel)}.`;
	},
});

export const editWebhook = editTool({
	name: "edit_webhook",
	toolset: "webhooks",
	extra: true,
	title: "Edit a webhook",
	description: "Rename a webhook, or move it to another channel.",
	lock: "webhook_id",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({
		guild_id,
		webhook_id,
		name: v.optional(name("New name.")),
		channel_id: v.optional(found(channel, "channel to move it to")),
		reason,
	}),
	async run(args, { discord, webhook }) {
		const current = { name: webhook.name, channel_id: webhook.channel.id };
		const target = `the webhook ${webhookName(webhook)} in ${channelName(webhook.channel)}`;
		const changes = changesOf(current, args, target);
		await discord.rest.patch(Routes.webhook(webhook.id), { body: changes });
		return `Changed ${Object.keys(changes).join(", ")} of ${target}.`;
	},
});

export const deleteWebhook = destructiveTool({
	name: "delete_webhook",
	toolset: "webhooks",
	title: "Delete a webhook",
	description:
		"Delete a webhook. Programs that use it can no longer send. Its messages stay. This cannot be undone.",
	lock: "webhook_id",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({ guild_id, webhook_id, reason }),
	plan(_, { discord, webhook }) {
		const target = `the webhook ${webhookName(webhook)} in ${channelName(webhook.channel)}`;
		return {
			preview: `Would delete ${target}${webhook.creator ? `, made by ${userName(webhook.creator)}` : ""}. Programs that use it could no longer send. Its messages stay.`,
			write: () => discord.rest.delete(Routes.webhook(webhook.id)),
			result: `Deleted ${target}.`,
		};
	},
});

const thread_id = v.optional(
	found(anyChannel, "thread of the webhook's channel"),
);

export const sendWebhookMessage = writeTool({
	name: "send_webhook_message",
	toolset: "webhooks",
	title: "Send a webhook message",
	description:
		"Send a message by a webhook, under its name or another. It pings nobody unless `mentions` allows it. Returns the message's id.",
	// Clients of other MCP servers may send the token; this bot fetches it from Discord.
	ignored: ["token"],
	// Discord lets any webhook ping everyone, so the bot requires the permission that it would need itself.
	permissions: ["ManageWebhooks", pingsMany],
	input: v.strictObject({
		guild_id,
		webhook_id,
		content,
		username: v.optional(name("Author name of this message.")),
		avatar_url: v.optional(
			v.pipe(
				text(1, 2048, "Avatar of this message."),
				v.regex(/^https?:\/\/\S+$/, "expected a URL that begins with https://"),
			),
		),
		thread_id,
		mentions,
		embeds: v.optional(embeds, []),
	}),
	async run(args, { webhook, thread }) {
		const { content, username, avatar_url } = args;
		const destination = webhook.targetFor(thread);
		const message = await webhook.send(
			{
				content,
				embeds: args.embeds,
				allowed_mentions: allowedMentions(args.mentions),
				...(username !== undefined && { username }),
				...(avatar_url !== undefined && { avatar_url }),
			},
			destination,
		);
		return `Message sent (ID: ${message.id}) by the webhook ${webhookName(webhook)} to ${channelName(destination)}.`;
	},
});

const sentByWebhook = {
	guild_id,
	webhook_id,
	message_id: snowflake("message, sent by the webhook"),
	thread_id,
};

export const editWebhookMessage = editTool({
	name: "edit_webhook_message",
	toolset: "webhooks",
	extra: true,
	title: "Edit a webhook message",
	description:
		"Change the content or embeds of a message that a webhook sent; omitted fields stay.",
	lock: "message_id",
	permissions: ["ManageWebhooks", pingsMany],
	input: v.strictObject({
		...sentByWebhook,
		content: v.optional(content),
		embeds: v.optional(embeds),
		mentions,
	}),
	async run({ message_id, ...args }, { webhook, thread }) {
		const destination = webhook.targetFor(thread);
		const message = await webhook.fetchMessage(message_id, destination);
		const target = `the message ${message_id} in ${channelName(destination)}`;
		const changes = changesOf(messageFields(message), args, target);
		const allowed_mentions = allowedMentions(args.mentions);
		const body = { ...changes, allowed_mentions };
		await webhook.editMessage(message_id, body, destination);
		return `Changed ${Object.keys(changes).join(", ")} of ${target}.`;
	},
});

export const deleteWebhookMessage = destructiveTool({
	name: "delete_webhook_message",
	toolset: "webhooks",
	extra: true,
	title: "Delete a webhook message",
	description: "Delete a message that a webhook sent. This cannot be undone.",
	lock: "message_id",
	permissions: ["ManageWebhooks"],
	input: v.strictObject(sentByWebhook),
	async plan({ message_id }, { webhook, thread }) {
		const destination = webhook.targetFor(thread);
		const message = await webhook.fetchMessage(message_id, destination);
		const target = `the message of ${messageHead(message)} in ${channelName(destination)}.`;
		return {
			preview: `Would delete ${target}`,
			write: () => webhook.deleteMessage(message_id, destination),
			result: `Deleted ${target}`,
		};
	},
});
