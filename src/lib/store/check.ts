// The database's part of `--check`: does it answer, may the program use it, and are its tables those of this program? It
// changes nothing, so running programs are not disturbed.

import { CheckFailed } from "../program/check.ts";
import { within } from "../wait.ts";
import type { Database } from "./database.ts";
import { StoreFailure } from "./errors.ts";
import type { Inspection, Reading } from "./inspect.ts";
import { checkHistory, type DatabaseName, type Migration } from "./migrations.ts";
import { type Sql, statementsOf } from "./statement.ts";

interface DatabaseCheck {
	/** Limits connecting and reading. Default: 10 seconds. */
	timeoutMs?: number | undefined;
	/** Reads the tables, if they are up to date. */
	read?: ((sql: Sql) => Promise<void>) | undefined;
}

/** Resolves with a description; rejects with a CheckFailed. */
export async function checkDatabase(
	database: Database,
	migrations: readonly Migration[],
	{ timeoutMs = 10_000, read }: DatabaseCheck = {},
): Promise<string> {
	const { where } = database;
	const timeout = new AbortController();
	const readCurrent: Reading = async (sql, applied) => {
		if (applied.length === migrations.length) await read?.(statementsOf({ run: (statement) => statement(sql) }));
	};
	try {
		const inspection = await within(timeoutMs, database.inspect(timeout.signal, readCurrent));
		if (inspection === "late")
			throw new CheckFailed(`the database did not answer within ${timeoutMs / 1000} seconds: ${where}`);
		const { version, applied } = inspection;
		return `${where}, version ${version}: ${describeTables(database, applied, migrations)}`;
	} catch (error) {
		throw toCheckFailed(error, database);
	} finally {
		timeout.abort();
	}
}

function describeTables(
	database: DatabaseName,
	applied: Inspection["applied"],
	migrations: readonly Migration[],
): string {
	if (applied === "no file") return "the file will be created";
	if (applied === "no schema") return "the schema will be created";
	checkHistory(database, applied, migrations);
	if (applied.length === 0) return "the tables will be created";
	const missing = migrations.length - applied.length;
	return missing === 0
		? "the tables are up to date"
		: `the tables are from an older version; ${missing} migration(s) will be applied`;
}

function toCheckFailed(error: unknown, { where, variable, explain }: Database): unknown {
	if (error instanceof StoreFailure) return new CheckFailed(error.message, undefined, { cause: error });
	// A table of that name with other columns is not ours.
	if (/column .* does not exist|no such column/.test(String(error)))
		return new CheckFailed(
			`${where}: the table "migrations" belongs to another program`,
			`Give this program a ${variable} of its own.`,
			{ cause: error },
		);
	const dbError = explain(error);
	return dbError ? new CheckFailed(dbError.reason, undefined, { cause: error }) : error;
}
