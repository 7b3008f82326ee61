// The store: open it, claim it, migrate it, keep it open. It starts without its database and waits for it; whoever needs
// a row meanwhile is told so.

import { hostname } from "node:os";
import { backOffMs } from "../../lib/back-off.ts";
import { ConfigError } from "../../lib/config.ts";
import type { Log } from "../../lib/log.ts";
import type { Database, Session } from "./database.ts";
import { StoreFailure, StoreUnavailable } from "./db-error.ts";
import {
	checkNumbers,
	type Migration,
	MigrationError,
	migrate,
	probeWrite,
} from "./migrations.ts";
import { createPostgres } from "./postgres.ts";
import { Queue } from "./queue.ts";
import { directoryFault, type StoreSettings, storeIssues } from "./settings.ts";
import { createSqlite } from "./sqlite.ts";
import { type Sql, statementsOf } from "./statement.ts";
import { migrations as allMigrations } from "./tables.ts";

export interface StoreOptions extends StoreSettings {
	/** Who we are, for the claim and its messages: see `instanceName`. */
	instance: string;
	log: Log;
	migrations?: readonly Migration[];
	/** What a statement, or a whole transaction, may take once it has its turn; it waits for that as long at most. */
	queryTimeoutMs?: number;
	/** What connecting and claiming may take. */
	connectTimeoutMs?: number;
	/** Waits between attempts: doubled each time, up to the second number. */
	backOffMs?: readonly [number, number];
}

export interface Store extends AsyncDisposable {
	/** "degraded": the database is away, or does not take writes. It is tried again until it does. */
	readonly state: "ready" | "degraded";
	/** Why it is degraded, for the operator. */
	readonly reason: string | undefined;
	/** Since when it has been in its state. */
	readonly since: Date;
	/** Resolves with the reason when trying again does not help: another instance holds the claim, or the tables are not ours. */
	readonly failed: Promise<StoreFailure>;
	/** Resolves when the first attempt to open it is over, either way. */
	readonly opened: Promise<void>;
	/** One statement. Rejects with StoreUnavailable where the database is away, or does not do it in time. */
	sql: Sql;
	/**
	 * Statements that take effect together or not at all; `work` is given the `sql` that they go through. All others wait
	 * meanwhile: `work` waits for nothing but its statements, and uses no other `sql`. When one of them fails, all do.
	 */
	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
	/** Finishes what it was asked for, gives up the claim and closes. */
	close(): Promise<void>;
}

/** How often an idle connection is asked whether it is still one. */
const checkMs = 15_000;
/** How many statements may wait for their turn. */
const maxWaiting = 1_000;
/** What all migrations may take together. */
const migrationTimeoutMs = 600_000;

/** What an instance calls itself towards others: its process, its machine and its bot's name, which may be cut off. */
export function instanceName(botName: string): string {
	return `pid ${process.pid} on ${hostname()} (${botName})`;
}

/** Opens the store, now or when its database is there. Throws a ConfigError for settings that cannot work. */
export function startStore(options: StoreOptions): Store {
	const faults = storeIssues(options);
	if (options.databaseUrl === undefined) {
		const fault = directoryFault(options.directory);
		if (fault) faults.push(fault);
	}
	if (faults.length > 0) throw new ConfigError("the environment", faults);
	const migrations = options.migrations ?? allMigrations;
	checkNumbers(migrations);
	return new OpenStore(options, migrations, databaseOf(options));
}

function databaseOf(options: StoreOptions): Database {
	const { databaseUrl, schema, directory, instance } = options;
	if (databaseUrl === undefined || schema === undefined)
		return createSqlite({ directory, instance });
	const nonce = crypto.randomUUID().slice(0, 8);
	return createPostgres({ url: databaseUrl, schema, instance, nonce });
}

/** How far a piece of work has got: whether a statement that counts may have reached the database. */
interface Progress {
	mayHaveRun: boolean;
}

class OpenStore implements Store {
	readonly failed: Promise<StoreFailure>;
	readonly opened: Promise<void>;
	readonly sql: Sql;

	readonly #options: StoreOptions;
	readonly #migrations: readonly Migration[];
	readonly #database: Database;
	readonly #timeoutMs: number;
	readonly #queue = new Queue(maxWaiting);
	readonly #closing = new AbortController();
	readonly #fail: (failure: StoreFailure) => void;
	readonly #attempted: () => void;
	readonly #running: Promise<void>;
	#session: Session | undefined;
	#reason: string | undefined = "it is being opened";
	#since = new Date();
	/** When the database last refused to take something. */
	#refusedAt = 0;

