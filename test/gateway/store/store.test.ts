// The gateway's database: shared by gateways, opened again after a failure, and never waited for in vain.

import { expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "../../../src/demo/ports.ts";
import { migrations } from "../../../src/gateway/store/migrations.ts";
import { StoreUnavailable } from "../../../src/gateway/store/unavailable.ts";
import { StoreFailure } from "../../../src/lib/store/errors.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import type { Store } from "../../../src/lib/store/store.ts";
import { databaseDirectory } from "../../support/database-directory.ts";
import { openGatewayStore, storeSettingsOf } from "../../support/gateway-store.ts";
import { password } from "../../support/postgres.ts";
import { onBoth, onOwnPostgres, thingsTable } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const things = { migrations: [thingsTable] };
const insert =
	(id: string, big = 1) =>
	(sql: Sql) =>
		sql`INSERT INTO things (id, big) VALUES (${id}, ${big})`;
const ids = async (sql: Sql) => {
	const rows = await sql<{ id: string }>`SELECT id FROM things ORDER BY id`;
	return rows.map(({ id }) => id);
};

/** Opens a store whose timeout may be too short for a slow machine. */
const opens = (store: Store) =>
	until("it is open", () =>
		store.ready().then(
			() => true,
			() => false,
		),
	);

/** A directory for SQLite that does not exist yet. */
async function temporaryPlace() {
	const parent = await mkdtemp(join(databaseDirectory, "guildhall-store-"));
	const directory = join(parent, "data");
	return {
		place: { settings: { databaseUrl: undefined, schema: undefined, directory } },
		[Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
	};
}

onBoth((databases, kind) => {
	test("gateways that start at once on an empty database share it", async () => {
		const place = await databases.place();
		await using a = openGatewayStore(place, things);
		await using b = openGatewayStore(place, things);
		await Promise.all([a.store.ready(), b.store.ready()]);
		await insert("from a")(a.store.sql);
		await insert("from b")(b.store.sql);
		expect(await ids(a.store.sql)).toEqual(["from a", "from b"]);
		expect(await ids(b.store.sql)).toEqual(["from a", "from b"]);
		const opened = [a, b].flatMap(({ logged }) => logged.entries("opened the database"));
		expect(opened.map(({ migrations_applied }) => migrations_applied).sort()).toEqual([0, 1]);
	});

	test("the migrations of the gateway apply, and apply once", async () => {
		const place = await databases.place();
		for (const applied of [migrations.length, 0]) {
			await using opened = openGatewayStore(place);
			await opened.store.ready();
			expect(opened.logged.entries("opened the database")).toMatchObject([{ migrations_applied: applied }]);
		}
	});

	test("a transaction takes effect as a whole or not at all", async () => {
		await using opened = openGatewayStore(await databases.place(), things);
		const { store } = opened;
		await store.transaction(async (sql) => {
			await insert("1")(sql);
			await insert("2")(sql);
		});
		const failing = store.transaction(async (sql) => {
			await insert("3")(sql);
			throw new RangeError("changed its mind");
		});
		await expect(failing).rejects.toThrow(RangeError);
		const duplicate = store.transaction(async (sql) => {
			await insert("4")(sql);
			await insert("1")(sql);
		});
		await expect(duplicate).rejects.toThrow(/unique/i);
		expect(await ids(store.sql)).toEqual(["1", "2"]);
	});

	test("of many that use up a row at once, one succeeds", async () => {
		const place = await databases.place();
		await using a = openGatewayStore(place, things);
		await using b = openGatewayStore(place, things);
		await insert("once")(a.store.sql);
		const use = (sql: Sql) => sql`DELETE FROM things WHERE id = ${"once"} RETURNING id`;
		const results = await Promise.all(Array.from({ length: 10 }, (_, index) => use((index % 2 ? a : b).store.sql)));
		expect(results.map((rows) => rows.length).sort()).toEqual([...Array(9).fill(0), 1]);
	});

	test("times come back exactly", async () => {
		await using opened = openGatewayStore(await databases.place(), things);
		const at = Date.UTC(2030, 0, 1);
		await insert("time", at)(opened.store.sql);
		const [row] = await opened.store.sql`SELECT big FROM things WHERE big > ${at - 1}`;
		expect(row?.big).toBe(at);
	});

	test("a transaction that hangs ends with StoreUnavailable, and the next one works", async () => {
		await using opened = openGatewayStore(await databases.place(), { ...things, queryTimeoutMs: 300 });
		const { store } = opened;
		await opens(store);
		const hanging = store.transaction(async (sql) => {
			await insert("never")(sql);
			await new Promise(() => {});
		});
		await expect(hanging).rejects.toThrow(StoreUnavailable);
		const next = (sql: Sql) => sql`INSERT INTO things (id) VALUES (${"next"}) ON CONFLICT DO NOTHING`;
		await until("it works", () => next(store.sql).catch(() => false));
		const read = await until("it can be read", () => ids(store.sql).catch(() => false));
		expect(read).toEqual(["next"]);
	});

	test("statements and transactions beyond the limit are refused", async () => {
		// Long, so that no statement ends by its time on a busy machine.
		await using opened = openGatewayStore(await databases.place(), { ...things, queryTimeoutMs: 60_000 });
		const { store } = opened;
		await store.ready();
		const results = await Promise.allSettled(Array.from({ length: 1_100 }, () => store.sql`SELECT 1`));
		const refused = results.filter(({ status }) => status === "rejected");
		expect(refused.length).toBeGreaterThan(0);
		expect(refused.length).toBeLessThanOrEqual(100);
		for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toBeInstanceOf(StoreUnavailable);
	});

	test("a database of a newer program is a failure that another attempt would not help", async () => {
		const place = await databases.place();
		const second = { ...thingsTable, number: 2, text: "CREATE TABLE more (x TEXT)" };
		await using newer = openGatewayStore(place, { migrations: [thingsTable, second] });
		await newer.store.ready();
		await using older = openGatewayStore(place, things);
		await expect(older.store.ready()).rejects.toThrow(StoreFailure);
		expect((await older.store.failed).message).toContain("The database is newer than this program");
		await expect(ids(older.store.sql)).rejects.toThrow(StoreUnavailable);
	});

	test("a database with other migrations is refused by name, and not changed", async () => {
		const place = await databases.place();
		await using former = openGatewayStore(place, things);
		await insert("kept")(former.store.sql);
		await former.store.close();
		const before = await place.look("SELECT * FROM migrations");
		await using opened = openGatewayStore(place);
		const { message } = await opened.store.failed;
		expect(message).toContain(place.shown);
		expect(message).toContain("its migration 1 (things) is not this program's migration 1 (tables of the gateway)");
		expect(message).toContain(`set ${kind === "SQLite" ? "GATEWAY_DATABASE" : "GATEWAY_DB_SCHEMA"} to a new value`);
		await opened.store.close();
		expect(await place.look("SELECT * FROM migrations")).toEqual(before);
		expect(await place.look("SELECT id FROM things")).toEqual([{ id: "kept" }]);
		expect(place.look("SELECT name FROM keys")).rejects.toThrow();
	});

	test("after close nothing runs, and what ran before is finished", async () => {
		const place = await databases.place();
		const { store } = openGatewayStore(place, things);
		await store.ready();
		const before = insert("before")(store.sql);
		await before;
		await store.close();
		await expect(ids(store.sql)).rejects.toThrow(StoreUnavailable);
		await expect(store.ready()).rejects.toThrow(StoreUnavailable);
		expect(await place.look("SELECT id FROM things")).toEqual([{ id: "before" }]);
	});
});

onOwnPostgres((databases) => {
	test("tables that were dropped are created again", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place, things);
		const { store } = opened;
		await store.ready();
		await place.look("DROP TABLE things; DROP TABLE migrations");
		await expect(ids(store.sql)).rejects.toThrow(StoreUnavailable);
		await until("they are there", () => ids(store.sql).catch(() => false));
	});

	test("a gateway that runs when a newer one migrates goes on, without the database once its connection is lost", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place, things);
		const { store } = opened;
		await store.ready();
		const second = { number: 2, name: "more", text: "CREATE TABLE more (x TEXT)" };
		await using newer = openGatewayStore(place, { migrations: [thingsTable, second] });
		await newer.store.ready();
		expect(await ids(store.sql)).toEqual([]);
		await databases.postgres.admin(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '% guildhall gateway'",
		);
		await until("it has tried again", () => store.reason?.includes("newer than this program"));
		await expect(ids(store.sql)).rejects.toThrow(StoreUnavailable);
		expect(await Promise.race([store.failed, "goes on"])).toBe("goes on");
	});

	test("without its server nothing is answered, and at once; after its return all is", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place, things);
		const { store, logged } = opened;
		await insert("before")(store.sql);
		await databases.postgres.kill();
		for (let count = 0; count < 20; count++) await expect(ids(store.sql)).rejects.toThrow(StoreUnavailable);
		await until("the reason is logged", () =>
			logged
				.entries("database is unavailable or read-only")
				.some(({ reason }) => /^GATEWAY_DATABASE: nothing answers at 127\.0\.0\.1:\d+$/.test(String(reason))),
		);
		await databases.postgres.start();
		await until("it is back", () => ids(store.sql).catch(() => false));
		expect(await ids(store.sql)).toEqual(["before"]);
		expect(logged.lines.join()).not.toContain(password);
		expect(logged.lines.join()).not.toContain(encodeURIComponent(password));
	});

	test("a server that hangs is given up after the timeout", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place, { ...things, queryTimeoutMs: 500, connectTimeoutMs: 500 });
		const { store } = opened;
		await opens(store);
		await databases.postgres.stop();
		await expect(ids(store.sql)).rejects.toThrow(/did not answer within 0.5/);
		await expect(ids(store.sql)).rejects.toThrow(StoreUnavailable);
		await databases.postgres.resume();
		await until("it is back", () => ids(store.sql).catch(() => false));
	});

	test("a gateway that starts before its server opens the database later", async () => {
		const url = new URL(databases.postgres.url);
		url.port = String(await freePort());
		await using opened = openGatewayStore({ settings: { databaseUrl: url.href, schema: "s", directory: "" } });
		await expect(opened.store.ready()).rejects.toThrow(StoreUnavailable);
		expect(opened.logged.lines.join()).not.toContain(encodeURIComponent(password));
	});
});

