// Migrations on both databases: once each, completely or not at all, and refused if they do not fit.

import { expect, test } from "bun:test";
import { migrations } from "../../../src/bot/store/tables.ts";
import type { Migration } from "../../../src/lib/store/migrations.ts";
import { onBoth, openStore, type Place, thingsTable } from "../../support/stores.ts";

const second: Migration = {
	number: 2,
	name: "names",
	text: "CREATE TABLE names (id TEXT); INSERT INTO names (id) VALUES ('first'); ALTER TABLE things ADD COLUMN name TEXT",
};

onBoth((databases, kind) => {
	/** The names of all tables, and the rows of those that the tests fill. */
	const contentOf = async ({ look }: Place) => [
		await look(
			kind === "SQLite"
				? "SELECT name, sql FROM sqlite_master ORDER BY name"
				: "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2",
		),
		await look("SELECT * FROM migrations ORDER BY number"),
		await look("SELECT * FROM things"),
	];

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

	test("a failed migration rolls all back, and the start fails", async () => {
		const place = await databases.place();
		const broken = { ...second, text: `${second.text}; INSERT INTO nowhere (id) VALUES ('x')` };
		await using opened = await openStore(place, { migrations: [thingsTable, broken] });
		expect((await opened.store.failed).message).toStartWith("Database migration 2 (names) failed: ");
		await opened.store.close();
		await using fixed = await openStore(place, { migrations: [thingsTable, second] });
		expect(await fixed.store.sql`SELECT id FROM names`).toEqual([{ id: "first" }]);
		expect(fixed.logged.lines.join()).toContain('"migrations_applied":2');
	});

	test("an invalid first migration fails the start", async () => {
		const place = await databases.place();
		await using opened = await openStore(place, {
			migrations: [{ number: 1, name: "typo", text: "CREATE TABEL x (id)" }],
		});
		expect((await opened.store.failed).message).toStartWith("Database migration 1 (typo) failed: ");
	});

	test.each<
		[what: string, first: Migration[], change: string, known: readonly Migration[], theirs: string, ours: string]
	>([
		[
			"that was edited",
			[thingsTable],
			"",
			[{ ...thingsTable, text: `${thingsTable.text} ` }],
			"1 (things)",
			"1 (things)",
		],
		["of another program", [thingsTable, second], "", migrations, "1 (things)", "1 (tables of the bot)"],
		[
			"that was skipped",
			[thingsTable, second],
			"DELETE FROM migrations WHERE number = 1",
			[thingsTable, second],
			"2 (names)",
			"1 (things)",
		],
	])(
		"a database with a migration %s is refused by name, and not changed",
		async (_, first, change, known, theirs, ours) => {
			const place = await databases.place();
			await using made = await openStore(place, { migrations: first });
			await made.store.sql`INSERT INTO things (id) VALUES (${"kept"})`;
			await made.store.close();
			if (change) await place.look(change);
			const before = await contentOf(place);
			await using opened = await openStore(place, { migrations: known });
			const { message } = await opened.store.failed;
			expect(message).toContain(place.shown);
			expect(message).toContain(`its migration ${theirs} is not this program's migration ${ours}`);
			expect(message).toContain(`set ${kind === "SQLite" ? "DATA_DIR" : "DB_SCHEMA"} to a new value`);
			expect(opened.store.sql`SELECT 1`).rejects.toThrow(/database is unavailable/);
			await opened.store.close();
			expect(await contentOf(place)).toEqual(before);
		},
	);

	test("a newer database is refused and not changed", async () => {
		const place = await databases.place();
		const newer = { migrations: [thingsTable, second] };
		await (await openStore(place, newer)).store.close();
		await using opened = await openStore(place);
		const { message } = await opened.store.failed;
		expect(message).toStartWith("The database is newer than this program: ");
		expect(message).toContain(place.shown);
		expect(message).toEndWith(
			" has migration 2 (names), and this program has 1. Run the newer program, or restore an older backup.",
		);
		await opened.store.close();
		await using again = await openStore(place, newer);
		expect(again.store.state).toBe("ready");
	});

	test("the current tables are created", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		expect(opened.store.reason).toBeUndefined();
		const [row] = await opened.store.sql`SELECT max(number) AS last FROM migrations`;
		expect(row).toEqual({ last: migrations.length });
	});
});
