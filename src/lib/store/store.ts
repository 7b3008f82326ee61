// A store: PostgreSQL or SQLite behind one interface. It opens a session, migrates, watches it, and opens another one after
// a loss. It starts before its database does, and is degraded until that is available. With a claim it has the database for
// itself; without, several processes use the database at once.

import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../back-off.ts";
import type { Log } from "../log.ts";
import { raceSignal, within } from "../wait.ts";
import type { Database, Session, User } from "./database.ts";
import { DatabaseUnavailable, StoreFailure } from "./errors.ts";
import { Executor } from "./executor.ts";
import { migrate } from "./migrate.ts";
import type { Migration } from "./migrations.ts";
import { createPostgres } from "./postgres.ts";
import type { PostgresPlace } from "./postgres-schema.ts";
import { createSqlite, type SqlitePlace } from "./sqlite.ts";
import { reasonOf, type StoreEvent, type StoreState, transition, usableSession } from "./state.ts";
import type { Sql } from "./statement.ts";

export interface StoreOptions {
	log: Log;
	migrations: readonly Migration[];
	/** The error of statements while the database is unavailable. */
	unavailable(reason: string, mayHaveRun: boolean, options?: ErrorOptions): Error;
	/** Milliseconds for a statement or a whole transaction, and again for the wait for earlier ones. */
	queryTimeoutMs?: number;
	/** Milliseconds for connecting and taking the claim together. */
	connectTimeoutMs?: number;
	/** Milliseconds between attempts to connect: the first and the maximum. Each failure doubles it. */
	backOffMs?: readonly [number, number];
}

export type Statements = Pick<Store, "sql" | "transaction">;

const keepAliveMs = 15_000;
/** For all migrations together. */
const migrationTimeoutMs = 600_000;
const warnIntervalMs = 300_000;

export function createDatabase(place: PostgresPlace | SqlitePlace, user: User): Database {
	return "url" in place ? createPostgres(place, user) : createSqlite(place, user);
}

export class Store implements AsyncDisposable {
	readonly #failed = Promise.withResolvers<StoreFailure>();
	readonly #opened = Promise.withResolvers<void>();
	readonly #closing = new AbortController();
	readonly #timing;
	#state: StoreState<Executor> = { name: "connecting", reason: "the database is being opened" };
	since = new Date();
	/** Undefined before the end of the first attempt. */
	#wasOpen: boolean | undefined;
	#warned = { reason: "", at: 0 };
	#running: Promise<void> | undefined;

	constructor(
		private readonly database: Database,
		private readonly options: StoreOptions,
	) {
		const { queryTimeoutMs = 5_000, connectTimeoutMs = 10_000, backOffMs = [500, 30_000] } = options;
		this.#timing = { queryTimeoutMs, connectTimeoutMs, backOffMs };
	}

	/** Opens the database again whenever the connection is lost, until `close`. */
	start(): this {
		this.#running = this.#keepOpen();
		return this;
	}

	/** "degraded": unavailable or refuses writes. */
	get state(): "ready" | "degraded" {
		return this.#state.name === "ready" ? "ready" : "degraded";
	}

