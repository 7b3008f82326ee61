// Migrations on either database: once each, whole or not at all, and refused where they are not ours.

import { expect, test } from "bun:test";
import type { Migration } from "../../../../src/bot/store/database/migrations.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore, thingsTable } from "../../../support/stores.ts";

const second: Migration = {
	number: 2,
	name: "names",
	text: "CREATE TABLE names (id TEXT); INSERT INTO names (id) VALUES ('first'); ALTER TABLE things ADD COLUMN name TEXT",
};

onBoth((databases) => {
	test("the ones that are missing are applied, in order, once", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		const both = { migrations: [thingsTable, second] };
		await (await openStore(place, both)).store.close();
		await using opened = await openStore(place, both);
		const { sql } = opened.store;
		expect(await sql`SELECT id FROM names`).toEqual([{ id: "first" }]);
		expect(
			await sql`SELECT number, name FROM migrations ORDER BY number`,
		).toEqual([
			{ number: 1, name: "things" },
			{ number: 2, name: "names" },
		]);
	});

	test("one that fails leaves nothing of itself, keeps those before it, and ends the start", async () => {
		const place = await databases.place();
		const broken = {
			...second,
			text: `${second.text}; INSERT INTO nowhere (id) VALUES ('x')`,
		};
		await using opened = await openStore(place, {
			migrations: [thingsTable, broken],
		});
		expect((await opened.store.failed).message).toStartWith(
			"Migration 2 (names) failed: ",
		);
		await opened.store.close();
		await using mended = await openStore(place, {
			migrations: [thingsTable, second],
		});
		expect(await mended.store.sql`SELECT id FROM names`).toEqual([
			{ id: "first" },
		]);
	});

	test("one that is no SQL ends the start for good", async () => {
		const place = await databases.place();
		await using opened = await openStore(place, {
			migrations: [{ number: 1, name: "typo", text: "CREATE TABEL x (id)" }],
		});
		expect((await opened.store.failed).message).toStartWith(
			"Migration 1 (typo) failed: ",
		);
	});

	test("an edited one is refused", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		await using opened = await openStore(place, {
			migrations: [{ ...thingsTable, text: `${thingsTable.text} ` }],
		});
		expect((await opened.store.failed).message).toStartWith(
			"Migration 1 (things) was edited after it had been applied",
		);
		expect(opened.store.sql`SELECT 1`).rejects.toThrow(
			/database is unavailable/,
		);
	});

	test("a database that is newer than the program is refused, and left as it is", async () => {
		const place = await databases.place();
		const newer = { migrations: [thingsTable, second] };
		await (await openStore(place, newer)).store.close();
		await using opened = await openStore(place);
		expect((await opened.store.failed).message).toBe(
			"The database is newer than this program: it has migration 2 (names), and this program has 1. Run the newer program, or restore an older backup.",
		);
		await opened.store.close();
		await using again = await openStore(place, newer);
		expect(again.store.state).toBe("ready");
	});

	test("a hole in their history is refused", async () => {
		const place = await databases.place();
		const both = { migrations: [thingsTable, second] };
		await (await openStore(place, both)).store.close();
		await place.look("DELETE FROM migrations WHERE number = 1");
		await using opened = await openStore(place, both);
		expect((await opened.store.failed).message).toContain(
			"Migration 1 was never applied",
		);
	});

	test("the tables of today are made", async () => {
		await using opened = await openStore(await databases.place(), {
			migrations,
		});
		expect(opened.store.reason).toBeUndefined();
		const [row] = await opened.store
			.sql`SELECT max(number) AS last FROM migrations`;
		expect(row).toEqual({ last: migrations.length });
	});
});

test("numbers with a gap are a fault of ours", () => {
	const place = {
		settings: {
			databaseUrl: undefined,
			schema: undefined,
			directory: "/tmp",
		},
	};
	expect(
		openStore(place, { migrations: [thingsTable, { ...second, number: 3 }] }),
	).rejects.toThrow('the migration "names" has the number 3');
});
