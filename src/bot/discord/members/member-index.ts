// Who in a guild is called so: every name is folded when it becomes known, and never when it is looked for. Most people
// stand in a NameTable; whoever has changed since it was made stands beside it, until a new one is made.
//
// A member takes about 40 bytes here and the bytes of their names, twice that while a new table is made. A new one is
// made in slices of 2 ms, between which everyone else has their turn, and in at most a tenth of the time.

import { fold } from "../text.ts";
import {
	compareNamed,
	type Named,
	NameTable,
	type Rank,
	rank,
} from "./name-table.ts";

/** What someone is called in a guild. */
export interface Names {
	nickname: string | null;
	globalName: string | null;
	username: string;
}

/** With this many changes a new table is due. */
const maxChanges = 1_000;
const sliceMs = 2;
/** After a new table was made, for how many times as long none is. */
const restFactor = 9;

export class MemberIndex {
	#table = new NameTable();
	/** Who is not in the table, or stands there otherwise than they are called now. They have been taken out of it. */
	#changed = new Map<string, Named>();
	/** Who has changed since the next table was begun; undefined while none is. */
	#sinceBegun: Set<string> | undefined;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#restMs = 0;

	get size(): number {
		return this.#table.size + this.#changed.size;
	}

	/** Notes what someone is called from now on. */
	set(id: string, names: Names): void {
		const named = toNamed(id, names);
		if (isSame(named, this.#changed.get(id)) || this.#table.has(named)) return;
		this.#table.remove(id);
		this.#changed.set(id, named);
		this.#note(id);
	}

	delete(id: string): void {
		const inTable = this.#table.remove(id);
		if (this.#changed.delete(id) || inTable) this.#note(id);
	}

	clear(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#sinceBegun = undefined;
		this.#table = new NameTable();
		this.#changed = new Map();
	}

	/**
	 * How many have a name that contains `wanted`, and the ids of the first of them: whoever is called just so, then whose
	 * name begins with it, then the others; each by what they are called, then by id. `wanted` is folded, and whole
	 * characters: half of one is in no name, and nothing is in none.
	 */
	find(wanted: string, limit: number): { total: number; ids: string[] } {
		if (!isText(wanted)) return { total: 0, ids: [] };
		const table = this.#table;
		const slots: Record<Rank, number[]> = [[], [], []];
		let total = 0;
		// In the order in which they are shown, so that the first are enough.
		table.scan(wanted, (slot, rank) => {
			total += 1;
			if (slots[rank].length < limit) slots[rank].push(slot);
		});
		const beside: Record<Rank, Named[]> = [[], [], []];
		for (const named of this.#changed.values()) {
			const rank = rankOf(named, wanted);
			if (rank === undefined) continue;
			total += 1;
			beside[rank].push(named);
		}
		const ids: string[] = [];
		for (const rank of [0, 1, 2] as const) {
			if (ids.length === limit) break;
			const inTable = slots[rank].map((slot) => table.at(slot));
			const all = [...inTable, ...beside[rank]].sort(compareNamed);
			ids.push(...all.slice(0, limit - ids.length).map(({ id }) => id));
		}
		return { total, ids };
	}

	/** The ids of those who have a name that begins with `wanted`, which is as for `find`, in no order. */
	beginningWith(wanted: string): string[] {
		const ids: string[] = [];
		if (!isText(wanted)) return ids;
		this.#table.scanBeginnings(wanted, (slot) => {
			ids.push(this.#table.at(slot).id);
		});
		for (const named of this.#changed.values())
			if ((rankOf(named, wanted) ?? rank.inside) < rank.inside)
				ids.push(named.id);
		return ids;
	}

	/** Makes a table of everyone. By itself it does so when there have been enough changes. */
	async merge(): Promise<void> {
		if (this.#sinceBegun) return;
		const sinceBegun = new Set<string>();
		this.#sinceBegun = sinceBegun;
		const steps = this.#table.with(this.#changed.values());
		let spentMs = 0;
		for (;;) {
			const from = performance.now();
			let step = steps.next();
			while (!step.done && performance.now() - from < sliceMs)
				step = steps.next();
			spentMs += performance.now() - from;
			if (step.done) {
				this.#take(step.value, sinceBegun);
				break;
			}
			await turnOfOthers();
			// Everyone has been forgotten meanwhile.
			if (this.#sinceBegun !== sinceBegun) return;
		}
		this.#restMs = spentMs * restFactor;
		this.#mergeIfDue();
	}

	/** Goes on with a new table, in which those in `sinceBegun` stand as they were when it was begun. */
	#take(table: NameTable, sinceBegun: ReadonlySet<string>): void {
		const changed = new Map<string, Named>();
		for (const id of sinceBegun) {
			table.remove(id);
			const named = this.#changed.get(id);
			if (named) changed.set(id, named);
		}
		this.#table = table;
		this.#changed = changed;
		this.#sinceBegun = undefined;
	}

	#note(id: string): void {
		this.#sinceBegun?.add(id);
		this.#mergeIfDue();
	}

	#mergeIfDue(): void {
		if (this.#timer || this.#sinceBegun) return;
		if (this.#changed.size + this.#table.gone < maxChanges) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			void this.merge();
		}, this.#restMs);
		this.#timer.unref();
	}
}

function toNamed(id: string, { nickname, globalName, username }: Names): Named {
	const names: string[] = [];
	for (const name of [nickname, globalName, username]) {
		if (!name) continue;
		const folded = fold(name).toWellFormed();
		if (folded !== "" && !names.includes(folded)) names.push(folded);
	}
	return { id, display: nickname ?? globalName ?? username, names };
}

function isSame(one: Named, other: Named | undefined): boolean {
	if (one.display !== other?.display) return false;
	if (one.names.length !== other.names.length) return false;
	return one.names.every((name, at) => name === other.names[at]);
}

function rankOf({ names }: Named, wanted: string): Rank | undefined {
	let best: Rank | undefined;
	for (const name of names) {
		const at = name.indexOf(wanted);
		if (at < 0) continue;
		if (name.length === wanted.length) return rank.exact;
		if (at === 0) best = rank.beginning;
		else best ??= rank.inside;
	}
	return best;
}

function isText(wanted: string): boolean {
	return wanted !== "" && wanted.isWellFormed();
}

function turnOfOthers(): Promise<void> {
	// Not unref'd: Bun would leave it until something else happens.
	return new Promise((resolve) => setImmediate(resolve));
}
