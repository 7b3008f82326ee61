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
const maxDeleted = 10_000;
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

function createWrites({ store: { sql }, log, retryMs }: ConversationsOptions) {
	const unsaved = new LruMap<string, Turn>(maxInMemory);
	const deleted = new LruMap<string, true>(maxDeleted);
	const deletedChannels = new LruMap<string, true>(maxDeleted);
	/** When what is not stored is written, in milliseconds of performance.now(). */
	let saveAt = 0;
	let isOverflowing = false;

	const hasPendingWrites = () => unsaved.size + deleted.size + deletedChannels.size > 0;
	const work = new Durable({
		name: "AI chat",
		log,
		backOffMs: [retryMs, retryMs],
		scan: async () =>
			hasPendingWrites()
				? [
						{
							key: "save",
							inMs: saveAt - performance.now(),
							failure: "AI chat: could not save conversations to the database",
							run: write,
						},
					]
				: [],
	});

	function change(buffer: () => void, waitMs: number): void {
		if (waitMs === 0 || !hasPendingWrites()) saveAt = performance.now() + waitMs;
		buffer();
		work.wake();
	}

	async function write(): Promise<void> {
		try {
			while (unsaved.size > 0) {
				const batch = [...unsaved.values()].slice(0, batchSize);
				await saveTurns(sql, batch);
				// Keep turns that changed meanwhile.
				for (const turn of batch) if (unsaved.get(turn.message_id) === turn) unsaved.delete(turn.message_id);
			}
		} catch (error) {
			// Drop the rows: the database refused one, and would refuse it again.
			if (!(error instanceof StoreUnavailable)) unsaved.clear();
			throw error;
		}
		for (const [ids, column] of [
			[deleted, "message_id"],
			[deletedChannels, "channel_id"],
		] as const)
			while (ids.size > 0) {
				const batch = [...ids.keys().take(batchSize)];
				await turnRows.deleteAll(sql, { [column]: batch });
				for (const id of batch) ids.delete(id);
			}
	}

	return {
		isDeleted: ({ message_id, channel_id }: Pick<Turn, "message_id" | "channel_id">) =>
			deleted.has(message_id) || deletedChannels.has(channel_id),
		save(turn: Turn): void {
			if (unsaved.size === maxInMemory && !isOverflowing)
				log.warn("AI chat: buffer of unsaved messages full, dropping the oldest");
			isOverflowing = unsaved.size === maxInMemory;
			change(() => unsaved.set(turn.message_id, turn), 0);
		},
		// Deletions wait, to be written in batches.
		deleteMessages(ids: readonly string[]): void {
			change(() => {
				for (const id of ids) {
					unsaved.delete(id);
					deleted.set(id, true);
				}
			}, retryMs);
		},
		deleteChannels(ids: readonly string[]): void {
			change(() => {
				deleteFrom(unsaved, ({ channel_id }) => ids.includes(channel_id));
				for (const id of ids) deletedChannels.set(id, true);
			}, retryMs);
		},
		erase: (isTheirs: (turn: Turn) => boolean) => deleteFrom(unsaved, isTheirs),
		start: work.wake,
		async close() {
			await work.close();
			if (hasPendingWrites()) await within(shutdownGraceMs, write().catch(ignoreUnavailable));
		},
	};
}

function deleteFrom(buffer: Map<string, Turn>, isGone: (turn: Turn) => boolean): void {
	for (const turn of buffer.values()) if (isGone(turn)) buffer.delete(turn.message_id);
}
