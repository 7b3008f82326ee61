// The folded names of many members in one buffer, so that a substring search is one search over bytes. Members are in
// display order. The table is immutable except that members can be removed.

import { compareIds } from "../ids.ts";

/** A member as searched and displayed. */
export interface Named {
	id: string;
	/** Display name. */
	display: string;
	/** All names to search, folded. */
	names: readonly string[];
}

/** How well a name matches a query: equal, prefix, or substring. */
export const rank = { exact: 0, beginning: 1, inside: 2 } as const;
export type Rank = (typeof rank)[keyof typeof rank];

/** Precedes each name and follows the last one. UTF-8 never contains this byte, so a match never spans two names. */
const separator = 0xff;
/** Members copied per step. */
const stepSize = 512;

/** Order of members whose names match equally well. */
export function compareNamed(
	a: Pick<Named, "id" | "display">,
	b: Pick<Named, "id" | "display">,
): number {
	return a.display.localeCompare(b.display) || compareIds(a.id, b.id);
}

export class NameTable {
	/** Number of removed members. */
	removedCount = 0;

	/** 1 for slots of removed members. */
	readonly #isRemoved: Uint8Array;

	constructor(
		private readonly text = Buffer.of(separator),
		/** The names of slot n start at `offsets[n]` and end at `offsets[n + 1]`. */
		private readonly offsets = new Uint32Array(1),
		private readonly ids: readonly string[] = [],
		private readonly displays: readonly string[] = [],
		/** Hash table from id to slot + 1, with linear probing. */
		private readonly buckets = new Int32Array(1),
	) {
		this.#isRemoved = new Uint8Array(ids.length);
	}

	/** Number of members. */
	get size(): number {
		return this.ids.length - this.removedCount;
	}

	/** Removes a member. Returns false if there is none with this id. */
	remove(id: string): boolean {
		const slot = this.#slotOf(id);
		if (slot < 0) return false;
		this.#isRemoved[slot] = 1;
		this.removedCount += 1;
		return true;
	}

	/** Whether the table has this member with the same names. */
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

	/** Calls `visit` in order for members with a name that contains `query`, with their best rank. `query` is not empty. */
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

	/** Calls `visit` in order for members with a name that starts with `query`. */
	scanBeginnings(query: string, visit: (slot: number) => void): void {
		const needle = Buffer.from(` ${query}`);
		needle[0] = separator;
		let slot = 0;
		for (let at = this.text.indexOf(needle); at >= 0; ) {
			slot = this.#slotAt(at, slot);
			if (this.#isRemoved[slot] !== 1) visit(slot);
			at = this.text.indexOf(needle, this.#start(slot + 1));
		}
	}

	/** The member in a slot. */
	at(slot: number): Pick<Named, "id" | "display"> {
		return { id: this.ids[slot] ?? "", display: this.displays[slot] ?? "" };
	}

	/**
	 * Builds a table of these members and `others`, who are not in this one, in steps of about 0.2 ms. Members removed
	 * meanwhile may be in the new table.
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
		/** Copies the slots from `from` to `until`, except removed members. */
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

	/** The slot of a member, or -1. */
	#slotOf(id: string): number {
		const buckets = this.buckets;
		for (let at = hash(id) & (buckets.length - 1); ; ) {
			const slot = (buckets[at] ?? 0) - 1;
			if (slot < 0 || this.ids[slot] === id)
				return slot < 0 || this.#isRemoved[slot] === 1 ? -1 : slot;
			at = (at + 1) & (buckets.length - 1);
		}
	}

	/** The slot whose names contain a byte offset, from `from` on. Gallops, because the next match is usually near. */
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

	/** The first slot from `from` on that comes after a member in order. */
	#slotFor(named: Named, from: number): number {
		const isBefore = (slot: number) => compareNamed(this.at(slot), named) < 0;
		return lastWhere(from - 1, this.ids.length, isBefore) + 1;
	}
}

/** Binary search: the last number in [low, high) for which `matches` holds, which must hold up to there and for `low`. */
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

/** Merge sort in steps. */
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

/** Writes names, each after a separator. Returns the end offset. */
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

/** Hashes the last digits of an id, which differ most between ids. */
function hash(id: string): number {
	const mixed = Math.imul(Number(id.slice(-9)), 0x9e3779b1);
	return mixed ^ (mixed >>> 15);
}
