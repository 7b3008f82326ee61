// Folded names of many members in one buffer, so that a substring search is one search over bytes. Shared by the sorted
// table and the unsorted log.

import { compareIds } from "../ids.ts";

/** A guild member's id, display name and searchable names. */
export interface Named {
	id: string;
	/** The member's display name: the nickname, else the global name, else the username. */
	display: string;
	/** All names by which the member can be found, without case and accents. */
	names: readonly string[];
}

/** Members in slots, which are positions in these lists. */
export interface PackedNames {
	/** Before each name, and after the last one, stands a `separator`. */
	readonly text: Buffer;
	/** The names of the member in slot n start at byte `offsets[n]` of the text and end at `offsets[n + 1]`. */
	readonly offsets: Uint32Array;
	readonly ids: readonly string[];
	/** The ids as numbers, rounded, so that different ids can be equal. Most members have them. */
	readonly roundedIds?: Float64Array;
	readonly displays: readonly string[];
	/** For each slot: 1 if the member was removed, otherwise 0. */
	readonly isRemoved: Uint8Array;
}

/**
 * How well a member's name matches a search query: equal to it, starting with it, or containing it. Lower is better.
 */
export const rank = { exact: 0, beginning: 1, inside: 2 } as const;
export type Rank = (typeof rank)[keyof typeof rank];

/**
 * Byte before each name and after the last name in a buffer of names. UTF-8 never contains this byte, so a search match
 * never spans two names.
 */
export const separator = 0xff;

/** Compares two members whose names match a search query equally well: by display name, then by id. */
export function compareNamed(a: Pick<Named, "id" | "display">, b: Pick<Named, "id" | "display">): number {
	return a.display.localeCompare(b.display) || compareIds(a.id, b.id);
}

/**
 * Calls `visit` in the order of the slots for each member with a name that contains `query`, which must not be empty,
 * until it returns false. `rank` is how well the best name matches. With `worst`, members whose rank is worse are left
 * out, which is fast even if most members' names contain the query.
 */
export function scanNames(
	{ text, offsets, ids, isRemoved }: PackedNames,
	query: string,
	visit: (slot: number, rank: Rank) => boolean,
	worst: Rank = rank.inside,
): void {
	const bytes = Buffer.from(query);
	const end = Buffer.of(separator);
	const before = worst === rank.inside ? [] : [end];
	const after = worst === rank.exact ? [end] : [];
	const needle = Buffer.concat([...before, bytes, ...after]);
	let slot = 0;
	for (let at = text.indexOf(needle); at >= 0; ) {
		slot = slotAt(offsets, ids.length, at, slot);
		const end = offsets[slot + 1] ?? 0;
		if (isRemoved[slot] === 1) {
			at = text.indexOf(needle, end);
			continue;
		}
		let best = worst;
		for (; at >= 0 && at < end; at = text.indexOf(needle, at + 1)) {
			const start = at + before.length;
			if (text[start - 1] !== separator) continue;
			best = rank.beginning;
			if (text[start + bytes.length] !== separator) continue;
			best = rank.exact;
			at = end - 1;
		}
		if (!visit(slot, best)) return;
	}
}

/**
 * Returns the lowest ids above `after`, in order, of the members who are not removed: at most `count`. Looks at every
 * member, but reads few of the ids.
 */
export function firstIds(all: Iterable<PackedNames>, after: string, count: number): string[] {
	const lowest = Number(after);
	let highest = Infinity;
	let kept: string[] = [];
	for (const { ids, roundedIds, isRemoved } of all)
		for (let slot = 0; slot < ids.length; slot += 1) {
			const rounded = roundedIds?.[slot] ?? Number(ids[slot]);
			if (rounded < lowest || rounded > highest || isRemoved[slot] === 1) continue;
			const id = ids[slot] ?? "";
			if (compareIds(id, after) <= 0) continue;
			kept.push(id);
			if (kept.length < 2 * count) continue;
			kept = kept.sort(compareIds).slice(0, count);
			highest = Number(kept.at(-1));
		}
	return kept.sort(compareIds).slice(0, count);
}

/** Whether the bytes of a text from `start` to `end` (exclusive) are these names. */
export function namesEqual(text: Buffer, start: number, end: number, names: readonly string[]): boolean {
	const length = byteLengthOf(names);
	if (length !== end - start) return false;
	if (scratch.length < length) scratch = Buffer.allocUnsafe(length);
	writeNames(names, scratch, 0);
	return text.compare(scratch, 0, length, start, end) === 0;
}

let scratch = Buffer.allocUnsafe(1_024);

/** Number of bytes that `writeNames` writes. */
export function byteLengthOf(names: readonly string[]): number {
	let bytes = 0;
	for (const name of names) bytes += 1 + Buffer.byteLength(name);
	return bytes;
}

/**
 * Writes `names` to a buffer from the offset `at`, with a separator byte before each name. Returns the offset after the
 * last name.
 */
export function writeNames(names: readonly string[], to: Buffer, at: number): number {
	let end = at;
	for (const name of names) {
		to[end] = separator;
		end += 1;
		end += to.write(name, end);
	}
	return end;
}

function slotAt(offsets: Uint32Array, count: number, byte: number, from: number): number {
	const isBefore = (slot: number) => (offsets[slot] ?? 0) <= byte;
	let low = from;
	let step = 1;
	while (low + step < count && isBefore(low + step)) {
		low += step;
		step *= 2;
	}
	return lastWhere(low, Math.min(low + step, count), isBefore);
}

/**
 * Binary search: returns the last number for which a condition is true, in the range from `low` up to an exclusive
 * maximum. The condition must be true for `low`, and false for all numbers after the returned one.
 */
export function lastWhere(low: number, high: number, matches: (item: number) => boolean): number {
	let last = low;
	let end = high;
	while (end - last > 1) {
		const middle = (last + end) >>> 1;
		if (matches(middle)) last = middle;
		else end = middle;
	}
	return last;
}

/** Enters the slot of a member's id into a hash table (see `findSlot`), which must have an empty bucket. */
export function insertSlot(buckets: Int32Array, id: string, slot: number): void {
	let at = hashOf(id) & (buckets.length - 1);
	while (buckets[at] !== 0) at = (at + 1) & (buckets.length - 1);
	buckets[at] = slot + 1;
}

/**
 * Returns the slot of the member with this id who is not removed; -1 if there is none. `buckets` is a hash table with
 * linear probing, whose length is a power of two: slots plus 1, or 0 if empty. `hash` is `hashOf(id)`.
 */
export function findSlot(
	buckets: Int32Array,
	ids: readonly string[],
	isRemoved: Uint8Array,
	id: string,
	hash = hashOf(id),
): number {
	for (let at = hash & (buckets.length - 1); ; ) {
		const slot = (buckets[at] ?? 0) - 1;
		if (slot < 0) return -1;
		// A log can contain a removed entry of the same member.
		if (ids[slot] === id && isRemoved[slot] !== 1) return slot;
		at = (at + 1) & (buckets.length - 1);
	}
}

/** Hashes a Discord id by its last nine digits, which differ most between ids. */
export function hashOf(id: string): number {
	let digits = 0;
	// Digit by digit: a substring for each look-up would be garbage.
	for (let at = Math.max(0, id.length - 9); at < id.length; at += 1)
		digits = (digits * 10 + id.charCodeAt(at) - 48) | 0;
	const mixed = Math.imul(digits, 0x9e3779b1);
	return mixed ^ (mixed >>> 15);
}
