// The store on both databases.

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { many } from "../../../src/lib/store/statement.ts";
import { onBoth, openStore } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

onBoth((databases, kind) => {
	test("the first start creates the tables", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		expect(opened.store.reason).toBeUndefined();
		expect(opened.store.state).toBe("ready");
		expect(await opened.store.sql`SELECT id FROM things`).toEqual([]);
		expect(opened.logged.messages()).toEqual(["opened the database"]);
	});

	test("rows are kept over a restart", async () => {
		const place = await databases.place();
		{
			await using first = await openStore(place);
			await first.store.sql`INSERT INTO things (id) VALUES (${"kept"})`;
		}
		await using second = await openStore(place);
		expect(await second.store.sql`SELECT id FROM things`).toEqual([{ id: "kept" }]);
		expect(second.logged.lines.join()).toContain('"migrations_applied":0');
	});

	test("values above 2^53 are exact", async () => {
		await using opened = await openStore(await databases.place());
		const { sql } = opened.store;
		const id = "18446744073709551615";
		const rows = [
			{ id, big: 2n ** 63n - 1n },
			{ id: "9007199254740993", big: -(2n ** 53n) - 1n },
			{ id: "0", big: 1_795_266_231_000 },
		];
		await sql`INSERT INTO things ${many(rows)}`;
		expect(await sql`SELECT id, big FROM things ORDER BY big DESC`).toEqual([
			{ id, big: 2n ** 63n - 1n },
			{ id: "0", big: 1_795_266_231_000 },
			{ id: "9007199254740993", big: -(2n ** 53n) - 1n },
		]);
		expect(await sql`SELECT id FROM things WHERE big = ${2n ** 63n - 1n}`).toEqual([{ id }]);
	});

	test("counts and times are numbers", async () => {
		await using opened = await openStore(await databases.place());
		const { sql } = opened.store;
		const now = Date.now();
		await sql`INSERT INTO things ${many([{ id: "a", big: now }])}`;
		expect(await sql`SELECT count(*) AS things, max(big) AS latest FROM things WHERE big <= ${now}`).toEqual([
			{ things: 1, latest: now },
		]);
	});

	test("values never become SQL", async () => {
		await using opened = await openStore(await databases.place());
		const { sql } = opened.store;
		const ids = ["'; DROP TABLE things; --", '"', "\\", "$1", "?", "%", "🧵é\u0301"];
		await sql`INSERT INTO things ${many(ids.map((id) => ({ id })))}`;
		for (const id of ids) expect(await sql`SELECT id FROM things WHERE id = ${id}`).toEqual([{ id }]);
		const found = await sql`SELECT id FROM things WHERE id IN ${many(ids.slice(0, 2))}`;
		expect(found).toHaveLength(2);
	});

	test("a conflict rejects with its own error, and the store stays ready", async () => {
		await using opened = await openStore(await databases.place());
		const { store } = opened;
		await store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		const again = store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		expect(again).rejects.toThrow(/unique/i);
		await again.catch(() => {});
		expect(store.state).toBe("ready");
		await store.sql`INSERT INTO things (id, big) VALUES (${"a"}, ${2})
			ON CONFLICT (id) DO UPDATE SET big = excluded.big`;
		expect(await store.sql`SELECT big FROM things`).toEqual([{ big: 2 }]);
	});

	test("a transaction that throws is rolled back", async () => {
		await using opened = await openStore(await databases.place());
		const { store } = opened;
		const failed = store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"a"})`;
			throw new Error("changed my mind");
		});
		expect(failed).rejects.toThrow("changed my mind");
		await failed.catch(() => {});
		expect(await store.sql`SELECT id FROM things`).toEqual([]);
	});

	test("a failed statement rolls back its transaction, even if its error is caught", async () => {
		await using opened = await openStore(await databases.place());
		const { store } = opened;
		const failed = store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"a"})`;
			await sql`INSERT INTO things (id) VALUES (${"a"})`.catch(() => {});
			return "fine";
		});
		expect(failed).rejects.toThrow(/unique/i);
		await failed.catch(() => {});
		expect(await store.sql`SELECT id FROM things`).toEqual([]);
	});

	test("a transaction returns the result of its work, and its sql ends with it", async () => {
		await using opened = await openStore(await databases.place());
		const { store } = opened;
		const [sql, rows] = await store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"a"})`;
			return [sql, await sql`SELECT id FROM things`] as const;
		});
		expect(rows).toEqual([{ id: "a" }]);
		expect(sql`SELECT 1`).rejects.toThrow("the database transaction has already ended");
	});

	test("a statement during a transaction is not part of it", async () => {
		await using opened = await openStore(await databases.place());
		const { store } = opened;
		const begun = Promise.withResolvers<void>();
		const asked = Promise.withResolvers<void>();
		const failed = store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"inside"})`;
			begun.resolve();
			await asked.promise;
			throw new Error("rolled back");
		});
		await begun.promise;
		const outside = store.sql`INSERT INTO things (id) VALUES (${"outside"})`;
		asked.resolve();
		expect(failed).rejects.toThrow("rolled back");
		await outside;
		expect(await store.sql`SELECT id FROM things`).toEqual([{ id: "outside" }]);
	});

	test("a transaction that does not end is cancelled", async () => {
		await using opened = await openStore(await databases.place(), { queryTimeoutMs: 300 });
		const { store } = opened;
		const stuck = store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"stuck"})`;
			await new Promise(() => {});
		});
		expect(await stuck.catch((error) => error)).toMatchObject({ name: "StoreUnavailable", mayHaveRun: false });
		// Also reads end at the timeout, on a loaded machine.
		const rows = await until(
			"the store is back",
			() => store.state === "ready" && store.sql`SELECT id FROM things`.catch(() => undefined),
		);
		expect(rows).toEqual([]);
	});

	test("statements that wait for a cancelled transaction reject with nothing stored", async () => {
		await using opened = await openStore(await databases.place(), { queryTimeoutMs: 400 });
		const { store } = opened;
		const begun = Promise.withResolvers<void>();
		const end = Promise.withResolvers<void>();
		const long = store.transaction(async () => {
			begun.resolve();
			await end.promise;
		});
		await begun.promise;
		const waiting = [1, 2].map((number) =>
			store.sql`INSERT INTO things (id) VALUES (${String(number)})`.catch((error) => error),
		);
		await long.catch(() => {});
		for (const error of await Promise.all(waiting))
			expect(error).toMatchObject({ name: "StoreUnavailable", mayHaveRun: false });
		end.resolve();
		// Also reads end at the timeout, on a loaded machine.
		const rows = await until(
			"the store is back",
			() => store.state === "ready" && store.sql`SELECT id FROM things`.catch(() => undefined),
		);
		expect(rows).toEqual([]);
	});

	test("a closed store rejects statements", async () => {
		const opened = await openStore(await databases.place());
		const { store } = opened;
		const last = store.sql`INSERT INTO things (id) VALUES (${"last"})`;
		await store.close();
		expect(await last).toEqual([]);
		expect(store.state).toBe("degraded");
		expect(store.sql`SELECT 1`).rejects.toThrow(/database is unavailable/);
	});

	test.each([['a"b; DROP SCHEMA public; --'], ["Émile's $$ Bar"], ["UPPER lower"], ["select"], ["a".repeat(63)]])(
		"a schema or directory may be called %s",
		async (name) => {
			await using opened = await openStore(await databases.place(name));
			await opened.store.sql`INSERT INTO things (id) VALUES (${"a"})`;
			expect(await opened.store.sql`SELECT id FROM things`).toEqual([{ id: "a" }]);
		},
	);

	test("three instances do not touch each other", async () => {
		const places = await Promise.all([1, 2, 3].map(() => databases.place()));
		const [one, two, three] = await Promise.all(places.map((place) => openStore(place)));
		if (!one || !two || !three) throw new Error("three");
		for (const [index, { store }] of [one, two, three].entries())
			await store.sql`INSERT INTO things (id) VALUES (${`of ${index}`})`;
		await one.store.close();
		if (kind === "PostgreSQL") await databases.postgres.admin(`DROP SCHEMA "${places[1]?.shown}" CASCADE`);
		else await places[1]?.look("DROP TABLE things");
		expect(await three.store.sql`SELECT id FROM things`).toEqual([{ id: "of 2" }]);
		expect(three.store.state).toBe("ready");
		await two.store.close();
		await three.store.sql`INSERT INTO things (id) VALUES (${"more"})`;
		await three.store.close();
		expect(three.logged.messages()).toEqual(["opened the database"]);
	});
});

test("on SQLite no other program writes during a transaction", async () => {
	const directory = await mkdtemp(join(tmpdir(), "guildhall-store-"));
	const settings = { databaseUrl: undefined, schema: undefined, directory };
	await using opened = await openStore({ settings });
	await using other = new SQL({ adapter: "sqlite", filename: join(directory, "store.sqlite") });
	await opened.store.transaction(async (sql) => {
		await sql`SELECT id FROM things`;
		const theirs = other`INSERT INTO things (id) VALUES ('theirs')`;
		expect(await theirs.catch((error) => error.code)).toBe("SQLITE_BUSY");
		await sql`INSERT INTO things (id) VALUES (${"ours"})`;
	});
	expect(await other`SELECT id FROM things`).toEqual([{ id: "ours" }]);
	await opened.store.close();
	await rm(directory, { recursive: true });
});

test("inserting no rows is a TypeError", () => {
	expect(() => many([])).toThrow(TypeError);
});
