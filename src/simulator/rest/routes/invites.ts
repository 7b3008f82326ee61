// Invites: listing, creating, reading, accepting and deleting.
// https://discord.com/developers/docs/resources/invite

import { ChannelType, GuildFeature, GuildSystemChannelFlags, MessageType } from "discord.js";
import { metadata } from "../../world/guilds/invites.ts";
import type { Guild, Invite } from "../../world/state/entities.ts";
import { guildPermissions, has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn, requireAboveRole, requireGuildPermissions } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { boolean, integer, list, notSimulatedField, snowflake, text } from "../fields/fields.ts";
import { type Call, guildChannelOf, route } from "../route.ts";

const inviteLimit = 1000;
const longestSeconds = 5_184_000;

/**
 * Whether the guild has paused its invites. While they are paused, requests to create one get status 204
 * (discord-userdoccers, Create Channel Invite). A guess (invite-paused): this holds both for the feature
 * INVITES_DISABLED and for `invites_disabled_until`.
 */
export function arePaused({ features, incidents_data }: Guild): boolean {
	const until = incidents_data?.invites_disabled_until;
	return features.includes("INVITES_DISABLED") || (typeof until === "string" && Date.parse(until) > Date.now());
}

function inviteOf({ world, params }: Call<":invite_code">): Invite {
	return found(world.invites.get(params.invite_code), "UnknownInvite");
}

function withMetadata({ world }: Call, invite: Invite) {
	return { ...world.invites.serialize(invite), ...metadata(invite) };
}

/** https://github.com/discord-userdoccers/discord-userdoccers/blob/18baa186/pages/datamining/errors.mdx */
const invitesPaused = 40069;

function join({ world, actor: { user } }: Call, invite: Invite): boolean {
	const guild = world.guilds.of(world.state.channelOf(invite));
	// A guess (invite-join-again): this does not count as a use.
	if (guild.members.has(user.id)) return false;
	if (guild.bans.has(user.id)) throw apiError("UserBannedFromThisGuild");
	if (arePaused(guild))
		throw apiError(invitesPaused, {
			status: 403,
			message: "Invites are currently paused for this server. Please try again later.",
		});
	world.members.add(guild, user, {
		// A guess (invite-join-roles): the new member has them in GUILD_MEMBER_ADD.
		roles: invite.role_ids.filter((id) => guild.roles.has(id)),
		pending: guild.features.includes(GuildFeature.MemberVerificationGateEnabled),
	});
	world.invites.use(invite);
	const channel = guild.channels.get(guild.system_channel_id ?? "");
	if (channel && (guild.system_channel_flags & GuildSystemChannelFlags.SuppressJoinNotifications) === 0)
		world.messages.add(channel, user, { content: "", type: MessageType.UserJoin });
	return true;
}

function requireGrantable({ actor, world }: Call, guild: Guild, ids: readonly string[]): void {
	for (const id of ids) {
		const role = found(guild.roles.get(id), "UnknownRole");
		requireGuildPermissions({ guild, actor, world }, "ManageRoles");
		if (role.managed || id === guild.id) throw apiError("MissingPermissions");
		requireAboveRole({ guild, actor }, role);
	}
}

export const inviteRoutes = [
	route("GET /guilds/:guild_id/invites", (call) => {
		const { guild } = call;
		const manages = has(guildPermissions(guild, call.actor.user.id), "ManageGuild");
		if (!manages) requireGuildPermissions(call, "ViewAuditLog");
		return call.world.invites
			.list({ guild_id: guild.id })
			.map((one) => (manages ? withMetadata(call, one) : call.world.invites.serialize(one)));
	}),
	route("GET /channels/:channel_id/invites", {
		needs: "ManageChannels",
		run: (call) =>
			call.world.invites.list({ channel_id: guildChannelOf(call).id }).map((invite) => withMetadata(call, invite)),
	}),
	route("POST /channels/:channel_id/invites", {
		needs: "CreateInstantInvite",
		body: {
			max_age: integer(0, longestSeconds),
			max_uses: integer(0, 100),
			temporary: boolean,
			unique: boolean,
			target_type: notSimulatedField("invites to streams and activities"),
			role_ids: list(snowflake, 0, 250),
		},
		run: (call) => {
			const channel = guildChannelOf(call);
			const { world, body, actor, by } = call;
			// https://github.com/Rapptz/discord.py/pull/6063
			if (channel.type === ChannelType.GuildCategory) throw apiError("UnknownChannel");
			const { unique, target_type: _, role_ids = [], ...times } = body;
			const guild = world.guilds.of(channel);
			requireGrantable(call, guild, role_ids);
			if (arePaused(guild)) return call.skipJournal();
			const settings = { inviter: actor.user, role_ids, ...times };
			const known = unique ? undefined : world.invites.findSame(channel, settings);
			if (known) {
				call.skipJournal();
				return withMetadata(call, known);
			}
			const { guild_id } = channel;
			if (world.invites.list({ guild_id }).length >= inviteLimit) throw apiError("MaximumNumberOfInvitesReached");
			return withMetadata(call, world.invites.add(channel, settings, by));
		},
	}),
	route("GET /invites/:invite_code", {
		withoutToken: true,
		query: { with_counts: boolean, with_expiration: boolean },
		run: (call) => {
			const invite = inviteOf(call);
			const { world, query } = call;
			const guild = world.guilds.of(world.state.channelOf(invite));
			return { ...call.world.invites.serialize(invite), ...(query.with_counts && serialize.guildCounts(guild)) };
		},
	}),
	route("POST /invites/:invite_code", {
		body: { session_id: text(1, 100) },
		run: (call) => {
			if (call.actor.user.bot) throw apiError("BotsCannotUseThisEndpoint");
			const invite = inviteOf(call);
			const accepted = call.world.invites.serialize(invite);
			const new_member = join(call, invite);
			if (!new_member) call.skipJournal();
			return { ...accepted, new_member };
		},
	}),
	route("DELETE /invites/:invite_code", (call) => {
		const invite = inviteOf(call);
		const channel = call.world.state.channelOf(invite);
		const guild = call.world.guilds.of(channel);
		if (!has(permissionsIn(call, channel), "ManageChannels"))
			requireGuildPermissions({ ...call, guild }, "ManageGuild");
		const deleted = call.world.invites.serialize(invite);
		call.world.invites.remove(invite, call.by);
		return deleted;
	}),
];
