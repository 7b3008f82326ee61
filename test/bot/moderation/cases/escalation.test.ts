// Rules of `moderation.escalate`: each is carried out once, within the role hierarchy, also after a kill.

import { expect, test } from "bun:test";
import { render } from "../../../../src/texts/texts.ts";
import { onBoth } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import { type CasesSetup, moderator, staffedCases } from "./cases-world.ts";

const memberRoute = "PATCH /guilds/:guild_id/members/:user_id";

onBoth((databases) => {
	const start = async (setup: CasesSetup = {}) => {
		const bot = await staffedCases(databases)(setup);
		return Object.assign(bot, {
			warn: (name: string, by = moderator) => bot.as(by, "warn_member", { user_ids: [bot.id(name)], reason: "spam" }),
			timeouts: () => bot.simulator.journal.entries(memberRoute).length,
			timedOut: (name: string) => bot.feature.member(name).communication_disabled_until,
		});
	};

	test("the third warning is followed by a timeout, the fourth by none, and it is a case of the bot", async () => {
		await using bot = await start({ rules: ["3 warnings in 30d: timeout 1d", "9 warnings in 30d: ban"] });
		const results = [];
		for (let count = 0; count < 4; count += 1) results.push((await bot.warn("zoe")).text);
		expect(results[2]).toMatch(
			/Case 4 follows: Timeout until <t:\d+:f>\. Automatically after 3 warnings \(case 3\)\.$/,
		);
		expect(results.filter((text) => text.includes("follows"))).toHaveLength(1);
		expect(await bot.settled(4)).toMatchObject({
			action: "timeout",
			moderatorId: bot.simulator.bot("alpha").id,
			userId: bot.id("zoe"),
			state: "done",
			source: "rule:3",
		});
		expect(bot.timedOut("zoe")).toBeTruthy();
		expect(bot.timeouts()).toBe(1);
		expect(await bot.all()).toHaveLength(5);
	});

	test("a deleted warning does not count, and reaching the number again applies the rule again", async () => {
		await using bot = await start({ rules: ["2 warnings in 30d: timeout 1h"] });
		await bot.warn("zoe");
		await bot.as(moderator, "edit_case", { number: 1, deleted: true });
		await bot.warn("zoe");
		expect(await bot.all()).toHaveLength(1);
		await bot.warn("zoe");
		await bot.settled(4);
		expect(bot.timeouts()).toBe(1);
	});

	test("a note, or a warning from before the window, sets off no rule whose number is reached", async () => {
		await using bot = await start({ rules: ["2 warnings in 30d: timeout 1h"] });
		await bot.warn("zoe");
		await bot.warn("zoe");
		await bot.settled(3);
		await bot.as(moderator, "note_member", { user_ids: [bot.id("zoe")], note: "again" });
		await bot.cases.add(bot.guild.id, {
			action: "warn",
			userId: bot.id("zoe"),
			moderatorId: bot.id(moderator),
			createdAt: Date.now() - 31 * 86_400_000,
			source: "entry:1",
		});
		const actions = (await bot.all()).map(({ action }) => action);
		expect(actions).toEqual(["warn", "warn", "timeout", "note", "warn"]);
		expect(bot.timeouts()).toBe(1);
	});

	test("warnings outside the window do not count", async () => {
		const clock = { now: 1_700_000_000_000 };
		await using bot = await start({ rules: ["2 warnings in 30d: timeout 1h"], now: () => clock.now });
		await bot.warn("zoe");
		clock.now += 31 * 86_400_000;
		await bot.warn("zoe");
		expect(await bot.all()).toHaveLength(2);
	});

	test("what the bot hears of a day later leads to a case that says so, and to nothing else", async () => {
		const clock = { now: 1_700_000_000_000 };
		await using bot = await start({ rules: ["1 timeout in 30d: kick"], now: () => clock.now });
		await bot.cases.add(bot.guild.id, {
			action: "timeout",
			userId: bot.id("zoe"),
			moderatorId: bot.id(moderator),
			createdAt: clock.now - 2 * 86_400_000,
			source: "entry:1",
		});
		expect(await bot.settled(2)).toMatchObject({
			action: "kick",
			state: "not done",
			why: "The bot could not do it in time.",
		});
		expect(bot.guild.members.has(bot.id("zoe"))).toBe(true);
	});

	test("of several rules the most severe is carried out, as a ban that ends", async () => {
		await using bot = await start({
			rules: ["1 warning in 1d: timeout 1d", "1 warning in 7d: ban 7d", "1 warning in 7d: kick"],
			tell: ["temp_ban"],
		});
		await bot.warn("zoe");
		const one = await bot.settled(2);
		expect(one).toMatchObject({ action: "temp_ban", state: "done", told: "yes" });
		expect(bot.guild.bans.has(bot.id("zoe"))).toBe(true);
		expect(bot.directMessages("zoe")).toHaveLength(1);
		const [row] = await bot.store.sql`SELECT ends_at FROM temp_bans WHERE state = 'banned'`;
		expect(row?.ends_at).toBe(one.endsAt);
	});

	test("a kick or permanent ban is more severe than what comes before it in the settings", async () => {
		for (const [rules, action] of [
			[["1 warning in 1d: timeout 1d", "1 warning in 7d: kick"], "kick"],
			[["1 warning in 1d: timeout 1d", "1 warning in 7d: ban"], "ban"],
			[["1 warning in 1d: ban 7d", "1 warning in 7d: ban"], "ban"],
			[["1 warning in 1d: kick", "1 warning in 7d: ban 7d"], "temp_ban"],
		] as const) {
			await using bot = await start({ rules });
			await bot.warn("zoe");
			expect(await bot.settled(2)).toMatchObject({ action, state: "done" });
		}
	});

	test("a member who ranks at or above the moderator by now is left alone", async () => {
		await using bot = await start({ rules: ["1 warning in 1d: kick"] });
		// Between the warning and the rule.
		const held = bot.simulator.faults.stall("GET /guilds/:guild_id/audit-logs", { times: 1 });
		await bot.warn("zoe");
		const staff = [...bot.feature.member(moderator).roles];
		const zoe = bot.feature.member("zoe");
		bot.simulator.world.members.edit(bot.guild, zoe, { roles: staff });
		held.release();
		const one = await bot.settled(2);
		expect(one).toMatchObject({ action: "kick", state: "not done" });
		expect(one.why).toContain("does not rank below the moderator of case 1");
		expect(bot.guild.members.has(bot.id("zoe"))).toBe(true);
	});

	test.each([
		[50_013, "Discord lehnt das ab: Dem Bot fehlt eine Berechtigung, oder seine Rolle steht zu weit unten"],
		[40_333, "Discord lehnt das ab: internal network error (Code 40333)"],
	])("what Discord refuses with the code %p is said in the guild's language", async (code, text) => {
		await using bot = await start({ rules: ["1 warning in 1d: kick"] });
		const message = "internal network error";
		bot.simulator.faults.refuse("DELETE /guilds/:guild_id/members/:user_id", code, { status: 403, message });
		await bot.warn("zoe");
		await bot.settled(2);
		const { cause } = await until("it is logged", () => bot.entries.find(({ caseNumber }) => caseNumber === 2));
		expect(render(cause ?? "", "de")).toBe(text);
	});

	test("a person cannot be warned by those who rank no higher, or lack the permission", async () => {
		await using bot = await start({ rules: ["1 warning in 1d: kick"] });
		const results = [await bot.warn(moderator), await bot.warn("ada"), await bot.warn("zoe", "mona_lisa")];
		expect(results.map(({ isError }) => isError)).toEqual([true, true, true]);
		expect(await bot.all()).toEqual([]);
	});

	test("a timeout of a rule that a moderator ended before the bot knew of it is not set again", async () => {
		await using bot = await start({ rules: ["1 warning in 1d: timeout 1d"] });
		const held = bot.simulator.faults.stall(memberRoute, { after: true, times: 1 });
		await bot.warn("zoe");
		await bot.reached(held);
		await bot.kill();
		held.release();
		const zoe = bot.feature.member("zoe");
		const changes = { communication_disabled_until: null };
		const by = { actor: bot.id(moderator) };
		bot.simulator.world.members.edit(bot.guild, zoe, changes, by);
		await bot.start();
		expect(await bot.settled(2)).toMatchObject({ state: "done" });
		expect(bot.timedOut("zoe")).toBeFalsy();
		expect(bot.timeouts()).toBe(1);
	});

	test("two warnings at the same moment reach a number once", async () => {
		await using bot = await start({ rules: ["3 warnings in 1d: timeout 1d"] });
		await Promise.all([1, 2, 3, 4, 5].map(() => bot.warn("zoe")));
		const all = await bot.all();
		expect(all.filter(({ action }) => action === "timeout")).toHaveLength(1);
		const { number = 0 } = all.find(({ action }) => action === "timeout") ?? {};
		expect(await bot.settled(number)).toMatchObject({ state: "done" });
		expect(bot.timeouts()).toBe(1);
		expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
	});
});
