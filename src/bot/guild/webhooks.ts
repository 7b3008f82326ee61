// Webhooks and their messages. Anyone with a webhook's token can send messages, so no token leaves this file.

import {
	type APIMessage,
	type APIUser,
	type APIWebhook,
	type Client,
	type Guild,
	type GuildBasedChannel,
	RESTJSONErrorCodes,
	Routes,
	WebhookType,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { absentIf } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";

/** A webhook, fetched from Discord. */
export class GuildWebhook {
	readonly id: string;
	readonly name: string;
	/** The channel that it sends messages to. */
	readonly channel: GuildBasedChannel;
	/** Undefined if Discord does not state it. */
	readonly creator: APIUser | undefined;
	readonly #client: Client<true>;
	readonly #type: WebhookType;
	readonly #token: string | undefined;

	constructor(data: APIWebhook, channel: GuildBasedChannel) {
		this.id = data.id;
		this.name = data.name ?? "";
		this.channel = channel;
		this.creator = data.user;
		this.#client = channel.client;
		this.#type = data.type;
		this.#token = data.token;
	}

	/** The webhook's channel, or the given thread of it. Throws a ToolError for any other thread. */
	targetFor(thread: GuildBasedChannel | undefined): GuildBasedChannel {
		const own = channelName(this.channel);
		if (!thread && this.channel.isThreadOnly())
			throw new ToolError(
				`${own} is a forum: pass the id of a post as thread_id. Nothing was done.`,
			);
		if (!thread) return this.channel;
		if (thread.parentId === this.channel.id) return thread;
		throw new ToolError(
			`${channelName(thread)} is not a thread of ${own}, the channel of the webhook ${webhookName(this)}. Nothing was done.`,
		);
	}

	/** Sends a message and returns it as Discord stored it. */
	async send(body: object, target: GuildBasedChannel): Promise<APIMessage> {
		const query = this.#query(target);
		query.set("wait", "true");
		return (await this.#client.rest.post(this.#path(), {
			body,
			query,
			auth: false,
		})) as APIMessage;
	}

	/** Fetches a message that the webhook sent. */
	async fetchMessage(
		id: string,
		target: GuildBasedChannel,
	): Promise<APIMessage> {
		const query = this.#query(target);
		return (await this.#client.rest.get(this.#path(id), {
			query,
			auth: false,
		})) as APIMessage;
	}

	async editMessage(
		id: string,
		body: object,
		target: GuildBasedChannel,
	): Promise<void> {
		const query = this.#query(target);
		await this.#client.rest.patch(this.#path(id), { body, query, auth: false });
	}

	async deleteMessage(id: string, target: GuildBasedChannel): Promise<void> {
		const query = this.#query(target);
		await this.#client.rest.delete(this.#path(id), { query, auth: false });
	}

	#query(target: GuildBasedChannel): URLSearchParams {
		return new URLSearchParams(
			target === this.channel ? {} : { thread_id: target.id },
		);
	}

	/** Contains the token: it authorizes the request. Throws a ToolError if the webhook cannot send messages. */
	#path(messageId?: string): `/${string}` {
		const reason = whyCannotSend(this.#type, this.#token);
		if (reason !== undefined || this.#token === undefined)
			throw new ToolError(
				`The webhook ${webhookName(this)} cannot send messages: ${reason}. Nothing was done; create_webhook creates one that can.`,
			);
		return messageId === undefined
			? Routes.webhook(this.id, this.#token)
			: Routes.webhookMessage(this.id, this.#token, messageId);
	}
}

/** Why the bot cannot send messages by a webhook; undefined if it can. */
export function whyCannotSend(
	type: WebhookType,
	token: string | undefined,
): string | undefined {
	if (type === WebhookType.ChannelFollower)
		return "it forwards the announcements of another channel";
	if (type === WebhookType.Application)
		return "it belongs to an application's interactions";
	return token === undefined
		? "another application created it, and only that application has its token"
		: undefined;
}

export function webhookName({ name, id }: { name: string; id: string }) {
	return `${oneField(name)} (ID: ${id})`;
}

/** Fetches a webhook. Throws a ToolError if it is not in this guild or the bot may not manage it. */
export async function webhook(guild: Guild, id: string): Promise<GuildWebhook> {
	const { MissingPermissions, UnknownWebhook } = RESTJSONErrorCodes;
	const data = await absentIf(UnknownWebhook, () =>
		absentIf(
			MissingPermissions,
			() => guild.client.rest.get(Routes.webhook(id)) as Promise<APIWebhook>,
		),
	);
	const channel = guild.channels.cache.get(data?.channel_id ?? "");
	if (data?.guild_id === guild.id && channel)
		return new GuildWebhook(data, channel);
	throw new ToolError(
		`There is no webhook ${id} in the guild ${guild.id} that the bot may manage. list_webhooks lists those that it may manage.`,
	);
}
