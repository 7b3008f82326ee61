// Stored cases: numbers, pages and their indexes, on both databases.

import { describe, expect, test } from "bun:test";
import type { Store } from "../../../../src/bot/store/store.ts";
import {
	type CaseFilter,
	type CaseRow,
	caseRows,
	countCasesByModerator,
	countCasesByUser,
	countCasesOf,
	countCasesSince,
	insertCases,
	selectCases,
	selectNewerCase,
} from "../../../../src/bot/store/tables/cases.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const guild = "18446744073709551615";
const mona = "18446744073709551614";
const jose = "9007199254740993";

type Row = Omit<CaseRow, "guild_id" | "number">;

function row(changes: Partial<Row> = {}): Row {
	return {
		user_id: mona,
		moderator_id: jose,
		client: null,
		action: "warn",
		reason: "spam",
		created_at: 1_790_000_000_000,
		ends_at: null,
		state: "done",
		why: null,
		why_said: null,
		message_ids: "[]",
		channel_ids: "[]",
		detail: "[]",
		told: null,
		source: null,
		deleted_at: null,
		entry_channel_id: null,
		entry_id: null,
		...changes,
	};
}

const insert = (store: Store, rows: Row[], guildId = guild) =>
	store.transaction((sql) => insertCases(sql, guildId, rows));

