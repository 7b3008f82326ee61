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

/** Rejection of a store whose database cannot be reached or does not respond in time. The message is for the operator. */
export class StoreUnavailable extends Error {
	override name = "StoreUnavailable";
}

/**
 * The gateway's database. Values in statements are texts, numbers, bigints and null; flags are 0 and 1, times are
 * milliseconds since 1970. Integers in rows are numbers or bigints: read them with `Number()`.
 */
export interface GatewayStore {
	/**
	 * Runs one statement, and returns what `work` returns. On SQLite `work` is repeated while another process locks the
	 * file. Rejects with StoreUnavailable if the database cannot be reached.
	 */
	run<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
	/**
	 * Runs statements in a transaction. It is rolled back if `work` rejects; `work` must not catch errors of its
	 * statements, and uses no other `sql` than its own. Rejects with StoreUnavailable like `run`; then the transaction may
	 * have been committed if the connection was lost at its end.
	 */
	transaction<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
	/** Opens the database unless it is open. Rejects with StoreUnavailable, or with a StoreFailure if retrying would not help. */
	open(): Promise<void>;
	/** Why the database cannot be used, for the operator; undefined while it works. */
	readonly reason: string | undefined;
	/** Resolves if the database has never been opened, and another attempt would not help. */
	readonly failed: Promise<StoreFailure>;
	/** Waits for the statements that run, and closes the database. Never rejects. */
	close(): Promise<void>;
}

/** The part of the store that runs statements. */
export type StatementStore = Pick<GatewayStore, "run" | "transaction">;

export interface StoreOptions {
	migrations?: readonly Migration[];
	/** Timeout of a statement or a transaction, and of the wait for a free connection. */
	queryTimeoutMs?: number;
	/** Timeout of opening the database, migrations included. */
	openTimeoutMs?: number;
	/** Wait before the database is opened again: the first and the longest. Each failure doubles it. */
	backOffMs?: readonly [number, number];
}

/** How many statements and transactions may wait for a free connection. */
const maxWaiting = 1_000;
/** Milliseconds before the same reason is logged again. */
const logIntervalMs = 300_000;

/** Opens the gateway's database in the background. Never throws. */
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
	/** Why the database could not be opened, and until when nobody tries again. */
	let paused: { error: Error; until: number } | undefined;
	let retry: Timer | undefined;
	/** Why the last attempt to use the database failed. */
	let trouble: string | undefined;
	let logged = { reason: "", at: Number.NEGATIVE_INFINITY };

	/** Returns the open database. While an earlier attempt to open it runs, waits for that one. */
	function connection(): Promise<SQL> {
		if (closing.aborted)
			return Promise.reject(unavailable("it is being closed"));
		if (!current && paused && performance.now() < paused.until)
			return Promise.reject(paused.error);
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
			if (explained instanceof StoreFailure && !wasOpen)
				failed.resolve(explained);
			throw explained;
		}
	}

	/** Runs `work` with a free connection, until the timeout. */
	async function use<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
		try {
			await semaphore.acquire(closing);
		} catch (error) {
			if (!(error instanceof Overloaded))
				throw unavailable("it is being closed");
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
			throw error instanceof StoreFailure
				? unavailable(error.message, error)
				: explainError(error);
		} finally {
			semaphore.release();
		}
	}

	/** Closes the connections, and opens the database again. */
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

	/** Converts an error of the database to a StoreUnavailable, which is logged. Returns other errors unchanged. */
	function explainError(error: unknown): unknown {
		const explained = database.explain(error);
		return explained ? unavailable(explained.reason, error) : error;
	}

	/** Like `explainError`, for an attempt to open the database. Other errors are a StoreFailure. */
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
		const isRepeated =
			reason === logged.reason && now - logged.at < logIntervalMs;
		if (!closing.aborted && !isRepeated) {
			logged = { reason, at: now };
			log.warn("gateway's database is unavailable", { where, reason });
		}
		return new StoreUnavailable(
			`The gateway's database is unavailable: ${reason}`,
			{ cause },
		);
	}

	const noAnswer = (ms: number) =>
		`${where} did not answer within ${ms / 1000} seconds`;
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

/** Checks the database for `--check`, without changing it. Rejects with a CheckFailed. */
export function checkStore(settings: StoreSettings): Promise<string> {
	const timeouts = { queryTimeoutMs: 5_000, openTimeoutMs: 10_000 };
	return checkDatabase(createDatabase(settings, timeouts), allMigrations, {
		timeoutMs: timeouts.openTimeoutMs,
		advice:
			"Give the gateway a GATEWAY_DB_SCHEMA, or a GATEWAY_DATABASE, of its own.",
	});
}

function createDatabase(
	settings: StoreSettings,
	timeouts: { queryTimeoutMs: number; openTimeoutMs: number },
): Database {
	return isPostgresUrl(settings.database)
		? createPostgres(settings, timeouts)
		: createSqlite(settings.database, timeouts);
}

/** Closes connections at once, whatever they are doing. */
function cut(sql: SQL): void {
	void sql.close({ timeout: 0 }).catch(() => {});
}
