// Outages of the database: the store waits, shows the reason, and never the password.

import { afterAll, expect, test } from "bun:test";
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { startStore } from "../../../src/bot/store/store.ts";
import { freePort } from "../../../src/demo/ports.ts";
import { recordLog } from "../../support/log.ts";
import { password } from "../../support/postgres.ts";
import { onBoth, onOwnPostgres, openStore, thingsTable } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const options = { endsStatements: true };

onOwnPostgres((databases) => {
	/** The place's settings with another URL. */
	const at = (url: URL, schema = "elsewhere") => ({
		settings: { databaseUrl: url.href, schema, directory: "/nonexistent" },
	});
	const serverUrl = () => new URL(databases.postgres.url);

	test("after a kill and restart of the server the store is ready, with every confirmed row", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		const { store } = opened;
		await store.sql`INSERT INTO things (id) VALUES (${"before"})`;
		await databases.postgres.kill();
		await until("it has noticed", () => store.state === "degraded");
		const since = store.since;
		expect(store.sql`SELECT 1`).rejects.toMatchObject({ name: "StoreUnavailable", mayHaveRun: false });
		await until("it has tried again", () => store.reason?.startsWith("DATABASE_URL: nothing answers at 127.0.0.1:"));
		expect(store.since).toBe(since);
		await databases.postgres.start();
		await until("it is back", () => store.state === "ready");
		expect(store.reason).toBeUndefined();
		expect(await store.sql`SELECT id FROM things`).toEqual([{ id: "before" }]);
	});

	test("a store waits for locked tables, and close ends the wait", async () => {
		const place = await databases.place();
		const first = await openStore(place);
		await first.store.close();
		await using sql = new SQL(databases.postgres.url, { max: 1 });
		const held = Promise.withResolvers<void>();
		const over = Promise.withResolvers<void>();
		const holding = sql.begin(async (tx) => {
			await tx.unsafe(`LOCK TABLE "${place.shown}".migrations IN ACCESS EXCLUSIVE MODE`);
			held.resolve();
			await over.promise;
		});
		await held.promise;
		const { databaseUrl, schema, directory } = place.settings;
		const store = startStore({
			databaseUrl,
			schema,
			directory,
			instance: "second",
			log: recordLog().log,
			migrations: [thingsTable],
		});
		await until("it waits for the lock", async () => {
			const rows = await databases.postgres.admin<object[]>("SELECT 1 FROM pg_locks WHERE NOT granted");
			return JSON.stringify(rows).includes("1");
		});
		await store.close();
		over.resolve();
		await holding;
	});

	test("on a stopped server a query ends at its timeout, outcome unknown", async () => {
		const place = await databases.place();
		await using opened = await openStore(place, { queryTimeoutMs: 1_000, connectTimeoutMs: 900 });
		const { store } = opened;
		await until("it is open", () => store.state === "ready");
		await databases.postgres.stop();
		const insert = store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		expect(await insert.catch((error) => error)).toMatchObject({
			name: "StoreUnavailable",
			mayHaveRun: true,
			reason: expect.stringContaining("did not answer within 1 seconds"),
		});
		expect(store.state).toBe("degraded");
		await until("it has tried to connect", () => store.reason?.includes("did not answer within 0.9 seconds"));
		await databases.postgres.resume();
		await until("it is back", () => store.state === "ready");
		const rows = await store.sql`SELECT id FROM things`;
		expect(rows.length).toBeLessThan(2);
	});

	test("a store can be closed while its server is stopped", async () => {
		await using opened = await openStore(await databases.place());
		await using waiting = await openStore(at(serverUrl(), "waiting"));
		await databases.postgres.stop();
		await opened.store.close();
		await waiting.store.close();
		await databases.postgres.resume();
	});

	test("the server cancels a slow statement, and the claim stays", async () => {
		const place = await databases.place();
		await using opened = await openStore(place, { queryTimeoutMs: 2_000 });
		const { store } = opened;
		const slow = store.sql`SELECT pg_sleep(60)`;
		expect(await slow.catch((error) => error)).toMatchObject({
			name: "StoreUnavailable",
			mayHaveRun: false,
			reason: expect.stringContaining("timeout"),
		});
		expect(store.state).toBe("ready");
		await store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		expect(opened.logged.messages()).toEqual(["opened the database", "database did not run a statement"]);
	});

	test("the store starts before its database", async () => {
		const url = serverUrl();
		url.port = String(await freePort());
		await using opened = await openStore(at(url), { connectTimeoutMs: 500 });
		const { store } = opened;
		expect(store.state).toBe("degraded");
		expect(store.reason).toBe(`DATABASE_URL: nothing answers at 127.0.0.1:${url.port}`);
		// Something else listens there now.
		const silent = createServer().listen(Number(url.port), "127.0.0.1");
		await until("it has tried to connect", () => store.reason?.includes("did not answer within 0.5 seconds"));
		silent.close();
	});

	test.each<[string, (url: URL) => void, string]>([
		[
			"a wrong password",
			(url) => {
				url.password = "wr0ng-secret";
			},
			"refuses the user name or the password",
		],
		[
			"an unknown user",
			(url) => {
				url.username = "nobody-here";
			},
			"refuses the user name or the password",
		],
		[
			"an unknown database",
			(url) => {
				url.pathname = "/nowhere";
			},
			'has no database "nowhere"',
		],
		[
			"TLS that the server does not speak",
			(url) => {
				url.search = "?sslmode=require";
			},
			"does not support SSL",
		],
	])("%s is the reason, and retried", async (_, change, reason) => {
		const url = serverUrl();
		change(url);
		await using opened = await openStore(at(url));
		expect(opened.store.state).toBe("degraded");
		expect(opened.store.reason).toStartWith("DATABASE_URL: ");
		expect(opened.store.reason).toContain(reason);
		const said = opened.logged.lines.join();
		for (const secret of [password, url.password, "wr0ng"]) expect(said).not.toContain(secret);
	});

	test("a database that is created later is used, and no password is logged", async () => {
		const url = serverUrl();
		url.pathname = "/later";
		await using opened = await openStore(at(url));
		expect(opened.store.state).toBe("degraded");
		await databases.postgres.admin("CREATE DATABASE later");
		await until("it is ready", () => opened.store.state === "ready");
		const said = opened.logged.lines.join();
		expect(said).toContain('database \\"later\\"');
		expect(said).not.toContain(password);
		expect(said).not.toContain(encodeURIComponent(password));
	});

	test("a user without rights to the schema is the reason, until it gets them", async () => {
		await databases.postgres.admin("CREATE ROLE modest LOGIN PASSWORD 'modest'");
		const url = serverUrl();
		url.username = url.password = "modest";
		await using opened = await openStore(at(url, "modest"));
		expect(opened.store.reason).toStartWith(
			'DB_SCHEMA: the user of DATABASE_URL may not create or use the schema "modest"',
		);
		await databases.postgres.admin("CREATE SCHEMA modest AUTHORIZATION modest");
		await until("it is ready", () => opened.store.state === "ready");
	});

	test("a read-only database is degraded until it accepts writes", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		const { store } = opened;
		await store.sql`SET default_transaction_read_only TO on`;
		const write = store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		expect(await write.catch((error) => error)).toMatchObject({ name: "StoreUnavailable", mayHaveRun: false });
		expect(store.state).toBe("degraded");
		expect(store.reason).toContain("is read-only");
		expect(await store.sql`SELECT id FROM things`).toEqual([]);
		await store.sql`SET default_transaction_read_only TO off`;
		await until("it takes writes", () => store.state === "ready");
		await store.sql`INSERT INTO things (id) VALUES (${"a"})`;
	});
}, options);

