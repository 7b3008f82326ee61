// Webhooks: ways to write into a channel under any name. Their tokens are never shown, and never asked for.

import { type APIWebhook, Routes, WebhookType } from "discord.js";
import * as v from "valibot";
import { channelName, userName } from "../discord/describe.ts";
import { anyChannel, channel } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { oneField } from "../discord/text.ts";
import { webhook, webhookName, whyCannotSend } from "../guild/webhooks.ts";
import {
	allowedMentions,
	content,
	embeds,
	type MessageFields,
	mentions,
	pingsMany,
} from "../messages/message-arguments.ts";
import { messageHead } from "../messages/message-lines.ts";
import { found, guild_id, reason, snowflake, text } from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

/** Discord takes no name that may pass for its own. */
function name(description: string) {
	return v.pipe(
		text(1, 80, description),
		v.check(
			(input) => !/discord|clyde/i.test(input),
			'expected a name without "discord" and "clyde", which Discord refuses',
		),
	);
}

const webhook_id = found(webhook, "webhook");

export const listWebhooks = tool({
	name: "list_webhooks",
	toolset: "webhooks",
	title: "List webhooks",
	description:
		"List the webhooks of a guild, or of one of its channels: name, id, channel, kind, who made it, and whether send_webhook_message can write by it.",
	effect: "read",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({
		guild_id,
		channel_id: v.optional(found(channel, "channel; all when omitted")),
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
	const mute = whyCannotSend(data.type, data.token);
	const source = [source_channel?.name, source_guild?.name]
		.filter((name) => name !== undefined)
		.map(oneField);
	return [
		`${oneField(data.name ?? "")} | ID: ${data.id}`,
		`channel: ${data.channel_id ?? "none"}`,
		`kind: ${kinds[data.type] ?? data.type}`,
		...(source.length > 0 ? [`follows: ${source.join(" of ")}`] : []),
		...(user ? [`by @${oneField(user.username)} (ID: ${user.id})`] : []),
		mute === undefined ? "can send messages" : `cannot send messages: ${mute}`,
	].join(" | ");
}

export const createWebhook = tool({
	name: "create_webhook",
	toolset: "webhooks",
	title: "Create a webhook",
	description:
		"Make a webhook that writes into a channel, which has room for 15. Answers with its id, by which send_webhook_message writes.",
	effect: "write",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({
		guild_id,
		channel_id: found(channel, "channel"),
		name: name("What its messages are signed with."),
		reason,
	}),
	async run({ name }, { discord, channel }) {
		const made = (await discord.rest.post(Routes.channelWebhooks(channel.id), {
			body: { name },
		})) as APIWebhook;
		return `Created the webhook ${webhookName({ id: made.id, name: made.name ?? "" })} in ${channelName(channel)}.`;
	},
});

export const editWebhook = tool({
	name: "edit_webhook",
	toolset: "webhooks",
	extra: true,
	title: "Edit a webhook",
	description: "Rename a webhook, or move it to another channel.",
	effect: "write",
	idempotent: true,
	lock: "webhook_id",
	permissions: ["ManageWebhooks"],
	input: v.strictObject({
		guild_id,
		webhook_id,
		name: v.optional(name("New name.")),
		channel_id: v.optional(found(channel, "channel to move it to")),
		reason,
	}),
	async run({ name, channel_id }, { discord, webhook }) {
		const current = { name: webhook.name, channel_id: webhook.channel.id };
		const what = `the webhook ${webhookName(webhook)} in ${channelName(webhook.channel)}`;
		const changes = changesOf(current, { name, channel_id }, what);
		await discord.rest.patch(Routes.webhook(webhook.id), { body: changes });
		return `Changed ${Object.keys(changes).join(", ")} of ${what}.`;
	},
});

export const deleteWebhook = destructiveTool({
	name: "delete_webhook",
	toolset: "webhooks",
	title: "Delete a webhook",
	description:
		"Delete a webhook: whoever writes by it no longer can. It cannot be brought back; its messages stay.",
	lock: "webhook_id",
	idempotent: true,
	permissions: ["ManageWebhooks"],
	input: v.strictObject({ guild_id, webhook_id, reason }),
	plan(_, { discord, webhook }) {
		const what = `the webhook ${webhookName(webhook)} in ${channelName(webhook.channel)}`;
		return {
			preview: `Would delete ${what}${webhook.creator ? `, made by ${userName(webhook.creator)}` : ""}: whoever writes by it no longer can. Its messages stay.`,
			async act() {
				await discord.rest.delete(Routes.webhook(webhook.id));
				return `Deleted ${what}.`;
			},
		};
	},
});

const thread_id = v.optional(
	found(anyChannel, "thread of the webhook's channel"),
);

export const sendWebhookMessage = tool({
	name: "send_webhook_message",
	toolset: "webhooks",
	title: "Send a message by a webhook",
	description:
		"Send a message by a webhook, under its name or another. It pings nobody unless `mentions` allows it. Answers with the message's id.",
	effect: "write",
	// Whoever had it from another server may still send it: this bot asks Discord for it.
	ignored: ["token"],
	// Discord lets a webhook ping everyone; what the bot may not do itself it does not do in this way either.
	permissions: ["ManageWebhooks", pingsMany],
	input: v.strictObject({
		guild_id,
		webhook_id,
		content,
		username: v.optional(name("Another name, for this message.")),
		avatar_url: v.optional(
			v.pipe(
				text(1, 2048, "Another picture, for this message."),
				v.regex(
					/^https?:\/\/\S+$/,
					"expected a link that begins with https://",
				),
			),
		),
		thread_id,
		mentions,
		embeds: v.optional(embeds, []),
	}),
	async run(args, { webhook, thread }) {
		const { content, username, avatar_url } = args;
		const place = webhook.targetFor(thread);
		const message = await webhook.send(
			{
				content,
				embeds: args.embeds,
				allowed_mentions: allowedMentions(args.mentions),
				...(username !== undefined && { username }),
				...(avatar_url !== undefined && { avatar_url }),
			},
			place,
		);
		return `Message sent (ID: ${message.id}) by the webhook ${webhookName(webhook)} to ${channelName(place)}.`;
	},
});

const sentByWebhook = {
	guild_id,
	webhook_id,
	message_id: snowflake("message, which the webhook wrote"),
	thread_id,
};

export const editWebhookMessage = tool({
	name: "edit_webhook_message",
	toolset: "webhooks",
	extra: true,
	title: "Edit a webhook's message",
	description:
		"Change the content or the embeds of a message that a webhook wrote; what is not given stays.",
	effect: "write",
	idempotent: true,
	lock: "message_id",
	permissions: ["ManageWebhooks", pingsMany],
	input: v.strictObject({
		...sentByWebhook,
		content: v.optional(content),
		embeds: v.optional(embeds),
		mentions,
	}),
	async run({ message_id, ...args }, { webhook, thread }) {
		const place = webhook.targetFor(thread);
		const given = { content: args.content, embeds: args.embeds };
		const { content, embeds } = await webhook.fetchMessage(message_id, place);
		const what = `the message ${message_id} in ${channelName(place)}`;
		const changes = changesOf<MessageFields>({ content, embeds }, given, what);
		const allowed_mentions = allowedMentions(args.mentions);
		await webhook.editMessage(
			message_id,
			{ ...changes, allowed_mentions },
			place,
		);
		return `Changed ${Object.keys(changes).join(", ")} of ${what}.`;
	},
});

export const deleteWebhookMessage = destructiveTool({
	name: "delete_webhook_message",
	toolset: "webhooks",
	extra: true,
	title: "Delete a webhook's message",
	description:
		"Delete a message that a webhook wrote. It cannot be brought back.",
	lock: "message_id",
	idempotent: true,
	permissions: ["ManageWebhooks"],
	input: v.strictObject(sentByWebhook),
	async plan({ message_id }, { webhook, thread }) {
		const place = webhook.targetFor(thread);
		const message = await webhook.fetchMessage(message_id, place);
		const what = `the message of ${messageHead(message)} in ${channelName(place)}.`;
		return {
			preview: `Would delete ${what}`,
			async act() {
				await webhook.deleteMessage(message_id, place);
				return `Deleted ${what}`;
			},
		};
	},
});
