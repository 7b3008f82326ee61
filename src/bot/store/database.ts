// What the store asks of a database: PostgreSQL and SQLite each in a file of their own.

import type { SQL } from "bun";
import type { DbError } from "./db-error.ts";
import type { Applied } from "./migrations.ts";

export interface Database {
	/** Where it is, for logs; without user name and password. */
	where: string;
	/**
	 * Connects and takes the claim. Rejects with a StoreFailure when another instance holds it, and with an error of the
	 * database's otherwise. When the signal fires, it rejects soon and leaves nothing open.
	 */
	open(signal: AbortSignal): Promise<Session>;
	/**
	 * Reads what `open` would find. Takes no claim and changes nothing, so a running instance is not disturbed. Rejects
	 * with a CheckFailed if `open` would not be permitted. When the signal fires, it leaves nothing open.
	 */
	inspect(signal: AbortSignal): Promise<Inspection>;
	/** What an error means; undefined for a fault of ours. */
	explain(error: unknown): DbError | undefined;
}

export interface Inspection {
	/** Version of the server or of the library. */
	version: string;
	/** Migrations in the database, by number; "no file" or "no schema" if `open` has to create that first. */
	applied: readonly Applied[] | "no file" | "no schema";
}

/**
 * One connection, which is the claim as well: it is held for as long as the connection lives, and nothing is written
 * without it. Whoever has lost the claim has lost the means to write.
 */
export interface Session {
	/** What a transaction begins with. */
	readonly begin: string;
	/** Runs one statement of Bun's; again where the database says that it was not even begun. */
	run<T>(statement: (sql: SQL) => Promise<T>): Promise<T>;
	/** Bounds every statement from now on, where the database can do that itself. */
	limit(ms: number): Promise<void>;
	/** Resolves with the reason when the connection is gone. */
	readonly lost: Promise<string>;
	/** Gives the connection up, whatever it is doing. */
	lose(reason: string): void;
	/** Gives up the claim and closes. Never rejects. */
	close(): Promise<void>;
}
