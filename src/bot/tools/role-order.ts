// The order of roles, which is the role hierarchy.

import { type APIRole, type Guild, type Role, Routes } from "discord.js";
import * as v from "valibot";
import { roleFields, roleName } from "../../discord/describe.ts";
import { role } from "../../discord/find.ts";
import { actingMembers } from "../../discord/permissions.ts";
import { powerfulPermissions } from "../../discord/powers.ts";
import { isAbove } from "../../discord/role-hierarchy.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { found, guild_id, list, reason, requireEither } from "../tool/arguments/arguments.ts";
import { failureOf } from "../tool/bulk.ts";
import { editTool } from "../tool/define.ts";

export const moveRoles = editTool({
	name: "move_roles",
	toolset: "roles",
	offered: "extra",
	title: "Move roles",
	description: "Put roles right below or right above another one, in the given order.",
	lock: "guild_id",
	permissions: ["ManageRoles"],
	ranked: true,
	input: {
		guild_id,
		role_ids: list(found(role, "role"), 1, 250, "Role ids, the highest first."),
		below_role_id: v.optional(found(role, "role right above them")),
		above_role_id: v.optional(found(role, "role right below them; give one of the two")),
		reason,
	},
	destructive: ({ role_ids, ...place }, { guild }) => whyReordered(guild, role_ids, place),
	async run({ role_ids, ...place }, { guild }) {
		const move = await planMove(guild, role_ids, place);
		if (!move.isNeeded)
			throw new ToolError("Nothing would change: these roles already have this place and order. Nothing was done.");
		const roles = await move.execute();
		const at = roles.map(({ id }, index) => (role_ids.includes(id) ? index : -1));
		const [first, last] = [at.find((index) => index >= 0) ?? 0, Math.max(...at)];
		return [
			`Moved ${role_ids.length} of ${roles.length} roles. With the roles next to them, from the top:`,
			...roles.slice(Math.max(0, first - 1), last + 2).map(roleFields),
		];
	},
});

type Place = { [Name in "below_role_id" | "above_role_id"]?: string | undefined };

const hasPowers = ({ permissions }: Role) => permissions.any(powerfulPermissions);

export function whyReordered(guild: Guild, ids: readonly string[], place: Place): string | undefined {
	const before = inOrder(guild.roles.cache);
	const after = moved(before, ids, place);
	const belowOf = (role: Role, order: readonly Role[]) => new Set(order.slice(0, order.indexOf(role)));
	const changed = before.filter(hasPowers).find((role) => {
		const [old, now] = [belowOf(role, before), belowOf(role, after)];
		return old.symmetricDifference(now).size > 0;
	});
	return changed && `changes which roles rank below ${roleName(changed)}`;
}

/** Says why placing a new role right below `target` counts as destructive: a role with powers would rank below it. */
export function whyPlaceBelow(guild: Guild, target: Role): string | undefined {
	const passed = inOrder(guild.roles.cache).find((role) => hasPowers(role) && role.comparePositionTo(target) < 0);
	return passed && `places a role above ${roleName(passed)}`;
}

type OrderedRole = Pick<APIRole, "id" | "name" | "position">;

/** A checked change of the order of a guild's roles that can be sent to Discord. */
type RoleMove = Awaited<ReturnType<typeof planMove>>;

/** Listed highest first. Throws a ToolError if one would no longer rank below the bot or the person of the call. */
export async function planMove(guild: Guild, ids: readonly string[], place: Place) {
	const before = inOrder(await guild.roles.fetch());
	const after = moved(before, ids, place);
	const positions = positionsFor(before, after);
	if (positions.length > 0) requireStayBelow(guild, after, ids);
	return {
		isNeeded: positions.length > 0,
		/** Sends the new order to Discord, unless it is the current order. Returns the guild's roles, highest first. */
		async execute(): Promise<OrderedRole[]> {
			if (positions.length === 0)
				return before.toReversed().map(({ id, name, rawPosition }) => ({ id, name, position: rawPosition }));
			const route = Routes.guildRoles(guild.id);
			const roles = (await guild.client.rest.patch(route, { body: positions })) as APIRole[];
			return roles.sort((a, b) => b.position - a.position || compareIds(a.id, b.id));
		},
	};
}

