// What was said in AI chat: in memory, and in the store behind it, so that a restart goes on. While the database is away
// memory alone counts, and what came meanwhile is written when it is back, as far as memory goes.

import type { Log } from "../../../lib/log.ts";
import {
	deleteTurns,
	deleteTurnsBefore,
	deleteTurnsIn,
	saveTurns,
	selectChain,
	selectLatestAnswer,
	type Turn,
} from "../../store/conversations.ts";
import { StoreUnavailable } from "../../store/db-error.ts";
import type { Store } from "../../store/store.ts";

/** Messages in memory. */
const maxInMemory = 1_000;
/** Messages that were deleted on Discord, and may be in the store; and as many channels. */
const maxDeleted = 10_000;
/** Messages of a conversation that are looked at: more are part of no answer. */
export const maxChain = 40;
/** After this, who mentions the bot begins anew; a reply still goes on. */
const idleMs = 30 * 60_000;

const batch = 100;
const dayMs = 86_400_000;
const pruneEveryMs = 3_600_000;
const farewellMs = 2_000;

export interface ConversationsOptions {
	store: Pick<Store, "sql" | "opened">;
	log: Log;
	/** 0: nothing goes into the store, and what is there is deleted. */
	keepDays: number;
	/** The wall clock: it is stored. */
	now?: () => number;
	/** How long until what the store did not take is tried again; deletions wait that long as well. */
	retryMs: number;
}

export interface Conversations {
	/** A message and those that it continues, oldest first; undefined: it is none of AI chat's, or that cannot be known. */
	chain(messageId: string): Promise<Turn[] | "unknown" | undefined>;
	/** Where a person goes on in a channel without a reply; undefined: they begin anew. */
	latest(channelId: string, userId: string): Promise<string | undefined>;
	/** Notes a message; one that is there already, with its content of now. Never waits. */
	add(turn: Omit<Turn, "at">): void;
	/** These messages were deleted on Discord. */
	forget(messageIds: readonly string[]): void;
	/** These channels were deleted on Discord, with all that was said there. */
	forgetChannels(channelIds: readonly string[]): void;
	start(): void;
	close(): Promise<void>;
}

