// Conversations of AI chat: cached in memory and stored, so that they survive a restart. During a database outage, writes
// are buffered in memory up to a limit.

import type { Log } from "../../../lib/log.ts";
import { within } from "../../../lib/wait.ts";
import {
	deleteTurns,
	deleteTurnsBefore,
	deleteTurnsIn,
	saveTurns,
	selectChain,
	selectLatestAnswer,
	type Turn,
} from "../../store/conversations.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";
import type { Store } from "../../store/store.ts";

/** Messages in memory. */
const maxInMemory = 1_000;
/** Buffered deletions of messages, and of channels. */
const maxDeleted = 10_000;
/** Messages of a conversation that are loaded. */
const maxChain = 40;
/** A mention after this starts a new conversation. A reply always continues one. */
const idleTimeoutMs = 30 * 60_000;

const batchSize = 100;
const dayMs = 86_400_000;
const pruneIntervalMs = 3_600_000;
const shutdownGraceMs = 2_000;

export interface ConversationsOptions {
	store: Pick<Store, "sql" | "opened">;
	log: Log;
	/** 0 stores nothing and deletes what is stored. */
	keepDays: number;
	/** The wall clock. */
	now?: () => number;
	/** Delay before a failed write is retried, and before deletions are written. */
	retryMs: number;
}

export interface Conversations {
	/**
	 * A message and its ancestors, oldest first; undefined when it is not part of a conversation, "unknown" when the store
	 * is unavailable.
	 */
	chain(messageId: string): Promise<Turn[] | "unknown" | undefined>;
	/** Id of the answer that a mention without a reply continues; undefined for a new conversation. */
	latest(channelId: string, userId: string): Promise<string | undefined>;
	/** Adds a message, or updates its content. Written to the store in the background. */
	add(turn: Omit<Turn, "at">): void;
	/** Call when messages were deleted on Discord. */
	deleteMessages(ids: readonly string[]): void;
	/** Call when channels were deleted on Discord. Deletes their messages. */
	deleteChannels(ids: readonly string[]): void;
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
	/** Id of the latest answer by channel and person. */
	const answers = new Map<string, string>();
	/** Turns to write to the store, by message id. */
	const unsaved = new Map<string, Turn>();
	/** Messages and channels to delete from the store. */
	const deleted = new Set<string>();
	const deletedChannels = new Set<string>();
	let saving: Promise<void> | undefined;
	let retry: Timer | undefined;
	let pruning: Timer | undefined;
	let isOverflowing = false;
	let closed = false;

	const hasPendingWrites = () =>
		unsaved.size + deleted.size + deletedChannels.size > 0;

	const answerKey = (channelId: string, userId: string) =>
		`${channelId} ${userId}`;

	function add(turn: Omit<Turn, "at">): void {
		const { message_id, channel_id, user_id } = turn;
		if (deleted.has(message_id) || deletedChannels.has(channel_id)) return;
		const full = { ...turn, at: turns.get(message_id)?.at ?? now() };
		setRecent(turns, message_id, full);
		if (turn.role === "assistant")
			setRecent(answers, answerKey(channel_id, user_id), message_id);
		if (keepDays === 0) return;
		if (unsaved.size === maxInMemory && !isOverflowing)
			log.warn("conversation buffer full, dropping oldest messages");
		isOverflowing = unsaved.size === maxInMemory;
		setRecent(unsaved, message_id, full);
		save();
	}

	function deleteMessages(ids: readonly string[]): void {
		for (const id of ids) {
			turns.delete(id);
			unsaved.delete(id);
			if (keepDays === 0) continue;
			deleted.delete(id);
			deleted.add(id);
			dropOldest(deleted, maxDeleted);
		}
		// Delayed, to write deletions in batches.
		if (deleted.size > 0) saveLater();
	}

