// Stored reports, on both databases.

import { expect } from "bun:test";
import {
	endReport,
	fileReport,
	type NewReport,
	type ReportLimits,
	reportRows,
	selectClosingReports,
	selectEarlierReport,
	selectReporterRecords,
	selectReporters,
	selectReports,
	selectUnshownReports,
	setActs,
} from "../../../../src/bot/store/tables/reports.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import type { Sql } from "../../../../src/lib/store/statement.ts";
import { onBoth, openStore } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";

const guild_id = "12345678901234567890";
const now = 1_790_000_000_000;
const hourMs = 3_600_000;

const limits: ReportLimits = { openOf: 3, recentOf: 4, windowMs: hourMs, open: 5, reporters: 3 };

/** The report of a message, by the person with this letter. */
function report(message: number, reporter: string, more: Partial<NewReport> = {}): NewReport {
	const message_id = String(18_446_744_073_709_551_000n + BigInt(message));
	return {
		guild_id,
		target: message_id,
		author_id: "18446744073709551615",
		author_kind: "person",
		channel_id: "18446744073709551614",
		message_id,
		reporterId: reporter,
		reason: `reason of ${reporter}`,
		at: now,
		...more,
	};
}

const person = (reporter: string): NewReport =>
	report(0, reporter, { target: "user 1", channel_id: null, message_id: null });

const ended = { state: "dismissed", ended_at: now, ended_by: "9", case_number: null } as const;

