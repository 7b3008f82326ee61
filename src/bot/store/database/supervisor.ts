// Owns the connection of a store: opens a session, claims, migrates, watches it, and opens another one after a loss.

import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../../lib/back-off.ts";
import type { Log } from "../../../lib/log.ts";
import { raceSignal, within } from "../../../lib/wait.ts";
import type { Database, Session } from "./database.ts";
import { StoreFailure, StoreUnavailable } from "./db-error.ts";
import { Executor, type Outcome } from "./executor.ts";
import { type Migration, MigrationError, migrate } from "./migrations.ts";
import type { Sql } from "./statement.ts";
import {
	reasonOf,
	type StoreEvent,
	type StoreState,
	transition,
	usableSession,
} from "./store-state.ts";

export interface SupervisorOptions {
	/** Name of this process in the claim and in messages: see `instanceName`. */
	instance: string;
	log: Log;
	/** Timeout of a statement or a whole transaction. The wait for its start has the same limit. */
	queryTimeoutMs?: number;
	/** Limit of connecting and claiming together. */
	connectTimeoutMs?: number;
	/** Waits between attempts to connect: the first, doubled with each failure up to the second. */
	backOffMs?: readonly [number, number];
}

export interface Store extends AsyncDisposable {
	/** "degraded": the database is unavailable or refuses writes. It is retried until it works. */
	readonly state: "ready" | "degraded";
	/** Why it is degraded, for the operator; undefined when ready. */
	readonly reason: string | undefined;
	/** When `state` last changed. */
	readonly since: Date;
	/** Resolves if another attempt would not help: another instance holds the claim, or the tables do not fit this program. */
	readonly failed: Promise<StoreFailure>;
	/** Resolves after the first attempt to open it, successful or not. */
	readonly opened: Promise<void>;
	/** Runs one statement. Rejects with StoreUnavailable if the database is unavailable or too slow. */
	sql: Sql;
	/**
	 * Runs statements that take effect together or not at all. Other statements wait meanwhile, so `work` may wait only for
	 * its own statements and must use the `sql` it receives. If one statement fails, everything is rolled back.
	 */
	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
	/** Finishes accepted work, releases the claim and closes. */
	close(): Promise<void>;
}

/** Interval of the check that an idle connection still works. */
const keepAliveMs = 15_000;
/** Limit of all migrations together. */
const migrationTimeoutMs = 600_000;

