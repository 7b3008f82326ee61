// Conversations of AI chat: cached in memory and stored, so that they survive a restart. During a database outage, writes
// are buffered in memory up to a limit.

import type { Log } from "../../../lib/log.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { within } from "../../../lib/wait.ts";
import { Durable } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import { saveTurns, selectChain, selectLatestAnswer, type Turn, turnRows } from "../../store/tables/chat.ts";
import type { Person } from "../../store/tables/privacy.ts";
import { ignoreUnavailable, StoreUnavailable } from "../../store/unavailable.ts";

const maxInMemory = 1_000;
const maxPending = 10_000;
const maxChain = 40;
const idleTimeoutMs = 30 * 60_000;

const batchSize = 100;
const shutdownGraceMs = 2_000;

interface ConversationsOptions {
	store: Store;
	log: Log;
	/** Number of days that chat messages are kept in the database. 0 stores none. */
	keepDays: number;
	now?: () => number;
	/** Before a failed write is retried, and before messages deleted on Discord are deleted from the database. */
	retryMs: number;
}

export type Conversations = ReturnType<typeof createConversations>;

export function createConversations(options: ConversationsOptions) {
	const { store, keepDays, now = Date.now } = options;
	const { sql } = store;
	const turns = new LruMap<string, Turn>(maxInMemory);
	const answers = new LruMap<string, string>(maxInMemory);
	const writes = createWrites(options);

	function add(turn: Omit<Turn, "at">): void {
		if (writes.isDeleted(turn)) return;
		const { message_id, channel_id, user_id } = turn;
		const full = { ...turn, at: turns.get(message_id)?.at ?? now() };
		turns.set(message_id, full);
		if (turn.role === "assistant")
			for (const key of [`${channel_id} ${user_id}`, channel_id]) answers.set(key, message_id);
		if (keepDays > 0) writes.save(full);
	}

	function deleteMessages(ids: readonly string[]): void {
		for (const id of ids) turns.delete(id);
		if (keepDays > 0) writes.deleteMessages(ids);
	}

	function deleteChannels(ids: readonly string[]): void {
		deleteFrom(turns, ({ channel_id }) => ids.includes(channel_id));
		if (keepDays > 0) writes.deleteChannels(ids);
	}

	async function chain(id: string): Promise<Turn[] | "unknown" | undefined> {
		const newestFirst: Turn[] = [];
		let next: string | null = id;
		const walk = (source: ReadonlyMap<string, Turn>) => {
			while (next !== null && newestFirst.length < maxChain) {
				const turn = source.get(next);
				if (!turn || writes.isDeleted(turn)) break;
				newestFirst.push(turn);
				next = turn.parent_id;
			}
		};
		walk(turns);
		const limit = maxChain - newestFirst.length;
		if (next !== null && limit > 0 && keepDays > 0) {
			const stored = await selectChain(sql, next, limit).catch(ignoreUnavailable);
			if (!stored && newestFirst.length === 0) return "unknown";
			walk(new Map(stored?.map((turn) => [turn.message_id, turn])));
		}
		return newestFirst.length === 0 ? undefined : newestFirst.reverse();
	}

	/** Without `userId` that of anybody, however long ago, as in a thread. */
	async function latest(channelId: string, userId?: string): Promise<string | undefined> {
		const since = userId === undefined ? 0 : now() - idleTimeoutMs;
		const turn = turns.get(answers.get(userId === undefined ? channelId : `${channelId} ${userId}`) ?? "");
		if (turn) return turn.at >= since ? turn.message_id : undefined;
		if (keepDays === 0) return undefined;
		return selectLatestAnswer(sql, { channelId, userId, since }).catch(ignoreUnavailable);
	}

	function erase({ guild, user }: Person): void {
		const isTheirs = ({ guild_id, user_id }: Turn) => guild_id === guild && user_id === user;
		deleteFrom(turns, isTheirs);
		writes.erase(isTheirs);
	}

	return { erase, add, deleteMessages, deleteChannels, chain, latest, start: writes.start, close: writes.close };
}

/** The column of what was deleted. */
type Deleted = "message_id" | "channel_id";

function createWrites({ store: { sql }, log, retryMs }: ConversationsOptions) {
	/** What is yet to be written, by message, or by channel with a mark: a thread has the id of its first message. */
	const pending = new LruMap<string, Turn | Deleted>(maxPending);
	/** When it is written, in milliseconds of performance.now(). */
	let saveAt = 0;
	let isFull = false;

	const failure = "AI chat: could not save conversations to the database";
	const work = new Durable({
		name: "AI chat",
		log,
		backOffMs: [retryMs, retryMs],
		scan: async () =>
			pending.size > 0 ? [{ key: "save", inMs: saveAt - performance.now(), failure, run: write }] : [],
	});

	function add(keys: readonly string[], one: Turn | Deleted, waitMs: number): void {
		if (waitMs === 0 || pending.size === 0) saveAt = performance.now() + waitMs;
		for (const key of keys) pending.set(key, one);
		if (pending.size === maxPending && !isFull)
			log.warn("AI chat: buffer of unsaved messages full, dropping the oldest");
		isFull = pending.size === maxPending;
		work.wake();
	}

	async function write(): Promise<void> {
		for (let [first] = pending.values(); first; [first] = pending.values()) {
			const isTurn = typeof first === "object";
			const alike = [...pending].filter(([, one]) => (isTurn ? typeof one === "object" : one === first));
			const batch = alike.slice(0, batchSize);
			try {
				const turns = batch.flatMap(([, one]) => (typeof one === "object" ? one : []));
				if (isTurn) await saveTurns(sql, turns);
				else await turnRows.deleteAll(sql, { [first as Deleted]: batch.map(([key]) => key.replace("#", "")) });
			} catch (error) {
				// Drop the rows: the database refused one, and would refuse it again.
				if (!(error instanceof StoreUnavailable)) for (const [key] of batch) pending.delete(key);
				throw error;
			}
			// Keep turns that changed meanwhile.
			for (const [key, one] of batch) if (pending.get(key) === one) pending.delete(key);
		}
	}

	return {
		isDeleted: ({ message_id, channel_id }: Pick<Turn, "message_id" | "channel_id">) =>
			pending.get(message_id) === "message_id" || pending.has(`#${channel_id}`),
		save: (turn: Turn) => add([turn.message_id], turn, 0),
		// Deletions wait, to be written in batches.
		deleteMessages: (ids: readonly string[]) => add(ids, "message_id", retryMs),
		deleteChannels(ids: readonly string[]): void {
			deleteFrom(pending, ({ channel_id }) => ids.includes(channel_id));
			add(
				ids.map((id) => `#${id}`),
				"channel_id",
				retryMs,
			);
		},
		erase: (isTheirs: (turn: Turn) => boolean) => deleteFrom(pending, isTheirs),
		start: work.wake,
		async close() {
			await work.close();
			if (pending.size > 0) await within(shutdownGraceMs, write().catch(ignoreUnavailable));
		},
	};
}

function deleteFrom(buffer: Map<string, Turn | Deleted>, isGone: (turn: Turn) => boolean): void {
	for (const [id, one] of buffer) if (typeof one === "object" && isGone(one)) buffer.delete(id);
}
