// The database's part of `bot --check`: does it answer, may the bot use it, and are its tables those of this program? It
// takes no claim and changes nothing, so a running instance is not disturbed.

import { resolve } from "node:path";
import { CheckFailed } from "../../lib/check.ts";
import { StoreFailure } from "../../lib/sql/errors.ts";
import { checkHistory, type Migration } from "../../lib/sql/migrations.ts";
import { within } from "../../lib/wait.ts";
import type { Database, Inspection } from "./database/database.ts";
import { type StoreSettings, storeIssues } from "./settings.ts";
import { createDatabase } from "./store.ts";
import { migrations as allMigrations } from "./tables.ts";

export interface StoreCheckOptions {
	migrations?: readonly Migration[];
	/** Timeout for connecting to the database and reading from it, in milliseconds. */
	timeoutMs?: number;
}

/**
 * Checks whether the bot can use its database. Resolves with a description of the database; rejects with a CheckFailed.
 */
export async function checkStore(
	settings: StoreSettings,
	{ migrations = allMigrations, timeoutMs = 10_000 }: StoreCheckOptions = {},
): Promise<string> {
	const issues = storeIssues(settings);
	if (issues.length > 0) throw new CheckFailed(issues.join("; "));
	const directory = resolve(settings.directory);
	const database = createDatabase({ ...settings, directory }, "");
	const { where } = database;
	const timeout = new AbortController();
	try {
		const inspection = await within(
			timeoutMs,
			database.inspect(timeout.signal),
		);
		if (inspection === "late")
			throw new CheckFailed(
				`the database did not answer within ${timeoutMs / 1000} seconds: ${where}`,
			);
		const { version, applied } = inspection;
		return `${where}, version ${version}: ${describeTables(applied, migrations)}`;
	} catch (error) {
		throw toCheckFailed(error, database);
	} finally {
		timeout.abort();
	}
}

/**
 * Describes whether the bot will create or update the database tables. Throws a StoreFailure if the tables do not fit
 * this version of the bot.
 */
function describeTables(
	applied: Inspection["applied"],
	migrations: readonly Migration[],
): string {
	if (applied === "no file") return "the file will be created";
	if (applied === "no schema") return "the schema will be created";
	checkHistory(applied, migrations);
	if (applied.length === 0) return "the tables will be created";
	const missing = migrations.length - applied.length;
	return missing === 0
		? "the tables are up to date"
		: `the tables are from an older version; ${missing} migration(s) will be applied`;
}

/**
 * Converts a database error to a CheckFailed for the operator. Returns any other error unchanged, because it is a bug.
 */
function toCheckFailed(error: unknown, { where, explain }: Database): unknown {
	if (error instanceof StoreFailure)
		return new CheckFailed(error.message, undefined, { cause: error });
	// A table of that name with other columns is not ours.
	if (/column .* does not exist|no such column/.test(String(error)))
		return new CheckFailed(
			`${where}: the table "migrations" belongs to another program`,
			"Give this bot a DB_SCHEMA, or a DATA_DIR, of its own.",
			{ cause: error },
		);
	const dbError = explain(error);
	return dbError
		? new CheckFailed(dbError.reason, undefined, { cause: error })
		: error;
}
