// Stores on PostgreSQL and SQLite, for tests that run on both.

import { afterAll, beforeAll, describe } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { SQL } from "bun";
import { type Store, type StoreOptions, startStore } from "../../src/bot/store/store.ts";
import type { Migration } from "../../src/lib/store/migrations.ts";
import { databaseDirectory } from "./database-directory.ts";
import { type RecordedLog, recordLog } from "./log.ts";
import { type Postgres, type PostgresOptions, postgresMissing, startPostgres } from "./postgres.ts";

/** A place for one instance's data: a schema, or a directory. */
export interface Place {
	settings: Pick<StoreOptions, "databaseUrl" | "schema" | "directory">;
	/** Its name in messages. */
	shown: string;
	/** Runs a statement on it without the store. Table names need no schema. */
	look<Row = Record<string, unknown>>(text: string): Promise<Row[]>;
	/** Removes all rows. The tables stay, which saves the next store its migrations. No store may use it meanwhile. */
	clear(): Promise<void>;
}

export interface Databases<Server = SharedPostgres> {
	/** A new, empty place. */
	place(name?: string): Promise<Place>;
	/** PostgreSQL; throws on SQLite. */
	readonly postgres: Server;
}

/** A server that test files share. Tests that need more than their places start their own server. */
export type SharedPostgres = Pick<Postgres, "url" | "admin">;

/** Runs the tests on PostgreSQL and SQLite. With options they get their own PostgreSQL server. */
export function onBoth(
	define: (databases: Databases, kind: "PostgreSQL" | "SQLite") => void,
	options?: PostgresOptions,
): void {
	onServer((databases) => define(databases, "PostgreSQL"), options);
	describe("SQLite", () => define(sqlitePlaces(), "SQLite"));
}

/** Runs the tests on PostgreSQL. */
export function onPostgres(define: (databases: Databases) => void): void {
	onServer(define);
}

/** Runs the tests on their own PostgreSQL server. */
export function onOwnPostgres(define: (databases: Databases<Postgres>) => void, options: PostgresOptions = {}): void {
	onServer(define, options);
}

/** The server of all tests in this process without options. It ends with the process. */
let shared: Promise<Postgres> | undefined;
/** The number of schemas so far. Files share a server. */
let places = 0;

function onServer(define: (databases: Databases<Postgres>) => void, options?: PostgresOptions): void {
	const skipped = postgresSkipped();
	describe.skipIf(skipped !== undefined)(`PostgreSQL${skipped ? ` (skipped: ${skipped})` : ""}`, () => {
		let server: Postgres | undefined;
		beforeAll(async () => {
			if (options) server = await startPostgres(options);
			else {
				shared ??= startPostgres();
				server = await shared;
			}
		});
		if (options) afterAll(() => server?.[Symbol.asyncDispose]());
		const started = () => {
			if (server) return server;
			throw new Error("PostgreSQL has not started");
		};
		define({
			get postgres() {
				return started();
			},
			async place(name) {
				places += 1;
				const schema = name ?? `place ${places}`;
				const look = async <Row>(text: string) => {
					// For several statements Bun returns the rows of each.
					const results = await started().admin<Row[]>(`SET search_path TO "${schema.replaceAll('"', '""')}"; ${text}`);
					return [...(results.at(-1) ?? [])];
				};
				return {
					settings: { databaseUrl: started().url, schema, directory: "/nonexistent" },
					shown: schema,
					look,
					async clear() {
						await look(`DO $$ DECLARE name TEXT; BEGIN
								FOR name IN SELECT tablename FROM pg_tables
									WHERE schemaname = current_schema() AND tablename <> 'migrations'
								LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
							END $$`);
					},
				};
			},
		});
	});
}

/** Why tests on PostgreSQL are skipped, or undefined. */
function postgresSkipped(): string | undefined {
	const { DATABASES = "all" } = process.env;
	if (DATABASES !== "all" && DATABASES !== "sqlite")
		throw new Error(`DATABASES is "all" or "sqlite", not "${DATABASES}"`);
	return DATABASES === "sqlite" ? "DATABASES=sqlite" : postgresMissing;
}

function sqlitePlaces(): Databases {
	const made: string[] = [];
	afterAll(async () => {
		for (const directory of made) await rm(directory, { recursive: true, force: true });
	});
	return {
		get postgres(): Postgres {
			throw new Error("this is SQLite");
		},
		async place(name = "data") {
			const parent = await mkdtemp(join(databaseDirectory, "guildhall-store-"));
			made.push(parent);
			const directory = join(parent, name.replaceAll("/", "_"));
			const look = async <Row>(text: string): Promise<Row[]> => {
				await using sql = new SQL({ adapter: "sqlite", filename: join(directory, "store.sqlite"), bigint: true });
				await sql.unsafe("PRAGMA busy_timeout = 5000");
				return [...(await sql.unsafe(text))];
			};
			return {
				settings: { databaseUrl: undefined, schema: undefined, directory },
				shown: directory,
				look,
				async clear() {
					const tables = await look<{ name: string }>(
						"SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations'",
					);
					await look(tables.map(({ name }) => `DELETE FROM "${name}";`).join(" "));
				},
			};
		},
	};
}

/** The configuration of a bot with its data in this place. On PostgreSQL, logins are counted in the bot's own directory. */
export const storeConfigOf = ({ settings: { databaseUrl, schema, directory } }: Pick<Place, "settings">) => ({
	databaseUrl,
	dbSchema: schema,
	...(databaseUrl === undefined && { dataDirectory: directory }),
});

/** The environment of a bot process with its data in this place. */
export function botEnvOf({ settings }: Pick<Place, "settings">): Record<string, string> {
	const { databaseUrl, schema, directory } = settings;
	return databaseUrl && schema ? { DATABASE_URL: databaseUrl, DB_SCHEMA: schema } : { DATA_DIR: directory };
}

/** A table for tests, with an id and a number. */
export const thingsTable: Migration = {
	number: 1,
	name: "things",
	text: "CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, big BIGINT)",
};

export interface TestStore extends AsyncDisposable {
	store: Store;
	logged: RecordedLog;
}

/** Starts a store and waits for its first connection attempt. It retries quickly. */
export async function openStore(
	place: Pick<Place, "settings">,
	changes: Partial<StoreOptions> = {},
): Promise<TestStore> {
	const logged = recordLog();
	const store = startStore({
		...place.settings,
		instance: "Alpha (pid 1 on here)",
		log: logged.log,
		migrations: [thingsTable],
		backOffMs: [20, 100],
		queryTimeoutMs: 60_000,
		...changes,
	});
	await store.opened;
	return { store, logged, [Symbol.asyncDispose]: () => store.close() };
}
