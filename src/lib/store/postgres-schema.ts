// Where in PostgreSQL a program keeps its tables: checks the URL and the name of the schema, and creates the schema.

import type { SQL } from "bun";

export interface PostgresPlace {
	url: string;
	schema: string;
	variables: { url: string; schema: string };
}

/** For messages, without user name and password. */
export function describePlace({ url, schema }: PostgresPlace) {
	const { host, pathname } = new URL(url);
	const server = host.includes(":") ? host : `${host}:5432`;
	const database = decodeURIComponent(pathname.slice(1));
	const where = `PostgreSQL at ${server}, database "${database}", schema "${schema}"`;
	return { server, database, where };
}

/** Why `text` is no URL of a PostgreSQL database. The URL is never shown, because it contains a password. */
export function databaseUrlIssue(text: string): string | undefined {
	const expected = "expected a URL such as postgres://user:password@host:5432/database";
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

export function schemaIssue(name: string): string | undefined {
	const quoted = JSON.stringify(name);
	// PostgreSQL truncates a longer name without an error: two instances could end up in one schema.
	if (Buffer.byteLength(name) > 63) return `expected at most 63 bytes, received ${quoted}`;
	if (/\p{Cc}/u.test(name) || !name.isWellFormed())
		return `expected a name without control characters, received ${quoted}`;
	if (/^pg_|^information_schema$/i.test(name)) return `${quoted} is reserved by PostgreSQL; expected another name`;
	return undefined;
}

export async function createSchema(connection: SQL, schema: string): Promise<void> {
	// A user without the right to create schemas can use one that exists.
	const [found] = await connection`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`;
	if (!found) await connection.unsafe(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
}

export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}
