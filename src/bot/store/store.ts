// The store of a bot: PostgreSQL or SQLite behind one interface. It starts before its database does, and is degraded until
// that is available. supervisor.ts opens, claims and migrates; executor.ts runs the statements.

import { hostname } from "node:os";
import { ConfigError } from "../../lib/config.ts";
import { directoryIssue } from "../../lib/sql/sqlite-file.ts";
import type { Database } from "./database/database.ts";
import type { Migration } from "./database/migrations.ts";
import { createPostgres } from "./database/postgres.ts";
import { createSqlite } from "./database/sqlite.ts";
import { type Store, type SupervisorOptions, startSupervisor } from "./database/supervisor.ts";
import { type StoreSettings, storeIssues } from "./settings.ts";
import { migrations as allMigrations } from "./tables.ts";

export type { Store } from "./database/supervisor.ts";

export interface StoreOptions extends StoreSettings, SupervisorOptions {
	migrations?: readonly Migration[];
}

/**
 * Returns a name for this bot process (process id, machine and bot name), shown to another bot process that finds the
 * database in use. PostgreSQL may truncate the name.
 */
export function instanceName(botName: string): string {
	return `pid ${process.pid} on ${hostname()} (${botName})`;
}

/**
 * Opens the bot's database as soon as it is available: PostgreSQL or SQLite. Throws a ConfigError for invalid settings.
 */
export function startStore(options: StoreOptions): Store {
	const issues = storeIssues(options);
	if (options.databaseUrl === undefined) {
		const issue = directoryIssue(options.directory, "DATA_DIR");
		if (issue) issues.push(issue);
	}
	if (issues.length > 0) throw new ConfigError("the environment", issues);
	const database = createDatabase(options, options.instance);
	return startSupervisor(options, options.migrations ?? allMigrations, database);
}

/**
 * Returns the PostgreSQL or SQLite database of these settings, not opened yet. `instance` is the name of this bot
 * process, shown to another bot process that finds the database in use.
 */
export function createDatabase({ databaseUrl, schema, directory }: StoreSettings, instance: string): Database {
	if (databaseUrl === undefined || schema === undefined) return createSqlite({ directory, instance });
	const nonce = crypto.randomUUID().slice(0, 8);
	return createPostgres({ url: databaseUrl, schema, instance, nonce });
}
