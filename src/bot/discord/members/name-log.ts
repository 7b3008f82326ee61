// The folded names of members in the order in which they were added, packed like a table's but not sorted. The log grows
// in segments of a fixed size: beyond it nothing is copied into something larger, so that a large guild leaves little
// garbage behind while it loads.

import {
	byteLengthOf,
	findSlot,
	hashOf,
	insertSlot,
	type Named,
	namesEqual,
	type PackedNames,
	type Rank,
	scanNames,
	separator,
	writeNames,
} from "./packed-names.ts";

const segmentSize = 65_536;
const firstSize = 64;
const firstBytes = 1_024;

export class NameLog {
	readonly #segments: Segment[] = [];
	#added = 0;
	#size = 0;

	/** Number of members that were added, including removed ones. */
	get added(): number {
		return this.#added;
	}

	/** Number of members, without removed ones. */
	get size(): number {
		return this.#size;
	}

	/** All members, in parts. */
	get packed(): PackedNames[] {
		return this.#segments.map(({ packed }) => packed);
	}

	/** The slots of all members that are not removed, in ascending order. */
	get slots(): Uint32Array<ArrayBuffer> {
		const slots = new Uint32Array(this.#added);
		let count = 0;
		for (let slot = 0; slot < slots.length; slot += 1)
			if (!this.#segmentAt(slot).isRemovedAt(slot % segmentSize)) slots[count++] = slot;
		return slots.subarray(0, count);
	}

	/** Number of bytes of all names, including removed ones. */
	get bytes(): number {
		return this.#segments.reduce((sum, { end }) => sum + end, 0);
	}

	/** Adds a member. The log must not contain a member with this id. */
	add(named: Named): void {
		if (this.#added % segmentSize === 0) this.#segments.push(new Segment());
		this.#segments.at(-1)?.add(named);
		this.#added += 1;
		this.#size += 1;
	}

	/** Removes a member. Returns false if the log has no member with this id. */
	remove(id: string): boolean {
		const hash = hashOf(id);
		for (const segment of this.#segments) {
			if (!segment.remove(id, hash)) continue;
			this.#size -= 1;
			return true;
		}
		return false;
	}

	/** Whether the log contains this member with the same display name and searchable names. */
	has(named: Named): boolean {
		const hash = hashOf(named.id);
		for (const segment of this.#segments) if (segment.has(named, hash)) return true;
		return false;
	}

	/** Calls `visit` for each member with a name that contains `query`, which must not be empty. */
	scan(query: string, visit: (slot: number, rank: Rank) => void): void {
		for (const [index, segment] of this.#segments.entries())
			scanNames(segment.packed, query, (slot, rank) => {
				visit(index * segmentSize + slot, rank);
				return true;
			});
	}

	/** Returns the id and display name of the member in a slot. */
	at(slot: number): Pick<Named, "id" | "display"> {
		return this.#segmentAt(slot).at(slot % segmentSize);
	}

	/** Copies the names of the member in a slot to a buffer. Returns the number of bytes. */
	copy(slot: number, to: Buffer, at: number): number {
		return this.#segmentAt(slot).copy(slot % segmentSize, to, at);
	}

	#segmentAt(slot: number): Segment {
		const segment = this.#segments[Math.floor(slot / segmentSize)];
		if (segment) return segment;
		throw new RangeError(`the log of member names has no slot ${slot}`);
	}
}

class Segment {
	end = 0;
	#text = Buffer.allocUnsafeSlow(firstBytes);
	#offsets = new Uint32Array(firstSize + 1);
	#isRemoved = new Uint8Array(firstSize);
	#buckets = new Int32Array(2 * firstSize);
	readonly #ids: string[] = [];
	readonly #displays: string[] = [];

	get packed(): PackedNames {
		return {
			text: this.#text.subarray(0, this.end + 1),
			offsets: this.#offsets,
			ids: this.#ids,
			displays: this.#displays,
			isRemoved: this.#isRemoved,
		};
	}

	add({ id, display, names }: Named): void {
		const slot = this.#ids.length;
		const end = this.end + byteLengthOf(names);
		this.#reserve(slot, end);
		writeNames(names, this.#text, this.end);
		this.#text[end] = separator;
		this.end = end;
		this.#offsets[slot + 1] = end;
		this.#ids.push(id);
		this.#displays.push(display);
		insertSlot(this.#buckets, id, slot);
	}

	remove(id: string, hash: number): boolean {
		const slot = this.#slotOf(id, hash);
		if (slot < 0) return false;
		this.#isRemoved[slot] = 1;
		return true;
	}

	has({ id, display, names }: Named, hash: number): boolean {
		const slot = this.#slotOf(id, hash);
		if (slot < 0 || this.#displays[slot] !== display) return false;
		const start = this.#offsets[slot] ?? 0;
		return namesEqual(this.#text, start, this.#offsets[slot + 1] ?? 0, names);
	}

	isRemovedAt(slot: number): boolean {
		return this.#isRemoved[slot] === 1;
	}

	at(slot: number): Pick<Named, "id" | "display"> {
		return {
			id: this.#ids[slot] ?? "",
			display: this.#displays[slot] ?? "",
		};
	}

	copy(slot: number, to: Buffer, at: number): number {
		const [start, end] = [this.#offsets[slot], this.#offsets[slot + 1]];
		return this.#text.copy(to, at, start, end);
	}

	#slotOf(id: string, hash: number): number {
		return findSlot(this.#buckets, this.#ids, this.#isRemoved, id, hash);
	}

	#reserve(slot: number, end: number): void {
		if (end >= this.#text.length) {
			const text = Buffer.allocUnsafeSlow(2 * (end + 1));
			this.#text.copy(text, 0, 0, this.end);
			this.#text = text;
		}
		if (slot < this.#isRemoved.length) return;
		const size = 2 * slot;
		const offsets = new Uint32Array(size + 1);
		offsets.set(this.#offsets);
		this.#offsets = offsets;
		const isRemoved = new Uint8Array(size);
		isRemoved.set(this.#isRemoved);
		this.#isRemoved = isRemoved;
		this.#buckets = new Int32Array(2 * size);
		for (const [at, id] of this.#ids.entries()) insertSlot(this.#buckets, id, at);
	}
}
