// Sorting and paging the cached members of a guild. Each is one pass, quick with 100,000 members.

import type { GuildMember } from "discord.js";
import { compareIds } from "../../guild-document/names/ids.ts";

/** discord.js's private field without @everyone. Reading it is faster than the public property. */
export const roleIds = "_roles";

/** Does not work for @everyone. */
export function hasRole(member: GuildMember, id: string): boolean {
	return member[roleIds].includes(id);
}

export function isTimedOut({ communicationDisabledUntilTimestamp: until }: GuildMember, nowMs: number): boolean {
	return until !== null && until > nowMs;
}

export const memberOrders = ["id", "joined", "joined_desc", "name", "name_desc"] as const;
export type MemberOrder = (typeof memberOrders)[number];

type Compare = (a: GuildMember, b: GuildMember) => number;

const byId: Compare = (a, b) => compareIds(a.id, b.id);
const ascending: Record<string, Compare> = {
	id: byId,
	// Members of unknown join time come last.
	joined: (a, b) => (a.joinedTimestamp ?? Number.MAX_VALUE) - (b.joinedTimestamp ?? Number.MAX_VALUE) || byId(a, b),
	name: (a, b) => a.displayName.localeCompare(b.displayName) || byId(a, b),
};

/** Members that are equal in this order are sorted by id. */
export function comparerFor(order: MemberOrder): Compare {
	const [key = "id", direction] = order.split("_");
	const compare = ascending[key] ?? byId;
	return direction ? (a, b) => compare(b, a) : compare;
}

/** For long lists faster than sorting all items. */
export function firstOf<Item>(items: Iterable<Item>, count: number, compare: (a: Item, b: Item) => number): Item[] {
	let kept: Item[] = [];
	let last: Item | undefined;
	for (const item of items) {
		if (last !== undefined && compare(item, last) >= 0) continue;
		kept.push(item);
		if (kept.length < 2 * count) continue;
		kept = kept.sort(compare).slice(0, count);
		last = kept.at(-1);
	}
	return kept.sort(compare).slice(0, count);
}
