// The interface between a store and its database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { DbError } from "./errors.ts";
import type { Inspection, Reading } from "./inspect.ts";
import type { DatabaseName } from "./migrations.ts";

export interface User {
	/** Shown in PostgreSQL and to another process that finds the database in use. */
	instance: string;
	/** The process has the database for itself, as long as its connection lasts. */
	claims: boolean;
}

/** Retry time while another process has the claim: one that was just stopped may hold it for a moment. */
export const claimTimeoutMs = 1_000;

export interface Database extends DatabaseName {
	readonly claims: boolean;
	/** Connects, claims if `claims`, creates what holds the tables. StoreFailure if another has the claim. */
	open(signal: AbortSignal): Promise<Session>;
	/** Changes and locks nothing. CheckFailed if rights are missing. An abort closes the connection. */
	inspect(signal: AbortSignal, read?: Reading): Promise<Inspection>;
	/** Undefined for an error that the database did not report, which is a bug. */
	explain(error: unknown): DbError | undefined;
}

/** A connection, which runs all statements of a store and holds its claim, without which it must not write. */
export interface Session {
	readonly begin: string;
	/** Repeats the statement only if the database reports that it never started. */
	run<T>(statement: (sql: SQL) => Promise<T>): Promise<T>;
	/** Ends the time for migrations: others may migrate, and later statements have this timeout in milliseconds. */
	ready(timeoutMs: number): Promise<void>;
	readonly lost: Promise<string>;
	lose(reason: string): void;
	/** Releases the claim. Never rejects. */
	close(): Promise<void>;
}