test("the files of SQLite are readable by their owner alone", async () => {
	await using made = await temporaryPlace();
	await using opened = openGatewayStore(made.place, things);
	await insert("1")(opened.store.sql);
	const { database } = storeSettingsOf(made.place);
	for (const file of [database, `${database}-wal`, `${database}-shm`])
		expect((await stat(file)).mode & 0o777).toBe(0o600);
	expect((await stat(join(database, ".."))).mode & 0o777).toBe(0o700);
});

test("a write waits while another process writes to the SQLite file, without blocking the gateway", async () => {
	await using made = await temporaryPlace();
	await using opened = openGatewayStore(made.place, things);
	const { store } = opened;
	await store.ready();
	const { database } = storeSettingsOf(made.place);
	await using other = new SQL({ adapter: "sqlite", filename: database });
	await other.unsafe("BEGIN IMMEDIATE");
	const writing = insert("waits")(store.sql);
	const transaction = store.transaction(insert("waits as well"));
	// The event loop goes on, so that the other process can end.
	await Bun.file(database).arrayBuffer();
	await other.unsafe("COMMIT");
	await Promise.all([writing, transaction]);
	expect(await ids(store.sql)).toEqual(["waits", "waits as well"]);
});

test("an SQLite file that cannot be created is named with its variable", async () => {
	await using made = await temporaryPlace();
	const { database } = storeSettingsOf(made.place);
	// Root may write to any directory, but not to a file inside a file.
	await Bun.write(join(database, ".."), "a file");
	await using opened = openGatewayStore(made.place, things);
	await expect(ids(opened.store.sql)).rejects.toThrow(
		/GATEWAY_DATABASE: .*store\.sqlite cannot be created \(E[A-Z]+\)/,
	);
});

test("a file that is no database is named", async () => {
	await using made = await temporaryPlace();
	const { database } = storeSettingsOf(made.place);
	await Bun.write(database, "not a database".repeat(1_000));
	await using opened = openGatewayStore(made.place, things);
	await expect(ids(opened.store.sql)).rejects.toThrow(/is damaged or not a database/);
});
