// The interface between a store and its database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { DbError } from "./errors.ts";
import type { Inspection } from "./inspect.ts";
import type { DatabaseName } from "./migrations.ts";

/** Who uses the database. */
export interface User {
	/** Name of this process, shown in PostgreSQL and to another process that finds the database in use. */
	instance: string;
	/** Whether the process has the database for itself, as long as its connection lasts. */
	claims: boolean;
}

/**
 * How long to retry, in milliseconds, while another process claims the database. A process that was just stopped may
 * hold the claim for a moment.
 */
export const claimTimeoutMs = 1_000;

export interface Database extends DatabaseName {
	readonly claims: boolean;
	/**
	 * Connects to the database, claims it if `claims`, and creates what contains the tables. Rejects with a StoreFailure
	 * if another process has the claim. An abort closes the connection.
	 */
	open(signal: AbortSignal): Promise<Session>;
	/**
	 * Reads the state of the database without locking or changing it. Rejects with a CheckFailed if the program lacks the
	 * rights to use the database. An abort closes the connection.
	 */
	inspect(signal: AbortSignal): Promise<Inspection>;
	/** Classifies an error that the database reported. Returns undefined for any other error, which is a bug. */
	explain(error: unknown): DbError | undefined;
}

/** A database connection. It runs all SQL statements of a store and holds its claim, without which it must not write. */
export interface Session {
	/** SQL statement that begins a transaction. */
	readonly begin: string;
	/** Runs one SQL statement. The statement is repeated only if the database reports that it never started. */
	run<T>(statement: (sql: SQL) => Promise<T>): Promise<T>;
	/** Ends the time for migrations: other programs may migrate, and later statements have this timeout in milliseconds. */
	ready(timeoutMs: number): Promise<void>;
	/** Resolves with the reason when the database connection is lost. */
	readonly lost: Promise<string>;
	/** Drops the database connection at once, even during an SQL statement. */
	lose(reason: string): void;
	/** Releases the claim and closes the connection. Never rejects. */
	close(): Promise<void>;
}
