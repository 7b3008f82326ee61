// The tool import_cases: what it reads, what it refuses, and that each case is stored once and sets off nothing.

import { expect, test } from "bun:test";
import { onBoth } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { moderator, staffedCases } from "./cases-world.ts";

const person = "123456789012345678";
const other = "223456789012345678";
const secret = "their secret";
const head = "user_id,action,date,reason";
const plain = `${head}\n${person},warn,2024-01-31,${secret}`;

onBoth((databases) => {
	const start = staffedCases(databases);
	const casesTest = testWith(start);

	casesTest("columns in any order, quotes, separators, line breaks and kinds of dates are understood", async (bot) => {
		const csv = [
			"\u{feff}Date;Case;USER ID;Moderator-ID;Action;Duration;Until;Reason;Staff note",
			`2024-02-29 12:00:00;#7;${person};${other};Warning;;;"a;""b""";`,
			`1700000000;8;${person};;mute;1h;;"two\nlines";`,
			"",
			`2024-01-31T00:00:00.5+01:00;x-9;${person};;temp ban;;2024-02-01;=HYPERLINK("x");`,
			`2024-01-30 02:00:00+02;;${other};;ban;0;;5" nails;`,
			`1706659200001;;${other};;kick;;;6" nails;`,
		].join("\r\n");
		const preview = await bot.call("import_cases", { source: "Dyno *", csv, dry_run: true });
		expect(preview.text).toContain("5 case(s) to import.\nFrom 2023-11-14T22:13:20Z to 2024-02-29T12:00:00Z.");
		expect(preview.text).toContain("In all: 1 timeout, 1 ban, 1 temp_ban, 1 kick, 1 warn.");
		expect(preview.text).toContain('Columns that are not understood and have no effect: "staff_note".');
		expect(await bot.all()).toEqual([]);
		expect((await bot.call("import_cases", { source: "Dyno *", csv })).text).toStartWith("Imported 5 case(s).");
		const alpha = bot.simulator.bot("alpha").id;
		expect(await bot.all()).toMatchObject([
			{ number: 1, action: "timeout", moderatorId: alpha, reason: "two lines", endsAt: 1_700_003_600_000 },
			{
				number: 2,
				action: "ban",
				userId: other,
				reason: '5" nails',
				endsAt: undefined,
				createdAt: Date.UTC(2024, 0, 30),
			},
			{ number: 3, action: "temp_ban", reason: '=HYPERLINK("x")', endsAt: Date.UTC(2024, 1, 1), told: undefined },
			{ number: 4, action: "kick", reason: '6" nails', createdAt: 1_706_659_200_001, state: "done" },
			{ number: 5, action: "warn", moderatorId: other, reason: 'a;"b"', createdAt: Date.UTC(2024, 1, 29, 12) },
		]);
		expect((await bot.call("list_cases", { number: 5 })).text).toContain("imported from Dyno \\\\* #7");
		expect(bot.entries).toMatchObject([{ title: "5 cases of Dyno \\* imported" }]);
	});

	casesTest("an export of Zeppelin is understood, and nothing else of JSON", async (bot) => {
		const one = { user_id: person, user_name: "a", mod_id: other, created_at: "2024-02-29 12:00:00", is_hidden: false };
		const note = { mod_id: other, mod_name: "b", body: "rude", created_at: "2024-02-29 12:00:00" };
		const cases = [
			{ ...one, case_number: 1, type: 4, notes: [note, { ...note, body: "again" }] },
			{ ...one, case_number: 2, type: 1, mod_id: null, notes: [] },
			{ ...one, case_number: 3, type: 8, notes: [] },
		];
		const { text } = await bot.call("import_cases", { source: "Zeppelin", csv: JSON.stringify({ cases }) });
		expect(text).toStartWith("Imported 2 case(s).");
		expect(text).toContain("line 3: action");
		expect(await bot.all()).toMatchObject([
			{ action: "warn", userId: person, moderatorId: other, reason: "rude", createdAt: Date.UTC(2024, 1, 29, 12) },
			{ action: "ban", userId: person, endsAt: undefined },
		]);
		for (const csv of ["{", "{}", '{"cases":[{}]}']) {
			const refused = await bot.call("import_cases", { source: "x", csv });
			expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("no export of Zeppelin")]);
		}
	});

	casesTest("a row that cannot be imported is left out, by its line, without a text of it", async (bot) => {
		const rows: [wrong: string, row: string][] = [
			["user_id", "1.23457E+17,warn,2024-01-31,x"],
			["user_id", `="${person}",warn,2024-01-31,x`],
			["action", `${person},constructor,2024-01-31,x`],
			["action", `${person},purge,2024-01-31,x`],
			["date", `${person},warn,2999-01-01,x`],
			["date", `${person},warn,2023-02-30,x`],
			["date", `${person},warn,1970-01-01,x`],
			["date", `${person},warn,99999999999,x`],
			["reason", `${person},warn,2024-01-31,${"x".repeat(100_000)}`],
			["cells", `${person},warn,2024-01-31,"a" b`],
			["cells", `${person},warn,2024-01-31,x,y,z`],
			["cells", `${person},warn`],
		];
		const csv = [
			`${head},`,
			...rows.map(([, row], index) => `${row}${index < 10 ? "," : ""}`),
			`${plain.split("\n")[1]},`,
		];
		const { text, isError } = await bot.call("import_cases", { source: "Dyno", csv: csv.join("\n") });
		expect(isError).toBe(false);
		const lines = text.split("\n");
		expect(lines[0]).toBe("Imported 1 case(s).");
		expect(lines.slice(3)).toEqual(rows.map(([wrong], index) => `line ${index + 2}: ${wrong}`));
		const ends = ["user_id,action,date,duration,until,case,moderator_id"];
		const wrong = ["soon,,,", "999999999y,,,", ",2023-01-01,,", ",,a b,", ",,,me"];
		ends.push(...wrong.map((end) => `${person},ban,2024-01-31,${end}`));
		const ended = await bot.call("import_cases", { source: "Dyno", csv: ends.join("\n"), dry_run: true });
		const columns = ["duration", "duration", "until", "case", "moderator_id"];
		expect(ended.text.split("\n").slice(-5)).toEqual(columns.map((name, index) => `line ${index + 2}: ${name}`));
		const many = `${head}\n${"1,warn,2024-01-31,x\n".repeat(30)}`;
		expect((await bot.call("import_cases", { source: "Dyno", csv: many })).text).toEndWith(
			"line 21: user_id\nand 10 more",
		);
		await bot.feature.settings.change(bot.guild.id, { "keep.cases_days": 1 }, { userId: null, door: "test" });
		const old = await bot.call("import_cases", { source: "Dyno", csv: plain });
		expect(old.text).toEndWith("line 2: older than keep.cases_days");
		expect(text + JSON.stringify(bot.logged)).not.toContain(secret);
	});

	casesTest("a file that is none, or is too long, is refused as a whole", async (bot) => {
		const files = {
			"Every user_id ends in 0": `${head}\n${["2340", "3450", "4560", "5670"].map((end) => `12345678901234${end},warn,2024-01-31,x`).join("\n")}`,
			"lacks user_id": "",
			"lacks user_id, action": "user_id,action\n1,warn",
			"A quote that begins in line 3 is open": `${plain}\n${person},warn,2024-01-31,"`,
			"more than 20000 rows": `${plain}\n${`${person},warn,2024-01-31,x\n`.repeat(20_000)}`,
			"5 MB": `${plain}${"ü".repeat(2_500_000)}`,
		};
		for (const [why, csv] of Object.entries(files)) {
			const { text, isError } = await bot.call("import_cases", { source: "Dyno", csv: csv || " " });
			expect([why, isError, text]).toEqual([why, true, expect.stringContaining("Nothing was done.")]);
			expect(text).toContain(why);
		}
		expect(await bot.all()).toEqual([]);
	});

	test("each case is stored once, also after a kill half way, and counts for rules later without setting them off", async () => {
		const stop = new Error("killed half way");
		let left = Number.POSITIVE_INFINITY;
		await using bot = await start({
			rules: ["2 warnings in 365d: timeout 1h"],
			now: () => Date.UTC(2024, 5, 1),
			store: (store) =>
				new Proxy(store, {
					get(target, key) {
						if (key === "transaction" && left-- <= 0) throw stop;
						return Reflect.get(target, key, target);
					},
				}),
		});
		const zoe = bot.id("zoe");
		const rows = Array.from({ length: 1_200 }, (_, index) => `${person},note,${1_700_000_000 + index},x`);
		const csv = `${head}\n${rows.join("\n")}\n${zoe},warn,2024-01-31,x\n${zoe},warn,2024-01-31,x\n${zoe},warn,2024-02-01,x`;
		left = 1;
		await expect(bot.call("import_cases", { source: "Dyno", csv })).rejects.toThrow(stop);
		left = Number.POSITIVE_INFINITY;
		expect(await bot.all()).toHaveLength(500);
		await bot.kill();
		await bot.start();
		const again = await bot.call("import_cases", { source: "dyno", csv });
		expect(again.text).toStartWith("Imported 702 case(s).\n501 were imported before");
		expect((await bot.call("import_cases", { source: "DYNO", csv })).text).toStartWith("Imported 0 case(s).");
		expect(bot.entries).toMatchObject([{ title: "702 cases of dyno imported" }]);
		expect(await bot.cases.find(bot.guild.id, 1_202)).toMatchObject({ action: "warn", userId: zoe });
		expect(await bot.cases.find(bot.guild.id, 1_203)).toBeUndefined();
		await bot.call("edit_case", { number: 1_202, deleted: true });
		await bot.as(moderator, "warn_member", { user_ids: [zoe], reason: "spam" });
		expect(await bot.settled(1_204)).toMatchObject({ action: "timeout", source: "rule:1203" });
		expect(bot.directMessages("zoe")).toEqual([]);
	});

	casesTest("only people with Manage Server import, and only files on Discord are read", async (bot) => {
		expect((await bot.as(moderator, "import_cases", { source: "Dyno", csv: plain })).isError).toBe(true);
		expect((await bot.as("ada", "import_cases", { source: "Dyno", csv: plain })).isError).toBe(false);
		expect(bot.entries).toMatchObject([{ title: "1 case of Dyno imported", moderatorId: bot.id("ada") }]);
		const attachments = [{ filename: "cases.csv", content: plain.replace("warn", "kick") }];
		const sent = await bot.simulator.user("ada").say("The Cooks/general", "", { attachments });
		const [file] = sent.attachments;
		const fetched = await bot.call("import_cases", { source: "Dyno", file_url: file?.url });
		expect(fetched.text).toStartWith("Imported 1 case(s).");
		using elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(plain) });
		for (const file_url of [elsewhere.url.href, `${file?.url}x`.replace("cases.csv", "none.csv"), "cases.csv"])
			expect((await bot.call("import_cases", { source: "Dyno", file_url })).text).toContain("file_url: no UTF-8 file");
	});
});
