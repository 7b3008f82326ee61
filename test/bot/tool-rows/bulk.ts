// The rows of src/bot/tools/bulk-roles.ts, role-order.ts, and of pruning in moderation.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { anyId, inGuild, memberId, newMember, newRole, type Row, roleId, type Scene } from "./scene.ts";

const pruned = inGuild("KickMembers", "ManageGuild");

/** Someone with a role of their own, who has been inactive for ten days. */
function newlyAway(scene: Scene) {
	const { guild, world } = scene;
	const member = newMember(scene, guild);
	const role = newRole(scene, guild);
	const { world: platform } = world.simulator;
	platform.members.edit(guild, member, { roles: [role.id] });
	const at = new Date(Date.now() - 10 * 86_400_000);
	platform.members.setLastSeen(member, at);
	return { ...member.user, role };
}

export const bulkRows: Record<string, Row> = {
	bulk_role_update: {
		ids: { role_id: roleId, user_ids: memberId, after: anyId("it is a cursor") },
		person: person.inGuild(["ManageRoles"], person.noChannel, { below: "the role" }),
		act(scene) {
			const { guild } = scene;
			const member = newMember(scene, guild);
			const { id } = newRole(scene, guild);
			return {
				args: { role_id: id, action: "add", user_ids: [member.user.id], dry_run: false },
				request: `PUT /guilds/${guild.id}/members/${member.user.id}/roles/${id}`,
				done: () => member.roles.includes(id),
			};
		},
		reason: AuditLogEvent.MemberRoleUpdate,
		needs: inGuild("ManageRoles"),
		dryRun: /^Would give @thing-\d+ \(ID: \d+\) the role @thing-\d+ \(ID: \d+\)\.$/m,
		refuses: [[{ user_ids: undefined }, "user_ids, where: expected exactly one of the two"]],
	},
	prune_members: {
		ids: { include_role_ids: roleId },
		person: person.inGuild(["ManageGuild", "KickMembers"]),
		act(scene) {
			const { id, role } = newlyAway(scene);
			return {
				args: { include_role_ids: [role.id], dry_run: false },
				request: `POST /guilds/${scene.guild.id}/prune`,
				done: () => !scene.guild.members.has(id),
			};
		},
		reason: AuditLogEvent.MemberPrune,
		needs: pruned,
		dryRun:
			/^Would remove 1 member\(s\) of the guild \d+ who have been inactive for 7 day\(s\) and have no roles except @thing-\d+ \(ID: \d+\)\.$/m,
	},
	move_roles: {
		ids: { role_ids: roleId, below_role_id: roleId, above_role_id: roleId },
		person: person.inGuild(["ManageRoles"], person.noChannel, { below: "the role" }),
		act(scene) {
			const upper = newRole(scene, scene.guild);
			// A new role stands below those that there are.
			const lower = newRole(scene, scene.guild);
			return {
				args: { role_ids: [lower.id], above_role_id: upper.id },
				request: `PATCH /guilds/${scene.guild.id}/roles`,
				done: () => lower.position > upper.position,
			};
		},
		reason: AuditLogEvent.RoleUpdate,
		needs: inGuild("ManageRoles"),
		effects: (guild) => ({
			write: [{ role_ids: [guild.role("Helpers")], below_role_id: guild.role("Regular") }],
			destructive: [
				[
					"changes which roles rank below @Staff",
					{ role_ids: [guild.role("Regular")], above_role_id: guild.role("Staff") },
				],
			],
		}),
	},
};
