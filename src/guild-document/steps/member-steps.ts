// Steps that give roles to members and ban users. Roles are never taken away, and bans never lifted.

import { listFirst } from "../../lib/text.ts";
import { byId, type StepList } from "./step-list.ts";

const maxNamed = 8;

export function addMemberRoles(list: StepList): void {
	const { wanted, state, current } = list;
	if (!wanted.members || !state.members) return;
	const managed = new Set(current.roles?.filter(({ managed }) => managed).map(({ id = "" }) => id));
	const now = byId(state.members);
	const missing = new Set<string>();
	for (const [id, entries] of Map.groupBy(wanted.members, ({ id }) => id)) {
		const own = now.get(id);
		const roles = new Set(entries.flatMap(({ roles }) => roles));
		if (!own) missing.add(id);
		else
			for (const role of roles.difference(new Set(own.roles)))
				if (managed.has(role))
					list.refuse(`role ${list.nameOf(role)} of member ${id}`, "an integration owns the role, and gives it itself");
				else assign(list, id, role);
	}
	if (missing.size > 0) list.refuse(`member ${listFirst([...missing], maxNamed)}`, "is not in the guild");
}

function assign(list: StepList, memberId: string, role: string): void {
	const path = `${list.guildPath}/members/${memberId}/roles` as const;
	list.add("members", {
		action: "assign",
		kind: "member",
		name: list.nameOf(role),
		targetId: `${memberId}/${role}`,
		changes: [{ field: "role", after: list.nameOf(role) }],
		guard: { roleIds: [role] },
		path: (idOf) => `${path}/${idOf(role)}`,
		needs: [role],
	});
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
			path: `${guildPath}/bans/${id}`,
			body: {},
			reason,
		});
	}
}
