// Owns the connection of a store: opens a session, claims, migrates, watches it, and opens another one after a loss.

import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../../lib/back-off.ts";
import type { Log } from "../../../lib/log.ts";
import { StoreFailure } from "../../../lib/sql/errors.ts";
import { raceSignal, within } from "../../../lib/wait.ts";
import type { Database, Session } from "./database.ts";
import { StoreUnavailable } from "./db-error.ts";
import { Executor, type Outcome } from "./executor.ts";
import { type Migration, MigrationError, migrate } from "./migrations.ts";
import type { Sql } from "./statement.ts";
import { reasonOf, type StoreEvent, type StoreState, transition, usableSession } from "./store-state.ts";

export interface SupervisorOptions {
	/** Name of this bot process, shown to another bot process that finds the database in use. */
	instance: string;
	log: Log;
	/**
	 * Timeout in milliseconds of an SQL statement or a whole transaction. The wait for earlier statements has the same
	 * timeout.
	 */
	queryTimeoutMs?: number;
	/** Timeout in milliseconds for connecting to the database and taking the exclusive lock together. */
	connectTimeoutMs?: number;
	/**
	 * Wait between two attempts to connect to the database, in milliseconds: the first wait and the maximum. Each failure
	 * doubles the wait.
	 */
	backOffMs?: readonly [number, number];
}

export interface Store extends AsyncDisposable {
	/** Whether the bot's database works. "degraded": it is unavailable or refuses writes. */
	readonly state: "ready" | "degraded";
	/** Why the bot's database is unavailable or refuses writes, for the operator; undefined if it is ready. */
	readonly reason: string | undefined;
	/** When the bot's database last became ready or degraded. */
	readonly since: Date;
	/**
	 * Resolves if the bot cannot use its database and another attempt would not help: another bot process is using it, or
	 * its tables do not fit this program.
	 */
	readonly failed: Promise<StoreFailure>;
	/** Resolves after the first attempt to open the bot's database, successful or not. */
	readonly opened: Promise<void>;
	/** Runs one SQL statement. Rejects with StoreUnavailable if the database is unavailable or too slow. */
	sql: Sql;
	/**
	 * Runs SQL statements in a database transaction; if one fails, all are rolled back. All other statements wait for the
	 * end of the transaction, so `work` must use only the `sql` that it receives.
	 */
	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
	/**
	 * Finishes the SQL statements that were accepted earlier, releases the exclusive lock and closes the database
	 * connection.
	 */
	close(): Promise<void>;
}

const keepAliveMs = 15_000;
const migrationTimeoutMs = 600_000;

