// What a test starts has its clock. Under a shifted one (shifted-clock.ts) little else would notice if it had not.

import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { startCommand } from "./program.ts";
import { onPostgres } from "./stores.ts";

test("a program has the time and the time zone of its test", async () => {
	const code = "console.log(Date.now(), Intl.DateTimeFormat().resolvedOptions().timeZone)";
	const before = Date.now();
	await using program = startCommand([process.execPath, "-e", code], {}, { cwd: tmpdir() });
	const [at, zone] = (await program.line((line) => line)).split(" ");
	expect(Number(at)).toBeWithin(before, Date.now() + 1);
	expect(zone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
});

onPostgres((databases) => {
	test("PostgreSQL has the time of its test", async () => {
		const before = Date.now();
		const [row] = await databases.postgres.admin<{ at: number }>(
			"SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS at",
		);
		expect(row?.at).toBeWithin(before, Date.now() + 1);
	});
});
