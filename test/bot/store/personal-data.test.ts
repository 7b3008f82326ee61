// What is shown, erased and deleted of guilds and people, in all tables, on both databases.

import { expect, test } from "bun:test";
import { eraseGuild, eraseOld, erasePerson, exportPerson, tableData } from "../../../src/bot/store/personal-data.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import { runNamed, type Sql } from "../../../src/lib/store/statement.ts";
import { onBoth, openStore } from "../../support/stores.ts";

const here = "100";
const elsewhere = "200";
const ada = "1";
const bob = "2";
const staff = "3";
const day = 86_400_000;
const now = 1_000 * day;

/** The columns of each table, with whether they must have a value. */
const schema = new Map(
	migrations.flatMap(({ text }) =>
		[...text.matchAll(/CREATE TABLE (\w+) \(([^;]+)\)/g)].map(([, table = "", columns = ""]) => [
			table,
			[...columns.matchAll(/^\s*([a-z_\d]+) (TEXT|BIGINT|INTEGER)( NOT NULL)?/gm)].map(([, name = "", type]) => ({
				name,
				type,
			})),
		]),
	),
);

let rows = 0;

/** A row whose other columns have values of their own. */
async function insert(sql: Sql, table: string, values: Record<string, string | number | null>): Promise<void> {
	rows += 1;
	const columns = schema.get(table) ?? [];
	const all = columns.map(
		({ name, type }) => values[name] ?? (name in values ? null : type === "TEXT" ? `x${rows}` : rows),
	);
	const row = Object.fromEntries(all.map((value, index) => [`v${index}`, value]));
	const names = columns.map(({ name }) => name).join(", ");
	await runNamed(sql, `INSERT INTO ${table} (${names}) VALUES (${Object.keys(row).map((name) => `$${name}`)})`, row);
}

const count = async (sql: Sql, table: string, where = "1 = 1") =>
	(await runNamed(sql, `SELECT 1 FROM ${table} WHERE ${where}`, {})).length;

const aCase = { user_id: ada, moderator_id: staff, action: "warn", reason: "rude", state: "done", deleted_at: null };

