// Index of a guild's members by name. Names are folded when they are stored. Most members are in an immutable NameTable;
// those that changed since it was built are in a NameLog beside it until the table is rebuilt.
//
// A member takes about 50 bytes plus the bytes of their names, twice that during a rebuild. A rebuild runs in slices of
// 2 ms, and rebuilds take at most a tenth of the time, apart from one after each load of all members.

import { inSlices } from "../../../lib/slices.ts";
import { fold } from "../text.ts";
import { firstOf } from "./member-filter.ts";
import { NameLog } from "./name-log.ts";
import { NameTable } from "./name-table.ts";
import { compareNamed, firstIds, type Named, type Rank, rank } from "./packed-names.ts";

/** The names by which a guild member can be found. */
export interface Names {
	nickname: string | null;
	globalName: string | null;
	username: string;
}

/**
 * Number of matches beyond which a look-up need not count: more help nobody, and counting a million takes longer than
 * other calls should wait.
 */
export const maxCounted = 25_000;

const maxChanges = 1_000;
const sliceMs = 2;
const pauseFactor = 9;
const minPauseMs = 1_000;

export class MemberIndex {
	#table = new NameTable();
	#log = new NameLog();
	#merging: NameLog | undefined;
	#changedIds: Set<string> | undefined;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#pauseMs = 0;
	#isUrgent = false;

	get size(): number {
		return this.#table.size + this.#log.size + (this.#merging?.size ?? 0);
	}

	/** Adds a member to the name index, or updates the member's names in it. */
	set(id: string, names: Names): void {
		const named = toNamed(id, names);
		if (this.#log.has(named) || this.#table.has(named) || this.#merging?.has(named)) return;
		this.#remove(id);
		this.#log.add(named);
		this.#noteChange(id);
	}

	delete(id: string): void {
		if (this.#remove(id)) this.#noteChange(id);
	}

	clear(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#changedIds = undefined;
		this.#isUrgent = false;
		this.#table = new NameTable();
		this.#log = new NameLog();
		this.#merging = undefined;
	}

	/**
	 * Finds members with a name that contains `query`. Returns their number and the ids of the `limit` best matches:
	 * exact matches first, then prefixes, then all others. `query` must be a result of `fold`, which removes case and
	 * accents. Stops counting somewhere beyond `maxCounted`, unless `limit` is Infinity.
	 */
	find(query: string, limit: number): { total: number; ids: string[] } {
		if (!isValidQuery(query)) return { total: 0, ids: [] };
		const inLogs: Record<Rank, Pick<Named, "id" | "display">[]> = [[], [], []];
		let total = 0;
		for (const log of this.#logs)
			log.scan(query, (slot, rank) => {
				total += 1;
				inLogs[rank].push(log.at(slot));
			});
		const { slots, count } = this.#findInTable(query, limit, total);
		const ids: string[] = [];
		for (const rank of [0, 1, 2] as const) {
			if (ids.length === limit) break;
			const inTable = slots[rank].map((slot) => this.#table.at(slot));
			const all = [...inTable, ...inLogs[rank]];
			const first = firstOf(all, limit - ids.length, compareNamed);
			for (const { id } of first) ids.push(id);
		}
		return { total: total + count, ids };
	}

	#findInTable(query: string, limit: number, counted: number): { slots: Record<Rank, number[]>; count: number } {
		const slots: Record<Rank, number[]> = [[], [], []];
		let count = 0;
		const isEnough = () => count >= limit && counted + count > maxCounted;
		// The table is sorted, so the first matches are enough.
		this.#table.scan(query, (slot, rank) => {
			count += 1;
			if (slots[rank].length < limit) slots[rank].push(slot);
			return !isEnough();
		});
		if (!isEnough()) return { slots, count };
		// Better matches may come after the place where the scan stopped.
		for (const best of [rank.exact, rank.beginning]) {
			const found: number[] = [];
			const add = (slot: number, rank: Rank) => {
				if (rank === best) found.push(slot);
				return found.length < limit;
			};
			this.#table.scan(query, add, best);
			slots[best] = found;
			if (found.length >= limit) break;
		}
		return { slots, count };
	}

	/** Returns the lowest ids above `after`, in order: at most `count`. */
	firstIds(after: string, count: number): string[] {
		const logs = this.#logs.flatMap(({ packed }) => packed);
		return firstIds([this.#table.packed, ...logs], after, count);
	}

	/**
	 * Rebuilds the table of member names with all changes since it was last built. After enough changes, the index
	 * rebuilds the table automatically.
	 */
	async rebuild(): Promise<void> {
		if (this.#changedIds) return;
		const changedIds = new Set<string>();
		this.#changedIds = changedIds;
		const merging = this.#log;
		this.#merging = merging;
		this.#log = new NameLog();
		const isCleared = () => this.#changedIds !== changedIds;
		let spentMs = 0;
		const table = await inSlices(untilStopped(this.#table.with(merging), isCleared), sliceMs, (ms) => {
			spentMs += ms;
		});
		if (!table || isCleared()) return;
		this.#replaceTable(table, changedIds);
		this.#pauseMs = spentMs * pauseFactor;
		this.#scheduleRebuild();
	}

	/**
	 * Lets the next rebuild begin without a pause. Call this when all members of the guild are loaded: until then most
	 * of them may be in the log, where look-ups take longer.
	 */
	rebuildSoon(): void {
		this.#isUrgent = true;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#scheduleRebuild();
	}

	#replaceTable(table: NameTable, changedIds: ReadonlySet<string>): void {
		for (const id of changedIds) table.remove(id);
		this.#table = table;
		this.#merging = undefined;
		this.#changedIds = undefined;
	}

	get #logs(): readonly NameLog[] {
		return this.#merging ? [this.#merging, this.#log] : [this.#log];
	}

	#remove(id: string): boolean {
		const inTable = this.#table.remove(id);
		const inLog = this.#log.remove(id);
		return this.#merging?.remove(id) || inTable || inLog;
	}

	#noteChange(id: string): void {
		this.#changedIds?.add(id);
		this.#scheduleRebuild();
	}

	#scheduleRebuild(): void {
		if (this.#timer || this.#changedIds) return;
		if (this.#log.added + this.#table.removedCount < maxChanges) return;
		const pauseMs = this.#isUrgent ? 0 : Math.max(minPauseMs, this.#pauseMs);
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#isUrgent = false;
			void this.rebuild();
		}, pauseMs);
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

function isValidQuery(query: string): boolean {
	return query !== "" && query.isWellFormed();
}

function* untilStopped<T>(steps: Iterator<unknown, T>, isStopped: () => boolean): Generator<undefined, T | undefined> {
	for (let step = steps.next(); !isStopped(); step = steps.next()) {
		if (step.done) return step.value;
		yield;
	}
	return undefined;
}
