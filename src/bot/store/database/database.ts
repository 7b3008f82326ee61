// The interface between the store and its database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { DbError } from "./db-error.ts";
import type { Applied } from "./migrations.ts";

export interface Database {
	/** Location for logs, without user name and password. */
	where: string;
	/**
	 * Connects and claims. Rejects with a StoreFailure if another instance holds the claim, otherwise with an error of the
	 * database. When the signal fires, it rejects soon and leaves nothing open.
	 */
	open(signal: AbortSignal): Promise<Session>;
	/**
	 * Reads what `open` would find. Takes no claim and changes nothing, so a running instance is not disturbed. Rejects
	 * with a CheckFailed if `open` would not be permitted. When the signal fires, it leaves nothing open.
	 */
	inspect(signal: AbortSignal): Promise<Inspection>;
	/** Classifies an error; undefined if it is not one of the database: a bug. */
	explain(error: unknown): DbError | undefined;
}

export interface Inspection {
	/** Version of the server or of the library. */
	version: string;
	/** Migrations in the database, by number; "no file" or "no schema" if `open` has to create that first. */
	applied: readonly Applied[] | "no file" | "no schema";
}

/**
 * One connection, which also holds the claim. All statements go over it, so an instance that loses the claim can no longer
 * write.
 */
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