	get reason(): string | undefined {
		return reasonOf(this.#state);
	}

	/** Resolves if another attempt would not help: another process has the claim, or the tables do not fit. */
	get failed(): Promise<StoreFailure> {
		return this.#failed.promise;
	}

	/** Resolves after the first attempt, successful or not. */
	get opened(): Promise<void> {
		return this.#opened.promise;
	}

	/** Waits for the first attempt. Rejects like a statement, or with the failure. */
	async ready(): Promise<void> {
		await this.opened;
		const failure = await Promise.race([this.failed, undefined]);
		if (failure) throw failure;
		const { reason } = this;
		if (reason !== undefined) throw this.options.unavailable(reason, false);
	}

	/** Waits for the first attempt to open. Rejects with an error of `unavailable` if unavailable or too slow. */
	readonly sql: Sql = <Row extends object>(...statement: Parameters<Sql>) =>
		this.#run((executor) => executor.statement<Row>(...statement), /^\s*INSERT\b/i.test(statement[0][0] ?? ""));

	/** All or nothing. Other statements wait for its end, so `work` must use only the `sql` that it receives. */
	readonly transaction = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
		this.#run((executor) => executor.transaction(work));

	/** Finishes accepted statements, then releases the claim. */
	readonly close = async (): Promise<void> => {
		this.#closing.abort(new Error("the database is being closed"));
		this.#apply({ type: "ended", reason: "the database is closed" });
		await this.#running;
	};

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	async #run<T>(work: (executor: Executor) => Promise<T>, isWrite = false): Promise<T> {
		if (this.#wasOpen === undefined) await this.opened;
		try {
			return await this.#use(work, isWrite);
		} catch (error) {
			if (!(error instanceof DatabaseUnavailable)) throw error;
			const { reason, mayHaveRun, cause } = error;
			if (error.kind === "transient") this.#warn(reason);
			throw this.options.unavailable(reason, mayHaveRun, { cause });
		}
	}

	async #use<T>(work: (executor: Executor) => Promise<T>, isWrite: boolean): Promise<T> {
		const session = usableSession(this.#state);
		if (!session) throw new DatabaseUnavailable("lost", this.reason ?? "");
		try {
			const result = await work(session);
			if (isWrite) this.#apply({ type: "written", session });
			return result;
		} catch (error) {
			if (error instanceof DatabaseUnavailable && error.kind !== "transient")
				this.#apply({ type: error.kind, session, reason: error.reason, at: performance.now() });
			throw error;
		}
	}

	#apply(event: StoreEvent<Executor>): void {
		const { log } = this.options;
		const before = this.#state;
		const state = transition(before, event);
		this.#state = state;
		if ((before.name === "ready") !== (state.name === "ready")) this.since = new Date();
		const reason = reasonOf(state);
		if (reason !== undefined && reason !== reasonOf(before) && !this.#closing.signal.aborted)
			log.warn("database is unavailable or read-only", { where: this.database.where, reason });
		if (state.name === "refusing" && before.name === "ready") void this.#probeWrites(state.session);
		if (state.name === "ready" && before.name === "refusing") log.info("database accepts writes again");
	}

	#warn(reason: string): void {
		const now = performance.now();
		if (reason === this.#warned.reason && now - this.#warned.at < warnIntervalMs) return;
		this.#warned = { reason, at: now };
		this.options.log.warn("database did not run a statement", { where: this.database.where, reason });
	}

	async #keepOpen(): Promise<void> {
		const { database } = this;
		for (let failures = 0; !this.#closing.signal.aborted; ) {
			try {
				const { session, applied } = await this.#open();
				failures = 0;
				this.#wasOpen = true;
				const executor = new Executor(session, database, this.#timing.queryTimeoutMs);
				this.#apply({ type: "opened", session: executor });
				this.options.log.info("opened the database", { where: database.where, migrations_applied: applied });
				this.#opened.resolve();
				await this.#serve(session, executor);
			} catch (error) {
				const reason = database.explain(error)?.reason ?? (error instanceof Error ? error.message : String(error));
				this.#wasOpen ??= false;
				// Without a claim, a newer program may have migrated the database in the meantime.
				if (error instanceof StoreFailure && (database.claims || !this.#wasOpen)) {
					this.#apply({ type: "ended", reason });
					this.#failed.resolve(error);
					break;
				}
				this.#apply({ type: "unavailable", reason });
				this.#opened.resolve();
				await this.#pause(failures++);
			}
		}
		this.#opened.resolve();
	}

	async #open() {
		const { database } = this;
		const { queryTimeoutMs, connectTimeoutMs } = this.#timing;
		const late = `${database.where} did not answer within ${connectTimeoutMs / 1000} seconds`;
		const opening = new AbortController();
		const connected = database.open(opening.signal);
		let session: Session;
		try {
			session = await this.#inTime(connected, connectTimeoutMs, late);
		} catch (error) {
			opening.abort();
			// Close the session if it opens after all. A late failure is ignored: the timeout is reported.
			connected.then((opened) => opened.close()).catch(() => {});
			throw error;
		}
		try {
			const migrated = migrate(database, session, this.options.migrations);
			const applied = await this.#inTime(migrated, migrationTimeoutMs, "the migrations took too long");
			// The database ends a slow statement before the executor gives up the session.
			await this.#inTime(session.ready(queryTimeoutMs * 0.8), connectTimeoutMs, late);
			return { session, applied };
		} catch (error) {
			await session.close();
			throw error;
		}
	}

	async #serve(session: Session, executor: Executor): Promise<void> {
		const keepAlive = setInterval(() => {
			// A failure is applied to the state.
			if (this.state === "ready") this.sql`SELECT 1`.catch(() => {});
		}, keepAliveMs);
		await raceSignal(session.lost, this.#closing.signal).then(
			(reason) => this.#apply({ type: "lost", session: executor, reason }),
			() => executor.drain(),
		);
		clearInterval(keepAlive);
		await session.close();
	}

	async #probeWrites(session: Executor): Promise<void> {
		for (let failures = 0; ; failures++) {
			await this.#pause(failures);
			if (this.#state.name !== "refusing" || this.#state.session !== session) return;
			// Wait until no write was refused for a while: a small row may fit where larger ones do not.
			const quietMs = performance.now() - this.#state.refusedAt;
			if (quietMs < this.#timing.backOffMs[1] / 3) continue;
			try {
				await this.#use((executor) => executor.statement`UPDATE migrations SET name = name WHERE number = ${1}`, true);
				return;
			} catch (error) {
				if (!(error instanceof DatabaseUnavailable))
					this.options.log.error("test write to the database failed", { error });
			}
		}
	}

	async #inTime<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
		const boxed = raceSignal(work, this.#closing.signal).then((value) => ({ value }));
		const result = await within(ms, boxed);
		if (result === "late") throw new Error(message);
		return result.value;
	}

	async #pause(failures: number): Promise<void> {
		const { signal } = this.#closing;
		await sleep(backOffMs(failures, this.#timing.backOffMs), undefined, { signal }).catch(() => {});
	}
}
