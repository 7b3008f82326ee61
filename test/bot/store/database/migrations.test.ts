// Migrations on both databases: once each, completely or not at all, and refused if they do not fit.

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
	test("missing migrations are applied once, in order", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		const both = { migrations: [thingsTable, second] };
		await (await openStore(place, both)).store.close();
		await using opened = await openStore(place, both);
		const { sql } = opened.store;
		expect(await sql`SELECT id FROM names`).toEqual([{ id: "first" }]);
		expect(await sql`SELECT number, name FROM migrations ORDER BY number`).toEqual([
			{ number: 1, name: "things" },
			{ number: 2, name: "names" },
		]);
	});

	test("a failed migration is rolled back, earlier ones stay, and the start fails", async () => {
		const place = await databases.place();
		const broken = {
			...second,
			text: `${second.text}; INSERT INTO nowhere (id) VALUES ('x')`,
		};
		await using opened = await openStore(place, {
			migrations: [thingsTable, broken],
		});
		expect((await opened.store.failed).message).toStartWith("Database migration 2 (names) failed: ");
		await opened.store.close();
		await using fixed = await openStore(place, {
			migrations: [thingsTable, second],
		});
		expect(await fixed.store.sql`SELECT id FROM names`).toEqual([{ id: "first" }]);
	});

	test("an invalid first migration fails the start", async () => {
		const place = await databases.place();
		await using opened = await openStore(place, {
			migrations: [{ number: 1, name: "typo", text: "CREATE TABEL x (id)" }],
		});
		expect((await opened.store.failed).message).toStartWith("Database migration 1 (typo) failed: ");
	});

	test("an edited migration is refused", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		await using opened = await openStore(place, {
			migrations: [{ ...thingsTable, text: `${thingsTable.text} ` }],
		});
		expect((await opened.store.failed).message).toStartWith(
			"Database migration 1 (things) was edited after it had been applied",
		);
		expect(opened.store.sql`SELECT 1`).rejects.toThrow(/database is unavailable/);
	});

	test("a newer database is refused and not changed", async () => {
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

	test("a gap in the history is refused", async () => {
		const place = await databases.place();
		const both = { migrations: [thingsTable, second] };
		await (await openStore(place, both)).store.close();
		await place.look("DELETE FROM migrations WHERE number = 1");
		await using opened = await openStore(place, both);
		expect((await opened.store.failed).message).toContain("Database migration 1 was never applied");
	});

	test("the current tables are created", async () => {
		await using opened = await openStore(await databases.place(), {
			migrations,
		});
		expect(opened.store.reason).toBeUndefined();
		const [row] = await opened.store.sql`SELECT max(number) AS last FROM migrations`;
		expect(row).toEqual({ last: migrations.length });
	});
});

test("the migrations are numbered 1, 2, 3 …", () => {
	const numbers = migrations.map(({ number }) => number);
	expect(numbers).toEqual(migrations.map((_, index) => index + 1));
});
