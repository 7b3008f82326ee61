// Index of a guild's members by name. Names are folded when they are stored. Most members are in an immutable NameTable;
// those that changed since it was built are in a map beside it (the delta) until the table is rebuilt.
//
// A member takes about 40 bytes plus the bytes of their names, twice that during a rebuild. A rebuild runs in slices of
// 2 ms, and rebuilds take at most a tenth of the time.

import { fold } from "../text.ts";
import {
	compareNamed,
	type Named,
	NameTable,
	type Rank,
	rank,
} from "./name-table.ts";

/** The names by which a guild member can be found. */
export interface Names {
	nickname: string | null;
	globalName: string | null;
	username: string;
}

/** Number of changed members after which the table of member names is rebuilt. */
const maxChanges = 1_000;
const sliceMs = 2;
/**
 * The pause between two rebuilds of the table of member names is at least this many times as long as the earlier
 * rebuild took.
 */
const pauseFactor = 9;

export class MemberIndex {
	#table = new NameTable();
	/**
	 * Members who were added or renamed since the table of member names was built. That table no longer contains them.
	 */
	#delta = new Map<string, Named>();
	/**
	 * Ids of members who changed since the running rebuild of the name table started; undefined if no rebuild is running.
	 */
	#changedIds: Set<string> | undefined;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#pauseMs = 0;

	get size(): number {
		return this.#table.size + this.#delta.size;
	}

	/** Adds a member to the name index, or updates the member's names in it. */
	set(id: string, names: Names): void {
		const named = toNamed(id, names);
		if (isEqual(named, this.#delta.get(id)) || this.#table.has(named)) return;
		this.#table.remove(id);
		this.#delta.set(id, named);
		this.#noteChange(id);
	}

	delete(id: string): void {
		const inTable = this.#table.remove(id);
		if (this.#delta.delete(id) || inTable) this.#noteChange(id);
	}

	clear(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#changedIds = undefined;
		this.#table = new NameTable();
		this.#delta = new Map();
	}

	/**
	 * Finds members with a name that contains `query`. Returns their number and the ids of the `limit` best matches:
	 * exact matches first, then prefixes, then all others. `query` must be a result of `fold`, which removes case and
	 * accents.
	 */
	find(query: string, limit: number): { total: number; ids: string[] } {
		if (!isValidQuery(query)) return { total: 0, ids: [] };
		const table = this.#table;
		const slots: Record<Rank, number[]> = [[], [], []];
		let total = 0;
		// The table is sorted, so the first matches are enough.
		table.scan(query, (slot, rank) => {
			total += 1;
			if (slots[rank].length < limit) slots[rank].push(slot);
		});
		const inDelta: Record<Rank, Named[]> = [[], [], []];
		for (const named of this.#delta.values()) {
			const rank = rankOf(named, query);
			if (rank === undefined) continue;
			total += 1;
			inDelta[rank].push(named);
		}
		const ids: string[] = [];
		for (const rank of [0, 1, 2] as const) {
			if (ids.length === limit) break;
			const inTable = slots[rank].map((slot) => table.at(slot));
			const all = [...inTable, ...inDelta[rank]].sort(compareNamed);
			ids.push(...all.slice(0, limit - ids.length).map(({ id }) => id));
		}
		return { total, ids };
	}

	/**
	 * Rebuilds the table of member names with all changes since it was last built. After enough changes, the index
	 * rebuilds the table automatically.
	 */
	async rebuild(): Promise<void> {
		if (this.#changedIds) return;
		const changedIds = new Set<string>();
		this.#changedIds = changedIds;
		const steps = this.#table.with(this.#delta.values());
		let spentMs = 0;
		for (;;) {
			const from = performance.now();
			let step = steps.next();
			while (!step.done && performance.now() - from < sliceMs)
				step = steps.next();
			spentMs += performance.now() - from;
			if (step.done) {
				this.#replaceTable(step.value, changedIds);
				break;
			}
			await yieldToEventLoop();
			// The index was cleared meanwhile.
			if (this.#changedIds !== changedIds) return;
		}
		this.#pauseMs = spentMs * pauseFactor;
		this.#scheduleRebuild();
	}

	/**
	 * Replaces the table of member names by a rebuilt one. `changedIds` are the members who changed during the rebuild;
	 * the new table's outdated entries of these members are removed.
	 */
	#replaceTable(table: NameTable, changedIds: ReadonlySet<string>): void {
		const changed = new Map<string, Named>();
		for (const id of changedIds) {
			table.remove(id);
			const named = this.#delta.get(id);
			if (named) changed.set(id, named);
		}
		this.#table = table;
		this.#delta = changed;
		this.#changedIds = undefined;
	}

	#noteChange(id: string): void {
		this.#changedIds?.add(id);
		this.#scheduleRebuild();
	}

	#scheduleRebuild(): void {
		if (this.#timer || this.#changedIds) return;
		if (this.#delta.size + this.#table.removedCount < maxChanges) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			void this.rebuild();
		}, this.#pauseMs);
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

function isEqual(one: Named, other: Named | undefined): boolean {
	if (one.display !== other?.display) return false;
	if (one.names.length !== other.names.length) return false;
	return one.names.every((name, at) => name === other.names[at]);
}

function rankOf({ names }: Named, query: string): Rank | undefined {
	let best: Rank | undefined;
	for (const name of names) {
		const at = name.indexOf(query);
		if (at < 0) continue;
		if (name.length === query.length) return rank.exact;
		if (at === 0) best = rank.beginning;
		else best ??= rank.inside;
	}
	return best;
}

function isValidQuery(query: string): boolean {
	return query !== "" && query.isWellFormed();
}

function yieldToEventLoop(): Promise<void> {
	// Not unref'd: Bun would delay it until the next event.
	return new Promise((resolve) => setImmediate(resolve));
}
