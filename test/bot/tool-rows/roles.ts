// The rows of src/bot/tools/roles.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { freshName, inGuild, memberId, newRole, type Row, roleId } from "./scene.ts";

export const rolesRows: Record<string, Row> = {
	edit_role: {
		ids: { role_id: roleId, below_role_id: roleId },
		person: person.inGuild(["ManageRoles"], person.noChannel, { below: "the role" }),
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
		effects: (guild) => ({
			write: [
				{ role_id: guild.role("Regular"), color: "#112233" },
				{ role_id: guild.role("Staff"), remove_permissions: ["KICK_MEMBERS"] },
			],
			destructive: [
				["gives @Regular (ID: ", { role_id: guild.role("Regular"), add_permissions: ["BAN_MEMBERS"] }],
				[") MANAGE_MESSAGES", { role_id: guild.id, add_permissions: ["MANAGE_MESSAGES"] }],
				[") ADMINISTRATOR", { role_id: guild.role("Newcomer"), add_permissions: ["ADMINISTRATOR"] }],
				["takes SEND_MESSAGES from @everyone", { role_id: guild.id, remove_permissions: ["SEND_MESSAGES"] }],
				[
					"changes which roles rank below @Staff",
					{ role_id: guild.role("Staff"), below_role_id: guild.role("Newcomer") },
				],
			],
		}),
		refuses: [
			[{ name: undefined }],
			[{ add_permissions: String(1n << 63n) }, "add_permissions: Discord has no permission for the bits"],
			[{ add_permissions: ["BAN"] }, 'add_permissions: Discord has no permission "BAN"'],
			[
				{ add_permissions: ["KICK_MEMBERS"], remove_permissions: ["KICK_MEMBERS", "BAN_MEMBERS"] },
				"add_permissions, remove_permissions: both contain KICK_MEMBERS",
			],
			[{ color: 0x1000000 }, 'color: expected a color such as "#8E44AD"'],
			...[-1, 1.5, "#ff00001", "inherit"].map((color) => [{ color }, "color: expected a color"] as const),
			[{ color: "nothing" }, 'received "nothing"'],
			[{ color: true }, "color: expected (string | number)"],
			[{ name: "😀".repeat(101) }, "received 101"],
		],
	},
	list_roles: {
		ids: {},
		person: person.anyMember(),
		args: () => ({}),
		answer: ({ guild }) => [
			`${guild.roles.size} roles, from the top`,
			...[...guild.roles.values()].map(({ id, name }) => `@${name.replace("@", "")} | ID: ${id} | `),
		],
	},
	create_role: {
		ids: { below_role_id: roleId, user_ids: memberId },
		person: person.inGuild(["ManageRoles"]),
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
		effects: (guild) => ({
			write: [{ name: "Friends", permissions: ["SEND_MESSAGES"], user_ids: [guild.user("mona_lisa")] }],
			destructive: [
				["gives a role MANAGE_GUILD", { name: "x", permissions: ["MANAGE_GUILD"] }],
				["gives a role ADMINISTRATOR", { name: "x", permissions: "10" }],
				["places a role above @Staff", { name: "x", below_role_id: guild.role("alpha") }],
			],
		}),
		refuses: [[{ permissions: ["KICK"] }, 'Discord has no permission "KICK"']],
	},
	delete_role: {
		ids: { role_id: roleId },
		person: person.inGuild(["ManageRoles"], person.noChannel, { below: "the role" }),
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
