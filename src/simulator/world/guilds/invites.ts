// Invites: creating, using and deleting them, and their expiry.
// https://discord.com/developers/docs/resources/invite
//
// A gap: There are no invites to streams and activities, and temporary membership is permanent. People may join any
// number of guilds.

import { randomBytes } from "node:crypto";
import type { EventPayloads, SentInvite } from "../state/api-types.ts";
import type { Guild, GuildChannel, Invite } from "../state/entities.ts";
import { type Attribution, isIn, type Place, permittedIn, placeOf, type State } from "../state/state.ts";

type NewInvite = Pick<Invite, "inviter"> & Partial<Omit<Invite, "guild_id" | "channel_id" | "uses">>;

/** It expires after one day, and can be used any number of times. */
const defaults = { max_age: 86_400, max_uses: 0, temporary: false, role_ids: [] };

export class Invites {
	readonly #all = new Map<string, Invite>();

	constructor(private readonly state: State) {}

	list(place: Place): Invite[] {
		return [...this.#all.values()].filter(isIn(place)).filter((one) => this.#isValid(one));
	}

	get(code: string): Invite | undefined {
		const found = this.#all.get(code);
		return found && this.#isValid(found) ? found : undefined;
	}

	#isValid(invite: Invite): boolean {
		const end = expiryOf(invite);
		return this.state.channels.has(invite.channel_id) && (end === null || Date.parse(end) > Date.now());
	}

	/** By default it expires after one day and has unlimited uses. `created_at` may be in the past. */
	add(channel: GuildChannel, given: NewInvite, by?: Attribution): Invite {
		const invite: Invite = {
			code: randomBytes(5).toString("hex").slice(0, 8),
			guild_id: channel.guild_id,
			channel_id: channel.id,
			created_at: new Date().toISOString(),
			uses: 0,
			...defaults,
			...given,
		};
		this.#all.set(invite.code, invite);
		const { code, inviter, role_ids } = invite;
		this.#dispatch("INVITE_CREATE", channel, {
			...metadata(invite),
			code,
			uses: 0,
			expires_at: expiryOf(invite),
			inviter,
			...(role_ids.length > 0 && { role_ids }),
		});
		this.state.audit(this.state.guildOf(channel), by, "InviteCreate", null, { after: auditFields(invite) });
		return invite;
	}

	findSame(channel: GuildChannel, given: NewInvite): Invite | undefined {
		const wanted = Object.entries({ ...defaults, ...given });
		return this.list({ channel_id: channel.id }).find((one) =>
			wanted.every(([key, value]) => Bun.deepEquals(one[key as keyof Invite], value)),
		);
	}

	use(invite: Invite): void {
		invite.uses += 1;
		if (invite.uses === invite.max_uses) this.remove(invite);
	}

	remove(invite: Invite, by?: Attribution): void {
		const channel = this.state.channelOf(invite);
		this.#all.delete(invite.code);
		this.#dispatch("INVITE_DELETE", channel, { code: invite.code });
		this.state.audit(this.state.guildOf(channel), by, "InviteDelete", null, { before: auditFields(invite) });
	}

	serialize(invite: Invite): SentInvite {
		const channel = this.state.channelOf(invite);
		const guild = this.state.guildOf(channel);
		const { id, name, type } = channel;
		return {
			type: 0,
			code: invite.code,
			guild_id: guild.id,
			guild: {
				id: guild.id,
				name: guild.name,
				description: guild.description,
				splash: null,
				banner: null,
				icon: guild.icon,
				vanity_url_code: null,
				features: guild.features,
				verification_level: guild.verification_level,
				nsfw: false,
				nsfw_level: 0,
				premium_subscription_count: 0,
			},
			channel: { id, name, type },
			inviter: invite.inviter,
			expires_at: expiryOf(invite),
			flags: 0,
			...(invite.role_ids.length > 0 && { roles: rolesOf(invite, guild) }),
		};
	}

	#dispatch<T extends "INVITE_CREATE" | "INVITE_DELETE">(
		type: T,
		channel: GuildChannel,
		data: Omit<EventPayloads[T], "channel_id" | "guild_id">,
	): void {
		const whole = { ...placeOf(channel), ...data } as EventPayloads[T];
		this.state.dispatchToGuild(type, this.state.guildOf(channel), whole, permittedIn(channel, "ManageChannels"));
	}
}

function auditFields(invite: Invite): object {
	const { inviter, guild_id: _, created_at: __, role_ids: ___, ...rest } = invite;
	return { ...rest, inviter_id: inviter.id };
}

function expiryOf({ created_at, max_age }: Invite): string | null {
	return max_age === 0 ? null : new Date(Date.parse(created_at) + max_age * 1000).toISOString();
}

/** The invite metadata, which Discord sends only to members with MANAGE_CHANNELS. */
export function metadata(invite: Invite) {
	const { uses, max_uses, max_age, temporary, created_at } = invite;
	return { uses, max_uses, max_age, temporary, created_at };
}

function rolesOf({ role_ids }: Invite, { roles }: Guild) {
	return role_ids
		.flatMap((id) => roles.get(id) ?? [])
		.map(({ id, name, position, color, colors, icon, unicode_emoji }) => ({
			id,
			name,
			position,
			color,
			colors,
			icon: icon ?? null,
			unicode_emoji: unicode_emoji ?? null,
		}));
}
