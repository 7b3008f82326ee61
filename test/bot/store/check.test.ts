// The database part of `bot --check`. It changes nothing.

import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkStore } from "../../../src/bot/store/store.ts";
import { CheckFailed } from "../../../src/lib/program/check.ts";
import { password } from "../../support/postgres.ts";
import { onBoth, onOwnPostgres, openStore, type Place, thingsTable } from "../../support/stores.ts";

const migrations = [thingsTable];
const more = { number: 2, name: "more", text: "CREATE TABLE more (id TEXT)" };

const check = ({ settings }: Pick<Place, "settings">, known = migrations) =>
	checkStore(settings, { migrations: known });

/** The reason of the failed check. */
async function failure(checked: Promise<string>): Promise<string> {
	const error = await checked.catch((error: unknown) => error);
	expect(error).toBeInstanceOf(CheckFailed);
	const { message, nextStep = "" } = error as CheckFailed;
	expect(message + nextStep).not.toContain(password);
	expect(message + nextStep).not.toContain(encodeURIComponent(password));
	return message;
}

const filesIn = ({ settings }: Place) => readdirSync(settings.directory).sort();

onBoth((databases, kind) => {
	test("a new database passes, and nothing is created", async () => {
		const place = await databases.place();
		for (let time = 0; time < 2; time++)
			expect(await check(place)).toMatch(new RegExp(`^${kind} .*: the (file|schema) will be created$`));
	});

	test("the tables of an earlier run pass", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		expect(await check(place)).toMatch(/, version \d[\d.]*: the tables are up to date$/);
		await using _ = await openStore(place);
	});

	test("a running instance is not disturbed", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		const { sql } = opened.store;
		await sql`INSERT INTO things (id, big) VALUES ('a', 1)`;
		expect(await check(place)).toEndWith(": the tables are up to date");
		await sql`INSERT INTO things (id, big) VALUES ('b', 2)`;
		expect(await sql`SELECT id FROM things ORDER BY id`).toEqual([{ id: "a" }, { id: "b" }]);
		expect(opened.store.state).toBe("ready");
	});

	test("an older version's tables pass, and are not migrated", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		for (let time = 0; time < 2; time++)
			expect(await check(place, [thingsTable, more])).toEndWith(
				"the tables are from an older version; 1 migration(s) will be applied",
			);
	});

	test("a newer version's tables fail", async () => {
		const place = await databases.place();
		const newer = [thingsTable, more];
		await (await openStore(place, { migrations: newer })).store.close();
		const message = await failure(check(place));
		expect(message).toStartWith("The database is newer than this program: ");
		expect(message).toContain("has migration 2 (more), and this program has 1.");
	});

	test("another program's tables fail", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		await place.look("ALTER TABLE migrations RENAME COLUMN checksum TO batch");
		expect(await failure(check(place))).toEndWith('the table "migrations" belongs to another program');
	});

	test("tables of edited migrations fail", async () => {
		const place = await databases.place();
		await (await openStore(place)).store.close();
		const edited = { ...thingsTable, text: `${thingsTable.text} ` };
		expect(await failure(check(place, [edited]))).toContain("was made by another version of this program");
	});
});

