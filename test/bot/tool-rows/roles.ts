// The rows of src/bot/tools/roles.ts.

import { AuditLogEvent } from "discord.js";
import { newRole, type Row, roleId } from "./scene.ts";

export const rolesRows: Record<string, Row> = {
	edit_role: {
		effect: "writes",
		ids: { role_id: roleId },
		act(scene) {
			const role = newRole(scene, scene.guild);
			return {
				args: { role_id: role.id, name: "changed" },
				request: `PATCH /guilds/${scene.guild.id}/roles/${role.id}`,
				done: () => role.name === "changed",
			};
		},
		reason: AuditLogEvent.RoleUpdate,
		needs: { permission: "ManageRoles", name: "MANAGE_ROLES", in: "the guild" },
		dryRun: "not destructive",
	},
};
