// Invites: listing, creating, reading and deleting.
// https://discord.com/developers/docs/resources/invite

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { metadata, serializeInvite } from "../../world/guilds/invites.ts";
import type { Invite } from "../../world/state/entities.ts";
import {
	guildPermissions,
	has,
	isAboveRole,
} from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { apiError } from "../errors.ts";
import * as f from "../fields.ts";
import { notSimulatedField, permissionsIn } from "../message-body.ts";
import { type Call, guildChannelOf, guildOf, param, route } from "../route.ts";

const { ManageRoles, ViewAuditLog } = Permission;

const inviteLimit = 1000;

function inviteOf(call: Call): Invite {
	const invite = call.world.invites.get(param(call, "invite_code"));
	if (!invite) throw apiError(Code.UnknownInvite);
	return invite;
}

function inviteJson({ world }: Call, invite: Invite) {
	const channel = world.invites.channelOf(invite);
	return serializeInvite(invite, world.guilds.of(channel), channel);
}

/** Throws if the actor may not grant these roles. */
function givenRoles(call: Call, ids: readonly (string | undefined)[]) {
	const guild = call.world.guilds.of(guildChannelOf(call));
	const { id: actor } = call.actor.user;
	return ids.map((id = "") => {
		const role = guild.roles.get(id);
		if (!role) throw apiError(Code.UnknownRole);
		const mayGive =
			has(guildPermissions(guild, actor), ManageRoles) &&
			!role.managed &&
			role.id !== guild.id &&
			isAboveRole(guild, actor, role);
		if (!mayGive) throw apiError(Code.MissingPermissions);
		return id;
	});
}

export const inviteRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/invites",
		run: (call) => {
			const guild = guildOf(call);
			const permissions = guildPermissions(guild, call.actor.user.id);
			const manages = has(permissions, Permission.ManageGuild);
			if (!manages && !has(permissions, ViewAuditLog))
				throw apiError(Code.MissingPermissions);
			return call.world.invites.list({ guild_id: guild.id }).map((invite) => ({
				...inviteJson(call, invite),
				...(manages ? metadata(invite) : {}),
			}));
		},
	}),
	route({
		method: "GET",
		path: "/channels/:channel_id/invites",
		needs: Permission.ManageChannels,
		run: (call) =>
			call.world.invites
				.list({ channel_id: guildChannelOf(call).id })
				.map((invite) => ({
					...inviteJson(call, invite),
					...metadata(invite),
				})),
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/invites",
		needs: Permission.CreateInstantInvite,
		body: {
			max_age: f.nullable(f.integer(0, 604_800)),
			max_uses: f.nullable(f.integer(0, 100)),
			temporary: f.nullable(f.boolean),
			unique: f.nullable(f.boolean),
			target_type: notSimulatedField("invites to streams and activities"),
			role_ids: f.list(f.snowflake, 0, 250),
		},
		run: (call) => {
			const channel = guildChannelOf(call);
			const { world, body, actor, by } = call;
			if (channel.type === ChannelType.GuildCategory)
				throw apiError(Code.CannotExecuteActionOnThisChannelType);
			const settings = {
				inviter: actor.user,
				max_age: body.max_age ?? 86_400,
				max_uses: body.max_uses ?? 0,
				temporary: body.temporary ?? false,
				role_ids: givenRoles(call, body.role_ids ?? []),
			};
			const known = body.unique
				? undefined
				: world.invites.findSame(channel, settings);
			if (known) call.skipJournal();
			else if (
				world.invites.list({ guild_id: channel.guild_id }).length >= inviteLimit
			)
				throw apiError(Code.MaximumNumberOfInvitesReached);
			const invite = known ?? world.invites.add(channel, settings, by);
			return { ...inviteJson(call, invite), ...metadata(invite) };
		},
	}),
	route({
		method: "GET",
		path: "/invites/:invite_code",
		query: { with_counts: f.boolean, with_expiration: f.boolean },
		run: (call) => {
			const invite = inviteOf(call);
			const { world, query } = call;
			const guild = world.guilds.of(world.invites.channelOf(invite));
			return {
				...inviteJson(call, invite),
				...(query.with_counts ? serialize.guildCounts(guild) : {}),
			};
		},
	}),
	route({
		method: "DELETE",
		path: "/invites/:invite_code",
		run: (call) => {
			const invite = inviteOf(call);
			const channel = call.world.invites.channelOf(invite);
			const guild = call.world.guilds.of(channel);
			const mayDelete =
				has(permissionsIn(call, channel), Permission.ManageChannels) ||
				has(
					guildPermissions(guild, call.actor.user.id),
					Permission.ManageGuild,
				);
			if (!mayDelete) throw apiError(Code.MissingPermissions);
			const deleted = inviteJson(call, invite);
			call.world.invites.remove(invite, call.by);
			return deleted;
		},
	}),
];
