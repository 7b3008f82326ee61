// Stores on both databases, for tests that hold for either.

import { afterAll, beforeAll, describe } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { SQL } from "bun";
import type { Migration } from "../../src/bot/store/database/migrations.ts";
import {
	type Store,
	type StoreOptions,
	startStore,
} from "../../src/bot/store/store.ts";
import { databaseDirectory } from "./database-directory.ts";
import { type RecordedLog, recordLog } from "./log.ts";
import {
	type Postgres,
	type PostgresOptions,
	postgresMissing,
	startPostgres,
} from "./postgres.ts";

/** A place for one instance's data: a schema, or a directory. */
export interface Place {
	settings: Pick<StoreOptions, "databaseUrl" | "schema" | "directory">;
	/** What it is called in messages. */
	shown: string;
	/** Looks into it, or changes it, from outside. Tables are named without their schema. */
	look<Row = Record<string, unknown>>(text: string): Promise<Row[]>;
}

export interface Databases<Server = SharedPostgres> {
	/** A new place, in which nobody was yet. */
	place(name?: string): Promise<Place>;
	/** PostgreSQL; throws on SQLite. */
	readonly postgres: Server;
}

/** A server that other files use, too: what a test needs beside its places is on a server of its own. */
export type SharedPostgres = Pick<Postgres, "url" | "admin">;

/** Runs the tests on PostgreSQL and on SQLite. With options, the PostgreSQL server is their own. */
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

/** Runs the tests on a PostgreSQL server of their own. */
export function onOwnPostgres(
	define: (databases: Databases<Postgres>) => void,
	options: PostgresOptions = {},
): void {
	onServer(define, options);
}

/** The server of all tests in this process that bring no options: it ends with the process. */
let shared: Promise<Postgres> | undefined;
/** How many schemas were named: two files may share a server. */
let places = 0;

function onServer(
	define: (databases: Databases<Postgres>) => void,
	options?: PostgresOptions,
): void {
	const skipped = postgresSkipped();
	describe.skipIf(skipped !== undefined)(
		`PostgreSQL${skipped ? ` (skipped: ${skipped})` : ""}`,
		() => {
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
					return {
						settings: {
							databaseUrl: started().url,
							schema,
							directory: "/nonexistent",
						},
						shown: schema,
						async look<Row>(text: string) {
							// Of several statements, Bun gives the rows of each.
							const results = await started().admin<Row[]>(
								`SET search_path TO "${schema.replaceAll('"', '""')}"; ${text}`,
							);
							return [...(results.at(-1) ?? [])];
						},
					};
				},
			});
		},
	);
}

/** Why tests on PostgreSQL do not run; undefined where they do. */
function postgresSkipped(): string | undefined {
	const { DATABASES = "all" } = process.env;
	if (DATABASES !== "all" && DATABASES !== "sqlite")
		throw new Error(`DATABASES is "all" or "sqlite", not "${DATABASES}"`);
	return DATABASES === "sqlite" ? "DATABASES=sqlite" : postgresMissing;
}

function sqlitePlaces(): Databases {
	const made: string[] = [];
	afterAll(async () => {
		for (const directory of made)
			await rm(directory, { recursive: true, force: true });
	});
	return {
		get postgres(): Postgres {
			throw new Error("this is SQLite");
		},
		async place(name = "data") {
			const parent = await mkdtemp(join(databaseDirectory, "guildhall-store-"));
			made.push(parent);
			const directory = join(parent, name.replaceAll("/", "_"));
			return {
				settings: { databaseUrl: undefined, schema: undefined, directory },
				shown: directory,
				async look(text) {
					await using sql = new SQL({
						adapter: "sqlite",
						filename: join(directory, "store.sqlite"),
						bigint: true,
					});
					await sql.unsafe("PRAGMA busy_timeout = 5000");
					return [...(await sql.unsafe(text))];
				},
			};
		},
	};
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

/** A store that has made its first attempt. Retries come quickly. */
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
		...changes,
	});
	await store.opened;
	return {
		store,
		logged,
		[Symbol.asyncDispose]: () => store.close(),
	};
}
