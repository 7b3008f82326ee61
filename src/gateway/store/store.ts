// The gateway's own database, for keys and sign-ins: PostgreSQL, which replicas share, or an SQLite file. Unlike a bot's
// store it has no claim: several gateways and the command line use it at once.
//
// It opens in the background, and opens again after a failure. While it cannot be reached, its methods reject at once, so that
// nobody waits for it and nobody gets access without it.

import type { SQL } from "bun";
import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { Overloaded, Semaphore } from "../../lib/semaphore.ts";
import { PlainSignal } from "../../lib/signal.ts";
import { checkDatabase } from "../../lib/sql/check.ts";
import { StoreFailure } from "../../lib/sql/errors.ts";
import type { Migration } from "../../lib/sql/migrations.ts";
import { within } from "../../lib/wait.ts";
import type { Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { migrations as allMigrations } from "./migrations.ts";
import { createPostgres } from "./postgres.ts";
import { isPostgresUrl, type StoreSettings } from "./settings.ts";
import { createSqlite } from "./sqlite.ts";
import { StoreUnavailable } from "./unavailable.ts";

export { StoreUnavailable };

/**
 * The gateway's database. Values in SQL statements must be text, numbers, bigints or null; booleans are stored as 0 and
 * 1, times as milliseconds since 1970. Integers in rows can be numbers or bigints: convert them with `Number()`.
 */
export interface GatewayStore {
	/**
	 * Calls `work` to run one SQL statement, and resolves with the result of `work`. Calls it again while another process
	 * locks an SQLite file. Rejects with StoreUnavailable if the database cannot be reached.
	 */
	run<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
	/**
	 * Calls `work` inside a transaction, which is rolled back if `work` rejects. `work` must use only the `sql` that it
	 * receives, and must not catch errors of its statements. Rejects with StoreUnavailable if the database cannot be
	 * reached; if the connection was lost at the end, the transaction may have been committed.
	 */
	transaction<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
	/**
	 * Waits until the database is open. Rejects with StoreUnavailable if it cannot be opened now, and with a StoreFailure
	 * if another attempt would not help.
	 */
	open(): Promise<void>;
	/** Why the database cannot be used at the moment, as text for the operator; undefined while it works. */
	readonly reason: string | undefined;
	/** Resolves when the database cannot be opened and another attempt would not help, unless it was open before. */
	readonly failed: Promise<StoreFailure>;
	/** Waits for running statements, then closes the database. Never rejects. */
	close(): Promise<void>;
}

/** The methods of the gateway's database that run SQL statements. */
export type StatementStore = Pick<GatewayStore, "run" | "transaction">;

export interface StoreOptions {
	migrations?: readonly Migration[];
	/**
	 * Timeout in milliseconds of a statement or transaction. The wait for a free connection has the same limit in
	 * addition.
	 */
	queryTimeoutMs?: number;
	/** Timeout in milliseconds of connecting to the database and applying migrations. */
	openTimeoutMs?: number;
	/**
	 * First and maximum wait, in milliseconds, before a failed attempt to open the database is repeated. The wait doubles
	 * after each failure.
	 */
	backOffMs?: readonly [number, number];
}

const maxWaiting = 1_000;
const logIntervalMs = 300_000;

/** Starts to open the gateway's database in the background, and returns at once. Never throws. */
export function openStore(
	settings: StoreSettings,
	log: Log,
	{
		migrations = allMigrations,
		queryTimeoutMs = 5_000,
		openTimeoutMs = 10_000,
		backOffMs: backOff = [200, 5_000],
	}: StoreOptions = {},
): GatewayStore {
	const timeouts = { queryTimeoutMs, openTimeoutMs };
	const database = createDatabase(settings, timeouts);
	const { where } = database;
	const semaphore = new Semaphore({
		max: database.connections,
		maxWaiting,
		maxWaitMs: queryTimeoutMs,
	});
	const closing = new PlainSignal();
	const failed = Promise.withResolvers<StoreFailure>();
	let current: Promise<SQL> | undefined;
	let wasOpen = false;
	let failures = 0;
	let paused: { error: Error; until: number } | undefined;
	let retry: Timer | undefined;
	let trouble: string | undefined;
	let logged = { reason: "", at: Number.NEGATIVE_INFINITY };

	function connection(): Promise<SQL> {
		if (closing.aborted) return Promise.reject(unavailable("it is being closed"));
		if (!current && paused && performance.now() < paused.until) return Promise.reject(paused.error);
		current ??= openNow();
		return current;
	}

	async function openNow(): Promise<SQL> {
		let sql: SQL | undefined;
		const attempt = async () => {
			sql = await database.connect();
			return { sql, applied: await migrate(database, sql, migrations) };
		};
		try {
			const opening = attempt();
			const result = await within(openTimeoutMs, opening);
			if (result === "late") {
				// It may still connect.
				void opening.then(({ sql: late }) => cut(late)).catch(() => {});
				throw unavailable(noAnswer(openTimeoutMs));
			}
			failures = 0;
			paused = undefined;
			wasOpen = true;
			trouble = undefined;
			logged.reason = "";
			log.info("opened the gateway's database", {
				where,
				migrations_applied: result.applied,
			});
			return result.sql;
		} catch (error) {
			current = undefined;
			if (sql) cut(sql);
			const explained = explainOpening(error);
			const waitMs = backOffMs(failures++, backOff);
			paused = { error: explained, until: performance.now() + waitMs };
			trouble = explained.message;
			clearTimeout(retry);
			if (!closing.aborted) retry = setTimeout(openInBackground, waitMs);
			if (explained instanceof StoreFailure && !wasOpen) failed.resolve(explained);
			throw explained;
		}
	}

	async function use<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
		try {
			await semaphore.acquire(closing);
		} catch (error) {
			if (!(error instanceof Overloaded)) throw unavailable("it is being closed");
			throw unavailable("too many requests are waiting for it");
		}
		let sql: SQL | undefined;
		try {
			const opened = await connection();
			sql = opened;
			const boxed = work(opened).then((value) => ({ value }));
			const result = await within(queryTimeoutMs, boxed);
			if (result !== "late") {
				trouble = undefined;
				return result.value;
			}
			drop(opened);
			throw unavailable(noAnswer(queryTimeoutMs));
		} catch (error) {
			const kind = database.explain(error)?.kind;
			if (sql && (kind === "lost" || kind === "missing")) drop(sql);
			throw error instanceof StoreFailure ? unavailable(error.message, error) : explainError(error);
		} finally {
			semaphore.release();
		}
	}

	function drop(sql: SQL): void {
		const before = current;
		before?.then(
			(one) => {
				if (one !== sql || current !== before) return;
				current = undefined;
				openInBackground();
			},
			() => {},
		);
		cut(sql);
	}

	function openInBackground(): void {
		paused = undefined;
		// Requests get the reason.
		connection().catch(() => {});
	}

	function explainError(error: unknown): unknown {
		const explained = database.explain(error);
		return explained ? unavailable(explained.reason, error) : error;
	}

	/**
	 * Converts an error while opening the database: to a StoreUnavailable if another attempt may help, otherwise to a
	 * StoreFailure.
	 */
	function explainOpening(error: unknown): StoreUnavailable | StoreFailure {
		const explained = explainError(error);
		if (explained instanceof StoreUnavailable) return explained;
		if (explained instanceof StoreFailure) return explained;
		return new StoreFailure(`${where} cannot be opened: ${explained}`, {
			cause: error,
		});
	}

	function unavailable(reason: string, cause?: unknown): StoreUnavailable {
		trouble = reason;
		const now = performance.now();
		const isRepeated = reason === logged.reason && now - logged.at < logIntervalMs;
		if (!closing.aborted && !isRepeated) {
			logged = { reason, at: now };
			log.warn("gateway's database is unavailable", { where, reason });
		}
		return new StoreUnavailable(`The gateway's database is unavailable: ${reason}`, { cause });
	}

	const noAnswer = (ms: number) => `${where} did not answer within ${ms / 1000} seconds`;
	openInBackground();

	return {
		run: (work) => use((sql) => database.statement(sql, work)),
		transaction: (work) => use((sql) => database.transaction(sql, work)),
		async open() {
			await connection();
		},
		get reason() {
			return trouble;
		},
		failed: failed.promise,
		async close() {
			closing.abort(new Error("the gateway's database is being closed"));
			clearTimeout(retry);
			const opened = await current?.catch(() => undefined);
			await opened?.close({ timeout: queryTimeoutMs / 1000 }).catch(() => {});
		},
	};
}

/**
 * Checks for `gateway --check` that the gateway can use its database, without changing it. Resolves with a description
 * of the database; rejects with a CheckFailed.
 */
export function checkStore(settings: StoreSettings): Promise<string> {
	const timeouts = { queryTimeoutMs: 5_000, openTimeoutMs: 10_000 };
	return checkDatabase(createDatabase(settings, timeouts), allMigrations, timeouts.openTimeoutMs);
}

function createDatabase(
	settings: StoreSettings,
	timeouts: { queryTimeoutMs: number; openTimeoutMs: number },
): Database {
	return isPostgresUrl(settings.database)
		? createPostgres(settings, timeouts)
		: createSqlite(settings.database, timeouts);
}

function cut(sql: SQL): void {
	void sql.close({ timeout: 0 }).catch(() => {});
}