onOwnPostgres((databases) => {
	const urlWith = (change: (url: URL) => void) => {
		const url = new URL(databases.postgres.url);
		change(url);
		return { databaseUrl: url.href, schema: "x", directory: "/nowhere" };
	};

	test.each<[what: string, change: (url: URL) => void, reason: RegExp]>([
		[
			"a wrong password",
			(url) => {
				url.password = "other-password";
			},
			/refuses the user name or the password/,
		],
		[
			"an unknown database",
			(url) => {
				url.pathname = "/absent";
			},
			/has no database "absent"$/,
		],
		[
			"a closed port",
			(url) => {
				url.port = "1";
			},
			/nothing answers at 127\.0\.0\.1:1$/,
		],
	])("%s fails", async (_, change, reason) => {
		expect(await failure(checkStore(urlWith(change)))).toMatch(reason);
	});

	test("invalid settings fail without a connection", async () => {
		const databaseUrl = "postgres://u:p@h/d";
		const settings = { databaseUrl, schema: undefined, directory: "/nowhere" };
		expect(await failure(checkStore(settings))).toStartWith("DB_SCHEMA: ");
	});

	test("a user without rights to create or use the schema fails", async () => {
		await databases.postgres.admin("CREATE ROLE weak LOGIN PASSWORD 'weak-one'");
		await databases.postgres.admin('CREATE SCHEMA "theirs"');
		const settings = urlWith((url) => {
			url.username = "weak";
			url.password = "weak-one";
		});
		expect(await failure(checkStore({ ...settings, schema: "new" }))).toEndWith(
			"the schema does not exist, and the user of DATABASE_URL may not create it",
		);
		expect(await failure(checkStore({ ...settings, schema: "theirs" }))).toMatch(/may not use the schema/);
		await databases.postgres.admin('GRANT ALL ON SCHEMA "theirs" TO weak');
		expect(await checkStore({ ...settings, schema: "theirs" })).toEndWith(": the tables will be created");
	});

	test("a stopped server fails at the timeout", async () => {
		const place = await databases.place();
		await databases.postgres.stop();
		try {
			const checked = checkStore(place.settings, { timeoutMs: 300 });
			expect(await failure(checked)).toContain("did not answer within 0.3 seconds");
		} finally {
			await databases.postgres.resume();
		}
	});

	test("a read-only server fails", async () => {
		const { admin } = databases.postgres;
		await admin("CREATE ROLE reader LOGIN PASSWORD 'reads-only'");
		await admin("ALTER ROLE reader SET default_transaction_read_only = on");
		const settings = urlWith((url) => {
			url.username = "reader";
			url.password = "reads-only";
		});
		expect(await failure(checkStore(settings))).toStartWith("the database is read-only: ");
	});
});

describe("SQLite files", () => {
	onBoth((databases, kind) => {
		if (kind !== "SQLite") return;

		test("are not created or left behind", async () => {
			const place = await databases.place();
			await check(place);
			expect(() => filesIn(place)).toThrow("ENOENT");
			await (await openStore(place)).store.close();
			const before = filesIn(place);
			await check(place);
			expect(filesIn(place)).toEqual(before);
		});

		test("of a killed instance are kept for the next one", async () => {
			const place = await databases.place();
			await using opened = await openStore(place);
			await opened.store.sql`INSERT INTO things (id, big) VALUES ('a', 1)`;
			const before = filesIn(place);
			expect(before).toContain("store.sqlite-wal");
			await check(place);
			expect(filesIn(place)).toEqual(before);
		});

		test("a file that is not a database fails", async () => {
			const place = await databases.place();
			mkdirSync(place.settings.directory, { recursive: true });
			const file = join(place.settings.directory, "store.sqlite");
			writeFileSync(file, "hello ".repeat(1_000));
			expect(await failure(check(place))).toMatch(/^DATA_DIR: .*store\.sqlite is damaged or not a database/);
			expect(filesIn(place)).toEqual(["store.sqlite"]);
		});

		test("an empty file passes", async () => {
			const place = await databases.place();
			mkdirSync(place.settings.directory, { recursive: true });
			writeFileSync(join(place.settings.directory, "store.sqlite"), "");
			expect(await check(place)).toEndWith(": the tables will be created");
			expect(filesIn(place)).toEqual(["store.sqlite"]);
		});

		test("a file instead of the directory or its parent fails", async () => {
			const { settings } = await databases.place();
			writeFileSync(settings.directory, "");
			const below = join(settings.directory, "a/b");
			for (const directory of [settings.directory, below])
				expect(await failure(check({ settings: { ...settings, directory } }))).toBe(
					`DATA_DIR: ${JSON.stringify(settings.directory)} is not a directory`,
				);
		});

		// Root may write everywhere.
		test.skipIf(process.getuid?.() === 0)("a directory that cannot be written fails", async () => {
			const place = await databases.place();
			mkdirSync(place.settings.directory, { recursive: true, mode: 0o500 });
			chmodSync(place.settings.directory, 0o500);
			expect(await failure(check(place))).toMatch(/cannot be written \(EACCES\)/);
		});
	});
});