onBoth((databases) => {
	const openTest = testWith(async () => {
		const opened = await openStore(await databases.place(), { migrations });
		const { store } = opened;
		const file = (one: NewReport) => store.transaction((sql) => fileReport(sql, one, limits));
		const end = (number: number, how: Parameters<typeof endReport>[2]) =>
			store.transaction((sql) => endReport(sql, { guild_id, number }, how));
		const { sql }: { sql: Sql } = store;
		return {
			store,
			sql,
			file,
			end,
			key: (number: number) => ({ guild_id, number }),
			[Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
		};
	});

	openTest("reports of one message are one entry, with ids of 64 bits", async (at) => {
		expect(await at.file(report(1, "a"))).toEqual({ kind: "new", number: 1 });
		expect(await at.file(report(1, "b"))).toEqual({ kind: "joined", number: 1 });
		expect(await at.file(report(1, "a"))).toEqual({ kind: "again", number: 1 });
		expect(await at.file(report(2, "a"))).toEqual({ kind: "new", number: 2 });
		expect(await reportRows.first(at.sql, at.key(1))).toMatchObject({
			author_id: "18446744073709551615",
			message_id: "18446744073709551001",
			created_at: now,
			state: "open",
			version: 2,
			shown: 0,
		});
		expect(await selectReporters(at.sql, at.key(1), 1)).toEqual({
			rows: [{ user_id: "a", at: now, reason: "reason of a" }],
			total: 2,
		});
	});

	openTest("a person has limits of open reports, and of reports in an hour", async (at) => {
		for (const message of [1, 2, 3]) await at.file(report(message, "a"));
		expect(await at.file(report(4, "a"))).toEqual({ kind: "too many open" });
		// Others are not affected.
		expect(await at.file(report(4, "b"))).toMatchObject({ kind: "new" });
		await at.end(1, ended);
		await at.end(2, ended);
		expect(await at.file(report(5, "a"))).toMatchObject({ kind: "new" });
		expect(await at.file(report(6, "a"))).toEqual({ kind: "too many lately" });
		const later = report(6, "a", { at: now + hourMs });
		expect(await at.file(later)).toMatchObject({ kind: "new" });
	});

	openTest("a guild has a limit of open reports, and a report one of reporters", async (at) => {
		for (const message of [1, 2, 3, 4, 5]) await at.file(report(message, `${message}`));
		expect(await at.file(report(6, "a"))).toEqual({ kind: "queue full" });
		expect(await at.file(report(1, "a"))).toMatchObject({ kind: "joined" });
		expect(await at.file(report(1, "b"))).toMatchObject({ kind: "joined" });
		expect(await at.file(report(1, "c"))).toEqual({ kind: "crowded", number: 1 });
		const other = report(6, "a", { guild_id: "2" });
		expect(await at.file(other)).toEqual({ kind: "new", number: 1 });
	});

	openTest("the end of a report deletes the reasons, once", async (at) => {
		await at.file(report(1, "a"));
		expect(await at.end(1, ended)).toBe(true);
		expect(await at.end(1, { ...ended, state: "handled" })).toBe(false);
		expect(await reportRows.first(at.sql, at.key(1))).toMatchObject(ended);
		const { rows } = await selectReporters(at.sql, at.key(1), 5);
		expect(rows).toEqual([{ user_id: "a", at: now, reason: null }]);
	});

	openTest("a message is reported once by a person, and a person again after the end", async (at) => {
		await at.file(report(1, "a"));
		await at.file(person("a"));
		await at.end(1, ended);
		await at.end(2, ended);
		expect(await at.file(report(1, "a"))).toEqual({ kind: "again", number: 1 });
		expect(await at.file(person("a"))).toEqual({ kind: "new", number: 3 });
		expect(await at.file(report(1, "b"))).toEqual({ kind: "new", number: 4 });
		const row = await reportRows.first(at.sql, at.key(4));
		if (!row) throw new Error("report 4 is stored");
		expect(await selectEarlierReport(at.sql, row)).toMatchObject({ number: 1, state: "dismissed" });
	});

	openTest("counts a reporter's other reports, and those that were dismissed", async (at) => {
		await at.file(report(1, "a"));
		await at.file(report(2, "a"));
		await at.file(report(2, "b"));
		await at.end(1, ended);
		expect(await selectReporterRecords(at.sql, at.key(2), ["a", "b"])).toEqual([
			{ user_id: "a", total: 1, dismissed: 1 },
		]);
	});

	openTest("pages open reports from the oldest, ended ones from the newest", async (at) => {
		for (const message of [1, 2, 3, 4, 5]) await at.file(report(message, `${message}`));
		for (const number of [1, 3]) await at.end(number, ended);
		const page = async (isOpen: boolean, limit: number, offset: number) => {
			const { rows, total } = await selectReports(at.sql, guild_id, isOpen, { limit, offset });
			return [total, ...rows.map(({ number }) => number)];
		};
		expect(await page(true, 2, 0)).toEqual([3, 2, 4]);
		expect(await page(true, 2, 2)).toEqual([3, 5]);
		expect(await page(false, 5, 0)).toEqual([2, 3, 1]);
	});

	openTest("an entry is due until it shows the latest version", async (at) => {
		await at.file(report(1, "a"));
		const due = async () => (await selectUnshownReports(at.sql, [guild_id], 10)).map(({ version }) => version);
		expect(await due()).toEqual([1]);
		await reportRows.change(at.sql, at.key(1), { entry_channel_id: "7", entry_id: null, post_at: now });
		await at.file(report(1, "b"));
		await reportRows.change(at.sql, at.key(1), { entry_id: "8", shown: 1 });
		expect(await due()).toEqual([2]);
		await reportRows.change(at.sql, at.key(1), { entry_id: "8", shown: 2 });
		expect(await due()).toEqual([]);
		const done = { act: "delete", by: "9", at: now, state: "done" } as const;
		await setActs(at.sql, at.key(1), [done], now + hourMs);
		expect(await due()).toEqual([3]);
		expect((await selectClosingReports(at.sql)).map(({ closes_at }) => closes_at)).toEqual([now + hourMs]);
		expect(await reportRows.first(at.sql, at.key(1))).toMatchObject({
			acts: JSON.stringify([done]),
			entry_channel_id: "7",
			entry_id: "8",
			post_at: now,
		});
	});
});
