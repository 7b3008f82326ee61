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
	type Outcome,
	selectToolCalls,
	type ToolCallFilter,
	type ToolCallRow,
} from "../store/tool-calls.ts";

/** A completed tool call. */
export interface AuditedCall {
	/** When it arrived. */
	at: Date;
	requestId: string | undefined;
	client: string;
	tool: string;
	guildId: string | undefined;
	/** Redacted JSON, see `redact`. */
	arguments: string;
	outcome: Outcome;
	milliseconds: number;
}

export interface AuditOptions {
	log: Log;
	/** Days until rows are deleted. */
	keepDays?: number;
	/** Maximum number of queued rows. */
	maxQueued?: number;
	/** Rows deleted per statement, so that other statements can run in between. */
	deleteBatch?: number;
	/** Back-off between attempts to write: first and maximum. */
	backOffMs?: readonly [number, number];
	/** How long rows are collected into a batch. */
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
/** Names that clients send may be long. */
const maxNameLength = 200;

/** Starts an audit log. The store may be degraded. */
export function createAudit(
	store: Pick<Store, "sql" | "opened">,
	options: AuditOptions,
): Audit {
	const { log, keepDays = 90, maxQueued = 10_000, deleteBatch = 500 } = options;
	const { batchDelayMs = 50 } = options;
	const [firstMs, maxMs] = options.backOffMs ?? [500, 5_000];
	const queue: ToolCallRow[] = [];
	const closing = Promise.withResolvers<"closing">();
	let isClosed = false;
	let dropped = 0;
	let isFull = false;
	let writing: Promise<void> | undefined;
	/** Writes the current batch at once. */
	let flush = () => {};

	function record(call: AuditedCall): void {
		if (isClosed || queue.length >= maxQueued) {
			dropped += 1;
			if (isClosed) return;
			if (!isFull)
				log.error("audit log queue full, dropping calls", {
					queued: queue.length,
				});
			isFull = true;
			return;
		}
		queue.push(toRow(call));
		startWriting();
	}

	function startWriting(): void {
		writing ??= collectBatch()
			.then(write)
			.finally(() => {
				writing = undefined;
				// A call may have been queued meanwhile.
				if (queue.length > 0 && !isClosed) startWriting();
			});
	}

	/** Collects a batch. SQLite blocks the process at every commit: one per call would be most of the call's cost. */
	function collectBatch(): Promise<void> {
		const wakeUp = Promise.withResolvers<void>();
		flush = wakeUp.resolve;
		return pauseFor(batchDelayMs, wakeUp.promise);
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
					await pause(attempt++);
					continue;
				}
				// Write one by one, so that only the rejected row is lost.
				if (batch.length > 1) {
					size = 1;
					continue;
				}
				log.error("could not write a call to the audit log", { error });
				dropped += 1;
			}
			queue.splice(0, batch.length);
			attempt = 0;
			if (isFull && queue.length === 0) {
				log.warn("audit log queue drained", { dropped });
				isFull = false;
			}
		}
	}

	function pause(attempt: number): Promise<void> {
		return pauseFor(backOffMs(attempt, [firstMs, maxMs]));
	}

	/** Resolves after `ms`, or when the log is closed, or with `wakeUp`. */
	async function pauseFor(ms: number, wakeUp?: Promise<void>): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, ms);
		await Promise.race([promise, closing.promise, wakeUp ?? promise]);
		clearTimeout(timer);
	}

	async function prune(): Promise<number> {
		const limit = new Date(Date.now() - keepDays * dayMs);
		let sum = 0;
		for (let last = deleteBatch; last === deleteBatch && !isClosed; sum += last)
			last = await deleteToolCallsBefore(store.sql, limit, deleteBatch);
		if (sum > 0) log.info("pruned the audit log", { calls: sum });
		return sum;
	}

	function pruneInBackground(): void {
		prune().catch((error) => {
			// Retried in an hour.
			if (!(error instanceof StoreUnavailable))
				log.error("could not prune the audit log", { error });
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
			closing.resolve("closing");
			await within(graceMs, writing);
			if (queue.length > 0)
				log.error("audit log closed with unwritten calls", {
					calls: queue.length,
				});
		},
	};
}

function toRow(call: AuditedCall): ToolCallRow {
	return {
		id: Bun.randomUUIDv7(),
		at: call.at.getTime(),
		request_id:
			call.requestId === undefined ? null : toStorable(call.requestId),
		client: toStorable(call.client),
		tool: toStorable(call.tool),
		guild_id: call.guildId === undefined ? null : toStorable(call.guildId),
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
