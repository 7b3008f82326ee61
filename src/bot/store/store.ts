// The store of a bot: PostgreSQL or SQLite behind one interface. It starts before its database does, and is degraded until
// that is available. Supervisor opens, claims and migrates; Executor runs the statements.

import { hostname } from "node:os";
import { ConfigError } from "../../lib/config.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "./database.ts";
import type { StoreFailure } from "./db-error.ts";
import { checkNumbers, type Migration } from "./migrations.ts";
import { createPostgres } from "./postgres.ts";
import { directoryIssue, type StoreSettings, storeIssues } from "./settings.ts";
import { createSqlite } from "./sqlite.ts";
import type { Sql } from "./statement.ts";
import { Supervisor } from "./supervisor.ts";
import { migrations as allMigrations } from "./tables.ts";

export interface StoreOptions extends StoreSettings {
	/** Name of this process in the claim and in messages: see `instanceName`. */
	instance: string;
	log: Log;
	migrations?: readonly Migration[];
	/** Timeout of a statement or a whole transaction. The wait for its start has the same limit. */
	queryTimeoutMs?: number;
	/** Limit of connecting and claiming together. */
	connectTimeoutMs?: number;
	/** Waits between attempts to connect: the first, doubled with each failure up to the second. */
	backOffMs?: readonly [number, number];
}

export interface Store extends AsyncDisposable {
	/** "degraded": the database is unavailable or refuses writes. It is retried until it works. */
	readonly state: "ready" | "degraded";
	/** Why it is degraded, for the operator; undefined when ready. */
	readonly reason: string | undefined;
	/** When `state` last changed. */
	readonly since: Date;
	/** Resolves if another attempt would not help: another instance holds the claim, or the tables do not fit this program. */
	readonly failed: Promise<StoreFailure>;
	/** Resolves after the first attempt to open it, successful or not. */
	readonly opened: Promise<void>;
	/** Runs one statement. Rejects with StoreUnavailable if the database is unavailable or too slow. */
	sql: Sql;
	/**
	 * Runs statements that take effect together or not at all. Other statements wait meanwhile, so `work` may wait only for
	 * its own statements and must use the `sql` it receives. If one statement fails, everything is rolled back.
	 */
	transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
	/** Finishes accepted work, releases the claim and closes. */
	close(): Promise<void>;
}

/** Name of an instance for other instances: process, machine and bot. PostgreSQL may truncate it. */
export function instanceName(botName: string): string {
	return `pid ${process.pid} on ${hostname()} (${botName})`;
}

/** Opens the store as soon as its database is available. Throws a ConfigError for invalid settings. */
export function startStore(options: StoreOptions): Store {
	const issues = storeIssues(options);
	if (options.databaseUrl === undefined) {
		const issue = directoryIssue(options.directory);
		if (issue) issues.push(issue);
	}
	if (issues.length > 0) throw new ConfigError("the environment", issues);
	const migrations = options.migrations ?? allMigrations;
	checkNumbers(migrations);
	return new Supervisor(
		options,
		migrations,
		createDatabase(options, options.instance),
	);
}

/** The database of these settings, not opened yet. `instance` is its name in the claim. */
export function createDatabase(
	{ databaseUrl, schema, directory }: StoreSettings,
	instance: string,
): Database {
	if (databaseUrl === undefined || schema === undefined)
		return createSqlite({ directory, instance });
	const nonce = crypto.randomUUID().slice(0, 8);
	return createPostgres({ url: databaseUrl, schema, instance, nonce });
}
