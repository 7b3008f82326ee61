// Webhooks: incoming ones, which can write, and the other kinds, which are only listed.
// https://discord.com/developers/docs/resources/webhook
//
// A gap: Webhooks have no avatars, their messages only a hash of one, and they create no forum posts.

import { randomBytes } from "node:crypto";
import { type APIWebhook, AuditLogEvent } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Sent } from "../state/api-types.ts";
import { newUserProfile } from "../state/defaults.ts";
import type { Account, GuildChannel, User, Webhook } from "../state/entities.ts";
import { type Attribution, apply, type Changes, isIn, type Place, permittedIn, type State } from "../state/state.ts";

type NewWebhook = Pick<Webhook, "name"> & Partial<Pick<Webhook, "type" | "user" | "source_guild" | "source_channel">>;

export class Webhooks {
	readonly #all = new Map<string, Webhook>();

	constructor(private readonly state: State) {}

	/** The webhooks of a guild or of a channel, sorted by id. Webhooks of deleted channels are left out. */
	list(place: Place): Webhook[] {
		return [...this.#all.values()]
			.filter(isIn(place))
			.filter(({ channel_id }) => this.state.channels.has(channel_id))
			.sort((a, b) => compareIds(a.id, b.id));
	}

	get(id: string): Webhook | undefined {
		const found = this.#all.get(id);
		return found && this.state.channels.has(found.channel_id) ? found : undefined;
	}

	/** Whether a webhook with this id exists. True also if its channel has been deleted. */
	has(id: string): boolean {
		return this.#all.has(id);
	}

	/** Adds a webhook to a channel. The default type is 1: an incoming webhook, which gets a token. */
	add(channel: GuildChannel, given: NewWebhook, by?: Attribution): Webhook {
		const { type = 1, user = null, ...rest } = given;
		const webhook: Webhook = {
			id: this.state.nextId(),
			type,
			user,
			avatar: null,
			guild_id: channel.guild_id,
			channel_id: channel.id,
			application_id: user?.bot ? user.id : null,
			...(type === 1 && { token: randomBytes(51).toString("base64url") }),
			...rest,
		};
		this.#all.set(webhook.id, webhook);
		this.#dispatch(channel);
		const guild = this.state.guildOf(channel);
		this.state.audit(guild, by, AuditLogEvent.WebhookCreate, webhook.id, { after: auditFields(webhook) });
		return webhook;
	}

	edit(webhook: Webhook, changes: Changes<Pick<Webhook, "name" | "channel_id">>, by?: Attribution): void {
		const before = auditFields(webhook);
		const left = this.state.channelOf(webhook);
		apply(webhook, changes);
		const channel = this.state.channelOf(webhook);
		this.#dispatch(left);
		if (left !== channel) this.#dispatch(channel);
		const after = auditFields(webhook);
		const guild = this.state.guildOf(channel);
		this.state.audit(guild, by, AuditLogEvent.WebhookUpdate, webhook.id, { before, after });
	}

	/** Removes a webhook. Messages that it has sent stay. */
	remove(webhook: Webhook, by?: Attribution): void {
		const channel = this.state.channelOf(webhook);
		this.#all.delete(webhook.id);
		this.#dispatch(channel);
		const guild = this.state.guildOf(channel);
		this.state.audit(guild, by, AuditLogEvent.WebhookDelete, webhook.id, { before: auditFields(webhook) });
	}

	#dispatch(channel: GuildChannel): void {
		const { id: channel_id, guild_id } = channel;
		this.state.dispatchToGuild(
			"WEBHOOKS_UPDATE",
			this.state.guildOf(channel),
			{ guild_id, channel_id },
			permittedIn(channel, "ViewChannel"),
		);
	}
}

function auditFields(webhook: Webhook) {
	const { type, name, channel_id, application_id } = webhook;
	return { type, name, channel_id, ...(application_id !== null && { application_id }) };
}

/** Each message can override the webhook's name and avatar. */
export function authorOf(
	{ id, name }: Webhook,
	given: { username?: string | null | undefined; avatar_url?: string | null | undefined } = {},
): User {
	const { username, avatar_url: url } = given;
	const avatar = url ? Bun.hash(url).toString(16).padStart(32, "0") : null;
	return { id, ...newUserProfile, username: username || name, discriminator: "0000", avatar, bot: true };
}

export function accountOf(webhook: Webhook): Account {
	return { token: webhook.token ?? "", user: authorOf(webhook), privilegedIntents: [] };
}

/** Leaves the token out if an application other than that of the account created the webhook. */
export function serializeWebhook(webhook: Webhook, { user }: Account): Sent<APIWebhook> {
	const { token, application_id, user: creator, ...rest } = webhook;
	const foreign = application_id !== null && application_id !== user.id;
	return {
		...rest,
		application_id,
		...(creator && { user: creator }),
		...(token === undefined || foreign ? {} : { token }),
	};
}