export function requirePlaceBelow(guild: Guild, target: Role): void {
	if (target.id === guild.id) throw new ToolError(everyoneStays);
	for (const actor of actingMembers(guild)) {
		const { highest } = actor.roles;
		if (isAbove(actor, target) || target.id === highest.id) continue;
		const isBot = actor.id === guild.client.user.id;
		throw new ToolError(
			`${isBot ? "The bot" : "You"} can place roles only below ${isBot ? "its" : "your"} own highest role, ${roleName(highest)}, so not right below ${roleName(target)}, which ranks higher. Nothing was done.`,
		);
	}
}

/** Returns a line for the result: where the role is now, or why it was not moved. */
export async function placeBelow(
	guild: Guild,
	{ id }: Pick<Role, "id">,
	target: Role,
	planned?: RoleMove,
): Promise<string> {
	let line = "";
	const failure = await failureOf(async () => {
		const move = planned ?? (await planMove(guild, [id], { below_role_id: target.id }));
		line = describePlace(await move.execute(), id);
	});
	return failure ? `It may not stand right below ${roleName(target)}: ${failure.message}` : line;
}

export function describePlace(roles: readonly OrderedRole[], id: string): string {
	const at = roles.findIndex((role) => role.id === id);
	const [above, below] = [roles[at - 1], roles[at + 1]];
	const neighbors = [above && `right below ${roleName(above)}`, below && `right above ${roleName(below)}`];
	return `It stands ${neighbors.filter(Boolean).join(" and ")}.`;
}

const everyoneStays = "@everyone always stays below all other roles. Nothing was done.";

function inOrder(roles: ReadonlyMap<string, Role>): Role[] {
	return [...roles.values()].sort((a, b) => a.comparePositionTo(b));
}

function moved(order: readonly Role[], ids: readonly string[], place: Place): Role[] {
	requireEither({ ...place }, ["below_role_id", "above_role_id"]);
	const target = place.below_role_id ?? place.above_role_id ?? "";
	const everyone = order[0]?.guild.id ?? "";
	if (ids.includes(everyone) || place.below_role_id === everyone) throw new ToolError(everyoneStays);
	if (ids.includes(target)) throw invalidParameters([`role_ids: the role ${target} cannot be placed next to itself`]);
	const byId = new Map(order.map((role) => [role.id, role]));
	const roles = ids.flatMap((id) => byId.get(id) ?? []).reverse();
	const others = order.filter(({ id }) => !ids.includes(id));
	const at = others.findIndex(({ id }) => id === target);
	// Deleted since the arguments were resolved.
	if (at < 0 || roles.length < ids.length)
		throw new ToolError(
			`One of the roles ${[...ids, target].join(", ")} was just deleted. Nothing was done; list_roles lists the roles.`,
		);
	return others.toSpliced(place.above_role_id ? at + 1 : at, 0, ...roles);
}

function positionsFor(before: readonly Role[], after: readonly Role[]) {
	const low = after.findIndex((role, index) => role !== before[index]);
	const changes: { id: string; position: number }[] = [];
	let last = before[low - 1]?.rawPosition ?? 0;
	for (const [index, role] of after.entries()) {
		if (index < low || low < 0) continue;
		// Roles with equal positions are ordered by id, so each gets a position of its own.
		last = Math.max(before[index]?.rawPosition ?? 0, last + 1);
		if (role.rawPosition !== last) changes.push({ id: role.id, position: last });
	}
	return changes;
}

function requireStayBelow(guild: Guild, order: readonly Role[], ids: readonly string[]): void {
	const top = order.findLastIndex(({ id }) => ids.includes(id));
	const role = order[top];
	for (const actor of actingMembers(guild)) {
		const own = order.findIndex((one) => !isAbove(actor, one));
		if (!role || own < 0 || top < own) continue;
		throw new ToolError(
			actor.id === guild.client.user.id
				? `${roleName(role)} would no longer rank below the bot's highest role, so the bot cannot move it there. A member with a higher role can. Nothing was done.`
				: `${roleName(role)} would no longer rank below your highest role, so you cannot move it there. Nothing was done.`,
		);
	}
}
