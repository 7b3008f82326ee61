// The folded names of many members in one buffer, so that a substring search is one search over bytes. Members are in
// display order. The table is immutable except that members can be removed.

import { compareIds } from "../ids.ts";

/** A guild member's id, display name and searchable names. */
export interface Named {
	id: string;
	/** The member's display name: the nickname, else the global name, else the username. */
	display: string;
	/** All names by which the member can be found, without case and accents. */
	names: readonly string[];
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
const separator = 0xff;
/** Number of members that are processed in one step while the table of member names is built. */
const stepSize = 512;

/** Compares two members whose names match a search query equally well: by display name, then by id. */
export function compareNamed(
	a: Pick<Named, "id" | "display">,
	b: Pick<Named, "id" | "display">,
): number {
	return a.display.localeCompare(b.display) || compareIds(a.id, b.id);
}

export class NameTable {
	/** Number of members that were removed from the table of member names since it was built. */
	removedCount = 0;

	/** For each slot (a member's position in the table of names): 1 if the member was removed, otherwise 0. */
	readonly #isRemoved: Uint8Array;

	constructor(
		private readonly text = Buffer.of(separator),
		/**
		 * Byte offsets in the buffer of all names. The names of the member in slot n start at `offsets[n]` and end at
		 * `offsets[n + 1]`.
		 */
		private readonly offsets = new Uint32Array(1),
		private readonly ids: readonly string[] = [],
		private readonly displays: readonly string[] = [],
		/**
		 * Hash table with linear probing: maps a member's id to the member's slot (position in the table) plus 1; 0 if
		 * empty.
		 */
		private readonly buckets = new Int32Array(1),
	) {
		this.#isRemoved = new Uint8Array(ids.length);
	}

	/** Number of members in the table of member names, without removed members. */
	get size(): number {
		return this.ids.length - this.removedCount;
	}

	/** Removes a member from the table of member names. Returns false if the table has no member with this id. */
	remove(id: string): boolean {
		const slot = this.#slotOf(id);
		if (slot < 0) return false;
		this.#isRemoved[slot] = 1;
		this.removedCount += 1;
		return true;
	}

	/** Whether the table of member names contains this member with the same display name and searchable names. */
	has({ id, display, names }: Named): boolean {
		const slot = this.#slotOf(id);
		if (slot < 0 || this.displays[slot] !== display) return false;
		const start = this.#start(slot);
		const length = this.#start(slot + 1) - start;
		if (byteLengthOf(names) !== length) return false;
		if (scratch.length < length) scratch = Buffer.allocUnsafe(length);
		write(names, scratch, 0);
		return this.text.compare(scratch, 0, length, start, start + length) === 0;
	}

	/**
	 * Calls `visit` in display order for each member with a name that contains `query`, which must not be empty. `slot`
	 * is the member's position in the table, `rank` is how well the best name matches.
	 */
	scan(query: string, visit: (slot: number, rank: Rank) => void): void {
		const text = this.text;
		const needle = Buffer.from(query);
		let slot = 0;
		for (let at = text.indexOf(needle); at >= 0; ) {
			slot = this.#slotAt(at, slot);
			const end = this.#start(slot + 1);
			if (this.#isRemoved[slot] === 1) {
				at = text.indexOf(needle, end);
				continue;
			}
			let best: Rank = rank.inside;
			for (; at >= 0 && at < end; at = text.indexOf(needle, at + 1)) {
				if (text[at - 1] !== separator) continue;
				best = rank.beginning;
				if (text[at + needle.length] !== separator) continue;
				best = rank.exact;
				at = end - 1;
			}
			visit(slot, best);
		}
	}

	/** Returns the id and display name of the member in a slot (a position in the table of member names). */
	at(slot: number): Pick<Named, "id" | "display"> {
		return { id: this.ids[slot] ?? "", display: this.displays[slot] ?? "" };
	}