onBoth((databases) => {
	test("a file or table that another program locks fails one query", async () => {
		const place = await databases.place();
		await using opened = await openStore(place, { queryTimeoutMs: 2_000 });
		const { store } = opened;
		const { databaseUrl, schema, directory } = place.settings;
		const other = databaseUrl
			? new SQL({ url: databaseUrl, max: 1 })
			: new SQL({ adapter: "sqlite", filename: join(directory, "store.sqlite") });
		await other.unsafe("BEGIN");
		await other.unsafe(databaseUrl ? `LOCK TABLE "${schema}".things` : "INSERT INTO things (id) VALUES ('theirs')");
		const blocked = store.sql`INSERT INTO things (id) VALUES (${"ours"})`;
		expect(await blocked.catch((error) => error)).toMatchObject({ name: "StoreUnavailable", mayHaveRun: false });
		expect(store.state).toBe("ready");
		const waiting = store.transaction((sql) => sql`INSERT INTO things (id) VALUES (${"ours"})`);
		await other.unsafe("ROLLBACK");
		await waiting;
		expect(await store.sql`SELECT id FROM things`).toEqual([{ id: "ours" }]);
		await other.close();
	});
}, options);

const directory = join(tmpdir(), `guildhall-outage-${process.pid}`);
afterAll(() => rm(directory, { recursive: true, force: true }));
const sqliteAt = (directory: string) => ({ settings: { databaseUrl: undefined, schema: undefined, directory } });

test("the SQLite files are created with their directory, readable only by their owner", async () => {
	const deep = join(directory, "made/on/the/way");
	await using opened = await openStore(sqliteAt(deep));
	await opened.store.sql`INSERT INTO things (id) VALUES (${"a"})`;
	const files = [...new Bun.Glob("*").scanSync(deep)];
	expect(files.sort()).toContain("store.sqlite-wal");
	for (const file of files) {
		const { mode } = await Bun.file(join(deep, file)).stat();
		expect(`${file} ${(mode & 0o777).toString(8)}`).toBe(`${file} 600`);
	}
});

test("a DATA_DIR below a file is a configuration error", async () => {
	await Bun.write(join(directory, "file"), "");
	expect(openStore(sqliteAt(join(directory, "file/below")))).rejects.toThrow(
		`DATA_DIR: cannot create or write the directory ${JSON.stringify(join(directory, "file/below"))} (ENOTDIR)`,
	);
});

test.skipIf(process.getuid?.() === 0)(
	"a DATA_DIR without write permission is a configuration error (root may write anywhere)",
	async () => {
		const locked = join(directory, "locked");
		await mkdir(locked, { recursive: true });
		await chmod(locked, 0o500);
		expect(openStore(sqliteAt(locked))).rejects.toThrow(/DATA_DIR: .*EACCES/);
	},
);

test("a file that is not a database is the reason, and retried", async () => {
	const junk = join(directory, "junk");
	await Bun.write(join(junk, "store.sqlite"), "not a database ".repeat(500));
	await using opened = await openStore(sqliteAt(junk));
	const { store } = opened;
	expect(store.state).toBe("degraded");
	expect(store.reason).toStartWith(`DATA_DIR: ${join(junk, "store.sqlite")} is damaged or not a database`);
	await Bun.file(join(junk, "store.sqlite")).delete();
	await until("it is ready", () => store.state === "ready");
});
