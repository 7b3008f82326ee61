// Pruning inactive members. With the guild feature PRUNE_REQUIRES_ADMIN it needs ADMINISTRATOR: discord-userdoccers, Prune Guild.
// https://discord.com/developers/docs/resources/guild#get-guild-prune-count

import { AuditLogEvent, PermissionFlagsBits as Permission } from "discord.js";
import type { Member } from "../../world/state/entities.ts";
import { isAboveMember } from "../../world/state/permissions.ts";
import { requireGuildPermissions } from "../access.ts";
import { atKey, found } from "../errors.ts";
import { boolean, integer, list, snowflake, text } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const path = "/guilds/:guild_id/prune";
const needs = Permission.ManageGuild | Permission.KickMembers;
const days = integer(1, 30);
const roles = list(snowflake, 0, 250);
const defaultDays = 7;

function prunable(call: Call<typeof path>, days: number, roleIds: readonly string[]): Member[] {
	const { world, guild, actor } = call;
	if (guild.features.includes("PRUNE_REQUIRES_ADMIN")) requireGuildPermissions(call, "Administrator");
	for (const id of roleIds) found(guild.roles.get(id), "UnknownRole");
	return world.members.inactive(guild, days, roleIds).filter((member) => isAboveMember(guild, actor.user.id, member));
}

export const pruneRoutes = [
	route(`GET ${path}`, {
		needs,
		query: { days, include_roles: text(0, 6000) },
		run: (call) => {
			const { days = defaultDays, include_roles } = call.query;
			const ids = include_roles ? include_roles.split(",") : undefined;
			const read = atKey("include_roles", () => roles.read(ids)) ?? [];
			return { pruned: prunable(call, days, read).length };
		},
	}),
	route(`POST ${path}`, {
		needs,
		body: { days, compute_prune_count: boolean, include_roles: roles },
		run: (call) => {
			const { world, body, by, guild } = call;
			const { days = defaultDays, include_roles = [] } = body;
			const pruned = prunable(call, days, include_roles);
			for (const member of pruned) world.members.remove(guild, member);
			world.state.audit(guild, by, AuditLogEvent.MemberPrune, null, {
				options: { delete_member_days: String(days), members_removed: String(pruned.length) },
			});
			const { compute_prune_count = true } = body;
			return { pruned: compute_prune_count ? pruned.length : null };
		},
	}),
];
