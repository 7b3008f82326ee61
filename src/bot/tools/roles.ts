// Roles: listing, creating, editing, deleting, and assigning them to members.

import { type Guild, type GuildMember, type Role, Routes } from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import {
	memberFields,
	memberName,
	roleFields,
	roleName,
} from "../discord/describe.ts";
import { currentMember, currentRole, role } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import {
	describeBits,
	readBits,
	requireGrantable,
} from "../discord/permissions.ts";
import { fieldLine, resultLines } from "../discord/text.ts";
import {
	flag,
	found,
	guild_id,
	integer,
	limit,
	permissionBits,
	permissionNames,
	reason,
	snowflake,
	text,
} from "../tool/arguments.ts";
import {
	destructiveTool,
	editTool,
	readTool,
	writeTool,
} from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";
import { pageOf, stillLoading } from "./members.ts";

const optionalFields = {
	color: v.optional(integer(0, 0xffffff, "Color 0xRRGGBB; 0 for none.")),
	hoist: v.optional(flag("List its members separately.")),
	mentionable: v.optional(flag("Let everyone mention it.")),
};

export const listRoles = readTool({
	name: "list_roles",
	toolset: "roles",
	title: "List roles",
	description:
		"List a guild's roles from the highest down: name, id, members, color, flags, permissions by name.",
	input: v.strictObject({ guild_id }),
	run(_, { guild, connection }) {
		const roles = [...guild.roles.cache.values()].sort((a, b) =>
			b.comparePositionTo(a),
		);
		const counts = memberCounts(guild);
		const lines = roles.map((role) =>
			fieldLine(
				roleFields(role),
				`${counts.get(role.id) ?? 0} member(s)`,
				role.colors.primaryColor !== 0 && `colour: ${role.hexColor}`,
				role.hoist && "hoist",
				role.mentionable && "mentionable",
				role.managed && "managed",
				`permits: ${describeBits(role.permissions.bitfield)}`,
			),
		);
		return [
			`${lines.length} role(s), from the top:`,
			...lines,
			...stillLoading(guild, connection),
		];
	},
});

/**
 * Name of discord.js's private field with the ids of a member's roles. The public getter builds a new collection for
 * each access.
 */
const roleIds = "_roles";

/**
 * Counts a guild's members by role id in one pass. discord.js's `role.members` iterates over all members for each role.
 */
function memberCounts({ id, members }: Guild): Map<string, number> {
	const counts = new Map([[id, members.cache.size]]);
	for (const member of members.cache.values())
		for (const role of member[roleIds])
			counts.set(role, (counts.get(role) ?? 0) + 1);
	return counts;
}

export const getRoleMembers = readTool({
	name: "get_role_members",
	toolset: "roles",
	extra: true,
	title: "List a role's members",
	description: "List the members with a role, by id.",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		role_id: found(role, "role"),
		limit: limit(1000, 100),
		after: v.optional(snowflake("previous page's last member")),
	}),
	run({ limit, after }, { guild, role, connection }) {
		const all = membersOf(role);
		const { page, next } = pageOf(all, after, limit);
		return [
			page.length > 0
				? `${page.length} of ${all.length} member(s) with ${roleName(role)}, by id:`
				: `No member${after ? ` with an id above ${after}` : ""} has ${roleName(role)}.`,
			...page.map(memberFields),
			...stillLoading(guild, connection),
			...next,
		];
	},
});

/** Returns the members with a role, sorted by id. */
function membersOf(role: Role): GuildMember[] {
	return [...role.members.values()].sort((a, b) => compareIds(a.id, b.id));
}

export const createRole = writeTool({
	name: "create_role",
	toolset: "roles",
	title: "Create a role",
	description:
		"Create a role below all others. Without permissions it adds none to those of @everyone.",
	permissions: ["ManageRoles"],
	input: v.strictObject({
		guild_id,
		name: text(1, 100, "Name of the role."),
		color: optionalFields.color,
		permissions: permissionBits("What the role permits"),
		permission_names: permissionNames("What the role permits"),
		hoist: optionalFields.hoist,
		mentionable: optionalFields.mentionable,
		reason,
	}),
	async run(args, { guild }) {
		const { name, color = 0, hoist = false, mentionable = false } = args;
		const permissions = readPermissions(args) ?? 0n;
		requireGrantable(guild, undefined, permissions);
		const made = await guild.roles.create({
			name,
			permissions,
			hoist,
			mentionable,
			colors: { primaryColor: color },
		});
		return `Created the role ${roleName(made)}, which permits: ${describeBits(made.permissions.bitfield)}.`;
	},
});

function readPermissions(args: {
	permissions?: string | undefined;
	permission_names?: string[] | undefined;
}): bigint | undefined {
	const names = ["permissions", "permission_names"] as const;
	return readBits(names, args.permissions, args.permission_names);
}

