// The audit log: every tool call becomes a row. A call never waits for the database: rows queue within a bound while it is
// away, and are written when it is back.

import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import type { Store } from "../store/store.ts";
import {
	deleteToolCallsBefore,
	insertToolCalls,
	type Outcome,
	selectToolCalls,
	type ToolCallFilter,
	type ToolCallRow,
} from "../store/tool-calls.ts";

/** A tool call that has ended. */
export interface AuditedCall {
	/** When it came. */
	at: Date;
	requestId: string | undefined;
	client: string;
	tool: string;
	guildId: string | undefined;
	/** As `redact` gives them. */
	arguments: string;
	outcome: Outcome;
	milliseconds: number;
}

export interface AuditOptions {
	log: Log;
	/** How long rows are kept. */
	keepDays?: number;
	/** How many rows may wait for the database. */
	maxQueued?: number;
	/** How many rows are deleted at a time, between which others get their turn. */
	deleteBatch?: number;
	/** Waits between attempts to write: doubled each time, up to the second number. */
	backOffMs?: readonly [number, number];
	/** How long a call waits for others to be written with. */
	gatherMs?: number;
}

export interface Audit {
	/** Takes a call for the log. Never waits, never throws. */
	record(call: AuditedCall): void;
	/** The latest calls that are written, newest first. Rejects with StoreUnavailable where the database is away. */
	recent(filter: ToolCallFilter): Promise<ToolCallRow[]>;
	/** Rows that wait to be written. */
	readonly queued: number;
	/** Rows that were never written, because too many waited or the database refused them. */
	readonly dropped: number;
	/** Deletes what is older than it is kept; done every hour by itself. Rejects with StoreUnavailable. */
	prune(): Promise<number>;
	/** Writes what is queued if the database is there, for `graceMs` at most. To be called before the store is closed. */
	close(graceMs?: number): Promise<void>;
}

const writeBatch = 250;
const pruneEveryMs = 3_600_000;
const dayMs = 86_400_000;
/** What other programs call themselves may be long. */
const maxNameLength = 200;

/** Starts an audit log on a store, which may be degraded. */
export function createAudit(
	store: Pick<Store, "sql" | "opened">,
	options: AuditOptions,
): Audit {
	const { log, keepDays = 90, maxQueued = 10_000, deleteBatch = 500 } = options;
	const { gatherMs = 50 } = options;
	const [firstMs, mostMs] = options.backOffMs ?? [500, 5_000];
	const queue: ToolCallRow[] = [];
	const closing = Promise.withResolvers<"closing">();
	let closed = false;
	let dropped = 0;
	let full = false;
	let writing: Promise<void> | undefined;
	/** Ends the waiting for others to be written with. */
	let hurry = () => {};

	function record(call: AuditedCall): void {
		if (closed || queue.length >= maxQueued) {
			dropped += 1;
			if (closed) return;
			if (!full)
				log.error("the audit log drops calls: too many wait for the database", {
					queued: queue.length,
				});
			full = true;
			return;
		}
		queue.push(toRow(call));
		begin();
	}

	function begin(): void {
		writing ??= gather()
			.then(write)
			.finally(() => {
				writing = undefined;
				// One that came in the moment in between.
				if (queue.length > 0 && !closed) begin();
			});
	}

	/** SQLite has the whole program wait for the disk at every commit: one for each call would be most of its cost. */
	function gather(): Promise<void> {
		const hurried = Promise.withResolvers<void>();
		hurry = hurried.resolve;
		return pauseFor(gatherMs, hurried.promise);
	}

	/** Until the queue is empty, or the log is closed with the database away. Never rejects. */
	async function write(): Promise<void> {
		let size = writeBatch;
		for (let attempt = 0; queue.length > 0; ) {
			const batch = queue.slice(0, size);
			try {
				await insertToolCalls(store.sql, batch);
			} catch (error) {
				if (error instanceof StoreUnavailable) {
					if (closed) return;
					await pause(attempt++);
					continue;
				}
				// One of them is at fault: the others must not be lost with it.
				if (batch.length > 1) {
					size = 1;
					continue;
				}
				log.error("the database refused a call for the audit log", { error });
				dropped += 1;
			}
			queue.splice(0, batch.length);
			attempt = 0;
			if (full && queue.length === 0) {
				log.warn("the audit log is complete again", { dropped });
				full = false;
			}
		}
	}

	function pause(attempt: number): Promise<void> {
		return pauseFor(backOffMs(attempt, [firstMs, mostMs]));
	}

	/** Ends early when the log is closed, or with `hurried`. */
	async function pauseFor(ms: number, hurried?: Promise<void>): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, ms);
		await Promise.race([promise, closing.promise, hurried ?? promise]);
		clearTimeout(timer);
	}

	async function prune(): Promise<number> {
		const limit = new Date(Date.now() - keepDays * dayMs);
		let sum = 0;
		for (let last = deleteBatch; last === deleteBatch && !closed; sum += last)
			last = await deleteToolCallsBefore(store.sql, limit, deleteBatch);
		if (sum > 0) log.info("old calls left the audit log", { calls: sum });
		return sum;
	}

	function pruneAtLeisure(): void {
		prune().catch((error) => {
			// The next hour does it.
			if (!(error instanceof StoreUnavailable))
				log.error("could not delete old calls from the audit log", { error });
		});
	}
	const pruning = setInterval(pruneAtLeisure, pruneEveryMs);
	void store.opened.then(pruneAtLeisure);

	return {
		record,
		async recent(filter) {
			// What only waits for company is asked for as well: it is written first, as the store does one thing at a time.
			hurry();
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
			closed = true;
			clearInterval(pruning);
			closing.resolve("closing");
			const { promise, resolve } = Promise.withResolvers<void>();
			const timer = setTimeout(resolve, graceMs);
			await Promise.race([writing, promise]);
			clearTimeout(timer);
			if (queue.length > 0)
				log.error("calls were not written to the audit log", {
					calls: queue.length,
				});
		},
	};
}

function toRow(call: AuditedCall): ToolCallRow {
	return {
		id: Bun.randomUUIDv7(),
		at: call.at.getTime(),
		request_id: call.requestId === undefined ? null : storable(call.requestId),
		client: storable(call.client),
		tool: storable(call.tool),
		guild_id: call.guildId === undefined ? null : storable(call.guildId),
		arguments: call.arguments,
		outcome: call.outcome,
		milliseconds: Math.round(call.milliseconds),
	};
}

/** PostgreSQL takes neither a NUL nor half a surrogate pair. */
function storable(text: string): string {
	return text
		.slice(0, maxNameLength)
		.toWellFormed()
		.replaceAll("\0", "\u{fffd}");
}
