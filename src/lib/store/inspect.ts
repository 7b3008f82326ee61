// Reads the state of a database for `--check`, without changing it.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SQL } from "bun";
import { CheckFailed } from "../program/check.ts";
import { type Applied, selectApplied } from "./migrations.ts";
import { describePlace, type PostgresPlace, quoted } from "./postgres-schema.ts";

export interface Inspection {
	version: string;
	/** Ordered by number; "no file" or "no schema" if there is none yet. */
	applied: readonly Applied[] | "no file" | "no schema";
}

/** Reads tables, if there are any. */
export type Reading = (sql: SQL, applied: readonly Applied[]) => Promise<void>;

/** `variable` names the file or its directory. CheckFailed if the file cannot be written. */
export async function inspectSqlite(file: string, variable: string, read?: Reading): Promise<Inspection> {
	requireWritable(existing(dirname(file)), "directory", variable);
	const exists = existsSync(file);
	if (exists) requireWritable(file, "file", variable);
	// SQLite keeps two more files, -wal and -shm, while a database is open. A read-only connection would create and leave
	// them. A writable one would merge those that a killed instance has left into the database.
	const readonly = exists && existsSync(`${file}-wal`);
	const filename = exists ? file : ":memory:";
	const data = new SQL({ adapter: "sqlite", filename, readonly, bigint: true });
	try {
		await data.unsafe("PRAGMA busy_timeout = 1000");
		await data.unsafe("PRAGMA query_only = ON");
		const [found]: { version: string; hasTables: bigint }[] = await data`
			SELECT sqlite_version() AS version,
				EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'migrations') AS "hasTables"`;
		const version = found?.version ?? "";
		if (!exists) return { version, applied: "no file" };
		return { version, applied: found?.hasTables ? await appliedIn(data, read) : [] };
	} finally {
		await data.close();
	}
}

async function appliedIn(sql: SQL, read: Reading | undefined): Promise<readonly Applied[]> {
	const applied = await selectApplied(sql);
	await read?.(sql, applied);
	return applied;
}

function existing(path: string): string {
	return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}

function requireWritable(path: string, kind: "directory" | "file", variable: string): void {
	const { R_OK, W_OK, X_OK } = constants;
	const shown = JSON.stringify(path);
	if (kind === "directory" && !statSync(path).isDirectory())
		throw new CheckFailed(
			`${variable}: ${shown} is not a directory`,
			`Set ${variable} to a path where the program can write.`,
		);
	try {
		accessSync(path, kind === "directory" ? R_OK | W_OK | X_OK : R_OK | W_OK);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new CheckFailed(
			`${variable}: ${shown} cannot be written (${code})`,
			`Let the user that the program runs as write to it, or set ${variable} to another path.`,
		);
	}
}

/** CheckFailed if rights are missing. An abort closes the connection. */
export async function inspectPostgres(place: PostgresPlace, signal: AbortSignal, read?: Reading): Promise<Inspection> {
	const pool = new SQL({ url: place.url, max: 1, bigint: true });
	const cut = () => void pool.close({ timeout: 0 });
	signal.addEventListener("abort", cut, { once: true });
	try {
		return await pool.begin("read only", (connection) => inspectSchema(connection, place, read));
	} finally {
		signal.removeEventListener("abort", cut);
		await pool.close({ timeout: 0 });
	}
}

async function inspectSchema(sql: SQL, place: PostgresPlace, read?: Reading): Promise<Inspection> {
	const { schema, variables } = place;
	const { where } = describePlace(place);
	const [server]: { version: string; isReadOnly: boolean; mayCreateSchema: boolean }[] = await sql`
		SELECT set_config('search_path', ${quoted(schema)}, true), current_setting('server_version') AS version,
			pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS "isReadOnly",
			has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema"`;
	const [found]: { mayUse: boolean; mayCreate: boolean; hasTables: boolean }[] = await sql`
		SELECT has_schema_privilege(oid, 'USAGE') AS "mayUse", has_schema_privilege(oid, 'CREATE') AS "mayCreate",
			EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'migrations') AS "hasTables"
		FROM pg_namespace n WHERE nspname = ${schema}`;
	if (server?.isReadOnly)
		throw new CheckFailed(
			`the database is read-only: ${where}`,
			`Set ${variables.url} to the server that accepts writes.`,
		);
	if (!found && !server?.mayCreateSchema)
		throw new CheckFailed(
			`${where}: the schema does not exist, and the user of ${variables.url} may not create it`,
			"Create it for that user, or grant the user CREATE on the database.",
		);
	if (found && !(found.mayUse && found.mayCreate))
		throw new CheckFailed(
			`${where}: the user of ${variables.url} may not use the schema or create tables in it`,
			"Grant that user USAGE and CREATE on the schema.",
		);
	// Distributions append their own name in brackets.
	const version = server?.version.split(" ")[0] ?? "";
	if (!found) return { version, applied: "no schema" };
	return { version, applied: found.hasTables ? await appliedIn(sql, read) : [] };
}
