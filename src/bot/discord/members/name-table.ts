// The names of many people in one buffer: where a text stands in them is found by one search over bytes. A table is made
// once; whoever changes is taken out of it. Who is in it stands in the order in which results show them.

import { compareIds } from "../ids.ts";

/** Someone as they are looked for and shown. */
export interface Named {
	id: string;
	/** What they are called where they are shown. */
	display: string;
	/** Every name that they are found by, folded. */
	names: readonly string[];
}

/** How well a name fits: it is what is looked for, it begins with it, or it contains it. */
export const rank = { exact: 0, beginning: 1, inside: 2 } as const;
export type Rank = (typeof rank)[keyof typeof rank];

/** Stands before each name and after the last one. No UTF-8 text has such a byte, so that a match lies within a name. */
const separator = 0xff;
/** How many people are taken over before someone else may have their turn. */
const stepSize = 512;

/** The order of people whose names fit equally well. */
export function compareNamed(
	a: Pick<Named, "id" | "display">,
	b: Pick<Named, "id" | "display">,
): number {
	return a.display.localeCompare(b.display) || compareIds(a.id, b.id);
}

export class NameTable {
	/** How many have been taken out. */
	gone = 0;

	/** The names of those in slot n begin at `offsets[n]`, and end where those of the next begin. */
	readonly #text: Buffer;
	readonly #offsets: Uint32Array;
	readonly #ids: readonly string[];
	readonly #displays: readonly string[];
	/** 1 for slots whose people have been taken out. */
	readonly #isGone: Uint8Array;
	/** Slots, plus 1, by the hash of their id; whoever finds a place taken has the next free one. */
	readonly #places: Int32Array;

	constructor(
		text = Buffer.of(separator),
		offsets = new Uint32Array(1),
		ids: readonly string[] = [],
		displays: readonly string[] = [],
		places = new Int32Array(1),
	) {
		this.#text = text;
		this.#offsets = offsets;
		this.#ids = ids;
		this.#displays = displays;
		this.#isGone = new Uint8Array(ids.length);
		this.#places = places;
	}

	/** How many are in it. */
	get size(): number {
		return this.#ids.length - this.gone;
	}

	/** Takes someone out, if they are in it. */
	remove(id: string): boolean {
		const slot = this.#slotOf(id);
		if (slot < 0) return false;
		this.#isGone[slot] = 1;
		this.gone += 1;
		return true;
	}

