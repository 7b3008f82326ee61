// The store: open it, claim it, migrate it, keep it open. It starts without its database and waits for it; whoever needs
// a row meanwhile is told so.

import { hostname } from "node:os";
import { ConfigError } from "../../lib/config.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "./database.ts";
import type { StoreFailure } from "./db-error.ts";
import { checkNumbers, type Migration } from "./migrations.ts";
import { createPostgres } from "./postgres.ts";
import { directoryFault, type StoreSettings, storeIssues } from "./settings.ts";
import { createSqlite } from "./sqlite.ts";
import type { Sql } from "./statement.ts";
import { Supervisor } from "./supervisor.ts";
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
	return new Supervisor(
		options,
		migrations,
		createDatabase(options, options.instance),
	);
}

/** The database that the settings name, not opened yet. `instance` stands in the claim. */
export function createDatabase(
	{ databaseUrl, schema, directory }: StoreSettings,
	instance: string,
): Database {
	if (databaseUrl === undefined || schema === undefined)
		return createSqlite({ directory, instance });
	const nonce = crypto.randomUUID().slice(0, 8);
	return createPostgres({ url: databaseUrl, schema, instance, nonce });
}
