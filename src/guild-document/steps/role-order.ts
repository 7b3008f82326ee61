// The step that brings roles into the document's order.

import { mergeOrder } from "../format/merge.ts";
import { isPlaceholder } from "../match/match.ts";
import { rolesFromTop } from "../read/from-api.ts";
import { isNewAmong, movedIn } from "./order.ts";
import { placesIn, type StepList } from "./step-list.ts";

export function orderRoles(list: StepList): void {
	const { ids, fixedRoles, nameOf, wanted } = list;
	const all = rolesFromTop(list.state).map(({ id }) => id);
	// What the job has created and someone has deleted has no place.
	const listed = (wanted.roles ?? []).map(({ id = "" }) => id).filter((id) => !isPlaceholder(id) || !ids.has(id));
	const movable = all.filter((id) => !fixedRoles.has(id));
	const existing = listed.filter((id) => all.includes(id));
	for (const id of movedIn(all, mergeOrder(all, existing), existing)) {
		const below = existing.slice(existing.indexOf(id) + 1);
		if (!fixedRoles.has(id) && below.some((other) => fixedRoles.has(other)))
			list.refuse(
				`role ${nameOf(id)}`,
				"the document places the role above roles that the bot cannot move; the role stays below them",
			);
	}
	const own = listed.filter((id) => !fixedRoles.has(id));
	const order = mergeOrder(movable, own);
	const moved = movedIn(movable, order, own);
	if (moved.length === 0 && !isNewAmong(order)) return;
	const moves = [...moved, ...order.filter(isPlaceholder)];
	list.add("role order", {
		action: "order",
		kind: "role",
		name: "roles",
		targetId: "all",
		changes: placesIn(order, moves, nameOf),
		guard: { roleIds: moved, moves },
		path: `${list.guildPath}/roles`,
		body: order.map((id) => ({ id })),
		// Position 1 is the lowest role above @everyone. Roles that could not be created leave no gaps, which would move
		// others above the bot's role.
		arrange: (roles) =>
			(roles as { id: string }[]).map(({ id }, index, { length }) => ({ id, position: length - index })),
		needs: [],
	});
}
