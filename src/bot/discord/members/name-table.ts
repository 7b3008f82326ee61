// The folded names of many members, packed, in display order. The table is immutable except that members can be removed.

import { NameLog } from "./name-log.ts";
import {
	compareNamed,
	findSlot,
	insertSlot,
	lastWhere,
	type Named,
	namesEqual,
	type PackedNames,
	type Rank,
	scanNames,
	separator,
} from "./packed-names.ts";

const stepSize = 512;

export class NameTable {
	/** Number of members that were removed from the table of member names since it was built. */
	removedCount = 0;

	readonly #isRemoved: Uint8Array;

	constructor(
		readonly packed: PackedNames = {
			text: Buffer.of(separator),
			offsets: new Uint32Array(1),
			ids: [],
			displays: [],
			isRemoved: new Uint8Array(0),
		},
		private readonly buckets = new Int32Array(1),
	) {
		this.#isRemoved = packed.isRemoved;
	}

	/** Number of members in the table of member names, without removed members. */
	get size(): number {
		return this.packed.ids.length - this.removedCount;
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
	has(named: Named): boolean {
		const { text, offsets, displays } = this.packed;
		const slot = this.#slotOf(named.id);
		if (slot < 0 || displays[slot] !== named.display) return false;
		const start = offsets[slot] ?? 0;
		return namesEqual(text, start, offsets[slot + 1] ?? 0, named.names);
	}

	/**
	 * Calls `visit` in display order for each member with a name that contains `query`, which must not be empty, until it
	 * returns false. `slot` is the member's position in the table, `rank` is how well the best name matches. Members whose
	 * rank is worse than `worst` are left out.
	 */
	scan(query: string, visit: (slot: number, rank: Rank) => boolean, worst?: Rank): void {
		scanNames(this.packed, query, visit, worst);
	}

	/** Returns the id and display name of the member in a slot (a position in the table of member names). */
	at(slot: number): Pick<Named, "id" | "display"> {
		const { ids, displays } = this.packed;
		return { id: ids[slot] ?? "", display: displays[slot] ?? "" };
	}

	/**
	 * Builds a new table of the names of all members in this table and of `others`, who must not be in this table. Yields
	 * about every 0.2 ms, so that other work can run. If members are removed from this table during the build, the new
	 * table may still contain them.
	 */
	*with(others: Iterable<Named> | NameLog): Generator<undefined, NameTable> {
		const log = others instanceof NameLog ? others : yield* logOf(others);
		const order = yield* sortInSteps(log);
		const count = this.size + order.length;
		const text = Buffer.allocUnsafeSlow(this.packed.text.length + log.bytes + 1);
		const offsets = new Uint32Array(count + 1);
		const ids: string[] = new Array(count);
		const displays: string[] = new Array(count);
		const roundedIds = new Float64Array(count);
		const buckets = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1)));
		let end = 0;
		let added = 0;
		const addEntry = ({ id, display }: Pick<Named, "id" | "display">) => {
			insertSlot(buckets, id, added);
			offsets[added] = end;
			ids[added] = id;
			roundedIds[added] = Number(id);
			displays[added] = display;
			added += 1;
		};
		const copySlots = (from: number, until: number) => {
			for (let slot = from; slot < until; slot += 1)
				if (this.#isRemoved[slot] !== 1) {
					addEntry(this.at(slot));
					end += this.packed.text.copy(text, end, this.packed.offsets[slot], this.packed.offsets[slot + 1]);
				}
		};
		let from = 0;
		for (const [index, slot] of order.entries()) {
			const until = this.#slotFor(log.at(slot), from);
			for (; from < until; from = Math.min(from + stepSize, until)) {
				copySlots(from, Math.min(from + stepSize, until));
				yield;
			}
			addEntry(log.at(slot));
			end += log.copy(slot, text, end);
			if (index % stepSize === 0) yield;
		}
		const last = this.packed.ids.length;
		for (; from < last; from += stepSize) {
			copySlots(from, Math.min(from + stepSize, last));
			yield;
		}
		text[end] = separator;
		// Members removed meanwhile leave no gap.
		ids.length = added;
		displays.length = added;
		return new NameTable(
			{
				...{ ids, displays, roundedIds },
				text: text.subarray(0, end + 1),
				offsets: offsets.fill(end, added).subarray(0, added + 1),
				isRemoved: new Uint8Array(added),
			},
			buckets,
		);
	}

	#slotOf(id: string): number {
		return findSlot(this.buckets, this.packed.ids, this.#isRemoved, id);
	}

	#slotFor(named: Pick<Named, "id" | "display">, from: number): number {
		const isBefore = (slot: number) => compareNamed(this.at(slot), named) < 0;
		return lastWhere(from - 1, this.packed.ids.length, isBefore) + 1;
	}
}

function* logOf(members: Iterable<Named>): Generator<undefined, NameLog> {
	const log = new NameLog();
	for (const named of members) {
		log.add(named);
		if (log.added % stepSize === 0) yield;
	}
	return log;
}

/**
 * Returns the slots of a log's members in display order. A merge sort that yields after each step, so that other work
 * can run in between.
 */
function* sortInSteps(log: NameLog): Generator<undefined, Uint32Array<ArrayBuffer>> {
	const compare = (a: number, b: number) => compareNamed(log.at(a), log.at(b));
	let from = log.slots;
	let to = new Uint32Array(from.length);
	for (let at = 0; at < from.length; at += stepSize) {
		from.subarray(at, at + stepSize).sort(compare);
		yield;
	}
	for (let width = stepSize; width < from.length; width *= 2) {
		let written = 0;
		for (let start = 0; start < from.length; start += 2 * width) {
			const middle = Math.min(start + width, from.length);
			const end = Math.min(start + 2 * width, from.length);
			let left = start;
			let right = middle;
			while (left < middle || right < end) {
				const isRightNext = left === middle || (right < end && compare(from[right] ?? 0, from[left] ?? 0) < 0);
				to[written++] = from[isRightNext ? right++ : left++] ?? 0;
				if (written % stepSize === 0) yield;
			}
		}
		[from, to] = [to, from];
	}
	return from;
}
