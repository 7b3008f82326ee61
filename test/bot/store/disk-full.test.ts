// A full disk, on both databases, simulated by a limit on file sizes. For a disk that is really full the databases have
// other error codes.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { eachLine } from "../../../src/lib/program/lines.ts";
import { createPostgres } from "../../../src/lib/store/postgres.ts";
import { createSqlite } from "../../../src/lib/store/sqlite.ts";
import { clock } from "../../support/clock.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const limitKib = 2048;

/** An instance in its own process that writes rows until its files may not grow. */
function startFilling({ settings }: Place) {
	const child = Bun.spawn(
		[
			"sh",
			"-c",
			// Without the signal, the write fails, as it does on a full disk.
			`ulimit -f ${limitKib * 2}; trap '' XFSZ; exec "$0" "$@"`,
			process.execPath,
			join(import.meta.dir, "instance.fixture.ts"),
		],
		{
			env: {
				...clock,
				NAME: "filler",
				PADDING: "2000",
				DATA_DIR: settings.directory,
				...(settings.databaseUrl && { DATABASE_URL: settings.databaseUrl }),
				...(settings.schema && { DB_SCHEMA: settings.schema }),
			},
			stdin: "pipe",
			stdout: "pipe",
			stderr: "inherit",
		},
	);
	const lines: string[] = [];
	void eachLine(child.stdout, (line) => lines.push(line));
	return {
		lines,
		async [Symbol.asyncDispose]() {
			child.kill("SIGKILL");
			await child.exited;
		},
	};
}

onBoth(
	(databases, kind) => {
		test("a full disk refuses rows, keeps existing ones, and accepts rows again when there is room", async () => {
			const place = await databases.place();
			await using instance = startFilling(place);
			const full = await until("it is full", () => instance.lines.find((line) => line.includes('{"unavailable"')));
			expect(full).toMatch(/the disk of .* is full/);
			// The program's log is written after its other lines.
			await until("it is logged", () =>
				instance.lines.some((line) => line.includes("database is unavailable or read-only")),
			);
			const kept = await place.look("SELECT id FROM things");
			expect(kept.length).toBeGreaterThan(10);

			await place.look(kind === "SQLite" ? "DELETE FROM things; PRAGMA wal_checkpoint(TRUNCATE)" : "TRUNCATE things");
			await until("it writes again", async () => {
				const rows = await place.look("SELECT id FROM things LIMIT 1");
				return rows.length > 0;
			});
			await until("it is available", () => instance.lines.some((line) => line.includes('{"available"')));
			expect(instance.lines.join("\n")).not.toContain('{"failed"');
		});
	},
	{ maxFileKib: limitKib },
);

test("the error codes of a really full disk are classified as refused", () => {
	const user = { instance: "a", claims: true };
	const variables = { url: "DATABASE_URL", schema: "DB_SCHEMA" };
	const postgres = createPostgres({ url: "postgres://ada@db/bots", schema: "a", variables }, user);
	const refused = new SQL.PostgresError("could not write: No space left", {
		code: "ERR_POSTGRES_SERVER_ERROR",
		errno: "53100",
	});
	expect(postgres.explain(refused)).toMatchObject({ kind: "refused" });
	const sqlite = createSqlite({ file: "/data/store.sqlite", variable: "DATA_DIR" }, user);
	const full = new SQL.SQLiteError("database or disk is full", { code: "SQLITE_FULL", errno: 13 });
	expect(sqlite.explain(full)).toMatchObject({
		kind: "refused",
		reason: expect.stringContaining("DATA_DIR: the disk of /data/store.sqlite"),
	});
});
