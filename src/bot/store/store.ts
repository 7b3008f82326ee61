// The store of a bot. One process has it for itself.

import { hostname } from "node:os";
import { resolve } from "node:path";
import { ConfigError } from "../../lib/config.ts";
import { CheckFailed } from "../../lib/program/check.ts";
import { checkDatabase } from "../../lib/store/check.ts";
import type { Migration } from "../../lib/store/migrations.ts";
import { databaseUrlIssue, schemaIssue } from "../../lib/store/postgres-schema.ts";
import { directoryIssue, inMemory } from "../../lib/store/sqlite.ts";
import { createDatabase, type StoreOptions as Options, Store } from "../../lib/store/store.ts";
import { migrations } from "./tables.ts";
import { StoreUnavailable } from "./unavailable.ts";

export type { Store };

export interface StoreOptions extends StoreSettings, Omit<Options, "migrations" | "unavailable"> {
	instance: string;
	migrations?: readonly Migration[];
}

/** Process id, machine and bot name, for another process that finds the database in use. PostgreSQL may truncate it. */
export function instanceName(botName: string): string {
	return `pid ${process.pid} on ${hostname()} (${botName})`;
}

/** Not started yet. Throws a ConfigError for invalid settings. */
export function createStore({ databaseUrl, schema, directory, instance, ...options }: StoreOptions): Store {
	const settings = { databaseUrl, schema, directory };
	const issues = storeIssues(settings);
	if (databaseUrl === undefined && directory !== inMemory) {
		const issue = directoryIssue(directory, "DATA_DIR");
		if (issue) issues.push(issue);
	}
	if (issues.length > 0) throw new ConfigError("the environment", issues);
	const unavailable = (...args: ConstructorParameters<typeof StoreUnavailable>) => new StoreUnavailable(...args);
	return new Store(databaseOf(settings, instance), { migrations, unavailable, ...options });
}

export function startStore(options: StoreOptions): Store {
	return createStore(options).start();
}

/** Resolves with a description of the database, or rejects with a CheckFailed. Takes no claim from a running bot. */
export async function checkStore(
	settings: StoreSettings,
	options: { migrations?: readonly Migration[] } & Parameters<typeof checkDatabase>[2] = {},
): Promise<string> {
	const issues = storeIssues(settings);
	if (issues.length > 0) throw new CheckFailed(issues.join("; "));
	return checkDatabase(databaseOf(settings, ""), options.migrations ?? migrations, options);
}

function databaseOf({ databaseUrl: url, schema, directory }: StoreSettings, instance: string) {
	const place =
		url === undefined || schema === undefined
			? { file: directory === inMemory ? inMemory : resolve(directory, "store.sqlite"), variable: "DATA_DIR" }
			: { url, schema, variables: { url: "DATABASE_URL", schema: "DB_SCHEMA" } };
	return createDatabase(place, { instance, claims: true });
}

export interface StoreSettings {
	/** DATABASE_URL, with user name and password; undefined for SQLite. */
	databaseUrl: string | undefined;
	/** DB_SCHEMA: required with DATABASE_URL, ignored without it. */
	schema: string | undefined;
	/** `inMemory`: nothing is written to files. */
	directory: string;
}

/** Errors, each with the name of its variable. Never shows the database URL, because it contains a password. */
export function storeIssues({ databaseUrl, schema }: Omit<StoreSettings, "directory">): string[] {
	if (databaseUrl === undefined) return [];
	const issues: string[] = [];
	const urlIssue = databaseUrlIssue(databaseUrl);
	if (urlIssue) issues.push(`DATABASE_URL: ${urlIssue}`);
	const nameIssue =
		schema === undefined
			? "is required with DATABASE_URL: the schema of this instance, which no other instance may use"
			: schemaIssue(schema);
	if (nameIssue) issues.push(`DB_SCHEMA: ${nameIssue}`);
	return issues;
}
