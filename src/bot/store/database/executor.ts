// Runs the statements and transactions of one session, one at a time. An executor ends with its session: work that it
// accepted runs on that session or not at all, and is never sent again.

import { Overloaded, Semaphore } from "../../../lib/semaphore.ts";
import { PlainSignal } from "../../../lib/signal.ts";
import { within } from "../../../lib/wait.ts";
import type { Database, Session } from "./database.ts";
import { StoreUnavailable } from "./db-error.ts";
import { type Sql, statementsOf } from "./statement.ts";

const maxWaiting = 1_000;

/**
 * Result of an SQL statement or transaction: its value, or why it failed and whether the database connection is still
 * usable.
 */
export type Outcome<T> =
	| { kind: "done"; value: T }
	/** The SQL statement failed, and nothing was stored. The database connection remains usable. */
	| { kind: "failed"; error: unknown }
	/**
	 * The SQL statement was refused, because the database accepts no writes at the moment. The database connection
	 * remains usable.
	 */
	| { kind: "refused"; error: StoreUnavailable }
	/** The database connection was lost, and with it the exclusive lock on the database. */
	| { kind: "lost"; error: StoreUnavailable };

interface Progress {
	mayHaveRun: boolean;
}

export class Executor {
	readonly #mutex: Semaphore;
	readonly #lost = new PlainSignal();

	/**
	 * Runs SQL statements on the connection `session`. `timeoutMs` is the timeout of a statement or transaction, and also
	 * of its wait for earlier ones.
	 */
	constructor(
		private readonly session: Session,
		private readonly database: Database,
		private readonly timeoutMs: number,
	) {
		this.#mutex = new Semaphore({ max: 1, maxWaiting, maxWaitMs: timeoutMs });
		void session.lost.then((reason) => this.#lost.abort(reason));
	}

	/** Runs one SQL statement after all earlier ones. */
	statement<Row extends object>(...statement: Parameters<Sql>): Promise<Outcome<Row[]>> {
		return this.#run((progress) => {
			progress.mayHaveRun = true;
			return statementsOf(this.session)<Row>(...statement);
		});
	}

	/**
	 * Runs `work` in a database transaction. The function `sql` cannot be used after the transaction. If one statement
	 * fails, the whole transaction is rolled back.
	 */
	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<Outcome<T>> {
		const { session } = this;
		return this.#run(async (progress) => {
			await session.run((sql) => sql.unsafe(session.begin));
			const run = statementsOf(session);
			let isOver = false;
			let failure: { error: unknown } | undefined;
			const sql: Sql = async (...statement) => {
				if (isOver) throw new Error("the database transaction has already ended");
				try {
					return await run(...statement);
				} catch (error) {
					failure ??= { error };
					throw error;
				}
			};
			try {
				const result = await work(sql);
				// Without this, SQLite would commit the other statements; PostgreSQL would roll back.
				if (failure) throw failure.error;
				isOver = true;
				progress.mayHaveRun = true;
				await session.run((all) => all.unsafe("COMMIT"));
				return result;
			} catch (error) {
				isOver = true;
				await this.#rollBack();
				throw error;
			}
		});
	}

	/**
	 * Resolves when all accepted SQL statements and transactions have ended, or after `timeoutMs`. Later statements are
	 * rejected.
	 */
	async drain(): Promise<void> {
		await this.#lock();
		this.#lost.abort("the bot's database is being closed");
	}

	async #run<T>(work: (progress: Progress) => Promise<T>): Promise<Outcome<T>> {
		const rejection = await this.#lock();
		if (rejection) return rejection;
		const progress = { mayHaveRun: false };
		try {
			const run = work(progress).then((value) => ({ value }));
			const result = await within(this.timeoutMs, run);
			if (result !== "late") return { kind: "done", value: result.value };
			// The statement may still be running: nothing else may use this connection.
			const reason = `${this.database.where} did not answer within ${this.timeoutMs / 1000} seconds`;
			this.#lose(reason);
			const error = new StoreUnavailable(reason, progress.mayHaveRun);
			return { kind: "lost", error };
		} catch (error) {
			return this.#outcomeOf(error, progress);
		} finally {
			this.#mutex.release();
		}
	}

	/**
	 * Waits until earlier SQL statements and transactions have ended. Returns undefined if the next statement can start;
	 * otherwise returns the reason why it cannot start.
	 */
	async #lock(): Promise<Outcome<never> | undefined> {
		try {
			await this.#mutex.acquire(this.#lost);
		} catch (error) {
			if (!(error instanceof Overloaded)) return this.#lostOutcome();
			const reason = "too many statements are waiting for the database";
			return { kind: "failed", error: new StoreUnavailable(reason) };
		}
		if (!this.#lost.aborted) return undefined;
		this.#mutex.release();
		return this.#lostOutcome();
	}

	#lostOutcome(): Outcome<never> {
		const error = new StoreUnavailable(String(this.#lost.reason));
		return { kind: "lost", error };
	}

	#outcomeOf(error: unknown, { mayHaveRun }: Progress): Outcome<never> {
		const dbError = this.database.explain(error);
		if (!dbError) return { kind: "failed", error };
		const { kind, reason } = dbError;
		const isUnknown = mayHaveRun && kind === "lost";
		const cause = { cause: error };
		const unavailable = new StoreUnavailable(reason, isUnknown, cause);
		if (kind === "refused") return { kind: "refused", error: unavailable };
		if (kind === "transient") return { kind: "failed", error: unavailable };
		// The next session creates missing tables again.
		this.#lose(reason);
		return { kind: "lost", error: unavailable };
	}

	async #rollBack(): Promise<void> {
		try {
			await this.session.run((sql) => sql.unsafe("ROLLBACK"));
		} catch (error) {
			// After a full disk SQLite has already rolled back.
			if (String(error).includes("no transaction is active")) return;
			this.#lose("a transaction could not be rolled back");
		}
	}

	#lose(reason: string): void {
		this.#lost.abort(reason);
		this.session.lose(reason);
	}
}
