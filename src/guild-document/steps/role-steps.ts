// Steps that create, edit, order and delete roles.

import { defaultsOf } from "../format/defaults.ts";
import type { Role } from "../format/document.ts";
import { isPlaceholder } from "../match/match.ts";
import { rolesFromTop } from "../read/from-api.ts";
import { isNewAmong, mergeOrder, movedIn } from "./order.ts";
import { byId, placesIn, type StepList } from "./step-list.ts";
import { roleBody } from "./to-api.ts";
import { isPictureHash } from "./values.ts";

export function addRoles(list: StepList): void {
	const { wanted, current, guildPath } = list;
	if (!wanted.roles) return;
	const before = byId(current.roles);
	for (const role of wanted.roles) addRole(list, role, before.get(role.id ?? ""));
	orderRoles(list, wanted.roles);
	// Only Discord deletes the role of an integration.
	const deletable = current.roles?.filter(({ managed }) => !managed);
	list.removeUnlisted("role", deletable, wanted.roles, (id) => `${guildPath}/roles/${id}`);
}

function addRole(list: StepList, role: Role, old: Role | undefined): void {
	const { id = "", name } = role;
	// Discord names and pictures the role of an integration.
	const ignored = old?.managed ? ["name", "icon"] : [];
	const { values, changes, isChanged } = list.compare(old, role, defaultsOf.role, ignored);
	const { icon: hash = "" } = values;
	const common = {
		kind: "role",
		changes,
		guard: { roleIds: [id] },
		picture: isPictureHash(hash) ? { field: "icon" as const, hash } : undefined,
	} as const;
	if (old) {
		if (isChanged)
			list.add("roles", {
				...common,
				action: "edit",
				name: old.name,
				targetId: id,
				method: "PATCH",
				path: () => `${list.guildPath}/roles/${id}`,
				body: roleBody(values),
			});
	} else if (!list.isGone(role, "role"))
		list.add("roles", {
			...common,
			action: "create",
			name,
			placeholder: id,
			method: "POST",
			path: () => `${list.guildPath}/roles`,
			// Without permissions, Discord gives a new role those of @everyone.
			body: roleBody({ permissions: [], ...values }),
		});
}

function orderRoles(list: StepList, roles: readonly Role[]): void {
	const { ids, fixedRoles, nameOf } = list;
	const all = rolesFromTop(list.state).map(({ id }) => id);
	// What the job has created and someone has deleted has no place.
	const listed = roles.map(({ id = "" }) => id).filter((id) => !isPlaceholder(id) || !ids.has(id));
	const movable = all.filter((id) => !fixedRoles.has(id));
	const existing = listed.filter((id) => all.includes(id));
	for (const id of movedIn(all, mergeOrder(all, existing))) {
		const below = existing.slice(existing.indexOf(id) + 1);
		if (!fixedRoles.has(id) && below.some((other) => fixedRoles.has(other)))
			list.refuse(
				`role ${nameOf(id)}`,
				"the document places the role above roles that the bot cannot move; the role stays below them",
			);
	}
	const order = mergeOrder(
		movable,
		listed.filter((id) => !fixedRoles.has(id)),
	);
	const moved = movedIn(movable, order);
	if (moved.length === 0 && !isNewAmong(order)) return;
	const moves = [...moved, ...order.filter(isPlaceholder)];
	list.add("role order", {
		action: "order",
		kind: "role",
		name: "roles",
		targetId: "all",
		changes: placesIn(order, moves, nameOf),
		guard: { roleIds: moved, moves },
		method: "PATCH",
		path: () => `${list.guildPath}/roles`,
		body: order.map((id) => ({ id })),
		// Position 1 is the lowest role above @everyone. Roles that could not be created leave no gaps, which would move
		// others above the bot's role.
		arrange: (roles) =>
			(roles as { id: string }[]).map(({ id }, index, { length }) => ({
				id,
				position: length - index,
			})),
		needs: [],
	});
}