	function deleteChannels(ids: readonly string[]): void {
		const channels = new Set(ids);
		for (const { message_id, channel_id } of turns.values())
			if (channels.has(channel_id)) turns.delete(message_id);
		for (const { message_id, channel_id } of unsaved.values())
			if (channels.has(channel_id)) unsaved.delete(message_id);
		if (keepDays === 0) return;
		for (const id of channels) {
			deletedChannels.add(id);
			dropOldest(deletedChannels, maxDeleted);
		}
		if (channels.size > 0) saveLater();
	}

	function save(): void {
		saving ??= write().finally(() => {
			saving = undefined;
			if (hasPendingWrites() && !closed) saveLater();
		});
	}

	function saveLater(): void {
		if (!closed) retry ??= setTimeout(saveNow, retryMs);
	}

	function saveNow(): void {
		retry = undefined;
		save();
	}

	/** Writes everything pending, until a write fails. Never rejects. */
	async function write(): Promise<void> {
		try {
			while (unsaved.size > 0) {
				const batch = [...unsaved.values()].slice(0, batchSize);
				await saveTurns(sql, batch);
				// Keep turns that changed meanwhile.
				for (const turn of batch)
					if (unsaved.get(turn.message_id) === turn)
						unsaved.delete(turn.message_id);
			}
			while (deleted.size > 0) {
				const batch = [...deleted].slice(0, batchSize);
				await deleteTurns(sql, batch);
				for (const id of batch) deleted.delete(id);
			}
			while (deletedChannels.size > 0) {
				const batch = [...deletedChannels].slice(0, batchSize);
				await deleteTurnsIn(sql, batch);
				for (const id of batch) deletedChannels.delete(id);
			}
		} catch (error) {
			if (error instanceof StoreUnavailable) return;
			log.error("conversation write failed", { error });
			// The database refused a row, and would refuse it again.
			unsaved.clear();
		}
	}

	async function chain(id: string): Promise<Turn[] | "unknown" | undefined> {
		const newestFirst: Turn[] = [];
		const walk = (source: ReadonlyMap<string, Turn>, from: string | null) => {
			let next = from;
			while (next !== null && newestFirst.length < maxChain) {
				const turn = deleted.has(next) ? undefined : source.get(next);
				if (!turn) break;
				newestFirst.push(turn);
				next = turn.parent_id;
			}
			return next;
		};
		const missing = walk(turns, id);
		const limit = maxChain - newestFirst.length;
		if (missing !== null && limit > 0 && keepDays > 0)
			try {
				const stored = await selectChain(sql, missing, limit);
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
		const since = now() - idleTimeoutMs;
		const id = answers.get(answerKey(channelId, userId));
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
			for (let last = batchSize; last === batchSize && !closed; sum += last)
				last = await deleteTurnsBefore(sql, before, batchSize);
			if (sum > 0) log.info("pruned old conversations", { messages: sum });
		} catch (error) {
			// Retried in an hour.
			if (!(error instanceof StoreUnavailable))
				log.error("conversation pruning failed", { error });
		}
	}

	return {
		add,
		deleteMessages,
		deleteChannels,
		chain,
		latest,
		start() {
			pruning = setInterval(prune, pruneIntervalMs);
			void store.opened.then(prune);
		},
		async close() {
			clearInterval(pruning);
			clearTimeout(retry);
			if (hasPendingWrites()) save();
			closed = true;
			await within(shutdownGraceMs, saving);
		},
	};
}

/** Sets a key as the most recent of at most `maxInMemory`. */
function setRecent<Value>(
	map: Map<string, Value>,
	key: string,
	value: Value,
): void {
	map.delete(key);
	map.set(key, value);
	dropOldest(map, maxInMemory);
}

function dropOldest(
	collection: Map<string, unknown> | Set<string>,
	maxSize: number,
): void {
	if (collection.size <= maxSize) return;
	const [oldest] = collection.keys();
	if (oldest !== undefined) collection.delete(oldest);
}
