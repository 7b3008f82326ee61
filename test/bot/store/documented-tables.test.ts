// The document about security names every table of the databases of bot and gateway, and no other. What a bot does with its
// tables when data is shown or erased has an entry for each.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tableData } from "../../../src/bot/store/personal-data.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import { migrations as ofGateway } from "../../../src/gateway/store/migrations.ts";

const document = readFileSync(join(import.meta.dir, "../../../.github/SECURITY.md"), "utf8");
const [ofBotText = "", ofGatewayText = ""] = document.split("The gateway keeps in its database");
/** The columns of each table. */
const created = (given: typeof migrations) =>
	new Map(
		given.flatMap(({ text }) =>
			[...text.matchAll(/CREATE TABLE (\w+) \(([^;]+)\)/g)].map(([, name = "", columns = ""]) => {
				return [name, [...columns.matchAll(/^\s*([a-z_\d]+) [A-Z]/gm)].map(([, column = ""]) => column)] as const;
			}),
		),
	);
const documented = (text: string) =>
	text
		.split("\n")
		.filter((line) => line.startsWith("| ") && line.split(" | ").length === 3)
		.flatMap((line) => [...(line.split(" | ")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));

describe.each([
	["a bot", migrations, ofBotText.slice(ofBotText.indexOf("## What is logged"))],
	["the gateway", ofGateway, ofGatewayText],
] as const)("the database of %s", (_, given, text) => {
	test("has the tables in the document, and no others", () => {
		expect(documented(text).sort()).toEqual([...created(given).keys()].sort());
	});

	test.each([...created(given).keys()])("%s is in a row that says for how long", (name) => {
		const row = text.split("\n").find((line) => line.split(" | ")[1]?.includes(`\`${name}\``));
		expect(row?.split(" | ").at(-1)?.length).toBeGreaterThan(5);
	});
});

describe.each([...created(migrations)])("%s", (name, columns) => {
	test("has an entry, which says whose rows the ids of people make", () => {
		const { people = [] } = tableData[name] ?? {};
		const idsOfPeople = columns.filter((column) =>
			/^(?:user|chat|moderator|author|editor|actor)_id$|^(?:person|principal|acts|standings)$|_by$/.test(column),
		);
		const wheres = people.map(([, where]) => where).join(" ");
		expect([name in tableData, idsOfPeople.filter((column) => !wheres.includes(column))]).toEqual([true, []]);
	});

	test("has guild_id, or says which rows belong to a guild", () => {
		const { guild } = tableData[name] ?? {};
		expect(guild !== undefined || columns.includes("guild_id")).toBe(true);
	});
});

test("no entry is of a table that does not exist", () => {
	expect(Object.keys(tableData).filter((name) => !created(migrations).has(name))).toEqual([]);
});
