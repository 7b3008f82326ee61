// Checks the settings of the store: DATABASE_URL, DB_SCHEMA, DATA_DIR.

import { accessSync, constants, mkdirSync } from "node:fs";

/** The bot's database settings from environment variables; undefined if a variable is not set. */
export interface StoreSettings {
	/** URL of the PostgreSQL database (DATABASE_URL), with user name and password; undefined for SQLite. */
	databaseUrl: string | undefined;
	/** PostgreSQL schema of this bot instance (DB_SCHEMA): required with DATABASE_URL, ignored without it. */
	schema: string | undefined;
	/** Directory of the SQLite database (DATA_DIR). */
	directory: string;
}

/**
 * Returns errors in the database settings, each starting with the name of its variable. The database URL is never
 * shown, because it contains a password.
 */
export function storeIssues({
	databaseUrl,
	schema,
}: Omit<StoreSettings, "directory">): string[] {
	if (databaseUrl === undefined) return [];
	const issues: string[] = [];
	const urlIssue = databaseUrlIssue(databaseUrl);
	if (urlIssue) issues.push(`DATABASE_URL: ${urlIssue}`);
	const nameIssue = schemaIssue(schema);
	if (nameIssue) issues.push(`DB_SCHEMA: ${nameIssue}`);
	return issues;
}

function databaseUrlIssue(text: string): string | undefined {
	const expected =
		"expected a URL such as postgres://user:password@host:5432/database";
	const url = URL.parse(text);
	if (!url || !/^postgres(ql)?:\/\//i.test(text)) return expected;
	// Unescaped, these end the password early: its rest would be parsed as a host or a name, and shown.
	if (url.hash || /[@#]/.test(url.pathname + url.search))
		return `${expected}; write # / ? and @ in a password as %23 %2F %3F and %40`;
	try {
		decodeURIComponent(url.username + url.password + url.pathname);
	} catch {
		return `${expected}; write % as %25`;
	}
	if (!url.hostname) return `${expected}; the host is missing`;
	if (url.pathname.length < 2) return `${expected}; the database is missing`;
	return undefined;
}

function schemaIssue(name: string | undefined): string | undefined {
	if (name === undefined)
		return "is required with DATABASE_URL: the schema of this instance, which no other instance may use";
	const quoted = JSON.stringify(name);
	// PostgreSQL truncates a longer name without an error: two instances could end up in one schema.
	if (Buffer.byteLength(name) > 63)
		return `expected at most 63 bytes, received ${quoted}`;
	if (/\p{Cc}/u.test(name) || !name.isWellFormed())
		return `expected a name without control characters, received ${quoted}`;
	if (/^pg_|^information_schema$/i.test(name))
		return `${quoted} is reserved by PostgreSQL; expected another name`;
	return undefined;
}

/**
 * Creates the directory of the SQLite database if it is missing. Returns an error text if the bot cannot use the
 * directory.
 */
export function directoryIssue(directory: string): string | undefined {
	const quoted = JSON.stringify(directory);
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return `DATA_DIR: cannot create or write the directory ${quoted} (${code})`;
	}
}
