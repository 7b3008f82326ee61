// The audit log: every tool call becomes a row. Calls never wait for the database: rows are queued, up to a limit, while it
// is unavailable.

import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { within } from "../../lib/wait.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import type { Store } from "../store/store.ts";
import {
	deleteToolCallsBefore,
	insertToolCalls,
	selectToolCalls,
	type ToolCallFilter,
	type ToolCallRow,
} from "../store/tool-calls.ts";

/** A completed tool call. */
export interface AuditedCall
	extends Omit<ToolCallRow, "id" | "at" | "request_id" | "guild_id"> {
	/** When the call arrived. */
	at: Date;
	requestId: string | undefined;
	guildId: string | undefined;
}

export interface AuditOptions {
	log: Log;
	/** Days after which rows are deleted. */
	keepDays?: number;
	/** Maximum number of queued rows. */
	maxQueued?: number;
	/** Rows deleted per statement, so that other statements can run in between. */
	deleteBatch?: number;
	/** Back-off between attempts to write: first and maximum. */
	backOffMs?: readonly [number, number];
	/** How long to collect rows before they are written in one batch. */
	batchDelayMs?: number;
}

export interface Audit {
	/** Queues a call. Never waits, never throws. */
	record(call: AuditedCall): void;
	/** The latest stored calls, newest first. Rejects with StoreUnavailable. */
	recent(filter: ToolCallFilter): Promise<ToolCallRow[]>;
	/** Number of queued rows. */
	readonly queued: number;
	/** Number of rows dropped because the queue was full or the database rejected them. */
	readonly dropped: number;
	/** Deletes rows older than `keepDays` and returns their number. Also runs every hour. Rejects with StoreUnavailable. */
	prune(): Promise<number>;
	/** Writes queued rows for up to `graceMs` while the database is available. Call it before closing the store. */
	close(graceMs?: number): Promise<void>;
}

const writeBatch = 250;
const pruneIntervalMs = 3_600_000;
const dayMs = 86_400_000;
/** Characters stored of a name or id from a client, which may be of any length. */
const maxNameLength = 200;

/** Starts the bot's own log of tool calls in the database, which may still be unavailable. */
export function createAudit(
	store: Pick<Store, "sql" | "opened">,
	options: AuditOptions,
): Audit {
	const { log, keepDays = 90, maxQueued = 10_000, deleteBatch = 500 } = options;
	const { batchDelayMs = 50, backOffMs: range = [500, 5_000] } = options;
	const queue: ToolCallRow[] = [];
	let isClosed = false;
	let dropped = 0;
	let isFull = false;
	let writing: Promise<void> | undefined;
	/** Writes the current batch at once. */
	let flush = () => {};

	function record(call: AuditedCall): void {
		if (isClosed || queue.length >= maxQueued) {
			dropped += 1;
			if (isClosed || isFull) return;
			isFull = true;
			const queued = queue.length;
			log.error("bot's audit log: queue full, calls not recorded", { queued });
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

	/** Waits, at most until `flush` is called. */
	function pause(ms: number): Promise<unknown> {
		const { promise, resolve } = Promise.withResolvers<void>();
		flush = resolve;
		return within(ms, promise);
	}

	/** Writes until the queue is empty, or the log is closed and the database unavailable. Never rejects. */
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
				log.error("bot's audit log: could not write a call", { error });
				dropped += 1;
			}
			queue.splice(0, batch.length);
			attempt = 0;
			if (isFull && queue.length === 0) {
				log.warn("bot's audit log: recording calls again", { dropped });
				isFull = false;
			}
		}
	}

	async function prune(): Promise<number> {
		const limit = new Date(Date.now() - keepDays * dayMs);
		let sum = 0;
		for (let last = deleteBatch; last === deleteBatch && !isClosed; sum += last)
			last = await deleteToolCallsBefore(store.sql, limit, deleteBatch);
		if (sum > 0) log.info("bot's audit log: deleted old calls", { calls: sum });
		return sum;
	}

	function pruneInBackground(): void {
		prune().catch((error) => {
			// Retried in an hour.
			if (!(error instanceof StoreUnavailable))
				log.error("bot's audit log: could not delete old calls", { error });
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
				log.error("bot's audit log: calls lost at shutdown", { calls });
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
	};
}

/** Truncates, and replaces NUL and lone surrogates, which PostgreSQL rejects. */
function toStorable(text: string): string {
	return text
		.slice(0, maxNameLength)
		.toWellFormed()
		.replaceAll("\0", "\u{fffd}");
}
