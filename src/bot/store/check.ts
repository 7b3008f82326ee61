// `bot --check`, as far as the store goes: whether its database answers, and holds tables that this program can work with.
// It takes no claim, makes nothing and changes nothing: an instance that runs meanwhile does not notice.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { SQL } from "bun";
import { CheckFailed } from "../../lib/check.ts";
import { type DbError, StoreFailure } from "./db-error.ts";
import { type Applied, checkHistory, type Migration } from "./migrations.ts";
import { createPostgres } from "./postgres.ts";
import { type StoreSettings, storeIssues } from "./settings.ts";
import { createSqlite } from "./sqlite.ts";
import { migrations as allMigrations } from "./tables.ts";

export interface StoreCheckOptions {
	migrations?: readonly Migration[];
	/** What connecting and asking may take together. */
	timeoutMs?: number;
}

/** Asks the database. Resolves with what it is and what is in it; rejects with a CheckFailed. */
export async function checkStore(
	settings: StoreSettings,
	{ migrations = allMigrations, timeoutMs = 10_000 }: StoreCheckOptions = {},
): Promise<string> {
	const faults = storeIssues(settings);
	if (faults.length > 0) throw new CheckFailed(faults.join("; "));
	const { databaseUrl, schema, directory } = settings;
	return databaseUrl === undefined || schema === undefined
		? checkSqlite(resolve(directory), migrations)
		: checkPostgres({ url: databaseUrl, schema }, migrations, timeoutMs);
}

