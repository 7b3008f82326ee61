// Steps that give roles to members and ban users. Roles are never taken away, and bans never lifted.

import { isPlaceholder } from "./match.ts";
import type { StepList } from "./step-list.ts";

export function addMemberRoles(list: StepList): void {
	const { wanted, state, guildPath, nameOf } = list;
	if (!wanted.members || !state.members) return;
	const rolesOf = new Map(
		state.members.map(({ id, roles }) => [id, new Set(roles)]),
	);
	for (const { id, roles } of wanted.members) {
		const own = rolesOf.get(id);
		if (!own) list.refuse(`member ${id}`, "is not in the guild");
		else
			for (const role of new Set(roles).difference(own))
				list.add("members", {
					action: "assign",
					kind: "member",
					name: nameOf(role),
					targetId: `${id}/${role}`,
					changes: [{ field: "role", after: nameOf(role) }],
					guard: { roleIds: isPlaceholder(role) ? [] : [role] },
					method: "PUT",
					path: (idOf) => `${guildPath}/members/${id}/roles/${idOf(role)}`,
					needs: [role],
				});
	}
}

export function addBans(list: StepList): void {
	const { wanted, current, guildPath } = list;
	if (!wanted.bans || !current.bans) return;
	const banned = new Set(current.bans.map(({ id }) => id));
	for (const { id, reason } of wanted.bans) {
		if (banned.has(id)) continue;
		banned.add(id);
		list.add("members", {
			action: "ban",
			kind: "ban",
			name: id,
			targetId: id,
			changes: reason ? [{ field: "reason", after: reason }] : [],
			method: "PUT",
			path: () => `${guildPath}/bans/${id}`,
			body: {},
		});
	}
}
