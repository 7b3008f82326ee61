// When people were last seen, and who would be pruned for being away. Everyone counts as here, unless a test says otherwise.

import type { Guild, Member } from "../state/entities.ts";

const dayMs = 24 * 60 * 60 * 1000;

export class Activity {
	readonly #lastSeen = new WeakMap<Member, number>();

	/** The member was last seen then. */
	setLastSeen(member: Member, at: Date): void {
		this.#lastSeen.set(member, at.getTime());
	}

	/**
	 * Those who have not been seen for `days` days. Whoever has a role stays, unless all of their roles are among `roleIds`.
	 */
	away(guild: Guild, days: number, roleIds: readonly string[]): Member[] {
		const since = Date.now() - days * dayMs;
		return [...guild.members.values()].filter(
			(member) =>
				(this.#lastSeen.get(member) ?? Infinity) < since &&
				member.roles.every((id) => roleIds.includes(id)),
		);
	}
}
