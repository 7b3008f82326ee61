// The audit log on either database: written when it can be, queued when not, and kept for its time.

import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import type { Store, StoreOptions } from "../../../src/bot/store/store.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import { Audit, type AuditedCall, type AuditOptions } from "../../../src/bot/tool/audit.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import { type RecordedLog, recordLog } from "../../support/log.ts";
import { onBoth, onOwnPostgres, openStore, type Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const call = (changes: Partial<AuditedCall> = {}): AuditedCall => ({
	at: new Date(),
	requestId: "req-1",
	client: "claude",
	tool: "send_message",
	guildId: "900719925474099312",
	arguments: '{"content":"[5 characters]"}',
	outcome: "done",
	milliseconds: 12.4,
	effect: "write",
	messageId: "900719925474099314",
	...changes,
});

const open = (place: Place, changes: Partial<StoreOptions> = {}) =>
	openStore(place, { migrations, queryTimeoutMs: 60_000, ...changes });

function startAudit(
	store: Pick<Store, "sql">,
	options: Partial<AuditOptions> = {},
	{ log }: RecordedLog = recordLog(),
) {
	return new Audit(store, { log, backOffMs: [10, 50], ...options });
}

/** Number of promises in memory. */
function countPromises(): number {
	Bun.gc(true);
	return heapStats().objectTypeCounts.Promise ?? 0;
}

test("a written batch leaves nothing in memory", async () => {
	const sql: Sql = async () => [];
	const audit = startAudit({ sql }, { batchDelayMs: 0 });
	const before = countPromises();
	for (let at = 0; at < 100; at++) {
		audit.record(call());
		await until("it is written", () => audit.queued === 0);
	}
	expect(countPromises() - before).toBeLessThan(50);
	await audit.close();
});

test("calls queue within the bound and not after the end, and those that do not are counted", async () => {
	const sql: Sql = () => new Promise(() => {});
	const audit = startAudit({ sql }, { maxQueued: 3 });
	const counts = () => [audit.queued, audit.dropped];
	for (let at = 0; at < 5; at++) audit.record(call());
	expect(counts()).toEqual([3, 2]);
	await audit.close(0);
	audit.record(call());
	expect(counts()).toEqual([3, 3]);
	const fresh = startAudit({ sql }, { maxQueued: 3 });
	await fresh.close(0);
	fresh.record(call());
	expect([fresh.queued, fresh.dropped]).toEqual([0, 1]);
});

onBoth((databases) => {
	test("a call is written with all that is known of it", async () => {
		await using opened = await open(await databases.place());
		const audit = startAudit(opened.store);
		const at = new Date(1_795_266_231_123);
		audit.record(call({ at }));
		audit.record(call({ at, requestId: undefined, guildId: undefined }));
		await audit.close();
		const [second, first] = await audit.recent({ limit: 10 });
		expect(first).toEqual({
			id: expect.stringMatching(/^[0-9a-f-]{36}$/),
			at: at.getTime(),
			request_id: "req-1",
			client: "claude",
			tool: "send_message",
			guild_id: "900719925474099312",
			arguments: '{"content":"[5 characters]"}',
			outcome: "done",
			milliseconds: 12,
			person: null,
			key: null,
			effect: "write",
			message_id: "900719925474099314",
			answer: null,
			discord: null,
		});
		expect(second).toMatchObject({ request_id: null, guild_id: null });
	});

	test("a call of a principal is written with its key and person", async () => {
		await using opened = await open(await databases.place());
		const audit = startAudit(opened.store);
		const key = { id: "key:ci", name: "ci", access: "all" } as const;
		const person = { id: "900719925474099313", name: "Hanna", signedIn: false };
		audit.record(call({ principal: key }));
		audit.record(call({ principal: { ...key, person } }));
		await audit.close();
		expect(await audit.recent({ limit: 10 })).toMatchObject([
			{ key: "key:ci", person: person.id },
			{ key: "key:ci", person: null },
		]);
	});

	test("what is looked for is found, newest first", async () => {
		await using opened = await open(await databases.place());
		const audit = startAudit(opened.store);
		const day = (number: number) => new Date(Date.UTC(2026, 10, number));
		audit.record(call({ at: day(1), tool: "ban", client: "other" }));
		audit.record(call({ at: day(2), tool: "ban", outcome: "failed" }));
		audit.record(call({ at: day(3), guildId: "1" }));
		await audit.close();
		const days = async (filter: Parameters<typeof audit.recent>[0]) =>
			(await audit.recent(filter)).map(({ at }) => new Date(at).getUTCDate());
		expect(await days({ limit: 2 })).toEqual([3, 2]);
		expect(await days({ tool: "ban", limit: 9 })).toEqual([2, 1]);
		expect(await days({ tool: "ban", client: "other", limit: 9 })).toEqual([1]);
		expect(await days({ guildId: "1", limit: 9 })).toEqual([3]);
		expect(await days({ outcomes: ["failed"], limit: 9 })).toEqual([2]);
		expect(await days({ from: day(2), before: { at: day(3) }, limit: 9 })).toEqual([2]);
		expect(await days({ tool: "' OR 1=1 --", limit: 9 })).toEqual([]);
	});

	test("while the table is locked calls queue, and are written once afterwards", async () => {
		const place = await databases.place();
		const opened = await open(place, { queryTimeoutMs: 100 });
		const { databaseUrl, schema, directory } = place.settings;
		const other = databaseUrl
			? new SQL({ url: databaseUrl, max: 1 })
			: new SQL({ adapter: "sqlite", filename: join(directory, "store.sqlite") });
		await other.unsafe(databaseUrl ? "BEGIN" : "BEGIN IMMEDIATE");
		if (databaseUrl) await other.unsafe(`LOCK TABLE "${schema}".tool_calls`);
		let attempts = 0;
		const sql: Sql = (...statement) => {
			attempts += 1;
			return opened.store.sql(...statement);
		};
		const watched = startAudit({ sql });
		for (let number = 0; number < 250; number++) watched.record(call({ requestId: String(number) }));
		await until("it has tried more than once", () => attempts > 2);
		expect(watched.queued).toBe(250);
		await other.unsafe("ROLLBACK");
		await other.close();
		await until("they are written", () => watched.queued === 0);
		await watched.close();
		await opened[Symbol.asyncDispose]();
		await using again = await open(place);
		const audit = startAudit(again.store);
		const rows = await audit.recent({ limit: 1_000 });
		expect(rows.map(({ request_id }) => Number(request_id))).toEqual(
			Array.from({ length: 250 }, (_, index) => 249 - index),
		);
		await audit.close();
	});

	test("calls that come one after another are written together, at the end and when they are asked for at once", async () => {
		await using opened = await open(await databases.place());
		let statements = 0;
		const sql: Sql = (...statement) => {
			if (/INSERT/.test(statement[0][0] ?? "")) statements += 1;
			return opened.store.sql(...statement);
		};
		const store = { sql, opened: opened.store.opened };
		const audit = startAudit(store, { batchDelayMs: 3_600_000 });
		for (let number = 0; number < 20; number++) {
			audit.record(call({ requestId: String(number) }));
			await new Promise(setImmediate);
		}
		const [asked] = await audit.recent({ limit: 1 });
		expect(asked?.request_id).toBe("19");
		expect(statements).toBe(1);
		audit.record(call({ requestId: "last" }));
		await audit.close();
		expect(audit.queued).toBe(0);
		const reader = startAudit(store);
		const [last] = await reader.recent({ limit: 1 });
		expect(last?.request_id).toBe("last");
		await reader.close();
	});

	test("no name is too long or too strange for the log", async () => {
		await using opened = await open(await databases.place());
		const logged = recordLog();
		const audit = startAudit(opened.store, {}, logged);
		audit.record(call({ client: "a\0b\ud800c", requestId: "x".repeat(5_000) }));
		await audit.close();
		const [row] = await audit.recent({ limit: 1 });
		expect(row?.client).toBe("a\ufffdb\ufffdc");
		expect(row?.request_id).toHaveLength(200);
		expect(logged.lines).toEqual([]);
	});
});

onOwnPostgres((databases) => {
	test("calls of a database that is away queue within the bound, the rest are counted", async () => {
		const place = await databases.place();
		await using opened = await open(place);
		const logged = recordLog();
		const audit = startAudit(opened.store, { maxQueued: 5 }, logged);
		await databases.postgres.kill();
		await until("it has noticed", () => opened.store.state === "degraded");
		for (let number = 0; number < 8; number++) audit.record(call({ requestId: String(number) }));
		expect(audit.queued).toBe(5);
		expect(audit.dropped).toBe(3);
		await expect(audit.recent({ limit: 1 })).rejects.toThrow(/database is unavailable/);
		await databases.postgres.start();
		await until("they are written", () => audit.queued === 0);
		const rows = await audit.recent({ limit: 10 });
		expect(rows.map(({ request_id }) => request_id)).toEqual(
			["4", "3", "2", "1", "0"], // What came first is kept.
		);
		expect(logged.messages()).toEqual([
			"tool calls not recorded in the bot's audit log: queue full",
			"the bot's audit log works again after it could not record some tool calls",
		]);
		await audit.close();
	});

	test("a call that the database refuses does not take the others with it", async () => {
		await using opened = await open(await databases.place());
		const logged = recordLog();
		const audit = startAudit(opened.store, {}, logged);
		audit.record(call({ requestId: "1" }));
		audit.record(call({ requestId: "2", arguments: "\0" }));
		audit.record(call({ requestId: "3" }));
		await audit.close();
		const rows = await audit.recent({ limit: 10 });
		expect(rows.map(({ request_id }) => request_id)).toEqual(["3", "1"]);
		expect(audit.dropped).toBe(1);
		expect(logged.messages()).toEqual(["could not record a tool call in the bot's audit log"]);
	});

	test("a close while the database is away does not wait for it", async () => {
		await using opened = await open(await databases.place());
		const logged = recordLog();
		const audit = startAudit(opened.store, {}, logged);
		await databases.postgres.kill();
		await until("it has noticed", () => opened.store.state === "degraded");
		audit.record(call());
		await audit.close(60_000);
		expect(logged.messages()).toEqual(["the program stopped before all tool calls were stored in the bot's audit log"]);
		await databases.postgres.start();
	});
});
