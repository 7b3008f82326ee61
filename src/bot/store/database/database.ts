// The interface between the store and its database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { InspectedDatabase } from "../../../lib/sql/check.ts";

/**
 * How long to retry, in milliseconds, while another bot process holds the exclusive lock on the database. A process
 * that was just stopped may hold the lock for a moment.
 */
export const claimTimeoutMs = 1_000;

export interface Database extends InspectedDatabase {
	/**
	 * Connects to the database and takes an exclusive lock, which keeps other bot processes out. Rejects with a
	 * StoreFailure if another process holds the lock. An abort closes the connection.
	 */
	open(signal: AbortSignal): Promise<Session>;
}

/**
 * A database connection. It runs all SQL statements of a bot and holds the exclusive lock on the database, without
 * which the bot must not write.
 */
export interface Session {
	/** SQL statement that begins a transaction. */
	readonly begin: string;
	/** Runs one SQL statement. The statement is repeated only if the database reports that it never started. */
	run<T>(statement: (sql: SQL) => Promise<T>): Promise<T>;
	/** Sets the timeout of all later SQL statements on this connection, in milliseconds. */
	limit(ms: number): Promise<void>;
	/** Resolves with the reason when the database connection is lost. */
	readonly lost: Promise<string>;
	/** Drops the database connection at once, even during an SQL statement. */
	lose(reason: string): void;
	/** Releases the exclusive lock on the database and closes the connection. Never rejects. */
	close(): Promise<void>;
}