export class Supervisor implements Store {
	readonly #options: SupervisorOptions;
	readonly #migrations: readonly Migration[];
	readonly #database: Database;
	readonly #timeoutMs: number;
	readonly #connectTimeoutMs: number;
	readonly #backOffMs: readonly [firstMs: number, maxMs: number];
	readonly #closing = new AbortController();
	readonly #failed = Promise.withResolvers<StoreFailure>();
	readonly #opened = Promise.withResolvers<void>();
	readonly #running: Promise<void>;
	#state: StoreState<Executor> = {
		name: "connecting",
		reason: "it is being opened",
	};
	#since = new Date();

	constructor(
		options: SupervisorOptions,
		migrations: readonly Migration[],
		database: Database,
	) {
		this.#options = options;
		this.#migrations = migrations;
		this.#database = database;
		this.#timeoutMs = options.queryTimeoutMs ?? 5_000;
		this.#connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
		this.#backOffMs = options.backOffMs ?? [500, 30_000];
		this.#running = this.#keepOpen();
	}

	get state() {
		return this.#state.name === "ready" ? "ready" : "degraded";
	}

	get reason() {
		return reasonOf(this.#state);
	}

	get since() {
		return this.#since;
	}

	get failed() {
		return this.#failed.promise;
	}

	get opened() {
		return this.#opened.promise;
	}

	sql: Sql = <Row extends object>(...statement: Parameters<Sql>) =>
		this.#run(
			(executor) => executor.statement<Row>(...statement),
			/^\s*INSERT\b/i.test(statement[0][0] ?? ""),
		);

	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
		return this.#run((executor) => executor.transaction(work));
	}

	async close(): Promise<void> {
		this.#apply({ type: "closing" });
		this.#closing.abort(new Error("it is being closed"));
		await this.#running;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}

	/**
	 * Runs `work` on the session that holds the claim now, and applies the outcome to the state. `isWrite`: its success
	 * proves that the database accepts writes.
	 */
	async #run<T>(
		work: (executor: Executor) => Promise<Outcome<T>>,
		isWrite = false,
	): Promise<T> {
		const session = usableSession(this.#state);
		if (!session) throw new StoreUnavailable(this.reason ?? "it was lost");
		const outcome = await work(session);
		if (outcome.kind === "done") {
			if (isWrite) this.#apply({ type: "written", session });
			return outcome.value;
		}
		if (outcome.kind === "lost" || outcome.kind === "refused")
			this.#apply({
				type: outcome.kind,
				session,
				reason: outcome.error.reason,
				at: performance.now(),
			});
		throw outcome.error;
	}

	#apply(event: StoreEvent<Executor>): void {
		const before = this.#state;
		const after = transition(before, event);
		this.#state = after;
		if ((before.name === "ready") !== (after.name === "ready"))
			this.#since = new Date();
		const { log } = this.#options;
		const reason = reasonOf(after);
		const isClosing = after.name === "closing" || after.name === "closed";
		if (reason !== undefined && reason !== reasonOf(before) && !isClosing)
			log.warn("store degraded", { reason });
		if (after.name === "refusing" && before.name === "ready")
			void this.#probeWrites(after.session);
		if (after.name === "ready" && before.name === "refusing")
			log.info("store accepts writes again");
	}

	/** Opens a session, and another one after each loss, until `close` or a StoreFailure. Never rejects. */
	async #keepOpen(): Promise<void> {
		for (let failures = 0; !this.#closing.signal.aborted; failures++) {
			try {
				const { session, applied } = await this.#open();
				failures = 0;
				const executor = new Executor(session, this.#database, this.#timeoutMs);
				this.#apply({ type: "opened", session: executor });
				this.#options.log.info("store opened", {
					where: this.#database.where,
					migrations_applied: applied,
				});
				this.#opened.resolve();
				await this.#serve(session, executor);
			} catch (error) {
				const reason = this.#reasonFor(error);
				if (error instanceof StoreFailure) {
					this.#apply({ type: "failed", reason });
					this.#failed.resolve(error);
					break;
				}
				this.#apply({ type: "unavailable", reason });
			}
			this.#opened.resolve();
			await this.#pause(failures);
		}
		this.#opened.resolve();
		this.#apply({ type: "closed" });
	}

	/** Connects, claims and migrates. Rejects with a StoreFailure if another attempt would not help. */
	async #open(): Promise<{ session: Session; applied: number }> {
		const { where, explain } = this.#database;
		const opening = new AbortController();
		const opened = this.#database.open(opening.signal);
		let session: Session;
		try {
			session = await this.#inTime(
				opened,
				this.#connectTimeoutMs,
				`${where} did not answer within ${this.#connectTimeoutMs / 1000} seconds`,
			);
		} catch (error) {
			opening.abort();
			closeWhenOpen(opened);
			throw error;
		}
		try {
			const applied = await this.#inTime(
				migrate(session, this.#migrations),
				migrationTimeoutMs,
				"the migrations took too long",
			);
			// The database ends a slow statement before the executor gives up the session.
			await this.#inTime(
				session.limit(this.#timeoutMs * 0.8),
				this.#connectTimeoutMs,
				`${where} did not answer`,
			);
			return { session, applied };
		} catch (error) {
			await session.close();
			if (!(error instanceof MigrationError)) throw error;
			const kind = explain(error.cause)?.kind;
			if (kind !== undefined && kind !== "missing") throw error.cause;
			const { message, cause } = error;
			throw new StoreFailure(`${message}: ${cause}`, { cause });
		}
	}

	/** Keeps the session until it is lost or `close` is called. */
	async #serve(session: Session, executor: Executor): Promise<void> {
		const timer = setInterval(() => {
			// A failure is applied to the state.
			if (this.#state.name === "ready") this.sql`SELECT 1`.catch(() => {});
		}, keepAliveMs);
		await raceSignal(session.lost, this.#closing.signal).then(
			(reason) => this.#apply({ type: "lost", session: executor, reason }),
			() => executor.drain(),
		);
		clearInterval(timer);
		await session.close();
	}

	/** After a refused write: tries a write that changes nothing until one is accepted. */
	async #probeWrites(session: Executor): Promise<void> {
		for (let failures = 0; ; failures++) {
			await this.#pause(failures);
			const state = this.#state;
			if (state.name !== "refusing" || state.session !== session) return;
			// A small row may fit where others do not: while writes are refused, it proves nothing.
			const quietMs = performance.now() - state.refusedAt;
			if (quietMs < this.#backOffMs[1] / 3) continue;
			try {
				await this.#run(
					(executor) =>
						executor.statement`UPDATE migrations SET name = name WHERE number = ${1}`,
					true,
				);
				return;
			} catch (error) {
				if (error instanceof StoreUnavailable) continue;
				this.#options.log.error("store probe failed", { error });
			}
		}
	}

	/** Rejects after `ms` with `message`, and when `close` is called. */
	async #inTime<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
		const run = raceSignal(work, this.#closing.signal);
		const result = await within(
			ms,
			run.then((value) => ({ value })),
		);
		if (result === "late") throw new Error(message);
		return result.value;
	}

	#reasonFor(error: unknown): string {
		return (
			this.#database.explain(error)?.reason ??
			(error instanceof Error ? error.message : String(error))
		);
	}

	/** Waits before the next attempt; `close` ends the wait. */
	async #pause(failures: number): Promise<void> {
		const { signal } = this.#closing;
		const ms = backOffMs(failures, this.#backOffMs);
		await sleep(ms, undefined, { signal }).catch(() => {});
	}
}

/** A session that opens too late is closed. Its failure has been reported already. */
function closeWhenOpen(opened: Promise<Session>): void {
	opened.then((session) => session.close()).catch(() => {});
}