	/** Whether someone is in it just so. */
	has({ id, display, names }: Named): boolean {
		const slot = this.#slotOf(id);
		if (slot < 0 || this.#displays[slot] !== display) return false;
		const start = this.#start(slot);
		const length = this.#start(slot + 1) - start;
		if (bytesOf(names) !== length) return false;
		if (scratch.length < length) scratch = Buffer.allocUnsafe(length);
		write(names, scratch, 0);
		return this.#text.compare(scratch, 0, length, start, start + length) === 0;
	}

	/** Shows `visit` everyone whose names contain `wanted`, which is not empty, in order, with the best of their ranks. */
	scan(wanted: string, visit: (slot: number, rank: Rank) => void): void {
		const text = this.#text;
		const needle = Buffer.from(wanted);
		let slot = 0;
		for (let at = text.indexOf(needle); at >= 0; ) {
			slot = this.#slotAt(at, slot);
			const end = this.#start(slot + 1);
			if (this.#isGone[slot] === 1) {
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

	/** Shows `visit` everyone with a name that begins with `wanted`, in order. */
	scanBeginnings(wanted: string, visit: (slot: number) => void): void {
		const needle = Buffer.from(` ${wanted}`);
		needle[0] = separator;
		let slot = 0;
		for (let at = this.#text.indexOf(needle); at >= 0; ) {
			slot = this.#slotAt(at, slot);
			if (this.#isGone[slot] !== 1) visit(slot);
			at = this.#text.indexOf(needle, this.#start(slot + 1));
		}
	}

	/** Who stands in a slot. */
	at(slot: number): Pick<Named, "id" | "display"> {
		return {
			id: this.#ids[slot] ?? "",
			display: this.#displays[slot] ?? "",
		};
	}

	/**
	 * A table of everyone in this one, and `others`, who are not in it. It is made in steps of about 0.2 ms; whoever is
	 * taken out of this one meanwhile may be in it.
	 */
	*with(others: Iterable<Named>): Generator<undefined, NameTable> {
		const added = yield* sorted([...others]);
		const count = this.size + added.length;
		let bytes = this.#text.length;
		for (const [index, { names }] of added.entries()) {
			bytes += bytesOf(names);
			if (index % stepSize === 0) yield;
		}
		const text = Buffer.allocUnsafe(bytes);
		const offsets = new Uint32Array(count + 1);
		const ids: string[] = [];
		const displays: string[] = [];
		const places = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1)));
		let end = 0;
		const begin = ({ id, display }: Pick<Named, "id" | "display">) => {
			place(places, id, ids.length);
			offsets[ids.length] = end;
			ids.push(id);
			displays.push(display);
		};
		/** Takes over those who stand before `until` and have not been taken out. */
		const takeOver = (from: number, until: number) => {
			for (let slot = from; slot < until; slot += 1) {
				if (this.#isGone[slot] === 1) continue;
				begin(this.at(slot));
				end += this.#text.copy(
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
				takeOver(from, Math.min(from + stepSize, until));
				yield;
			}
			begin(named);
			end = write(named.names, text, end);
			if (index % stepSize === 0) yield;
		}
		for (; from < this.#ids.length; from += stepSize) {
			takeOver(from, Math.min(from + stepSize, this.#ids.length));
			yield;
		}
		text[end] = separator;
		return new NameTable(
			text.subarray(0, end + 1),
			// Those who were taken out on the way have left no gap.
			offsets.fill(end, ids.length).subarray(0, ids.length + 1),
			ids,
			displays,
			places,
		);
	}

	#start(slot: number): number {
		return this.#offsets[slot] ?? 0;
	}

	/** The slot of someone who is in it, or -1. */
	#slotOf(id: string): number {
		const places = this.#places;
		for (let at = hash(id) & (places.length - 1); ; ) {
			const slot = (places[at] ?? 0) - 1;
			if (slot < 0 || this.#ids[slot] === id)
				return slot < 0 || this.#isGone[slot] === 1 ? -1 : slot;
			at = (at + 1) & (places.length - 1);
		}
	}

	/** The slot in whose names a byte stands, from `from` on. What is looked for next is mostly near. */
	#slotAt(byte: number, from: number): number {
		const count = this.#ids.length;
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

	/** The first slot, from `from` on, whose people come after someone. */
	#slotFor(named: Named, from: number): number {
		const isBefore = (slot: number) => compareNamed(this.at(slot), named) < 0;
		return lastWhere(from - 1, this.#ids.length, isBefore) + 1;
	}
}

/** The last number from `low` on and below `high` that fits, where all up to it do; `low` is taken to. */
function lastWhere(
	low: number,
	high: number,
	fits: (one: number) => boolean,
): number {
	let last = low;
	let end = high;
	while (end - last > 1) {
		const middle = (last + end) >>> 1;
		if (fits(middle)) last = middle;
		else end = middle;
	}
	return last;
}

/** `all` in order, in steps: runs that are sorted at once, merged by two until one is left. */
function* sorted(all: Named[]): Generator<undefined, readonly Named[]> {
	let runs: Named[][] = [];
	for (let at = 0; at < all.length; at += stepSize) {
		runs.push(all.slice(at, at + stepSize).sort(compareNamed));
		yield;
	}
	while (runs.length > 1) {
		const longer: Named[][] = [];
		for (let at = 0; at < runs.length; at += 2)
			longer.push(yield* merged(runs[at] ?? [], runs[at + 1] ?? []));
		runs = longer;
	}
	return runs[0] ?? [];
}

function* merged(
	left: readonly Named[],
	right: readonly Named[],
): Generator<undefined, Named[]> {
	const both: Named[] = [];
	let next = 0;
	for (const one of left) {
		for (
			let other = right[next];
			other && compareNamed(other, one) < 0;
			other = right[next]
		) {
			both.push(other);
			next += 1;
			if (both.length % stepSize === 0) yield;
		}
		both.push(one);
		if (both.length % stepSize === 0) yield;
	}
	return next === 0 ? both.concat(right) : both.concat(right.slice(next));
}

let scratch = Buffer.allocUnsafe(1_024);

function bytesOf(names: readonly string[]): number {
	let bytes = 0;
	for (const name of names) bytes += 1 + Buffer.byteLength(name);
	return bytes;
}

/** Writes names with what stands before each; says where they end. */
function write(names: readonly string[], to: Buffer, at: number): number {
	let end = at;
	for (const name of names) {
		to[end] = separator;
		end += 1;
		end += to.write(name, end);
	}
	return end;
}

function place(places: Int32Array, id: string, slot: number): void {
	let at = hash(id) & (places.length - 1);
	while (places[at] !== 0) at = (at + 1) & (places.length - 1);
	places[at] = slot + 1;
}

/** Ids count milliseconds, and within one of them: their last digits differ most. */
function hash(id: string): number {
	const mixed = Math.imul(Number(id.slice(-9)), 0x9e3779b1);
	return mixed ^ (mixed >>> 15);
}
