// Members: listing, searching, editing, kicking, their roles, and pruning inactive ones.
// https://discord.com/developers/docs/resources/guild#get-guild-prune-count

import { PermissionFlagsBits as Permission } from "discord.js";
import { membersNamed } from "../../world/guilds/members.ts";
import type { Member, Role } from "../../world/state/entities.ts";
import { guildPermissions, has, isAboveMember } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import {
	knownRoles,
	requireAbove,
	requireAboveRole,
	requireGuildPermissions,
	requireMembersIntent,
} from "../access.ts";
import { apiError, atKey, formError, found } from "../errors.ts";
import { boolean, integer, list, nullable, pageById, required, snowflake, text, timestamp } from "../fields/fields.ts";
import { type Call, memberOfActor, route } from "../route.ts";
import { checkVoice, voiceFields } from "./voice.ts";

// A minute of tolerance for clock differences.
const timeoutLimitMs = 28 * 24 * 60 * 60 * 1000;

const oneRole = "/guilds/:guild_id/members/:user_id/roles/:role_id";

type MemberCall = Call<":guild_id/members/:user_id">;

function checkRoles(call: MemberCall, wanted: readonly string[]): void {
	requireGuildPermissions(call, "ManageRoles");
	for (const id of new Set(wanted).symmetricDifference(new Set(call.member.roles)))
		requireAssignable(call, found(call.guild.roles.get(id), "UnknownRole"));
}

function requireAssignable(call: MemberCall, role: Role): void {
	if (role.id === call.guild.id) throw apiError("InvalidRole");
	if (role.managed) throw apiError("MissingPermissions");
	requireAboveRole(call, role);
}

function changeRoles(call: Call<typeof oneRole>, roles: string[]): void {
	const { guild, member } = call;
	requireAssignable(call, call.role);
	// No event and no audit log entry without a change.
	if (roles.length !== member.roles.length) call.world.members.edit(guild, member, { roles }, call.by);
}

function checkTimeout(call: MemberCall, until: string | null): void {
	const { guild, member } = call;
	requireGuildPermissions(call, "ModerateMembers");
	requireAbove(call, member);
	if (has(guildPermissions(guild, member.user.id), "Administrator")) throw apiError("MissingPermissions");
	if (until && Date.parse(until) > Date.now() + timeoutLimitMs)
		throw formError(
			"INVALID_COMMUNICATION_DISABLED_TIMESTAMP",
			"Invalid communication disabled timestamp",
			"communication_disabled_until",
		);
}

const prunePath = "/guilds/:guild_id/prune";
const pruneNeeds = Permission.ManageGuild | Permission.KickMembers;
const days = integer(1, 30);
const roles = list(snowflake, 0, 250);
const defaultDays = 7;

/** With the guild feature PRUNE_REQUIRES_ADMIN it needs ADMINISTRATOR: discord-userdoccers, Prune Guild. */
function prunable(call: Call<typeof prunePath>, days: number, roleIds: readonly string[]): Member[] {
	const { world, guild, actor } = call;
	if (guild.features.includes("PRUNE_REQUIRES_ADMIN")) requireGuildPermissions(call, "Administrator");
	knownRoles(guild, roleIds);
	return world.members.inactive(guild, days, roleIds).filter((member) => isAboveMember(guild, actor.user.id, member));
}

export const memberRoutes = [
	route("GET /guilds/:guild_id/members", {
		query: { limit: integer(1, 1000), after: snowflake },
		run: (call) => {
			requireMembersIntent(call);
			return pageById(call.guild.members.values(), ({ user }) => user.id, call.query, 1).map(serialize.member);
		},
	}),
	route("GET /guilds/:guild_id/members/search", {
		query: { query: required(text(1, 100)), limit: integer(1, 1000) },
		run: ({ guild, query: { query, limit = 1 } }) => membersNamed(guild, query, limit).map(serialize.member),
	}),
	route("GET /guilds/:guild_id/members/:user_id", ({ member }) => serialize.member(member)),
	route("PATCH /guilds/:guild_id/members/@me", {
		body: { nick: nullable(text(0, 32)) },
		run: (call) => {
			const member = memberOfActor(call);
			const { nick } = call.body;
			if (nick !== undefined) {
				requireGuildPermissions(call, "ChangeNickname");
				call.world.members.edit(call.guild, member, { nick: nick || null }, call.by);
			}
			return serialize.member(member);
		},
	}),
	route("PATCH /guilds/:guild_id/members/:user_id", {
		body: {
			nick: nullable(text(0, 32)),
			roles: nullable(list(snowflake, 0, 250), []),
			...voiceFields,
			communication_disabled_until: nullable(timestamp),
		},
		run: (call) => {
			const { guild, member } = call;
			const { nick, roles, communication_disabled_until: until } = call.body;
			const { target, ...muting } = checkVoice(call);
			if (nick !== undefined) {
				requireGuildPermissions(call, "ManageNicknames");
				requireAbove(call, member);
			}
			if (roles) checkRoles(call, roles);
			if (until !== undefined) checkTimeout(call, until);
			const changes = {
				nick: nick === undefined ? undefined : nick || null,
				roles: roles && [...new Set(roles)],
				communication_disabled_until: until,
				...muting,
			};
			// Moving between voice channels does not change the member.
			if (Object.values(changes).some((value) => value !== undefined))
				call.world.members.edit(guild, member, changes, call.by);
			if (target) call.world.voice.join(target, member, {}, call.by);
			if (target === null) call.world.voice.leave(guild, member, call.by);
			return serialize.member(member);
		},
	}),
	route("DELETE /guilds/:guild_id/members/:user_id", {
		needs: "KickMembers",
		run: (call) => {
			const { guild, member } = call;
			requireAbove(call, member);
			call.world.members.remove(guild, member, call.by);
		},
	}),
	route(`PUT ${oneRole}`, {
		needs: "ManageRoles",
		run: (call) => changeRoles(call, [...new Set(call.member.roles).add(call.role.id)]),
	}),
	route(`DELETE ${oneRole}`, {
		needs: "ManageRoles",
		run: (call) =>
			changeRoles(
				call,
				call.member.roles.filter((id) => id !== call.role.id),
			),
	}),
	route(`GET ${prunePath}`, {
		needs: pruneNeeds,
		query: { days, include_roles: text(0, 6000) },
		run: (call) => {
			const { days = defaultDays, include_roles } = call.query;
			const ids = include_roles ? include_roles.split(",") : undefined;
			return { pruned: prunable(call, days, atKey("include_roles", () => roles.read(ids)) ?? []).length };
		},
	}),
	route(`POST ${prunePath}`, {
		needs: pruneNeeds,
		body: { days, compute_prune_count: boolean, include_roles: roles },
		run: (call) => {
			const { world, body, by, guild } = call;
			const { days = defaultDays, include_roles = [] } = body;
			const pruned = prunable(call, days, include_roles);
			for (const member of pruned) world.members.remove(guild, member);
			world.state.audit(guild, by, "MemberPrune", null, {
				options: { delete_member_days: String(days), members_removed: String(pruned.length) },
			});
			const { compute_prune_count = true } = body;
			return { pruned: compute_prune_count ? pruned.length : null };
		},
	}),
];
