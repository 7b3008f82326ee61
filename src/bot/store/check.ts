// The database's part of `bot --check`. It takes no claim, so a running instance is not disturbed.

import { resolve } from "node:path";
import { CheckFailed } from "../../lib/program/check.ts";
import { checkDatabase } from "../../lib/sql/check.ts";
import type { Migration } from "../../lib/sql/migrations.ts";
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
	{ migrations = allMigrations, timeoutMs }: StoreCheckOptions = {},
): Promise<string> {
	const issues = storeIssues(settings);
	if (issues.length > 0) throw new CheckFailed(issues.join("; "));
	const directory = resolve(settings.directory);
	const database = createDatabase({ ...settings, directory }, "");
	return checkDatabase(database, migrations, timeoutMs);
}
