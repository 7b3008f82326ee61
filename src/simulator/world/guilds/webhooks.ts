// Webhooks: incoming ones, which can write, and the other kinds, which are only listed.
// https://discord.com/developers/docs/resources/webhook

import { randomBytes } from "node:crypto";
import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type {
	Account,
	GuildChannel,
	User,
	Webhook,
} from "../state/entities.ts";
import { isGuildChannel } from "../state/entities.ts";
import { compareIds } from "../state/snowflake.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";

type NewWebhook = Pick<Webhook, "name"> &
	Partial<
		Pick<
			Webhook,
			"type" | "user" | "avatar" | "source_guild" | "source_channel"
		>
	>;

export class Webhooks {
	readonly #state: State;
	readonly #all = new Map<string, Webhook>();

	constructor(state: State) {
		this.#state = state;
	}

	/** The webhooks of a guild or channel, sorted by id. Those of deleted channels are gone. */
	list(of: { guild_id: string } | { channel_id: string }): Webhook[] {
		return [...this.#all.values()]
			.filter((one) =>
				"guild_id" in of
					? one.guild_id === of.guild_id
					: one.channel_id === of.channel_id,
			)
			.filter(({ channel_id }) => this.#state.channels.has(channel_id))
			.sort((a, b) => compareIds(a.id, b.id));
	}

	get(id: string): Webhook | undefined {
		const found = this.#all.get(id);
		return found && this.#state.channels.has(found.channel_id)
			? found
			: undefined;
	}

	/** Whether a webhook with this id exists or its channel was deleted. */
	has(id: string): boolean {
		return this.#all.has(id);
	}

	/** The channel that a webhook writes to. */
	channelOf({ id, channel_id }: Webhook): GuildChannel {
		const channel = this.#state.channels.get(channel_id);
		if (!channel || !isGuildChannel(channel))
			throw new Error(`channel of webhook ${id} not found`);
		return channel;
	}

	/** Adds a webhook, by default an incoming one. */
	add(channel: GuildChannel, given: NewWebhook, by?: Attribution): Webhook {
		const { type = 1, user = null, avatar = null, ...rest } = given;
		const webhook: Webhook = {
			id: this.#state.newId(),
			type,
			user,
			avatar,
			guild_id: channel.guild_id,
			channel_id: channel.id,
			application_id: user?.bot ? user.id : null,
			...(type === 1 ? { token: randomBytes(51).toString("base64url") } : {}),
			...rest,
		};
		this.#all.set(webhook.id, webhook);
		this.#dispatch(channel);
		this.#state.audit(
			this.#state.guildOf(channel),
			by,
			AuditLogEvent.WebhookCreate,
			webhook.id,
			{ changes: changesBetween({}, auditFields(webhook)) },
		);
		return webhook;
	}

	edit(
		webhook: Webhook,
		changes: Changes<Pick<Webhook, "name" | "avatar" | "channel_id">>,
		by?: Attribution,
	): void {
		const before = { ...webhook };
		const left = this.channelOf(webhook);
		apply(webhook, changes);
		const channel = this.channelOf(webhook);
		this.#dispatch(left);
		if (left !== channel) this.#dispatch(channel);
		const made = changesBetween(auditFields(before), auditFields(webhook));
		if (made.length > 0)
			this.#state.audit(
				this.#state.guildOf(channel),
				by,
				AuditLogEvent.WebhookUpdate,
				webhook.id,
				{ changes: made },
			);
	}

	/** Removes a webhook. Its messages stay. */
	remove(webhook: Webhook, by?: Attribution): void {
		const channel = this.channelOf(webhook);
		this.#all.delete(webhook.id);
		this.#dispatch(channel);
		this.#state.audit(
			this.#state.guildOf(channel),
			by,
			AuditLogEvent.WebhookDelete,
			webhook.id,
			{ changes: changesBetween(auditFields(webhook), {}) },
		);
	}

	#dispatch(channel: GuildChannel): void {
		this.#state.dispatchToChannel("WEBHOOKS_UPDATE", channel, () => ({}));
	}
}

function auditFields({
	type,
	name,
	channel_id,
	avatar,
	application_id,
}: Webhook) {
	return {
		type,
		name,
		channel_id,
		...(avatar === null ? {} : { avatar_hash: avatar }),
		...(application_id === null ? {} : { application_id }),
	};
}

/** The author of a webhook's messages. A message can override name and avatar. */
export function authorOf(
	webhook: Webhook,
	{ name = webhook.name, avatar = webhook.avatar } = {},
): User {
	return {
		id: webhook.id,
		username: name,
		discriminator: "0000",
		global_name: null,
		avatar,
		public_flags: 0,
		bot: true,
	};
}

/** The account that acts when a request has the webhook's token. */
export function accountOf(webhook: Webhook): Account {
	return {
		token: webhook.token ?? "",
		user: authorOf(webhook),
		privilegedIntents: [],
	};
}

/** A webhook as a user sees it: without the token of another application's webhook. */
export function serializeWebhook(webhook: Webhook, { user }: Account) {
	const { token, application_id, ...rest } = webhook;
	const foreign = application_id !== null && application_id !== user.id;
	return {
		...rest,
		application_id,
		...(token === undefined || foreign ? {} : { token }),
	};
}
