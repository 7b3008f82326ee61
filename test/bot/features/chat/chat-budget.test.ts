// What AI chat may use in a guild: questions, tokens, channels and roles, on both databases.

import { expect, test } from "bun:test";
import { createBudget, createNotices } from "../../../../src/bot/features/chat/chat-budget.ts";
import type { Values } from "../../../../src/bot/settings/keys.ts";
import { daysAt, selectUse } from "../../../../src/bot/store/tables/chat.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import { createRegistry } from "../../../../src/lib/metrics.ts";
import type { Sql } from "../../../../src/lib/store/statement.ts";
import type { TextKey } from "../../../../src/texts/texts.ts";
import { settingsOf } from "../../../support/guild-settings.ts";
import { recordLog } from "../../../support/log.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const id = (digit: number) => `${digit}`.repeat(18);
const hour = 3_600_000;
/** 23:00 in Berlin. */
const lateInJune = Date.UTC(2027, 5, 30, 21, 0);

type Refusal = TextKey | undefined;

type Limits = { [Key in keyof Values as Key extends `chat.${infer Name}` ? Name : never]?: Values[Key] };

async function begin(sql: Sql, limits: Limits = {}, timezone = "Europe/Berlin") {
	const of = Object.fromEntries(Object.entries(limits).map(([name, value]) => [`chat.${name}`, value]));
	const settings = await settingsOf({ cooks: of, bakers: of });
	const clock = { now: lateInJune };
	const registry = createRegistry();
	const logged = recordLog();
	const budget = createBudget({ store: { sql }, settings, log: logged.log, now: () => clock.now, timezone, registry });
	/** The key of the refusal. */
	const ask = async (user = "ada", guild = "cooks", place = {}) =>
		(await budget.take(guild, user, { channelId: "general", parentId: undefined, roles: [], ...place }))?.key;
	const use = async () => (await selectUse(sql, daysAt(clock.now, timezone), { guild_id: "cooks" }))[0];
	return { budget, use, clock, ask, logged, metrics: () => registry.text() };
}

const down = () => Promise.reject<never>(new StoreUnavailable("down"));

onBoth((databases) => {
	const opened = async () => openStore(await databases.place(), { migrations });

	// Of each limit: what Ada has spent, who is refused with what, and from when on no more. Bob asks beside her.
	const spent = { ada: 60, bob: 40 };
	test.each<[Limits, ada: Refusal, bob: Refusal, untilMs: number]>([
		[{ tokens_a_day: 101, person_tokens_a_day: 61 }, undefined, undefined, 0],
		[{ tokens_a_day: 100 }, "chat.limit.guild.day", "chat.limit.guild.day", hour],
		[{ tokens_a_month: 100 }, "chat.limit.guild.month", "chat.limit.guild.month", hour],
		[{ person_tokens_a_day: 60 }, "chat.limit.day", undefined, hour],
		[{ person_tokens_a_month: 60 }, "chat.limit.month", undefined, hour],
	])("%j: after 60 and 40 tokens %p and %p", async (limits, ada, bob, untilMs) => {
		await using world = await opened();
		const { ask, budget, clock } = await begin(world.store.sql, limits);
		for (const [user, tokens] of Object.entries(spent)) await budget.spend("cooks", user, tokens);
		expect([await ask("ada"), await ask("bob")]).toEqual([ada, bob]);
		expect(await ask("ada", "bakers")).toBeUndefined();
		clock.now += untilMs - 1;
		expect(await ask("ada")).toBe(ada);
		clock.now += 1;
		expect(await ask("ada")).toBeUndefined();
	});

	// The same instants: an hour later July begins in Berlin, in UTC it does not.
	test.each([
		["Europe/Berlin", undefined, undefined],
		["UTC", 8, "chat.limit.guild.month"],
	] as const)("days and months are those of %s", async (timezone, july, refusal) => {
		await using world = await opened();
		const { ask, budget, use, clock } = await begin(world.store.sql, { tokens_a_day: 5, tokens_a_month: 8 }, timezone);
		clock.now -= 24 * hour;
		await budget.spend("cooks", "ada", 4.2);
		expect(await ask()).toBe("chat.limit.guild.day");
		clock.now += 24 * hour;
		expect(await ask("bob")).toBeUndefined();
		await budget.spend("cooks", "bob", 3);
		expect(await use()).toMatchObject({ questions_today: 1, tokens_today: 3, tokens_this_month: 8 });
		expect(await ask()).toBe("chat.limit.guild.month");
		clock.now += hour;
		expect((await use())?.tokens_this_month).toBe(july);
		expect(await ask()).toBe(refusal);
	});

	test("questions a day: of two at once at the last place one is refused, and it does not count", async () => {
		await using world = await opened();
		const { ask, use, clock } = await begin(world.store.sql, { questions_a_day: 2 });
		await ask();
		expect((await Promise.all([ask(), ask()])).sort()).toEqual(["chat.limit.day", undefined]);
		expect([await ask("bob"), await ask("ada", "bakers")]).toEqual([undefined, undefined]);
		expect((await use())?.questions_today).toBe(3);
		clock.now += hour;
		expect(await ask()).toBeUndefined();
	});
});

test("questions a minute: 10 by default, of a person in a guild, and the metrics count the rest", async () => {
	const { ask, clock, budget, metrics } = await begin(down);
	for (let count = 0; count < 10; count++) expect(await ask()).toBeUndefined();
	expect([await ask("bob"), await ask("ada", "bakers")]).toEqual([undefined, undefined]);
	clock.now += 60_000 - 1;
	expect(await ask()).toBe("chat.rate-limited");
	clock.now += 1;
	expect(await ask()).toBeUndefined();
	await budget.spend("cooks", "ada", 5, "failed");
	for (const one of [`{outcome="limited"} 1`, `{outcome="failed"} 1`])
		expect(metrics()).toContain(`guildhall_bot_chat_questions_total${one}\n`);
});

test("while the store is down, only the limit a minute holds, and nothing rejects or is logged", async () => {
	const { ask, budget, logged } = await begin(down, { questions_a_minute: 2, questions_a_day: 1, tokens_a_day: 1 });
	await budget.spend("cooks", "ada", 5);
	expect([await ask(), await ask(), await ask()]).toEqual([undefined, undefined, "chat.rate-limited"]);
	expect(logged.lines).toEqual([]);
});

test.each<[Limits, place: object, Refusal]>([
	[{ channels: [id(1)] }, { channelId: id(1) }, undefined],
	[{ channels: [id(1)] }, { channelId: id(2) }, "chat.elsewhere"],
	[{ channels: [id(1)] }, { channelId: id(2), parentId: id(1) }, undefined],
	[{ roles: [id(7)] }, {}, "chat.without-role"],
	[{ roles: [id(7), id(8)] }, { roles: [id(8)] }, undefined],
])("%j: to who asks in %j it says %p", async (limits, place, refusal) => {
	const { ask } = await begin(down, limits);
	expect(await ask("ada", "cooks", place)).toBe(refusal);
});

test("a person gets one notice in 60 s, and a guild five", () => {
	let now = 0;
	const mayNotify = createNotices(() => now);
	expect(mayNotify("cooks", "ada")).toBe(true);
	expect(mayNotify("cooks", "ada")).toBe(false);
	const told = Array.from({ length: 50 }, (_, n) => mayNotify("cooks", `person ${n}`));
	expect(told.filter(Boolean)).toHaveLength(4);
	expect(mayNotify("bakers", "bob")).toBe(true);
	now = 60_000;
	expect(mayNotify("cooks", "ada")).toBe(true);
});