	constructor(
		options: StoreOptions,
		migrations: readonly Migration[],
		database: Database,
	) {
		this.#options = options;
		this.#migrations = migrations;
		this.#database = database;
		this.#timeoutMs = options.queryTimeoutMs ?? 5_000;
		const failed = Promise.withResolvers<StoreFailure>();
		this.failed = failed.promise;
		this.#fail = failed.resolve;
		const opened = Promise.withResolvers<void>();
		this.opened = opened.promise;
		this.#attempted = opened.resolve;
		this.sql = async <Row extends object>(
			...statement: Parameters<Sql>
		): Promise<Row[]> => {
			const rows = await this.#inTurn((session, progress) => {
				progress.mayHaveRun = true;
				return statementsOf(session)<Row>(...statement);
			});
			if (/^\s*INSERT\b/i.test(statement[0][0] ?? "")) this.#takesWrites();
			return rows;
		};
		this.#running = this.#keepOpen();
	}

	get state() {
		return this.#reason === undefined ? "ready" : "degraded";
	}

	get reason() {
		return this.#reason;
	}

	get since() {
		return this.#since;
	}

	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
		return this.#inTurn(async (session, progress) => {
			await session.run((sql) => sql.unsafe(session.begin));
			const run = statementsOf(session);
			let over = false;
			let failure: { error: unknown } | undefined;
			const sql: Sql = async (...statement) => {
				if (over) throw new Error("the transaction is over");
				try {
					return await run(...statement);
				} catch (error) {
					failure ??= { error };
					throw error;
				}
			};
			try {
				const result = await work(sql);
				// PostgreSQL would roll back what follows, and SQLite would not.
				if (failure) throw failure.error;
				over = true;
				progress.mayHaveRun = true;
				await session.run((all) => all.unsafe("COMMIT"));
				return result;
			} catch (error) {
				over = true;
				await rollBack(session);
				throw error;
			}
		});
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await this.#running;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}

	/** Opens a session, and another one whenever one is lost, until `close` or until that is of no more use. Never rejects. */
	async #keepOpen(): Promise<void> {
		const { log } = this.#options;
		for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
			try {
				const { session, applied } = await this.#open();
				attempt = 0;
				this.#session = session;
				this.#recover();
				log.info("the store is open", {
					where: this.#database.where,
					migrations_applied: applied,
				});
				this.#attempted();
				await this.#serve(session);
			} catch (error) {
				if (error instanceof StoreFailure) {
					this.#degrade(error.message);
					this.#fail(error);
					break;
				}
				this.#degrade(this.#reasonFor(error));
			}
			this.#attempted();
			await this.#pause(attempt);
		}
		this.#attempted();
		if (this.#closing.signal.aborted) this.#degrade("it is closed");
	}

	/** Rejects with a StoreFailure where trying again does not help. */
	async #open(): Promise<{ session: Session; applied: number }> {
		const { connectTimeoutMs = 10_000 } = this.#options;
		const late = `${this.#database.where} did not answer within ${connectTimeoutMs / 1000} seconds`;
		const opening = new AbortController();
		const opened = this.#database.open(opening.signal);
		const session = await this.#within(
			connectTimeoutMs,
			late,
			this.#untilClosing(opened),
			() => opening.abort(),
		).catch((error) => {
			closeWhenOpen(opened);
			throw error;
		});
		if (!session) {
			opening.abort();
			closeWhenOpen(opened);
			throw new Late("it is being closed");
		}
		try {
			const applied = await this.#within(
				migrationTimeoutMs,
				"the migrations took too long",
				this.#untilClosing(this.#prepare(session)),
				() => session.lose("the migrations were cut off"),
			);
			if (applied !== undefined) return { session, applied };
			session.lose("it is being closed");
			throw new Late("it is being closed");
		} catch (error) {
			await session.close();
			if (!(error instanceof MigrationError)) throw error;
			const kind = this.#database.explain(error.cause)?.kind;
			if (kind !== undefined && kind !== "gone") throw error.cause;
			const { message, cause } = error;
			throw new StoreFailure(`${message}: ${cause}`, { cause });
		}
	}

	/** Brings the tables up to date. Gives the number of migrations that this took. */
	async #prepare(session: Session): Promise<number> {
		const applied = await migrate(session, this.#migrations);
		// The database gives up first, and keeps the connection.
		const { connectTimeoutMs = 10_000 } = this.#options;
		await this.#within(
			connectTimeoutMs,
			`${this.#database.where} did not answer`,
			session.limit(this.#timeoutMs * 0.8),
			() => session.lose("it did not answer"),
		);
		return applied;
	}

	/** Until the session is lost, or `close` is called. */
	async #serve(session: Session): Promise<void> {
		const check = setInterval(() => {
			// What it finds out is in the state.
			if (this.state === "ready") this.sql`SELECT 1`.catch(() => {});
		}, checkMs);
		const lost = await this.#untilClosing(session.lost);
		clearInterval(check);
		if (lost !== undefined) this.#degrade(lost);
		// What was asked for before the closing is done.
		else await this.#queue.turn(this.#timeoutMs);
		this.#session = undefined;
		await session.close();
	}

	/** Runs `work` alone, within its time, its failures said as what they mean. */
	async #inTurn<T>(
		work: (session: Session, progress: Progress) => Promise<T>,
	): Promise<T> {
		if (this.#closing.signal.aborted)
			throw new StoreUnavailable("it is being closed");
		this.#current();
		const release = await this.#queue.turn(this.#timeoutMs);
		if (!release)
			throw new StoreUnavailable("too much is waiting for the database");
		const progress = { mayHaveRun: false };
		try {
			const session = this.#current();
			const late = `${this.#database.where} did not answer within ${this.#timeoutMs / 1000} seconds`;
			try {
				return await this.#within(
					this.#timeoutMs,
					late,
					work(session, progress),
					// Nobody knows what becomes of it: the connection must not be used again.
					() => this.#lose(session, late),
				);
			} catch (error) {
				throw this.#meaning(error, session, progress);
			}
		} finally {
			release();
		}
	}

	#current(): Session {
		if (this.#session) return this.#session;
		throw new StoreUnavailable(this.#reason ?? "it was lost");
	}

	/** What the asker is told; the state follows from it. */
	#meaning(error: unknown, session: Session, { mayHaveRun }: Progress) {
		if (error instanceof Late)
			return new StoreUnavailable(error.message, mayHaveRun);
		const fault = this.#database.explain(error);
		if (!fault) return error;
		const { kind, reason } = fault;
		// Opening it again makes anew what is gone.
		if (kind === "lost" || kind === "gone") this.#lose(session, reason);
		if (kind === "refused") this.#impair(session, reason);
		return new StoreUnavailable(reason, mayHaveRun && kind === "lost", {
			cause: error,
		});
	}

	#lose(session: Session, reason: string): void {
		session.lose(reason);
		if (this.#session !== session) return;
		this.#session = undefined;
		this.#degrade(reason);
	}

	/** Reading goes on, and writing is tried until it works again. */
	#impair(session: Session, reason: string): void {
		if (this.#session !== session) return;
		this.#refusedAt = performance.now();
		const known = this.#reason !== undefined;
		this.#degrade(reason);
		if (!known) void this.#probe(session);
	}

	async #probe(session: Session): Promise<void> {
		for (let attempt = 0; ; attempt++) {
			await this.#pause(attempt);
			if (this.#session !== session || this.#closing.signal.aborted) return;
			if (this.#reason === undefined) return;
			// A small row may fit where others do not: while they are refused, it proves nothing.
			const quietMs = performance.now() - this.#refusedAt;
			if (quietMs < this.#longestWaitMs() / 3) continue;
			try {
				await this.#inTurn(() => probeWrite(session));
				if (this.#session === session) this.#takesWrites();
				return;
			} catch (error) {
				if (error instanceof StoreUnavailable) continue;
				this.#options.log.error("could not probe the store", { error });
			}
		}
	}

	/** A row was taken: whatever kept others out is over. */
	#takesWrites(): void {
		if (this.#reason === undefined || !this.#session) return;
		this.#recover();
		this.#options.log.info("the store takes writes again");
	}

	#recover(): void {
		this.#reason = undefined;
		this.#since = new Date();
	}

	#degrade(reason: string): void {
		if (this.#reason === undefined) this.#since = new Date();
		if (this.#reason !== reason && !this.#closing.signal.aborted)
			this.#options.log.warn("the store is degraded", { reason });
		this.#reason = reason;
	}

	#reasonFor(error: unknown): string {
		return (
			this.#database.explain(error)?.reason ??
			(error instanceof Error ? error.message : String(error))
		);
	}

	/** What `work` gives. After `ms`, `abandon` is called and it rejects. */
	async #within<T>(
		ms: number,
		late: string,
		work: Promise<T>,
		abandon: () => void,
	): Promise<T> {
		const { promise, reject } = Promise.withResolvers<never>();
		const timer = setTimeout(() => {
			reject(new Late(late));
			abandon();
		}, ms);
		try {
			return await Promise.race([work, promise]);
		} finally {
			clearTimeout(timer);
		}
	}

	#longestWaitMs(): number {
		return this.#options.backOffMs?.[1] ?? 30_000;
	}

	async #pause(attempt: number): Promise<void> {
		const first = this.#options.backOffMs?.[0] ?? 500;
		const most = this.#longestWaitMs();
		const ms = backOffMs(attempt, [first, most]);
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, ms);
		await this.#untilClosing(promise);
		clearTimeout(timer);
	}

	/** What `work` gives, or undefined when `close` is called before. */
	async #untilClosing<T>(work: Promise<T>): Promise<T | undefined> {
		const { signal } = this.#closing;
		const { promise, resolve } = Promise.withResolvers<undefined>();
		const stop = () => resolve(undefined);
		signal.addEventListener("abort", stop, { once: true });
		if (signal.aborted) stop();
		try {
			return await Promise.race([work, promise]);
		} finally {
			signal.removeEventListener("abort", stop);
		}
	}
}

/** A session that comes too late is of no use; that it does not come was told already. */
function closeWhenOpen(opened: Promise<Session>): void {
	opened.then((session) => session.close()).catch(() => {});
}

/** The time for it is over. */
class Late extends Error {}

/** Where it cannot be rolled back, the connection is given up, and the transaction with it. */
async function rollBack(session: Session): Promise<void> {
	try {
		await session.run((sql) => sql.unsafe("ROLLBACK"));
	} catch (error) {
		// SQLite has done it already where the disk was full.
		if (String(error).includes("no transaction is active")) return;
		session.lose("a transaction could not be rolled back");
	}
}