async function checkPostgres(
	{ url, schema }: { url: string; schema: string },
	migrations: readonly Migration[],
	timeoutMs: number,
): Promise<string> {
	// Not opened: it knows what to call itself, and what errors mean.
	const nobody = { instance: "", nonce: "" };
	const { where, explain } = createPostgres({ url, schema, ...nobody });
	const pool = new SQL({ url, max: 1, bigint: true });
	const { promise: late, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(
		() =>
			reject(
				new CheckFailed(
					`${where} did not answer within ${timeoutMs / 1000} seconds`,
				),
			),
		timeoutMs,
	);
	try {
		const asked = pool.begin("read only", async (sql) => {
			const [server] = await sql<[Server]>`
				SELECT current_setting('server_version') AS version,
					pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS "readOnly",
					has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema"`;
			const [place] = await sql<[Place?]>`
				SELECT has_schema_privilege(oid, 'USAGE') AS "mayUse", has_schema_privilege(oid, 'CREATE') AS "mayCreate",
					EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'migrations') AS "hasTables"
				FROM pg_namespace n WHERE nspname = ${schema}`;
			const applied =
				place?.mayUse && place.hasTables
					? await sql<Applied[]>`
						SELECT number, name, checksum FROM ${sql(schema)}.migrations ORDER BY number`
					: [];
			return { server, place, applied: applied.map(plain) };
		});
		// Where the time is over first, nobody else hears of its failing.
		asked.catch(() => {});
		const { server, place, applied } = await Promise.race([asked, late]);
		if (server.readOnly)
			throw new CheckFailed(
				`${where} is read-only`,
				"Give DATABASE_URL the server that takes writes.",
			);
		if (!place && !server.mayCreateSchema)
			throw new CheckFailed(
				`${where}: there is no such schema, and the user of DATABASE_URL may not create it`,
				"Create it for that user, or grant the user CREATE on the database.",
			);
		if (place && !(place.mayUse && place.mayCreate))
			throw new CheckFailed(
				`${where}: the user of DATABASE_URL may not use the schema, or not make tables in it`,
				"Grant that user USAGE and CREATE on the schema.",
			);
		const contents = place
			? describeTables(applied, migrations)
			: "the schema will be made";
		// Debian's and others' have more to say in brackets.
		return `${where}, version ${server.version.split(" ")[0]}: ${contents}`;
	} catch (error) {
		throw failure(error, where, explain);
	} finally {
		clearTimeout(timer);
		await pool.close({ timeout: 0 });
	}
}

interface Server {
	version: string;
	readOnly: boolean;
	mayCreateSchema: boolean;
}

interface Place {
	mayUse: boolean;
	mayCreate: boolean;
	hasTables: boolean;
}

async function checkSqlite(
	directory: string,
	migrations: readonly Migration[],
): Promise<string> {
	const { where, explain } = createSqlite({ directory, instance: "" });
	const file = join(directory, "store.sqlite");
	requireWritable(existing(directory));
	if (!existsSync(file)) return `${where}: it will be made`;
	requireWritable(file);
	// SQLite keeps two more files while it is open. Where nobody has it open, only a writer takes them away again; where
	// they are there, a writer might put into the database what an instance that was killed had left in them.
	const readonly = existsSync(`${file}-wal`);
	const sql = new SQL({ adapter: "sqlite", filename: file, readonly });
	try {
		await sql.unsafe("PRAGMA busy_timeout = 1000");
		await sql.unsafe("PRAGMA query_only = ON");
		const [{ version }] = await sql<
			[{ version: string }]
		>`SELECT sqlite_version() AS version`;
		const tables =
			await sql`SELECT name FROM sqlite_master WHERE name = 'migrations'`;
		const applied =
			tables.length > 0
				? await sql<
						Applied[]
					>`SELECT number, name, checksum FROM migrations ORDER BY number`
				: [];
		return `${where}, version ${version}: ${describeTables(applied.map(plain), migrations)}`;
	} catch (error) {
		throw failure(error, where, explain);
	} finally {
		await sql.close();
	}
}

/** The directory, or the one in which it would be made. */
function existing(directory: string): string {
	return existsSync(directory) || dirname(directory) === directory
		? directory
		: existing(dirname(directory));
}

function requireWritable(path: string): void {
	const { R_OK, W_OK, X_OK } = constants;
	const isDirectory = statSync(path).isDirectory();
	try {
		accessSync(path, isDirectory ? R_OK | W_OK | X_OK : R_OK | W_OK);
		// What stands in the way of a directory is a file.
		if (isDirectory || path.endsWith("store.sqlite")) return;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new CheckFailed(
			`DATA_DIR: ${JSON.stringify(path)} cannot be written (${code})`,
			"Give it to the user that the bot runs as, or set DATA_DIR to another directory.",
		);
	}
	throw new CheckFailed(
		`DATA_DIR: ${JSON.stringify(path)} is no directory`,
		"Set DATA_DIR to a directory.",
	);
}

/** A row as `checkHistory` takes it: of numbers, either database gives some as bigints. */
function plain({ number, name, checksum }: Applied): Applied {
	return { number: Number(number), name, checksum };
}

/** What the tables are to this program. Throws a StoreFailure where it cannot work with them. */
function describeTables(
	applied: readonly Applied[],
	migrations: readonly Migration[],
): string {
	checkHistory(applied, migrations);
	if (applied.length === 0) return "the tables will be made";
	const missing = migrations.length - applied.length;
	return missing === 0
		? "the tables are this program's"
		: `the tables are an older program's; ${missing} migration(s) will be applied`;
}

/** A fault of the database as the operator's; any other is one of ours. */
function failure(
	error: unknown,
	where: string,
	explain: (error: unknown) => DbError | undefined,
): unknown {
	if (error instanceof StoreFailure)
		return new CheckFailed(error.message, undefined, { cause: error });
	// Whoever has a table of that name, and other columns in it, is not us.
	if (/column .* does not exist|no such column/.test(String(error)))
		return new CheckFailed(
			`${where}: the table "migrations" is another program's`,
			"Give this bot a DB_SCHEMA, or a DATA_DIR, of its own.",
			{ cause: error },
		);
	const fault = explain(error);
	return fault
		? new CheckFailed(fault.reason, undefined, { cause: error })
		: error;
}
