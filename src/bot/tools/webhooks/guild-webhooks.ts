// Webhooks and their messages. Anyone with a webhook's token can send messages, so no token leaves this file.

import {
	type APIMessage,
	type APIWebhook,
	type Guild,
	type GuildBasedChannel,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
	WebhookType,
} from "discord.js";
import { channelName } from "../../../discord/describe.ts";
import { absentIf } from "../../../discord/find.ts";
import { missingPermissions } from "../../../discord/permissions.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { oneField } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { readsContent } from "../../messages/message-content.ts";
import { searchIndex } from "../../messages/message-index.ts";

export type GuildWebhook = ReturnType<typeof guildWebhook>;

function guildWebhook(data: APIWebhook, channel: GuildBasedChannel) {
	const { id, type, token, user: creator } = data;
	const name = data.name ?? "";
	const label = webhookName({ id, name });
	const { rest } = channel.client;

	function path(messageId?: string): `/${string}` {
		const reason = whyCannotSend(type, token);
		if (reason !== undefined || token === undefined)
			throw new ToolError(
				`The webhook ${label} cannot send messages: ${reason}. Nothing was done; create_webhook creates one that can.`,
			);
		return messageId === undefined ? Routes.webhook(id, token) : Routes.webhookMessage(id, token, messageId);
	}

	function optionsFor(target: GuildBasedChannel, wait = {}) {
		const thread = target === channel ? {} : { thread_id: target.id };
		const query = new URLSearchParams({ ...thread, ...wait });
		return { query, auth: false };
	}

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

		async send(body: object, target: GuildBasedChannel) {
			const options = optionsFor(target, { wait: "true" });
			return (await rest.post(path(), { ...options, body })) as APIMessage;
		},

		async fetchMessage(messageId: string, target: GuildBasedChannel) {
			const options = optionsFor(target);
			return (await rest.get(path(messageId), options)) as APIMessage;
		},

		async editMessage(messageId: string, body: object, target: GuildBasedChannel): Promise<void> {
			await rest.patch(path(messageId), { ...optionsFor(target), body });
		},

		async deleteMessage(messageId: string, target: GuildBasedChannel) {
			await rest.delete(path(messageId), optionsFor(target));
		},
	};
}

export function whyCannotSend(type: WebhookType, token: string | undefined): string | undefined {
	if (type === WebhookType.ChannelFollower) return "it forwards the announcements of another channel";
	if (type === WebhookType.Application) return "it belongs to an application's interactions";
	return token === undefined ? "another application created it, and only that application has its token" : undefined;
}

export function webhookName({ name, id }: { name: string; id: string }) {
	return `${oneField(name)} (ID: ${id})`;
}

export async function webhook(guild: Guild, id: string): Promise<GuildWebhook> {
	const found = await webhookOrNone(guild, id);
	if (found) return found;
	throw new ToolError(
		`There is no webhook ${id} in the guild ${guild.id} that the bot may manage. list_webhooks lists those that it may manage.`,
	);
}

export async function webhookOrNone(guild: Guild, id: string): Promise<GuildWebhook | undefined> {
	const { MissingPermissions, UnknownWebhook } = RESTJSONErrorCodes;
	const data = await absentIf(
		[MissingPermissions, UnknownWebhook],
		() => guild.client.rest.get(Routes.webhook(id)) as Promise<APIWebhook>,
	);
	const channel = visibleChannel(guild, data?.channel_id ?? "");
	return data?.guild_id === guild.id && channel ? guildWebhook(data, channel) : undefined;
}

/** By webhook id, by the newest 25 webhook messages in Discord's search; undefined if the bot cannot search now. */
export async function lastMessages(
	guild: Guild,
	channelId: string | undefined,
): Promise<Map<string, string> | undefined> {
	const { ReadMessageHistory } = PermissionFlagsBits;
	if (missingPermissions(guild, undefined, ReadMessageHistory) !== 0n) return undefined;
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
