// Checks the settings of the store: DATABASE_URL, DB_SCHEMA, DATA_DIR.

import { databaseUrlIssue, schemaIssue } from "../../lib/store/postgres-schema.ts";

export interface StoreSettings {
	/** DATABASE_URL, with user name and password; undefined for SQLite. */
	databaseUrl: string | undefined;
	/** DB_SCHEMA: required with DATABASE_URL, ignored without it. */
	schema: string | undefined;
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
