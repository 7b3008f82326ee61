// Members: listing, searching, editing, kicking, and their roles.

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { membersNamed } from "../../world/guilds/members.ts";
import type { Guild, Member, Role } from "../../world/state/entities.ts";
import {
	guildPermissions,
	has,
	isAboveMember,
	isAboveRole,
} from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { compareIds } from "../../world/state/snowflake.ts";
import { apiError, formError } from "../errors.ts";
import * as f from "../fields.ts";
import {
	type Call,
	guildOf,
	memberOf,
	memberOfActor,
	roleOf,
	route,
} from "../route.ts";
import { checkVoice } from "./voice.ts";

// A minute of tolerance for clock differences.
const timeoutLimitMs = 28 * 24 * 60 * 60 * 1000 + 60_000;

export const memberRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/members",
		query: { limit: f.integer(1, 1000), after: f.snowflake },
		run: (call) => {
			const { user, privilegedIntents } = call.actor;
			if (user.bot && !privilegedIntents.includes("GuildMembers"))
				throw apiError(Code.MissingAccess);
			const { limit = 1, after = "0" } = call.query;
			return [...guildOf(call).members.values()]
				.filter((member) => compareIds(member.user.id, after) > 0)
				.sort((a, b) => compareIds(a.user.id, b.user.id))
				.slice(0, limit)
				.map(serialize.member);
		},
	}),
	route({
		method: "GET",
		path: "/guilds/:guild_id/members/search",
		query: {
			query: f.required(f.text(1, 100)),
			limit: f.integer(1, 1000),
		},
		run: (call) =>
			membersNamed(guildOf(call), call.query.query, call.query.limit ?? 1).map(
				serialize.member,
			),
	}),
	route({
		method: "GET",
		path: "/guilds/:guild_id/members/:user_id",
		run: (call) => serialize.member(memberOf(call)),
	}),
	route({
		method: "PATCH",
		path: "/guilds/:guild_id/members/@me",
		body: { nick: f.nullable(f.text(0, 32)) },
		run: (call) => {
			const guild = guildOf(call);
			const member = memberOfActor(call);
			const { nick } = call.body;
			if (nick !== undefined) {
				requireGuildPermission(call, Permission.ChangeNickname);
				call.world.members.edit(guild, member, { nick: nick || null }, call.by);
			}
			return serialize.member(member);
		},
	}),
	route({
		method: "PATCH",
		path: "/guilds/:guild_id/members/:user_id",
		body: {
			nick: f.nullable(f.text(0, 32)),
			roles: f.nullable(f.list(f.snowflake, 0, 250)),
			mute: f.nullable(f.boolean),
			deaf: f.nullable(f.boolean),
			channel_id: f.nullable(f.snowflake),
			communication_disabled_until: f.nullable(f.timestamp),
		},
		run: (call) => {
			const guild = guildOf(call);
			const member = memberOf(call);
			const { nick, roles } = call.body;
			const until = call.body.communication_disabled_until;
			const voice = checkVoice(call, guild, member, call.body);
			if (nick !== undefined) {
				requireGuildPermission(call, Permission.ManageNicknames);
				requireHierarchy(call, guild, member);
			}
			if (roles !== undefined) checkRoles(call, guild, member, roles ?? []);
			if (until !== undefined) checkTimeout(call, guild, member, until);
			const changes = {
				nick: nick === undefined ? undefined : nick || null,
				roles: roles === undefined ? undefined : [...new Set(roles ?? [])],
				communication_disabled_until:
					until === undefined ? undefined : (until?.toISOString() ?? null),
				mute: voice.mute,
				deaf: voice.deaf,
			};
			const { target } = voice;
			// Moving between voice channels does not change the member.
			if (Object.values(changes).some((value) => value !== undefined))
				call.world.members.edit(guild, member, changes, call.by);
			if (target) call.world.voice.join(target, member, {}, call.by);
			if (target === null) call.world.voice.leave(guild, member, call.by);
			return serialize.member(member);
		},
	}),
	route({
		method: "DELETE",
		path: "/guilds/:guild_id/members/:user_id",
		needs: Permission.KickMembers,
		run: (call) => {
			const guild = guildOf(call);
			const member = memberOf(call);
			requireHierarchy(call, guild, member);
			call.world.members.remove(guild, member, call.by);
		},
	}),
	route({
		method: "PUT",
		path: "/guilds/:guild_id/members/:user_id/roles/:role_id",
		needs: Permission.ManageRoles,
		run: (call) => {
			const member = memberOf(call);
			changeRoles(call, [...member.roles, roleOf(call).id]);
		},
	}),
	route({
		method: "DELETE",
		path: "/guilds/:guild_id/members/:user_id/roles/:role_id",
		needs: Permission.ManageRoles,
		run: (call) => {
			const member = memberOf(call);
			const role = roleOf(call);
			changeRoles(
				call,
				member.roles.filter((id) => id !== role.id),
				role,
			);
		},
	}),
];

function requireGuildPermission(call: Call, bits: bigint): void {
	if (!has(guildPermissions(guildOf(call), call.actor.user.id), bits))
		throw apiError(Code.MissingPermissions);
}

/** Throws if the actor may not act on a member: only on itself and on members below it. */
function requireHierarchy(call: Call, guild: Guild, member: Member): void {
	if (!isAboveMember(guild, call.actor.user.id, member))
		throw apiError(Code.MissingPermissions);
}

/** Throws if the actor may not add or remove one of the changed roles. */
function checkRoles(
	call: Call,
	guild: Guild,
	member: Member,
	wanted: readonly string[],
): void {
	requireGuildPermission(call, Permission.ManageRoles);
	const changed = [
		...wanted.filter((id) => !member.roles.includes(id)),
		...member.roles.filter((id) => !wanted.includes(id)),
	];
	for (const id of changed) {
		const role = guild.roles.get(id);
		if (!role) throw apiError(Code.UnknownRole);
		requireAssignable(call, guild, role);
	}
}

function requireAssignable(call: Call, guild: Guild, role: Role): void {
	if (role.id === guild.id) throw apiError(Code.InvalidRole);
	if (role.managed || !isAboveRole(guild, call.actor.user.id, role))
		throw apiError(Code.MissingPermissions);
}

function changeRoles(call: Call, wanted: string[], role = roleOf(call)): void {
	const guild = guildOf(call);
	requireAssignable(call, guild, role);
	const member = memberOf(call);
	const roles = [...new Set(wanted)];
	// No event and no audit log entry without a change.
	if (roles.length === member.roles.length) return;
	call.world.members.edit(guild, member, { roles }, call.by);
}

function checkTimeout(
	call: Call,
	guild: Guild,
	member: Member,
	until: Date | null,
): void {
	requireGuildPermission(call, Permission.ModerateMembers);
	requireHierarchy(call, guild, member);
	if (has(guildPermissions(guild, member.user.id), Permission.Administrator))
		throw apiError(Code.MissingPermissions);
	if (until && until.getTime() > Date.now() + timeoutLimitMs)
		throw formError(
			"GUILD_COMMUNICATION_DISABLED_UNTIL_TOO_FAR",
			"Must be 28 days or fewer from now.",
			"communication_disabled_until",
		);
}
