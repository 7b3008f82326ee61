// Webhooks: incoming ones, which can write, and the other kinds, which are only listed.
// https://discord.com/developers/docs/resources/webhook
//
// A gap: Webhooks have no avatars, their messages only a hash of one, and they create no forum posts.

import { randomBytes } from "node:crypto";
import type { APIWebhook } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Sent } from "../state/api-types.ts";
import { newUserProfile } from "../state/defaults.ts";
import type { Account, Guild, GuildChannel, User, Webhook } from "../state/entities.ts";
import type { Verb } from "../state/events.ts";
import { GuildObjects } from "../state/guild-objects.ts";
import { type Attribution, type Changes, isIn, type Place, permittedIn, type State } from "../state/state.ts";

type NewWebhook = Pick<Webhook, "name"> & Partial<Pick<Webhook, "type" | "user" | "source_guild" | "source_channel">>;

export class Webhooks extends GuildObjects<Webhook> {
	constructor(state: State) {
		super(state, "Webhook");
	}

	/** The webhooks of a guild or of a channel, sorted by id. Webhooks of deleted channels are left out. */
	list(place: Place): Webhook[] {
		return [...this.all.values()]
			.filter(isIn(place))
			.filter(({ channel_id }) => this.state.channels.has(channel_id))
			.sort((a, b) => compareIds(a.id, b.id));
	}

	get(id: string): Webhook | undefined {
		const found = this.all.get(id);
		return found && this.state.channels.has(found.channel_id) ? found : undefined;
	}

	has(id: string): boolean {
		return this.all.has(id);
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
		return this.insert(webhook, webhook, by);
	}

	override edit(webhook: Webhook, changes: Changes<Pick<Webhook, "name" | "channel_id">>, by?: Attribution): void {
		const { channel_id = webhook.channel_id } = changes;
		// The channel that it leaves.
		if (channel_id !== webhook.channel_id) this.dispatch("UPDATE", this.state.guildOf(webhook), webhook);
		super.edit(webhook, changes, by);
	}

	protected dispatch(_verb: Verb, guild: Guild, webhook: Webhook): void {
		const { channel_id, guild_id } = webhook;
		const to = permittedIn(this.state.channelOf(webhook), "ViewChannel");
		this.state.dispatchToGuild("WEBHOOKS_UPDATE", guild, { guild_id, channel_id }, to);
	}

	protected logged({ type, name, channel_id, application_id }: Changes<Webhook>) {
		return { type, name, channel_id, application_id: application_id ?? undefined };
	}
}

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
	return { ...rest, application_id, user: creator ?? undefined, token: foreign ? undefined : token };
}