/** Opens the bot's database, and opens it again whenever the connection is lost, until `close` is called. */
export function startSupervisor(
	options: SupervisorOptions,
	migrations: readonly Migration[],
	database: Database,
): Store {
	const { log, queryTimeoutMs = 5_000, connectTimeoutMs = 10_000 } = options;
	const { backOffMs: backOff = [500, 30_000] } = options;
	const { where, explain } = database;
	const closing = new AbortController();
	const failed = Promise.withResolvers<StoreFailure>();
	const opened = Promise.withResolvers<void>();
	let state: StoreState<Executor> = {
		name: "connecting",
		reason: "the bot's database is being opened",
	};
	let since = new Date();

	/**
	 * Runs `work` on the current database connection, and updates the stored state of the connection by the outcome.
	 * `isWrite` must be true if `work` writes to the database.
	 */
	async function run<T>(work: (executor: Executor) => Promise<Outcome<T>>, isWrite = false): Promise<T> {
		const session = usableSession(state);
		if (!session) throw new StoreUnavailable(reasonOf(state) ?? "session lost");
		const outcome = await work(session);
		if (outcome.kind === "done") {
			if (isWrite) apply({ type: "written", session });
			return outcome.value;
		}
		if (outcome.kind === "lost" || outcome.kind === "refused")
			apply({
				type: outcome.kind,
				session,
				reason: outcome.error.reason,
				at: performance.now(),
			});
		throw outcome.error;
	}

	function apply(event: StoreEvent<Executor>): void {
		const before = state;
		state = transition(before, event);
		if ((before.name === "ready") !== (state.name === "ready")) since = new Date();
		const reason = reasonOf(state);
		const isClosing = state.name === "closing" || state.name === "closed";
		if (reason !== undefined && reason !== reasonOf(before) && !isClosing)
			log.warn("bot's database is unavailable or read-only", { reason });
		if (state.name === "refusing" && before.name === "ready") void probeWrites(state.session);
		if (state.name === "ready" && before.name === "refusing") log.info("bot's database accepts writes again");
	}

	/**
	 * Opens the bot's database, and opens it again whenever the connection is lost, until `close` is called or a
	 * StoreFailure occurs. Never rejects.
	 */
	async function keepOpen(): Promise<void> {
		for (let failures = 0; !closing.signal.aborted; failures++) {
			try {
				const { session, applied } = await open();
				failures = 0;
				const executor = new Executor(session, database, queryTimeoutMs);
				apply({ type: "opened", session: executor });
				log.info("opened the bot's database", {
					where,
					migrations_applied: applied,
				});
				opened.resolve();
				await serve(session, executor);
			} catch (error) {
				const reason = explain(error)?.reason ?? (error instanceof Error ? error.message : String(error));
				if (error instanceof StoreFailure) {
					apply({ type: "failed", reason });
					failed.resolve(error);
					break;
				}
				apply({ type: "unavailable", reason });
			}
			opened.resolve();
			await pause(failures);
		}
		opened.resolve();
		apply({ type: "closed" });
	}

	/**
	 * Connects to the database, takes the exclusive lock and applies missing migrations. Rejects with a StoreFailure if
	 * another attempt would not help.
	 */
	async function open(): Promise<{ session: Session; applied: number }> {
		const opening = new AbortController();
		const connected = database.open(opening.signal);
		let session: Session;
		try {
			session = await inTime(
				connected,
				connectTimeoutMs,
				`${where} did not answer within ${connectTimeoutMs / 1000} seconds`,
			);
		} catch (error) {
			opening.abort();
			// Close the session if it opens after all. A late failure is ignored: the timeout is reported.
			connected.then((late) => late.close()).catch(() => {});
			throw error;
		}
		try {
			const applied = await inTime(
				migrate(database, session, migrations),
				migrationTimeoutMs,
				"the migrations took too long",
			);
			// The database ends a slow statement before the executor gives up the session.
			const limited = session.limit(queryTimeoutMs * 0.8);
			await inTime(limited, connectTimeoutMs, `${where} did not answer`);
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

	async function serve(session: Session, executor: Executor): Promise<void> {
		const timer = setInterval(() => {
			// A failure is applied to the state.
			if (state.name === "ready") sql`SELECT 1`.catch(() => {});
		}, keepAliveMs);
		await raceSignal(session.lost, closing.signal).then(
			(reason) => apply({ type: "lost", session: executor, reason }),
			() => executor.drain(),
		);
		clearInterval(timer);
		await session.close();
	}

	async function probeWrites(session: Executor): Promise<void> {
		for (let failures = 0; ; failures++) {
			await pause(failures);
			if (state.name !== "refusing" || state.session !== session) return;
			// Wait until no write was refused for a while: a small row may fit where larger ones do not.
			const quietMs = performance.now() - state.refusedAt;
			if (quietMs < backOff[1] / 3) continue;
			try {
				await run((executor) => executor.statement`UPDATE migrations SET name = name WHERE number = ${1}`, true);
				return;
			} catch (error) {
				if (error instanceof StoreUnavailable) continue;
				log.error("test write to the bot's database failed", { error });
			}
		}
	}

	async function inTime<T>(work: Promise<T>, ms: number, message: string) {
		const boxed = raceSignal(work, closing.signal).then((value) => ({ value }));
		const result = await within(ms, boxed);
		if (result === "late") throw new Error(message);
		return result.value;
	}

	async function pause(failures: number): Promise<void> {
		const { signal } = closing;
		const ms = backOffMs(failures, backOff);
		await sleep(ms, undefined, { signal }).catch(() => {});
	}

	const sql: Sql = <Row extends object>(...statement: Parameters<Sql>) =>
		run((executor) => executor.statement<Row>(...statement), /^\s*INSERT\b/i.test(statement[0][0] ?? ""));
	const running = keepOpen();

	async function close(): Promise<void> {
		apply({ type: "closing" });
		closing.abort(new Error("the bot's database is being closed"));
		await running;
	}

	return {
		get state() {
			return state.name === "ready" ? "ready" : "degraded";
		},
		get reason() {
			return reasonOf(state);
		},
		get since() {
			return since;
		},
		failed: failed.promise,
		opened: opened.promise,
		sql,
		transaction: (work) => run((executor) => executor.transaction(work)),
		close,
		[Symbol.asyncDispose]: close,
	};
}
