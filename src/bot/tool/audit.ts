// The audit log: every tool call becomes a row. Calls never wait for the database: rows are queued, up to a limit, while it
// is unavailable.

import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { within } from "../../lib/wait.ts";
import type { Effect } from "../../mcp/tool.ts";
import type { Store } from "../store/store.ts";
import {
	deleteToolCallsBefore,
	insertToolCalls,
	selectToolCalls,
	type ToolCallFilter,
	type ToolCallRow,
} from "../store/tables/tool-calls.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

export interface AuditedCall
	extends Omit<ToolCallRow, "id" | "at" | "request_id" | "guild_id" | "person" | "key" | "effect" | "message_id"> {
	at: Date;
	requestId: string | undefined;
	guildId: string | undefined;
	/** Undefined for the holder of the root key. */
	principal?: Principal | undefined;
	/** "read" for dry runs and unknown tools. */
	effect: Effect;
	/** The message that the call sent. */
	messageId?: string | undefined;
}

export interface AuditOptions {
	log: Log;
	/** Days. Default: 90. */
	keepDays?: number;
	/** Calls waiting to be written; further ones are not logged. Default: 10,000. */
	maxQueued?: number;
	/** Rows that one statement deletes. Default: 500. */
	deleteBatch?: number;
	/** First and maximum wait in milliseconds before a failed write is retried. */
	backOffMs?: readonly [number, number];
	/** Milliseconds for which calls are collected for one write. */
	batchDelayMs?: number;
}

export interface Audit {
	record(call: AuditedCall): void;
	/** Newest first. Rejects with StoreUnavailable. */
	recent(filter: ToolCallFilter): Promise<ToolCallRow[]>;
	readonly queued: number;
	/** Calls not logged because the queue was full or the database rejected them. */
	readonly dropped: number;
	/** Deletes what is older than `keepDays`, also every hour. Rejects with StoreUnavailable. */
	prune(): Promise<number>;
	/** Writes the queued calls, for at most `graceMs` milliseconds. Call it before closing the store. */
	close(graceMs?: number): Promise<void>;
}

const writeBatch = 250;
const pruneIntervalMs = 3_600_000;
const dayMs = 86_400_000;
const maxNameLength = 200;

export function createAudit(store: Pick<Store, "sql" | "opened">, options: AuditOptions): Audit {
	const { log, keepDays = 90, maxQueued = 10_000, deleteBatch = 500 } = options;
	const { batchDelayMs = 50, backOffMs: range = [500, 5_000] } = options;
	const queue: ToolCallRow[] = [];
	let isClosed = false;
	let dropped = 0;
	let isFull = false;
	let writing: Promise<void> | undefined;
	let flush = () => {};

	function record(call: AuditedCall): void {
		if (isClosed || queue.length >= maxQueued) {
			dropped += 1;
			if (isClosed || isFull) return;
			isFull = true;
			const queued = queue.length;
			log.error("tool calls not recorded in the bot's audit log: queue full", {
				queued,
			});
			return;
		}
		queue.push(toRow(call));
		startWriting();
	}

	function startWriting(): void {
		// Calls are collected for a batch: SQLite blocks the process at every commit, which is most of the cost of a call.
		writing ??= pause(batchDelayMs)
			.then(write)
			.finally(() => {
				writing = undefined;
				// A call may have been queued meanwhile.
				if (queue.length > 0 && !isClosed) startWriting();
			});
	}

	function pause(ms: number): Promise<unknown> {
		const { promise, resolve } = Promise.withResolvers<void>();
		flush = resolve;
		return within(ms, promise);
	}

	async function write(): Promise<void> {
		let size = writeBatch;
		for (let attempt = 0; queue.length > 0; ) {
			const batch = queue.slice(0, size);
			try {
				await insertToolCalls(store.sql, batch);
			} catch (error) {
				if (error instanceof StoreUnavailable) {
					if (isClosed) return;
					await pause(backOffMs(attempt++, range));
					continue;
				}
				// Write one by one, so that only the rejected row is lost.
				if (batch.length > 1) {
					size = 1;
					continue;
				}
				log.error("could not record a tool call in the bot's audit log", {
					error,
				});
				dropped += 1;
			}
			queue.splice(0, batch.length);
			attempt = 0;
			if (isFull && queue.length === 0) {
				log.warn("the bot's audit log works again after it could not record some tool calls", {
					dropped,
				});
				isFull = false;
			}
		}
	}

	async function prune(): Promise<number> {
		const limit = new Date(Date.now() - keepDays * dayMs);
		let sum = 0;
		for (let last = deleteBatch; last === deleteBatch && !isClosed; sum += last)
			last = await deleteToolCallsBefore(store.sql, limit, deleteBatch);
		if (sum > 0)
			log.info("deleted old tool calls from the bot's audit log", {
				calls: sum,
			});
		return sum;
	}

	function pruneInBackground(): void {
		prune().catch((error) => {
			// Retried in an hour.
			if (!(error instanceof StoreUnavailable))
				log.error("could not delete old tool calls from the bot's audit log", {
					error,
				});
		});
	}
	const pruning = setInterval(pruneInBackground, pruneIntervalMs);
	void store.opened.then(pruneInBackground);

	return {
		record,
		async recent(filter) {
			// Include the current batch: the store runs statements in order.
			flush();
			await new Promise(setImmediate);
			return selectToolCalls(store.sql, filter);
		},
		get queued() {
			return queue.length;
		},
		get dropped() {
			return dropped;
		},
		prune,
		async close(graceMs = 2_000) {
			isClosed = true;
			clearInterval(pruning);
			flush();
			await within(graceMs, writing);
			const calls = queue.length;
			if (calls > 0)
				log.error("the program stopped before all tool calls were stored in the bot's audit log", {
					missing: calls,
				});
		},
	};
}

function toRow(call: AuditedCall): ToolCallRow {
	return {
		id: Bun.randomUUIDv7(),
		at: call.at.getTime(),
		request_id: call.requestId ? toStorable(call.requestId) : null,
		client: toStorable(call.client),
		tool: toStorable(call.tool),
		guild_id: call.guildId ?? null,
		arguments: call.arguments,
		outcome: call.outcome,
		milliseconds: Math.round(call.milliseconds),
		person: call.principal?.person?.id ?? null,
		key: call.principal ? toStorable(call.principal.id) : null,
		effect: call.effect,
		message_id: call.messageId ?? null,
	};
}

// PostgreSQL rejects NUL and lone surrogates.
function toStorable(text: string): string {
	return text.slice(0, maxNameLength).toWellFormed().replaceAll("\0", "\u{fffd}");
}
