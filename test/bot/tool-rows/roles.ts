// The rows of src/bot/tools/roles.ts.

import { AuditLogEvent } from "discord.js";
import { freshName, inGuild, memberId, newRole, type Row, roleId } from "./scene.ts";

export const rolesRows: Record<string, Row> = {
	edit_role: {
		ids: { role_id: roleId, below_role_id: roleId },
		act(scene) {
			const role = newRole(scene, scene.guild);
			return {
				args: { role_id: role.id, name: "changed" },
				request: `PATCH /guilds/${scene.guild.id}/roles/${role.id}`,
				done: () => role.name === "changed",
			};
		},
		reason: AuditLogEvent.RoleUpdate,
		needs: inGuild("ManageRoles"),
	},
	list_roles: {
		ids: {},
		args: () => ({}),
		answer: ({ guild }) => [
			`${guild.roles.size} roles, from the top`,
			...[...guild.roles.values()].map(({ id, name }) => `@${name.replace("@", "")} | ID: ${id} | `),
		],
	},
	create_role: {
		ids: { below_role_id: roleId, user_ids: memberId },
		act({ guild }) {
			const name = freshName();
			return {
				args: { name },
				request: `POST /guilds/${guild.id}/roles`,
				done: () => [...guild.roles.values()].some((one) => one.name === name),
			};
		},
		reason: AuditLogEvent.RoleCreate,
		needs: inGuild("ManageRoles"),
	},
	delete_role: {
		ids: { role_id: roleId },
		act(scene) {
			const { id } = newRole(scene, scene.guild);
			return {
				args: { role_id: id },
				request: `DELETE /guilds/${scene.guild.id}/roles/${id}`,
				done: () => !scene.guild.roles.has(id),
			};
		},
		reason: AuditLogEvent.RoleDelete,
		needs: inGuild("ManageRoles"),
		dryRun:
			/^Would delete the role @thing-\d+ \(ID: \d+\), which 0 member\(s\) have, and for which 0 channel\(s\) have overwrites\.$/m,
	},
};
