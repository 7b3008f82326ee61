// Runs the statements and transactions of one session, one at a time. An executor ends with its session: work that it
// accepted runs on that session or not at all, and is never sent again.

import { Overloaded, Semaphore } from "../semaphore.ts";
import { PlainSignal } from "../signal.ts";
import { within } from "../wait.ts";
import type { Database, Session } from "./database.ts";
import { DatabaseUnavailable } from "./errors.ts";
import { inTransaction, type Sql, statementsOf } from "./statement.ts";

const maxWaiting = 1_000;

/** Rejects with DatabaseUnavailable, and with other errors of a statement, after which nothing was stored. */
export class Executor {
	readonly #mutex: Semaphore;
	readonly #lost = new PlainSignal();

	/** `timeoutMs` limits a statement or transaction, and also its wait for earlier ones. */
	constructor(
		private readonly session: Session,
		private readonly database: Database,
		private readonly timeoutMs: number,
	) {
		this.#mutex = new Semaphore({ max: 1, maxWaiting, maxWaitMs: timeoutMs });
		void session.lost.then((reason) => this.#lost.abort(reason));
	}

	statement<Row extends object>(...statement: Parameters<Sql>): Promise<Row[]> {
		return this.#run((onCommit) => {
			onCommit();
			return statementsOf(this.session)<Row>(...statement);
		});
	}

	/** If one statement fails, all are rolled back. `sql` ends with the transaction. */
	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
		const run = statementsOf(this.session);
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
		const all = async () => {
			try {
				const result = await work(sql);
				// Without this, SQLite would commit the other statements; PostgreSQL would roll back.
				if (failure) throw failure.error;
				return result;
			} finally {
				isOver = true;
			}
		};
		return this.#run((onCommit) => inTransaction(this.session, all, onCommit));
	}

	/** Resolves when all accepted work has ended, or after `timeoutMs`. Later statements are rejected. */
	async drain(): Promise<void> {
		await this.#lock().catch(() => {});
		this.#lost.abort("the database is being closed");
	}

	/** `work` calls `onCommit` when a lasting effect, such as COMMIT, may reach the database. */
	async #run<T>(work: (onCommit: () => void) => Promise<T>): Promise<T> {
		await this.#lock();
		let mayHaveRun = false;
		const onCommit = () => {
			mayHaveRun = true;
		};
		try {
			const result = await within(
				this.timeoutMs,
				work(onCommit).then((value) => ({ value })),
			);
			if (result !== "late") return result.value;
			// The statement may still be running: nothing else may use this connection.
			const reason = `${this.database.where} did not answer within ${this.timeoutMs / 1000} seconds`;
			this.#lose(reason);
			throw new DatabaseUnavailable("lost", reason, mayHaveRun);
		} catch (error) {
			throw this.#explained(error, mayHaveRun);
		} finally {
			this.#mutex.release();
		}
	}

	async #lock(): Promise<void> {
		try {
			await this.#mutex.acquire(this.#lost);
		} catch (error) {
			if (!(error instanceof Overloaded)) throw this.#ended();
			throw new DatabaseUnavailable("transient", "too many statements are waiting for the database");
		}
		if (!this.#lost.aborted) return;
		this.#mutex.release();
		throw this.#ended();
	}

	#ended(): DatabaseUnavailable {
		return new DatabaseUnavailable("lost", String(this.#lost.reason));
	}

	#explained(error: unknown, mayHaveRun: boolean): unknown {
		const explained = this.database.explain(error);
		if (!explained) return error;
		const { reason } = explained;
		// The next session creates missing tables again.
		const kind = explained.kind === "missing" ? "lost" : explained.kind;
		if (kind === "lost") this.#lose(reason);
		return new DatabaseUnavailable(kind, reason, mayHaveRun && explained.kind === "lost", { cause: error });
	}

	#lose(reason: string): void {
		this.#lost.abort(reason);
		this.session.lose(reason);
	}
}
