// The interface between the store and its database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { DbError } from "./db-error.ts";
import type { Applied } from "./migrations.ts";

/** How long to retry when another instance holds the claim: one that was just stopped may hold it for a moment. */
export const claimTimeoutMs = 1_000;

export interface Database {
	/** Location for logs, without user name and password. */
	where: string;
	/**
	 * Connects and takes the claim, which keeps other instances out. Rejects with a StoreFailure if one of them holds it,
	 * otherwise with an error of the database. When the signal aborts, it rejects soon and leaves nothing open.
	 */
	open(signal: AbortSignal): Promise<Session>;
	/**
	 * Reads what `open` would find. Takes no claim and changes nothing, so a running instance is not disturbed. Rejects
	 * with a CheckFailed if `open` would not be permitted. When the signal aborts, it leaves nothing open.
	 */
	inspect(signal: AbortSignal): Promise<Inspection>;
	/** Classifies an error; undefined if it is not one of the database: a bug. */
	explain(error: unknown): DbError | undefined;
}

export interface Inspection {
	/** Version of the PostgreSQL server or of the SQLite library. */
	version: string;
	/** Migrations in the database, by number; "no file" or "no schema" if `open` has to create that first. */
	applied: readonly Applied[] | "no file" | "no schema";
}

/** One connection, which runs all statements and holds the claim: without the claim, an instance cannot write. */
export interface Session {
	/** SQL that begins a transaction. */
	readonly begin: string;
	/** Runs one statement. It is repeated only if the database reports that it never started. */
	run<T>(statement: (sql: SQL) => Promise<T>): Promise<T>;
	/** Sets the timeout of every later statement. */
	limit(ms: number): Promise<void>;
	/** Resolves with the reason when the connection is lost. */
	readonly lost: Promise<string>;
	/** Drops the connection at once, even during a statement. */
	lose(reason: string): void;
	/** Releases the claim and closes. Never rejects. */
	close(): Promise<void>;
}
