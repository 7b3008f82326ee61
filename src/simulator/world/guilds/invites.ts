// Invites: creating, using and deleting them, and their expiry.
// https://discord.com/developers/docs/resources/invite

import { randomBytes } from "node:crypto";
import { AuditLogEvent, PermissionFlagsBits as Permission } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type {
	Channel,
	Guild,
	GuildChannel,
	Invite,
} from "../state/entities.ts";
import { isGuildChannel } from "../state/entities.ts";
import type { Attribution, State } from "../state/state.ts";

type NewInvite = Pick<Invite, "inviter"> &
	Partial<
		Pick<
			Invite,
			"max_age" | "max_uses" | "temporary" | "role_ids" | "created_at"
		>
	>;

export class Invites {
	readonly #state: State;
	readonly #all = new Map<string, Invite>();

	constructor(state: State) {
		this.#state = state;
	}

	/** The valid invites of a guild or channel. */
	list(of: { guild_id: string } | { channel_id: string }): Invite[] {
		return [...this.#all.values()]
			.filter((one) =>
				"guild_id" in of
					? one.guild_id === of.guild_id
					: one.channel_id === of.channel_id,
			)
			.filter((one) => this.#isValid(one));
	}

	get(code: string): Invite | undefined {
		const found = this.#all.get(code);
		return found && this.#isValid(found) ? found : undefined;
	}

	/** Whether the invite has not expired and its channel still exists. */
	#isValid(invite: Invite): boolean {
		const end = expiryOf(invite);
		return (
			this.#state.channels.has(invite.channel_id) &&
			(end === null || end.getTime() > Date.now())
		);
	}

	channelOf({ code, channel_id }: Invite): GuildChannel {
		const channel: Channel | undefined = this.#state.channels.get(channel_id);
		if (!channel || !isGuildChannel(channel))
			throw new Error(`channel of invite ${code} not found`);
		return channel;
	}

	/** Adds an invite, by default for a day and unlimited uses. `created_at` may be in the past. */
	add(channel: GuildChannel, given: NewInvite, by?: Attribution): Invite {
		const invite: Invite = {
			code: randomBytes(5).toString("hex").slice(0, 8),
			guild_id: channel.guild_id,
			channel_id: channel.id,
			max_age: 86_400,
			max_uses: 0,
			temporary: false,
			role_ids: [],
			created_at: new Date().toISOString(),
			uses: 0,
			...given,
		};
		this.#all.set(invite.code, invite);
		this.#dispatch("INVITE_CREATE", channel, {
			...metadata(invite),
			code: invite.code,
			type: 0,
			expires_at: expiryOf(invite)?.toISOString() ?? null,
			inviter: invite.inviter,
		});
		this.#audit(channel, by, AuditLogEvent.InviteCreate, {}, invite);
		return invite;
	}

	/** An existing invite of the same inviter with the same settings. */
	findSame(channel: GuildChannel, given: NewInvite): Invite | undefined {
		const { inviter, max_age = 86_400, max_uses = 0 } = given;
		const { temporary = false, role_ids = [] } = given;
		return this.list({ channel_id: channel.id }).find(
			(one) =>
				one.inviter === inviter &&
				one.max_age === max_age &&
				one.max_uses === max_uses &&
				one.temporary === temporary &&
				Bun.deepEquals(one.role_ids, role_ids),
		);
	}

	/** Counts a use. The last use deletes the invite. */
	use(invite: Invite): void {
		invite.uses += 1;
		if (invite.uses === invite.max_uses) this.remove(invite);
	}

	remove(invite: Invite, by?: Attribution): void {
		const channel = this.channelOf(invite);
		this.#all.delete(invite.code);
		this.#dispatch("INVITE_DELETE", channel, { code: invite.code });
		this.#audit(channel, by, AuditLogEvent.InviteDelete, invite, {});
	}

	#dispatch(
		type: "INVITE_CREATE" | "INVITE_DELETE",
		channel: GuildChannel,
		data: Record<string, unknown>,
	): void {
		const { id: channel_id, guild_id } = channel;
		this.#state.dispatchToGuild(
			type,
			this.#state.guildOf(channel),
			() => ({ channel_id, guild_id, ...data }),
			{
				permission: {
					bits: Permission.ManageChannels,
					channelId: channel_id,
				},
			},
		);
	}

	#audit(
		channel: GuildChannel,
		by: Attribution | undefined,
		action: AuditLogEvent,
		before: Partial<Invite>,
		after: Partial<Invite>,
	): void {
		this.#state.audit(this.#state.guildOf(channel), by, action, null, {
			changes: changesBetween(auditFields(before), auditFields(after)),
		});
	}
}

function auditFields(invite: Partial<Invite>): Record<string, unknown> {
	const {
		inviter,
		guild_id: _,
		created_at: __,
		role_ids: ___,
		...rest
	} = invite;
	return { ...rest, ...(inviter ? { inviter_id: inviter.id } : {}) };
}

/** When an invite expires; null for never. */
function expiryOf({ created_at, max_age }: Invite): Date | null {
	if (max_age === 0) return null;
	return new Date(Date.parse(created_at) + max_age * 1000);
}

/** The fields that only members who manage the channel see. */
export function metadata(invite: Invite) {
	const { uses, max_uses, max_age, temporary, created_at } = invite;
	return { uses, max_uses, max_age, temporary, created_at };
}

/** An invite as Discord sends it to anyone who has the code. */
export function serializeInvite(
	invite: Invite,
	guild: Guild,
	{ id, name, type }: GuildChannel,
) {
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
			icon: null,
			vanity_url_code: null,
			features: [],
			verification_level: 0,
			nsfw_level: 0,
			premium_subscription_count: 0,
		},
		channel: { id, name, type },
		inviter: invite.inviter,
		expires_at: expiryOf(invite)?.toISOString() ?? null,
		flags: 0,
		...(invite.role_ids.length > 0 && { roles: rolesOf(invite, guild) }),
	};
}

/** The roles that the invite grants, without deleted ones. */
function rolesOf({ role_ids }: Invite, { roles }: Guild) {
	return role_ids
		.flatMap((id) => roles.get(id) ?? [])
		.map(({ id, name, position, color, colors }) => ({
			id,
			name,
			position,
			color,
			colors,
			icon: null,
			unicode_emoji: null,
		}));
}
