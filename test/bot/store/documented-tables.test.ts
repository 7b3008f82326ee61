// The document about security names every table of the bot's database.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../../src/bot/store/tables.ts";

const document = readFileSync(join(import.meta.dir, "../../../.github/SECURITY.md"), "utf8");
const created = migrations.flatMap(({ text }) =>
	[...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name ?? ""),
);
const rows = document.split("\n").filter((line) => line.startsWith("| "));

test("there are tables", () => {
	expect(created.length).toBeGreaterThan(20);
});

test.each(created)("%s is in a row that says for how long", (name) => {
	const row = rows.find((line) => line.split(" | ")[1]?.includes(`\`${name}\``));
	expect(row?.split(" | ").at(-1)?.length).toBeGreaterThan(5);
});
