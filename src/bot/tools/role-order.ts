// The order of roles, which is the role hierarchy.

import { type APIRole, type Guild, type Role, Routes } from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { roleFields, roleName } from "../discord/describe.ts";
import { role } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { isBelow } from "../discord/role-hierarchy.ts";
import {
	found,
	guild_id,
	list,
	reason,
	requireEither,
} from "../tool/arguments.ts";
import { editTool } from "../tool/define.ts";

export const moveRoles = editTool({
	name: "move_roles",
	toolset: "roles",
	extra: true,
	title: "Move roles",
	description:
		"Put roles right below or right above another one, in the given order. Higher roles rank higher. Returns the new order.",
	lock: "guild_id",
	permissions: ["ManageRoles"],
	ranked: true,
	input: v.strictObject({
		guild_id,
		role_ids: list(found(role, "role"), 1, 250, "Role ids, the highest first."),
		below_role_id: v.optional(found(role, "role right above them")),
		above_role_id: v.optional(
			found(role, "role right below them; give one of the two"),
		),
		reason,
	}),
	async run({ role_ids, ...place }, { guild }) {
		requireEither(place, ["below_role_id", "above_role_id"]);
		const before = await currentOrder(guild);
		const after = moved(before, role_ids, place);
		const positions = positionsFor(before, after);
		if (positions.length === 0)
			throw new ToolError(
				"Nothing would change: these roles are already there, in this order. Nothing was done.",
			);
		requireBelowBot(guild, after, role_ids);
		const roles = (await guild.client.rest.patch(Routes.guildRoles(guild.id), {
			body: positions,
		})) as APIRole[];
		roles.sort((a, b) => b.position - a.position || compareIds(a.id, b.id));
		return [
			`Moved ${role_ids.length} role(s). Now there are ${roles.length}, from the top:`,
			...roles.map(roleFields),
		];
	},
});

/**
 * Fetches a guild's roles from Discord, sorted from the lowest up. discord.js's cache may not have the last change yet.
 */
async function currentOrder(guild: Guild): Promise<Role[]> {
	const roles = await guild.roles.fetch();
	return [...roles.values()].sort((a, b) => a.comparePositionTo(b));
}

/**
 * Returns the guild's roles, from the lowest up, after moving the roles `ids` (listed from the highest down) right
 * below or above another role.
 */
function moved(
	order: readonly Role[],
	ids: readonly string[],
	place: {
		below_role_id?: string | undefined;
		above_role_id?: string | undefined;
	},
): Role[] {
	const target = place.below_role_id ?? place.above_role_id ?? "";
	const everyone = order[0]?.guild.id ?? "";
	if (ids.includes(everyone) || place.below_role_id === everyone)
		throw new ToolError(
			"@everyone always stays below all other roles. Nothing was done.",
		);
	if (ids.includes(target))
		throw invalidParameters([
			`role_ids: the role ${target} cannot be placed next to itself`,
		]);
	const byId = new Map(order.map((role) => [role.id, role]));
	const roles = ids.flatMap((id) => byId.get(id) ?? []).reverse();
	const others = order.filter(({ id }) => !ids.includes(id));
	const at = others.findIndex(({ id }) => id === target);
	// Deleted since the arguments were resolved.
	if (at < 0 || roles.length < ids.length)
		throw new ToolError(
			"One of these roles was just deleted. Nothing was done; list_roles lists the roles.",
		);
	return others.toSpliced(place.above_role_id ? at + 1 : at, 0, ...roles);
}

/** Returns the fewest changes of role positions that turn the order `before` into the order `after`. */
function positionsFor(before: readonly Role[], after: readonly Role[]) {
	const low = after.findIndex((role, index) => role !== before[index]);
	const changes: { id: string; position: number }[] = [];
	let last = before[low - 1]?.rawPosition ?? 0;
	for (const [index, role] of after.entries()) {
		if (index < low || low < 0) continue;
		// Roles with equal positions are ordered by id, so each gets a position of its own.
		last = Math.max(before[index]?.rawPosition ?? 0, last + 1);
		if (role.rawPosition !== last)
			changes.push({ id: role.id, position: last });
	}
	return changes;
}

/** Throws a ToolError if one of the roles `ids` would no longer be below the bot's highest role in the new order. */
function requireBelowBot(
	guild: Guild,
	order: readonly Role[],
	ids: readonly string[],
): void {
	const own = order.findIndex((role) => !isBelow(guild, role));
	const top = order.findLastIndex(({ id }) => ids.includes(id));
	const role = order[top];
	if (own < 0 || top < own || !role) return;
	throw new ToolError(
		`${roleName(role)} would no longer rank below the bot's highest role. Someone who ranks above both can move it. Nothing was done.`,
	);
}