	/**
	 * Builds a new table of the names of all members in this table and of `others`, who must not be in this table. Yields
	 * about every 0.2 ms, so that other work can run. If members are removed from this table during the build, the new
	 * table may still contain them.
	 */
	*with(others: Iterable<Named>): Generator<undefined, NameTable> {
		const added = yield* sortInSteps([...others]);
		const count = this.size + added.length;
		let bytes = this.text.length;
		for (const [index, { names }] of added.entries()) {
			bytes += byteLengthOf(names);
			if (index % stepSize === 0) yield;
		}
		const text = Buffer.allocUnsafe(bytes);
		const offsets = new Uint32Array(count + 1);
		const ids: string[] = [];
		const displays: string[] = [];
		const buckets = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1)));
		let end = 0;
		const addEntry = ({ id, display }: Pick<Named, "id" | "display">) => {
			insert(buckets, id, ids.length);
			offsets[ids.length] = end;
			ids.push(id);
			displays.push(display);
		};
		/**
		 * Copies the members in the slots (table positions) from `from` to `until` (exclusive) to the new table of names,
		 * except removed members.
		 */
		const copySlots = (from: number, until: number) => {
			for (let slot = from; slot < until; slot += 1) {
				if (this.#isRemoved[slot] === 1) continue;
				addEntry(this.at(slot));
				end += this.text.copy(
					text,
					end,
					this.#start(slot),
					this.#start(slot + 1),
				);
			}
		};
		let from = 0;
		for (const [index, named] of added.entries()) {
			const until = this.#slotFor(named, from);
			for (; from < until; from = Math.min(from + stepSize, until)) {
				copySlots(from, Math.min(from + stepSize, until));
				yield;
			}
			addEntry(named);
			end = write(named.names, text, end);
			if (index % stepSize === 0) yield;
		}
		for (; from < this.ids.length; from += stepSize) {
			copySlots(from, Math.min(from + stepSize, this.ids.length));
			yield;
		}
		text[end] = separator;
		return new NameTable(
			text.subarray(0, end + 1),
			// Members removed meanwhile leave no gap.
			offsets.fill(end, ids.length).subarray(0, ids.length + 1),
			ids,
			displays,
			buckets,
		);
	}

	#start(slot: number): number {
		return this.offsets[slot] ?? 0;
	}

	/** Returns the slot (position in the table of names) of the member with this id; -1 if there is no such member. */
	#slotOf(id: string): number {
		const buckets = this.buckets;
		for (let at = hash(id) & (buckets.length - 1); ; ) {
			const slot = (buckets[at] ?? 0) - 1;
			if (slot < 0 || this.ids[slot] === id)
				return slot < 0 || this.#isRemoved[slot] === 1 ? -1 : slot;
			at = (at + 1) & (buckets.length - 1);
		}
	}

	/**
	 * Returns the slot (position in the table of names) of the member whose names contain the byte offset `byte`. The
	 * search starts at the slot `from`.
	 */
	#slotAt(byte: number, from: number): number {
		const count = this.ids.length;
		let low = from;
		let step = 1;
		while (low + step < count && this.#start(low + step) <= byte) {
			low += step;
			step *= 2;
		}
		return lastWhere(
			low,
			Math.min(low + step, count),
			(slot) => this.#start(slot) <= byte,
		);
	}

	/**
	 * Returns the first slot (table position), from `from` on, whose member sorts after `named`; the number of slots if
	 * there is none.
	 */
	#slotFor(named: Named, from: number): number {
		const isBefore = (slot: number) => compareNamed(this.at(slot), named) < 0;
		return lastWhere(from - 1, this.ids.length, isBefore) + 1;
	}
}

/**
 * Binary search: returns the last number for which a condition is true, in the range from `low` up to an exclusive
 * maximum. The condition must be true for `low`, and false for all numbers after the returned one.
 */
function lastWhere(
	low: number,
	high: number,
	matches: (item: number) => boolean,
): number {
	let last = low;
	let end = high;
	while (end - last > 1) {
		const middle = (last + end) >>> 1;
		if (matches(middle)) last = middle;
		else end = middle;
	}
	return last;
}

/** Sorts members with a merge sort that yields after each step, so that other work can run in between. */
function* sortInSteps(all: Named[]): Generator<undefined, readonly Named[]> {
	let runs: Named[][] = [];
	for (let at = 0; at < all.length; at += stepSize) {
		runs.push(all.slice(at, at + stepSize).sort(compareNamed));
		yield;
	}
	while (runs.length > 1) {
		const mergedRuns: Named[][] = [];
		for (let at = 0; at < runs.length; at += 2)
			mergedRuns.push(yield* mergeInSteps(runs[at] ?? [], runs[at + 1] ?? []));
		runs = mergedRuns;
	}
	return runs[0] ?? [];
}

function* mergeInSteps(
	left: readonly Named[],
	right: readonly Named[],
): Generator<undefined, Named[]> {
	const result: Named[] = [];
	let next = 0;
	for (const item of left) {
		for (
			let rightItem = right[next];
			rightItem && compareNamed(rightItem, item) < 0;
			rightItem = right[next]
		) {
			result.push(rightItem);
			next += 1;
			if (result.length % stepSize === 0) yield;
		}
		result.push(item);
		if (result.length % stepSize === 0) yield;
	}
	return next === 0 ? result.concat(right) : result.concat(right.slice(next));
}

let scratch = Buffer.allocUnsafe(1_024);

function byteLengthOf(names: readonly string[]): number {
	let bytes = 0;
	for (const name of names) bytes += 1 + Buffer.byteLength(name);
	return bytes;
}

/**
 * Writes `names` to a buffer from the offset `at`, with a separator byte before each name. Returns the offset after the
 * last name.
 */
function write(names: readonly string[], to: Buffer, at: number): number {
	let end = at;
	for (const name of names) {
		to[end] = separator;
		end += 1;
		end += to.write(name, end);
	}
	return end;
}

function insert(buckets: Int32Array, id: string, slot: number): void {
	let at = hash(id) & (buckets.length - 1);
	while (buckets[at] !== 0) at = (at + 1) & (buckets.length - 1);
	buckets[at] = slot + 1;
}

/** Hashes a Discord id by its last nine digits, which differ most between ids. */
function hash(id: string): number {
	const mixed = Math.imul(Number(id.slice(-9)), 0x9e3779b1);
	return mixed ^ (mixed >>> 15);
}