onBoth((databases) => {
	const opened = async () => openStore(await databases.place(), { migrations });

	test("a guild is erased in all tables, in batches, and no other guild is", async () => {
		await using world = await opened();
		const { sql, transaction } = world.store;
		const ofGuilds = Object.entries(tableData).filter(([, { guild }]) => guild !== null);
		await transaction(async (sql) => {
			for (const guild_id of [here, elsewhere])
				for (const [table] of ofGuilds) {
					await insert(sql, table, { guild_id, job_id: guild_id, ...(table === "guild_jobs" && { id: guild_id }) });
				}
			for (let at = 0; at < 1_100; at++) await insert(sql, "joins", { guild_id: here });
		});
		await eraseGuild(sql, here, () => true);
		expect(await count(sql, "joins")).toBe(1_102);
		await eraseGuild(sql, here, () => false);
		await eraseGuild(sql, here, () => false);
		for (const [table] of ofGuilds) expect([table, await count(sql, table)]).toEqual([table, 1]);
	});

	test("old cases go with their changes; what a ban needs and the newest number stay", async () => {
		await using world = await opened();
		const { sql } = world.store;
		const ban = { guild_id: here, user_id: bob, ends_at: now + day };
		const old = { created_at: now - 31 * day };
		const cases = [
			{ ...old, number: 1 },
			{ ...old, ...ban, number: 2, action: "temp_ban" },
			{ ...old, number: 3, state: "asked" },
			{ ...old, number: 4, guild_id: elsewhere },
			{ created_at: now - 29 * day, number: 5 },
			{ ...old, number: 6 },
		];
		for (const one of cases) {
			await insert(sql, "cases", { ...aCase, guild_id: here, ...one });
			await insert(sql, "case_edits", { guild_id: here, ...one });
		}
		await insert(sql, "temp_bans", ban);
		const left = async () =>
			(await sql<Record<string, unknown>>`SELECT number, user_id, reason, ends_at FROM cases ORDER BY number`).map(
				(row) => [row.number, row.user_id, row.reason, row.number === 2 && row.ends_at].join(" "),
			);
		const clean = () => eraseOld(sql, now, { cases: 30 }, here);
		await clean();
		const stays = ["3 1 rude false", "4 1 rude false", "5 1 rude false", "6   false"];
		expect(await left()).toEqual([`2 2  ${now + day}`, ...stays]);
		expect((await sql`SELECT number FROM case_edits ORDER BY number`).map(({ number }) => number)).toEqual([3, 4, 5]);
		await sql`DELETE FROM temp_bans`;
		await clean();
		expect(await left()).toEqual(stays);
	});

	test("old reports and calls of the guild go; of the newest report only the number stays", async () => {
		await using world = await opened();
		const { sql } = world.store;
		for (const [number, ended_at] of [40, null, 20, 40].map(
			(days, at) => [at + 1, days && now - days * day] as const,
		)) {
			await insert(sql, "reports", { guild_id: here, number, ended_at, author_id: ada, target: ada, acts: ada });
			await insert(sql, "report_reporters", { guild_id: here, number });
		}
		for (const at of [now - 40 * day, now])
			for (const guild_id of [here, elsewhere, null]) await insert(sql, "tool_calls", { guild_id, at });
		await eraseOld(sql, now, { reports: 30, calls: 30 }, here);
		expect(await sql`SELECT number, author_id, target, acts FROM reports ORDER BY number`).toEqual([
			...[2, 3].map((number) => ({ number, author_id: ada, target: ada, acts: ada })),
			{ number: 4, author_id: "", target: "", acts: "[]" },
		]);
		expect(await sql`SELECT number FROM report_reporters ORDER BY number`).toEqual([{ number: 2 }, { number: 3 }]);
		expect(await count(sql, "tool_calls", `at < ${now}`)).toBe(2);
		expect(await count(sql, "tool_calls")).toBe(5);
	});

	test("what is kept equally long everywhere goes in all guilds", async () => {
		await using world = await opened();
		const { sql } = world.store;
		const kept = {
			spam_incidents: 30,
			spam_allowances: 30,
			guild_jobs: 7,
			approvals: 1,
			undone_entries: 90,
			conversation_messages: 5,
			chat_use: 62,
		};
		for (const [table, days] of Object.entries(kept))
			for (const at of [now - days * day - 1, now - days * day])
				await insert(sql, table, {
					at,
					ended_at: at,
					detected_at: at,
					until: at,
					day: at,
					user_id: ada,
					...(table === "guild_jobs" && { id: at }),
				});
		for (const at of [7 * day + 1, 7 * day]) await insert(sql, "guild_job_steps", { job_id: now - at });
		await eraseOld(sql, now, { chat: 5 });
		for (const table of [...Object.keys(kept), "guild_job_steps"])
			expect([table, await count(sql, table)]).toEqual([table, 1]);
	});

	/** Rows in which Ada is everybody, and rows of others. */
	async function seed(sql: Sql) {
		for (const guild_id of [here, elsewhere])
			for (const user_id of [ada, bob]) {
				const of = { guild_id, user_id };
				const others = ["conversation_messages", "chat_use", "joins", "join_roles_owed", "spam_incidents", "temp_bans"];
				for (const table of others) await insert(sql, table, { ...of, name: "secret of", joined_at: now });
				await insert(sql, "member_activity", {
					...of,
					messages: 7,
					promoted: Number(user_id === ada && guild_id === here),
				});
			}
		const aNote = { ...aCase, guild_id: here, action: "note", reason: "staff only", number: 1 };
		await insert(sql, "cases", aNote);
		await insert(sql, "cases", { ...aCase, guild_id: here, number: 2, created_at: now });
		await insert(sql, "cases", { ...aCase, guild_id: here, number: 3, reason: "gone", deleted_at: now });
		await insert(sql, "cases", { ...aCase, guild_id: here, number: 4, user_id: bob, reason: "of bob" });
		await insert(sql, "case_edits", { guild_id: here, number: 1, before: "staff only before" });
		await insert(sql, "case_edits", { guild_id: here, number: 3, before: "ruder" });
		for (const [number, state, author_id, user_id] of [
			[1, "open", ada, bob],
			[2, "handled", ada, bob],
			[3, "open", bob, ada],
			[4, "open", bob, bob],
		] as const) {
			const acts = JSON.stringify(number === 4 ? [{ by: ada }] : []);
			await insert(sql, "reports", {
				guild_id: here,
				number,
				state,
				author_id,
				acts,
				author_kind: "person",
				version: 1,
			});
			await insert(sql, "report_reporters", { guild_id: here, number, user_id, reason: `of ${user_id}` });
		}
	}

	test("a person's file has what is stored of them in the guild, no notes, and nobody who reported", async () => {
		await using world = await opened();
		const { sql } = world.store;
		await seed(sql);
		const file = await exportPerson(sql, { guild: here, user: ada });
		expect(Object.fromEntries(Object.entries(file).map(([name, found]) => [name, found.length]))).toEqual({
			joins: 1,
			roles_owed: 1,
			activity: 1,
			ai_chat: 1,
			ai_chat_use: 1,
			earlier_reasons: 1,
			cases_about_you: 2,
			your_reports: 1,
			reports_about_you: 1,
			reports_that_you_handled: 1,
			temporary_bans: 1,
			spam: 1,
		});
		expect(file.cases_about_you?.[0]).toMatchObject({ reason: "rude", created_at: now });
		const text = JSON.stringify(file);
		for (const hidden of ["staff only", "of bob", "of 2", `"${bob}"`]) expect(text).not.toContain(hidden);
	});

	test("erasing leaves others alone, and returns what staff need", async () => {
		await using world = await opened();
		const { sql, transaction } = world.store;
		await seed(sql);
		const kept = await erasePerson({ transaction }, { guild: here, user: ada });
		expect(Object.keys(kept).sort()).toEqual([
			"activity",
			"ai_chat_use",
			"cases_about_you",
			"reports_about_you",
			"reports_that_you_handled",
			"roles_owed",
			"spam",
			"temporary_bans",
		]);
		expect(kept.activity).toMatchObject([{ messages: 0, promoted: 1 }]);
		expect(kept.cases_about_you).toMatchObject([{ number: 2, reason: "rude" }]);
		expect(await sql`SELECT user_id, reason FROM cases WHERE number = 3`).toEqual([{ user_id: null, reason: null }]);
		expect(await count(sql, "case_edits", "before = 'ruder'")).toBe(0);
		expect(await count(sql, "case_edits", "before = 'staff only before'")).toBe(1);
		// Its entry is written again, without the name.
		expect(await sql`SELECT number FROM reports WHERE version = 2`).toEqual([{ number: 3 }]);
		for (const [table, left] of [
			["conversation_messages", 3],
			["joins", 3],
			["join_roles_owed", 4],
			["report_reporters", 3],
		] as const)
			expect([table, await count(sql, table)]).toEqual([table, left]);
	});
});