export function createConversations({
	store,
	log,
	keepDays,
	now = Date.now,
	retryMs,
}: ConversationsOptions): Conversations {
	const { sql } = store;
	const turns = new Map<string, Turn>();
	/** By channel and person, their latest answer. */
	const answers = new Map<string, string>();
	/** What the store does not have yet, by message. */
	const unsaved = new Map<string, Turn>();
	/** What the store may have still. */
	const deleted = new Set<string>();
	const deletedChannels = new Set<string>();
	let saving: Promise<void> | undefined;
	let retry: Timer | undefined;
	let pruning: Timer | undefined;
	let overflowing = false;
	let closed = false;

	/** Whether there is something that the store does not have yet. */
	const isBehind = () => unsaved.size + deleted.size + deletedChannels.size > 0;

	const placeOf = (channelId: string, userId: string) =>
		`${channelId} ${userId}`;

	function add(turn: Omit<Turn, "at">): void {
		const { message_id, channel_id, user_id } = turn;
		if (deleted.has(message_id) || deletedChannels.has(channel_id)) return;
		const full = { ...turn, at: turns.get(message_id)?.at ?? now() };
		keep(turns, message_id, full);
		if (turn.role === "assistant")
			keep(answers, placeOf(channel_id, user_id), message_id);
		if (keepDays === 0) return;
		if (unsaved.size === maxInMemory && !overflowing)
			log.warn(
				"conversations are lost to the store: it has been away for long",
			);
		overflowing = unsaved.size === maxInMemory;
		keep(unsaved, message_id, full);
		save();
	}

	function forget(messageIds: readonly string[]): void {
		for (const id of messageIds) {
			turns.delete(id);
			unsaved.delete(id);
			if (keepDays === 0) continue;
			deleted.delete(id);
			deleted.add(id);
			dropOldest(deleted, maxDeleted);
		}
		// Not one by one: messages are deleted by the thousand.
		if (deleted.size > 0) saveLater();
	}

	function forgetChannels(channelIds: readonly string[]): void {
		const gone = new Set(channelIds);
		for (const { message_id, channel_id } of turns.values())
			if (gone.has(channel_id)) turns.delete(message_id);
		for (const { message_id, channel_id } of unsaved.values())
			if (gone.has(channel_id)) unsaved.delete(message_id);
		if (keepDays === 0) return;
		for (const id of gone) {
			deletedChannels.add(id);
			dropOldest(deletedChannels, maxDeleted);
		}
		if (gone.size > 0) saveLater();
	}

	function save(): void {
		saving ??= write().finally(() => {
			saving = undefined;
			if (isBehind() && !closed) saveLater();
		});
	}

	function saveLater(): void {
		if (!closed) retry ??= setTimeout(saveNow, retryMs);
	}

	function saveNow(): void {
		retry = undefined;
		save();
	}

	/** Until all is written, or the store does not take it. Never rejects. */
	async function write(): Promise<void> {
		try {
			while (unsaved.size > 0) {
				const some = [...unsaved.values()].slice(0, batch);
				await saveTurns(sql, some);
				// It may have changed meanwhile.
				for (const turn of some)
					if (unsaved.get(turn.message_id) === turn)
						unsaved.delete(turn.message_id);
			}
			while (deleted.size > 0) {
				const some = [...deleted].slice(0, batch);
				await deleteTurns(sql, some);
				for (const id of some) deleted.delete(id);
			}
			while (deletedChannels.size > 0) {
				const some = [...deletedChannels].slice(0, batch);
				await deleteTurnsIn(sql, some);
				for (const id of some) deletedChannels.delete(id);
			}
		} catch (error) {
			if (error instanceof StoreUnavailable) return;
			log.error("could not store conversations", { error });
			// Whatever of it the database does not take, it would not take again.
			unsaved.clear();
		}
	}

	async function chain(id: string): Promise<Turn[] | "unknown" | undefined> {
		const newestFirst: Turn[] = [];
		const walk = (given: ReadonlyMap<string, Turn>, from: string | null) => {
			let next = from;
			while (next !== null && newestFirst.length < maxChain) {
				const turn = deleted.has(next) ? undefined : given.get(next);
				if (!turn) break;
				newestFirst.push(turn);
				next = turn.parent_id;
			}
			return next;
		};
		const missing = walk(turns, id);
		const wanted = maxChain - newestFirst.length;
		if (missing !== null && wanted > 0 && keepDays > 0)
			try {
				const stored = await selectChain(sql, missing, wanted);
				walk(new Map(stored.map((turn) => [turn.message_id, turn])), missing);
			} catch (error) {
				if (!(error instanceof StoreUnavailable)) throw error;
				if (newestFirst.length === 0) return "unknown";
			}
		return newestFirst.length === 0 ? undefined : newestFirst.reverse();
	}

	async function latest(
		channelId: string,
		userId: string,
	): Promise<string | undefined> {
		const since = now() - idleMs;
		const id = answers.get(placeOf(channelId, userId));
		const turn = id === undefined ? undefined : turns.get(id);
		if (turn) return turn.at >= since ? turn.message_id : undefined;
		if (keepDays === 0) return undefined;
		try {
			return await selectLatestAnswer(sql, { channelId, userId, since });
		} catch (error) {
			if (error instanceof StoreUnavailable) return undefined;
			throw error;
		}
	}

	async function prune(): Promise<void> {
		const before = keepDays === 0 ? now() + dayMs : now() - keepDays * dayMs;
		let sum = 0;
		try {
			for (let last = batch; last === batch && !closed; sum += last)
				last = await deleteTurnsBefore(sql, before, batch);
			if (sum > 0) log.info("old conversations are gone", { messages: sum });
		} catch (error) {
			// The next hour does it.
			if (!(error instanceof StoreUnavailable))
				log.error("could not delete old conversations", { error });
		}
	}

	return {
		...{ add, forget, forgetChannels, chain, latest },
		start() {
			pruning = setInterval(prune, pruneEveryMs);
			void store.opened.then(prune);
		},
		async close() {
			clearInterval(pruning);
			clearTimeout(retry);
			if (isBehind()) save();
			closed = true;
			await Promise.race([saving, Bun.sleep(farewellMs)]);
		},
	};
}

/** As the latest of at most `maxInMemory`. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
	map.delete(key);
	map.set(key, value);
	dropOldest(map, maxInMemory);
}

function dropOldest(
	of: Map<string, unknown> | Set<string>,
	most: number,
): void {
	if (of.size <= most) return;
	const [oldest] = of.keys();
	if (oldest !== undefined) of.delete(oldest);
}