onBoth((databases, kind) => {
	test("concurrent calls get numbers without gaps or duplicates, in each guild from 1", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { store } = opened;
		const stored = await Promise.all(
			Array.from({ length: 60 }, (_, index) =>
				insert(store, [row(), row({ source: index % 2 ? `entry:${index % 10}` : null })], index % 3 ? guild : jose),
			),
		);
		for (const id of [guild, jose]) {
			const numbers = stored
				.flat()
				.filter(({ guild_id }) => guild_id === id)
				.map(({ number }) => number)
				.sort((a, b) => a - b);
			expect(numbers).toEqual(numbers.map((_, index) => index + 1));
			expect(numbers.length).toBeGreaterThan(20);
		}
	});

	test("a case is read back unchanged, and only the first with its source is stored", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { store } = opened;
		const whole = row({
			client: "an assistant",
			reason: "'; DROP TABLE cases; -- <@1> \u{1f600} %s {{x}}\n|",
			ends_at: 8_640_000_000_000_000,
			state: "asked",
			message_ids: `["${mona}"]`,
			channel_ids: `["${guild}"]`,
			detail: mona,
			told: "asked",
			source: `entry:${mona}`,
		});
		const [first] = await insert(store, [whole]);
		expect(await insert(store, [whole])).toEqual([]);
		const all = await selectCases(store.sql, guild, {}, { limit: 10 });
		expect(all).toEqual([{ ...whole, guild_id: guild, number: 1 }]);
		expect(first).toEqual(all[0] as CaseRow);
		const end = { state: "done", why: null, why_said: null } as const;
		const settled = { ...(first as CaseRow), state: "done" as const };
		const settle = (values: Partial<CaseRow>) =>
			caseRows.change(store.sql, { guild_id: guild, number: 1 }, values, { state: "asked" });
		expect(await settle(end)).toEqual(settled);
		expect(await settle({ ...end, state: "unknown" })).toBeUndefined();
	});

	test("a failed transaction leaves no gap", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { store } = opened;
		await insert(store, [row()]);
		await expect(
			store.transaction(async (sql) => {
				await insertCases(sql, guild, [row(), row()]);
				throw new Error("stopped");
			}),
		).rejects.toThrow("stopped");
		expect((await insert(store, [row()]))[0]?.number).toBe(2);
	});

	describe("with many cases", () => {
		test("each kind of page reads its index, in order, and pages meet", async () => {
			const place = await databases.place();
			await using opened = await openStore(place, { migrations });
			const { store } = opened;
			const rows = Array.from({ length: 3_000 }, (_, index) =>
				row({
					// Several at the same time, and some later ones earlier.
					created_at: 1_000_000 + ((index * 7) % 500),
					user_id: String(index % 50),
					moderator_id: String(index % 7),
					action: index % 3 ? "warn" : "note",
				}),
			);
			await insert(store, rows);
			const filters: CaseFilter[] = [
				{},
				{ userIds: ["7"] },
				{ userIds: ["7", "8"] },
				{ moderatorIds: ["3"] },
				{ action: "note" },
				{ userIds: ["7"], action: "warn", moderatorIds: ["0", "5"] },
				{ moderatorIds: ["3", "4"], from: 1_000_100, until: 1_000_300 },
				{ from: 1_000_499 },
			];
			for (const filter of filters) {
				const expected = rows
					.map((one, index) => ({ ...one, number: index + 1 }))
					.filter(
						(one) =>
							(filter.userIds?.includes(String(one.user_id)) ?? true) &&
							(filter.moderatorIds ?? [one.moderator_id]).includes(one.moderator_id) &&
							(filter.action ?? one.action) === one.action &&
							one.created_at >= (filter.from ?? 0) &&
							one.created_at < (filter.until ?? Infinity),
					)
					.sort((a, b) => b.created_at - a.created_at || b.number - a.number)
					.map(({ number }) => number);
				const found: number[] = [];
				let before: CaseRow | undefined;
				for (;;) {
					const page = { limit: 97, before };
					const next = await selectCases(store.sql, guild, filter, page);
					found.push(...next.map(({ number }) => number));
					before = next.at(-1);
					if (!before) break;
				}
				expect(found).toEqual(expected);
			}
			const { sql } = store;
			const count = (matches: (one: Row) => boolean) => rows.filter(matches).length;
			const of7 = ({ user_id }: Row) => user_id === "7";
			expect(await countCasesOf(sql, guild, "7")).toEqual(
				["note", "warn"].map((action) => ({ action, count: count((one) => of7(one) && one.action === action) })),
			);
			const since = (one: Row) => of7(one) && one.action === "warn" && one.created_at >= 1_000_250;
			expect(await countCasesSince(sql, guild, "7", "warn", 1_000_250)).toBe(count(since));
			const byModerator = await countCasesByModerator(sql, guild, { moderatorIds: ["3"], action: "note" });
			const notes = count((one) => one.moderator_id === "3" && one.action === "note");
			expect(byModerator).toEqual([{ moderator_id: "3", action: "note", count: notes }]);
			expect(await countCasesByModerator(sql, guild, {})).toHaveLength(14);
			const users = await countCasesByUser(sql, guild, undefined, 0);
			expect(users.find(({ user_id }) => user_id === "7")).toEqual({ user_id: "7", count: count(of7) });
			const page = await selectCases(sql, guild, { action: "note" }, { limit: 9 });
			const last = page.at(-1) as CaseRow;
			expect(await selectNewerCase(sql, guild, { action: "note" }, last, 8)).toBe(page[0]?.number ?? 0);
			if (kind === "PostgreSQL") await place.look("ANALYZE cases");
			const plans: Record<string, string> = {};
			for (const [name, filter] of Object.entries({
				cases_by_time: {},
				cases_of_user: { userIds: ["7"] },
				cases_of_moderator: { moderatorIds: ["3"] },
				cases_of_action: { action: "note" },
			}))
				plans[name] = await planOf(store, kind, filter);
			for (const [index, plan] of Object.entries(plans)) {
				expect(plan).toContain(index);
				// The order of the index is that of the page.
				expect(plan.toLowerCase()).not.toContain("sort");
				expect(plan).not.toContain("TEMP B-TREE");
			}
		}, 120_000);
	});
});

/** How the database reads a page of cases. */
async function planOf({ transaction }: Store, kind: "PostgreSQL" | "SQLite", filter: CaseFilter): Promise<string> {
	const prefix = kind === "SQLite" ? "EXPLAIN QUERY PLAN " : "EXPLAIN ";
	const lines = await transaction((sql) =>
		selectCases(
			(strings, ...values) => {
				const [first = "", ...rest] = strings;
				const texts = [prefix + first, ...rest];
				const explained = Object.defineProperty(texts, "raw", { value: texts });
				return sql(explained as unknown as TemplateStringsArray, ...values);
			},
			guild,
			filter,
			{ limit: 20 },
		),
	);
	return JSON.stringify(lines);
}
