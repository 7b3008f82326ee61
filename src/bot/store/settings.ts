// What an operator says about where a bot keeps its data: DATABASE_URL, DB_SCHEMA, DATA_DIR.

import { accessSync, constants, mkdirSync } from "node:fs";

/** The three as they stand in the environment; an unset one is undefined. */
export interface StoreSettings {
	/** PostgreSQL's, with user name and password. Without it the store is an SQLite file. */
	databaseUrl: string | undefined;
	/** The schema of this instance; required beside DATABASE_URL, and of no use without it. */
	schema: string | undefined;
	/** DATA_DIR: where the SQLite file goes. */
	directory: string;
}

/** What is wrong with them, each issue beginning with its variable. A URL is never shown: it holds a password. */
export function storeIssues({
	databaseUrl,
	schema,
}: Omit<StoreSettings, "directory">): string[] {
	if (databaseUrl === undefined) return [];
	const issues: string[] = [];
	const urlFault = databaseUrlIssue(databaseUrl);
	if (urlFault) issues.push(`DATABASE_URL: ${urlFault}`);
	const nameFault = schemaFault(schema);
	if (nameFault) issues.push(`DB_SCHEMA: ${nameFault}`);
	return issues;
}

function databaseUrlIssue(text: string): string | undefined {
	const expected =
		"expected a URL such as postgres://user:password@host:5432/database";
	const url = URL.parse(text);
	if (!url || !/^postgres(ql)?:\/\//i.test(text)) return expected;
	// A password with one of these in it ends early, and its rest would be taken for a host or a name, and shown.
	if (url.hash || /[@#]/.test(url.pathname + url.search))
		return `${expected}; in a password # / ? and @ are written %23 %2F %3F and %40`;
	try {
		decodeURIComponent(url.username + url.password + url.pathname);
	} catch {
		return `${expected}; in it, % is written %25`;
	}
	if (!url.hostname) return `${expected}; this one has no host`;
	if (url.pathname.length < 2) return `${expected}; this one has no database`;
	return undefined;
}

function schemaFault(name: string | undefined): string | undefined {
	if (name === undefined)
		return "is required beside DATABASE_URL: the schema of this instance, which no other instance has";
	const shown = JSON.stringify(name);
	// PostgreSQL cuts a longer name off without an error: two instances might meet in one schema.
	if (Buffer.byteLength(name) > 63)
		return `expected at most 63 bytes, received ${shown}`;
	if (/\p{Cc}/u.test(name) || !name.isWellFormed())
		return `expected a name without control characters, received ${shown}`;
	if (/^pg_|^information_schema$/i.test(name))
		return `${shown} is PostgreSQL's own; expected another name`;
	return undefined;
}

/** Makes the directory where it is missing. What is wrong with it, if it cannot be used. */
export function directoryFault(directory: string): string | undefined {
	const shown = JSON.stringify(directory);
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return `DATA_DIR: cannot make or write the directory ${shown} (${code})`;
	}
}
