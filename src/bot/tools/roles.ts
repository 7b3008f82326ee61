// Roles: what they are called, how they look, what they permit.

import type { Role } from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import {
	flag,
	found,
	guild_id,
	integer,
	permissionBits,
	permissionNames,
	reason,
	text,
} from "../arguments.ts";
import { tool } from "../context.ts";
import { roleName } from "../describe.ts";
import { changesOf } from "../edits.ts";
import { currentRole } from "../find.ts";
import { describeBits, readBits, requireGrantable } from "../permissions.ts";

export const editRole = tool({
	name: "edit_role",
	toolset: "roles",
	title: "Edit a role",
	description:
		"Change a role's name, colour, permissions, whether its members are listed apart, and whether everyone may mention it. Only what is given is changed, permissions as a whole; an edit that would change nothing is refused. Answers with what has changed.",
	effect: "write",
	idempotent: true,
	turns: "role_id",
	permissions: ["ManageRoles"],
	ranked: true,
	input: v.strictObject({
		guild_id,
		role_id: found(currentRole, "role"),
		name: v.optional(text(1, 100, "New name.")),
		color: v.optional(
			integer(0, 0xffffff, "New colour, as 0xRRGGBB; 0 for none."),
		),
		permissions: permissionBits("Everything that the role permits"),
		permission_names: permissionNames("Everything that the role permits"),
		hoist: v.optional(flag("List its members apart from the others.")),
		mentionable: v.optional(flag("Let everyone mention it.")),
		reason,
	}),
	async run(args, { guild, role }) {
		const { name, color, hoist, mentionable } = args;
		const permissions = readBits(
			["permissions", "permission_names"],
			args.permissions,
			args.permission_names,
		);
		const before = currentFields(role);
		const { color: primaryColor, ...changes } = changesOf(
			before,
			{ name, color, permissions, hoist, mentionable },
			roleName(role),
		);
		const toggled =
			(changes.permissions ?? before.permissions) ^ before.permissions;
		requireGrantable(guild, undefined, toggled);
		const edited = await guild.roles.edit(role.id, {
			...changes,
			...(primaryColor !== undefined && { colors: { primaryColor } }),
		});
		const after = currentFields(edited);
		const changed = fieldNames.filter(
			(field) => before[field] !== after[field],
		);
		if (changed.length === 0)
			throw new ToolError(
				`Discord took the edit of ${roleName(edited)} and changed nothing.`,
			);
		return [
			`Changed ${changed.join(", ")} of ${roleName(edited)}.`,
			...(toggled === 0n
				? []
				: [
						`Newly permitted: ${describeBits(after.permissions & ~before.permissions)}`,
						`No longer permitted: ${describeBits(before.permissions & ~after.permissions)}`,
					]),
		];
	},
});

const fieldNames = [
	"name",
	"color",
	"permissions",
	"hoist",
	"mentionable",
] as const;

/** A role's fields as the tool takes them. */
function currentFields(role: Role) {
	return {
		name: role.name,
		color: role.colors.primaryColor,
		permissions: role.permissions.bitfield,
		hoist: role.hoist,
		mentionable: role.mentionable,
	};
}
