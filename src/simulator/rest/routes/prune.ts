// Pruning inactive members.
// https://discord.com/developers/docs/resources/guild#get-guild-prune-count

import {
	AuditLogEvent,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { Member } from "../../world/state/entities.ts";
import { isAboveMember } from "../../world/state/permissions.ts";
import { apiError, atKey } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, guildOf, route } from "../route.ts";

const path = "/guilds/:guild_id/prune";
const needs = Permission.ManageGuild | Permission.KickMembers;
const days = f.integer(1, 30);
const roles = f.list(f.snowflake, 0, 250);
const defaultDays = 7;

/** The inactive members that the actor can kick. */
function prunable(
	call: Call,
	days: number,
	roleIds: readonly (string | undefined)[],
): Member[] {
	const guild = guildOf(call);
	const included = roleIds.map((id) => {
		if (id === undefined || !guild.roles.has(id))
			throw apiError(Code.UnknownRole);
		return id;
	});
	return call.world.members
		.inactive(guild, days, included)
		.filter((member) => isAboveMember(guild, call.actor.user.id, member));
}

export const pruneRoutes = [
	route({
		method: "GET",
		path,
		needs,
		query: { days, include_roles: f.text(0, 6000) },
		run: (call) => {
			const { days = defaultDays, include_roles } = call.query;
			const ids = include_roles ? include_roles.split(",") : undefined;
			const read = atKey("include_roles", () => roles.read(ids)) ?? [];
			return { pruned: prunable(call, days, read).length };
		},
	}),
	route({
		method: "POST",
		path,
		needs,
		body: { days, compute_prune_count: f.boolean, include_roles: roles },
		run: (call) => {
			const { world, body, by } = call;
			const guild = guildOf(call);
			const { days = defaultDays, include_roles = [] } = body;
			const pruned = prunable(call, days, include_roles);
			for (const member of pruned) world.members.remove(guild, member);
			world.state.audit(guild, by, AuditLogEvent.MemberPrune, null, {
				options: {
					delete_member_days: String(days),
					members_removed: String(pruned.length),
				},
			});
			const { compute_prune_count = true } = body;
			return { pruned: compute_prune_count ? pruned.length : null };
		},
	}),
];