export const editRole = editTool({
	name: "edit_role",
	toolset: "roles",
	title: "Edit a role",
	description:
		"Change a role; omitted fields stay. Permissions are replaced as a whole.",
	lock: "role_id",
	permissions: ["ManageRoles"],
	ranked: true,
	input: v.strictObject({
		guild_id,
		role_id: found(currentRole, "role"),
		name: v.optional(text(1, 100, "New name.")),
		color: optionalFields.color,
		permissions: permissionBits("Everything that the role permits"),
		permission_names: permissionNames("Everything that the role permits"),
		hoist: optionalFields.hoist,
		mentionable: optionalFields.mentionable,
		reason,
	}),
	async run(args, { guild, role }) {
		const before = currentFields(role);
		const requested = { ...args, permissions: readPermissions(args) };
		const { color: primaryColor, ...changes } = changesOf(
			before,
			requested,
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
		const fields = Object.keys(before) as (keyof typeof before)[];
		const changed = fields.filter((field) => before[field] !== after[field]);
		if (changed.length === 0)
			throw new ToolError(
				`Discord accepted the edit of ${roleName(edited)} but changed nothing.`,
			);
		return resultLines(
			`Changed ${changed.join(", ")} of ${roleName(edited)}.`,
			toggled !== 0n && [
				`Newly permitted: ${describeBits(after.permissions & ~before.permissions)}`,
				`No longer permitted: ${describeBits(before.permissions & ~after.permissions)}`,
			],
		);
	},
});

/** Returns a role's current fields, named and valued as in tool arguments. */
function currentFields(role: Role) {
	return {
		name: role.name,
		color: role.colors.primaryColor,
		permissions: role.permissions.bitfield,
		hoist: role.hoist,
		mentionable: role.mentionable,
	};
}

const sampleSize = 5;

export const deleteRole = destructiveTool({
	name: "delete_role",
	toolset: "roles",
	title: "Delete a role",
	description: "Delete a role permanently, with its channel overwrites.",
	permissions: ["ManageRoles"],
	ranked: true,
	lock: "role_id",
	input: v.strictObject({
		guild_id,
		role_id: found(currentRole, "role"),
		reason,
	}),
	plan(_, { guild, role, connection }) {
		if (role.id === guild.id || role.managed)
			throw new ToolError(
				`${roleName(role)} ${whyFixed(role)} and cannot be deleted. Nothing was done.`,
			);
		const members = membersOf(role);
		const first = members.slice(0, sampleSize);
		const channels = guild.channels.cache.filter(
			(channel) =>
				!channel.isThread() && channel.permissionOverwrites.cache.has(role.id),
		);
		const usage = `, which ${members.length} member(s) have, and for which ${channels.size} channel(s) have overwrites`;
		return {
			preview: resultLines(
				`Would delete the role ${roleName(role)}${usage}.`,
				first.length > 0 && `The first ${first.length} by id:`,
				first.map(memberFields),
				stillLoading(guild, connection),
			),
			write: () =>
				guild.client.rest.delete(Routes.guildRole(guild.id, role.id)),
			result: `Deleted the role ${roleName(role)}. ${members.length} member(s) had it.`,
		};
	},
});

/** Says why a role cannot be assigned, removed or deleted: it is @everyone, or Discord manages it. */
function whyFixed({ id, guild }: Role): string {
	return id === guild.id
		? "is the role of all members"
		: "is managed by Discord";
}

const membership = {
	guild_id,
	user_id: found(currentMember, "member"),
	role_id: found(role, "role"),
	reason,
};

export const assignRole = editTool({
	name: "assign_role",
	toolset: "roles",
	title: "Assign a role",
	description: "Give a member a role.",
	lock: "user_id",
	permissions: ["ManageRoles"],
	ranked: true,
	input: v.strictObject(membership),
	async run(_, { guild, user, role }) {
		requireChange(user, role, false);
		await guild.client.rest.put(
			Routes.guildMemberRole(guild.id, user.id, role.id),
		);
		return `Gave ${memberName(user)} the role ${roleName(role)}.`;
	},
});

export const removeRole = editTool({
	name: "remove_role",
	toolset: "roles",
	title: "Remove a role",
	description: "Remove a role from a member; the role itself stays.",
	lock: "user_id",
	permissions: ["ManageRoles"],
	ranked: true,
	input: v.strictObject(membership),
	async run(_, { guild, user, role }) {
		requireChange(user, role, true);
		await guild.client.rest.delete(
			Routes.guildMemberRole(guild.id, user.id, role.id),
		);
		return `Took the role ${roleName(role)} from ${memberName(user)}.`;
	},
});

/** Throws a ToolError for @everyone and for managed roles, which cannot be assigned to members or removed from them. */
export function requireAssignable(role: Role): void {
	if (role.id === role.guild.id || role.managed)
		throw new ToolError(
			`${roleName(role)} ${whyFixed(role)} and cannot be assigned or removed. Nothing was done.`,
		);
}

/**
 * Throws a ToolError if the role cannot be assigned or removed, or if nothing would change. `has` says whether the
 * member must have the role now: true to remove it, false to assign it.
 */
function requireChange(member: GuildMember, role: Role, has: boolean): void {
	requireAssignable(role);
	if (member.roles.cache.has(role.id) === has) return;
	throw new ToolError(
		`Nothing would change: ${memberName(member)} ${has ? "does not have" : "already has"} ${roleName(role)}. Nothing was done.`,
	);
}
