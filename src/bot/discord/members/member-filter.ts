// Filtering, sorting and paging the cached members of a guild. Each is one pass, quick with 100,000 members.

import type { GuildMember } from "discord.js";
import { compareIds } from "../ids.ts";

/**
 * Name of discord.js's private field with the ids of a member's roles, without @everyone. Reading it is faster than
 * reading the public property.
 */
export const roleIds = "_roles";

/** Conditions that select members of a guild. A member must fulfil all conditions that are set. */
export interface MemberFilter {
	/** Selects members who have at least one of the roles with these ids. */
	with_role_ids?: readonly string[] | undefined;
	/** Selects members who have none of the roles with these ids. */
	without_role_ids?: readonly string[] | undefined;
	/**
	 * Selects members who joined the guild before `atMs` (epoch milliseconds). Members with unknown join time are left
	 * out.
	 */
	joined_before?: { atMs: number } | undefined;
	/**
	 * Selects members who joined the guild at or after `atMs` (epoch milliseconds). Members with unknown join time are
	 * left out.
	 */
	joined_after?: { atMs: number } | undefined;
	bots?: boolean | undefined;
	/** If true, selects members who are timed out at the moment; if false, all others. */
	timed_out?: boolean | undefined;
	/**
	 * If true, selects members who have not yet accepted the guild's rules (membership screening); if false, all others.
	 */
	pending?: boolean | undefined;
}

/**
 * Returns a function that says whether a member matches the filter. Timeouts are compared with the time `nowMs` (epoch
 * milliseconds).
 */
export function matcherFor(filter: MemberFilter, nowMs: number): (member: GuildMember) => boolean {
	const { joined_before, joined_after, bots, timed_out, pending } = filter;
	const withAny = filter.with_role_ids && new Set(filter.with_role_ids);
	const withNone = filter.without_role_ids && new Set(filter.without_role_ids);
	const before = joined_before?.atMs ?? Infinity;
	const since = joined_after?.atMs ?? -Infinity;
	const asksJoined = joined_before !== undefined || joined_after !== undefined;
	return (member) => {
		const { user, joinedTimestamp: joined } = member;
		return (
			(bots === undefined || user.bot === bots) &&
			(!asksJoined || (joined !== null && joined < before && joined >= since)) &&
			(!withAny || hasAny(member, withAny)) &&
			(!withNone || !hasAny(member, withNone)) &&
			(timed_out === undefined || isTimedOut(member, nowMs) === timed_out) &&
			(pending === undefined || Boolean(member.pending) === pending)
		);
	};
}

/** Whether a member has the role with this id. Does not work for @everyone. */
export function hasRole(member: GuildMember, id: string): boolean {
	return member[roleIds].includes(id);
}

function hasAny(member: GuildMember, roles: ReadonlySet<string>): boolean {
	// The role @everyone has the guild's id.
	return roles.has(member.guild.id) || member[roleIds].some((id) => roles.has(id));
}

/** Whether a member is timed out at a certain time. */
export function isTimedOut({ communicationDisabledUntilTimestamp: until }: GuildMember, nowMs: number): boolean {
	return until !== null && until > nowMs;
}

/** The orders in which members can be sorted. */
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

/**
 * Returns a function that compares two members, to sort them in the order `order`. Members that are equal in this order
 * are sorted by id.
 */
export function comparerFor(order: MemberOrder): Compare {
	const [key = "id", direction] = order.split("_");
	const compare = ascending[key] ?? byId;
	return direction ? (a, b) => compare(b, a) : compare;
}

/** Returns the first items in a sort order, sorted. For long lists this is faster than sorting all items. */
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
