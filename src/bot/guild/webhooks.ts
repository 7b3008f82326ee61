// Webhooks of a guild, and what is written by their tokens. A token lets anyone write: none leaves this file.

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

/** A webhook as it is now. */
export class GuildWebhook {
	readonly id: string;
	readonly name: string;
	/** Where it writes. */
	readonly channel: GuildBasedChannel;
	/** Who made it, where Discord says so. */
	readonly maker: APIUser | undefined;
	readonly #client: Client<true>;
	readonly #type: WebhookType;
	readonly #token: string | undefined;

	constructor(data: APIWebhook, channel: GuildBasedChannel) {
		this.id = data.id;
		this.name = data.name ?? "";
		this.channel = channel;
		this.maker = data.user;
		this.#client = channel.client;
		this.#type = data.type;
		this.#token = data.token;
	}

	/** The channel, or a thread of it, that a message is meant for. Throws the ToolError to show for any other place. */
	placeOf(thread: GuildBasedChannel | undefined): GuildBasedChannel {
		const own = channelName(this.channel);
		if (!thread && this.channel.isThreadOnly())
			throw new ToolError(
				`${own} holds posts, and the webhook ${webhookName(this)} writes there in one of them: pass its id as thread_id. Nothing was done.`,
			);
		if (!thread) return this.channel;
		if (thread.parentId === this.channel.id) return thread;
		throw new ToolError(
			`${channelName(thread)} is no thread of ${own}, where the webhook ${webhookName(this)} writes. Nothing was done.`,
		);
	}

	/** Writes a message; what it gives is the message as it came out. */
	async send(body: object, place: GuildBasedChannel): Promise<APIMessage> {
		const query = this.#query(place);
		query.set("wait", "true");
		return (await this.#client.rest.post(this.#path(), {
			...{ body, query, auth: false },
		})) as APIMessage;
	}

	/** A message that it wrote, as it is now. */
	async message(id: string, place: GuildBasedChannel): Promise<APIMessage> {
		const query = this.#query(place);
		return (await this.#client.rest.get(this.#path(id), {
			...{ query, auth: false },
		})) as APIMessage;
	}

	async editMessage(
		id: string,
		body: object,
		place: GuildBasedChannel,
	): Promise<void> {
		const query = this.#query(place);
		await this.#client.rest.patch(this.#path(id), {
			...{ body, query, auth: false },
		});
	}

	async deleteMessage(id: string, place: GuildBasedChannel): Promise<void> {
		const query = this.#query(place);
		await this.#client.rest.delete(this.#path(id), { query, auth: false });
	}

	#query(place: GuildBasedChannel): URLSearchParams {
		return new URLSearchParams(
			place === this.channel ? {} : { thread_id: place.id },
		);
	}

	/** With the token in it: all that a request needs. */
	#path(messageId?: string): `/${string}` {
		const reason = whyMute(this.#type, this.#token);
		if (reason !== undefined || this.#token === undefined)
			throw new ToolError(
				`Nothing can be written by the webhook ${webhookName(this)}: ${reason}. Nothing was done; create_webhook makes one of the bot's own.`,
			);
		return messageId === undefined
			? Routes.webhook(this.id, this.#token)
			: Routes.webhookMessage(this.id, this.#token, messageId);
	}
}

/** Why nothing can be written by a webhook; undefined where something can. */
export function whyMute(
	type: WebhookType,
	token: string | undefined,
): string | undefined {
	if (type === WebhookType.ChannelFollower)
		return "it passes on the announcements of another channel";
	if (type === WebhookType.Application) return "it answers for an application";
	return token === undefined
		? "another application made it, and has its token for itself"
		: undefined;
}

export function webhookName({ name, id }: { name: string; id: string }) {
	return `${oneField(name)} (ID: ${id})`;
}

/** A webhook of the guild. */
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
		`There is no webhook ${id} in the guild ${guild.id} that the bot may manage. list_webhooks shows those that it may.`,
	);
}
