// Cases of tool calls: stored before, settled after, told, and decided after a kill.

import { expect, test } from "bun:test";
import { PermissionFlagsBits, Routes } from "discord.js";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import type { caseActions } from "../../../../src/bot/tool/case-record.ts";
import { said } from "../../../../src/texts/texts.ts";
import { onBoth } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { roleNamed } from "../../../support/world.ts";
import { moderator, staffedCases } from "./cases-world.ts";

const banRoute = "/guilds/:guild_id/bans/:user_id";
const unsaid = { reason: undefined, tell: undefined, principal: undefined, approvedBy: undefined };

onBoth((databases, kind) => {
	const start = staffedCases(databases);
	const casesTest = testWith(start);

	casesTest("a ban by a person is a case with its reason, settled, in the log once", async (bot) => {
		const result = await bot.as(moderator, "ban", { user_ids: [bot.id("zoe")], reason: "spam" });
		expect(result).toMatchObject({ isError: false });
		expect(result.text).toContain("Case 1.");
		expect(await bot.all()).toEqual([
			expect.objectContaining({
				number: 1,
				action: "ban",
				userId: bot.id("zoe"),
				moderatorId: bot.id(moderator),
				client: undefined,
				reason: "spam",
				state: "done",
				told: undefined,
			}),
		]);
		expect(bot.entries).toEqual([
			expect.objectContaining({
				title: "Ban",
				gravity: "severe",
				moderatorId: bot.id(moderator),
				userId: bot.id("zoe"),
				reason: "spam",
				caseNumber: 1,
			}),
		]);
	});

	casesTest("an assistant's case names its client, and the bot or the person as moderator", async (bot) => {
		const user_ids = [bot.id("zoe")];
		await bot.call("timeout", { user_ids, duration: "1h" });
		await bot.call(
			"remove_timeout",
			{ user_ids },
			{ principal: { id: "key:ci", name: "ci", client: "an assistant", access: "all" } },
		);
		const [first, second] = await bot.all();
		expect(first).toMatchObject({
			action: "timeout",
			client: "holder of the root key",
			moderatorId: bot.simulator.bot("alpha").id,
			state: "done",
		});
		expect(first?.endsAt).toBeGreaterThan(first?.createdAt ?? Infinity);
		expect(second).toMatchObject({
			action: "remove_timeout",
			client: "an assistant",
			moderatorId: bot.simulator.bot("alpha").id,
		});
	});

	casesTest("a case names the sign-in and who approved the call, not what the client calls itself", async (bot) => {
		const principal = {
			id: "grant:1",
			name: "Claude",
			client: "holder of the root key",
			person: { id: bot.id(moderator), name: moderator, signedIn: true },
			access: "all",
		} as const;
		const approved = { principal, approvedBy: "ada" };
		const zoe = { user_ids: [bot.id("zoe")], reason: "spam" };
		await bot.call("warn_member", zoe, approved);
		await bot.call("ban", zoe, approved);
		const root = { id: "root", name: "root", access: "all" } as const;
		const note = { user_ids: zoe.user_ids, note: "see case 2" };
		await bot.call("note_member", note, { principal: root });
		const moderatorId = bot.id(moderator);
		const approvedCase = { moderatorId, client: "Claude", detail: [said("case.detail.approved", { name: "ada" })] };
		expect(await bot.all()).toMatchObject([
			{ action: "warn", ...approvedCase },
			{ action: "ban", ...approvedCase },
			{ action: "note", client: "holder of the root key" },
		]);
	});

	casesTest("what is refused before it begins is no case", async (bot) => {
		const mona = [bot.id("mona_lisa")];
		const refused = [
			await bot.as("zoe", "kick", { user_ids: mona }),
			await bot.as(moderator, "ban", { user_ids: [bot.id(moderator)] }),
			await bot.as(moderator, "ban", { user_ids: mona, dry_run: true }),
			await bot.as(moderator, "remove_timeout", { user_ids: mona }),
			await bot.as(moderator, "kick", { user_ids: ["123456789012345678"] }),
		];
		expect(refused.map(({ isError }) => isError)).toEqual([true, true, false, true, true]);
		expect(await bot.all()).toEqual([]);
	});

	casesTest("several people are a case each, and each case has its own end", async (bot) => {
		const [zoe, liwei] = [bot.id("zoe"), bot.id("liwei")];
		bot.simulator.faults.refuse(`DELETE ${Routes.guildMember(bot.guild.id, liwei)}`, 50013);
		const { text } = await bot.call("kick", { user_ids: [zoe, liwei] });
		expect(text).toContain("Cases 1 to 2.");
		expect(await bot.all()).toMatchObject([
			{ userId: zoe, state: "done", why: undefined },
			{ userId: liwei, state: "not done" },
		]);
	});

	casesTest("an outcome that is unknown is stored as unknown", async (bot) => {
		bot.simulator.faults.drop(`PUT ${banRoute}`, { when: "after" });
		const user_ids = [bot.id("zoe")];
		const result = await bot.call("ban", { user_ids });
		expect(result.isError).toBe(true);
		expect(await bot.all()).toMatchObject([{ state: "unknown" }]);
		expect(bot.entries).toMatchObject([{ isFailure: true }]);
	});

	test("a person is told before the ban, with guild, reason and appeal, and texts escaped", async () => {
		await using bot = await start({ appeal: "Write to appeals@example.com." });
		bot.simulator.world.guilds.edit(bot.guild, { name: "The *Cooks*" });
		await bot.as(moderator, "ban", { user_ids: [bot.id("zoe")], reason: "spam @everyone\n**now**", tell: true });
		const [message = ""] = bot.directMessages("zoe");
		expect(message.split("\n")).toEqual([
			expect.stringContaining("You were banned from **The"),
			"Reason: spam @everyone \\*\\*now\\*\\*",
			"Write to appeals@example.com.",
		]);
		const writes = bot.simulator.requests
			.list()
			.filter(({ method }) => method === "PUT" || method === "POST")
			.map(({ path }) => path);
		const dm = writes.findIndex((path) => /channels\/\d+\/messages$/.test(path));
		const ban = writes.findIndex((path) => path.includes("/bans/"));
		expect(dm).toBeGreaterThanOrEqual(0);
		expect(dm).toBeLessThan(ban);
		expect(await bot.all()).toMatchObject([{ told: "yes", state: "done", reason: "spam @everyone **now**" }]);
	});

	test("a person whose timeout is removed is not told how to appeal", async () => {
		await using bot = await start({ appeal: "Write to appeals@example.com." });
		const user_ids = [bot.id("zoe")];
		const timed = await bot.as(moderator, "timeout", { user_ids, duration: "1h", tell: true });
		const removed = await bot.as(moderator, "remove_timeout", { user_ids, tell: true });
		expect([timed, removed].map(({ text }) => text.includes("with how to appeal"))).toEqual([true, false]);
		expect(bot.directMessages("zoe").map((text) => text.includes("appeals@example.com"))).toEqual([true, false]);
	});

	casesTest("a direct message that is refused blocks nothing", async (bot) => {
		bot.simulator.world.users.closedDms.add(bot.id("zoe"));
		const { text, isError } = await bot.as(moderator, "ban", { user_ids: [bot.id("zoe")], tell: true });
		expect(isError).toBe(false);
		expect(text).toContain("The direct message was not delivered");
		expect(bot.guild.bans.has(bot.id("zoe"))).toBe(true);
		expect(await bot.all()).toMatchObject([{ told: "failed", state: "done" }]);
	});

	// Discord's responses do not depend on the database.
	for (const [route, told] of [
		["POST /channels/:channel_id/messages", "asked"],
		["POST /users/@me/channels", "failed"],
	] as const)
		test.skipIf(kind !== "SQLite")(
			`a direct message is given up after 2 s if Discord does not respond to ${route}, and the ban goes on`,
			async () => {
				await using bot = await start();
				const held = bot.simulator.faults.stall(route);
				const { isError } = await bot.as(moderator, "ban", { user_ids: [bot.id("zoe")], tell: true });
				held.release();
				expect(isError).toBe(false);
				expect(await bot.all()).toMatchObject([{ told, state: "done" }]);
			},
		);

	casesTest("a rate limit on direct messages does not hold up a ban", async (bot) => {
		bot.simulator.faults.rateLimit("POST /users/@me/channels", { retryAfterMs: 600_000 });
		const ban = (name: string) => bot.as(moderator, "ban", { user_ids: [bot.id(name)], tell: true });
		expect((await ban("zoe")).isError).toBe(false);
		expect((await ban("liwei")).isError).toBe(false);
		expect(await bot.all()).toMatchObject([
			{ told: "failed", state: "done" },
			{ told: "failed", state: "done" },
		]);
	});

	casesTest("a ban that fails after the person was told is a case that says both", async (bot) => {
		bot.simulator.faults.refuse(`PUT ${banRoute}`, 50013);
		const user_ids = [bot.id("zoe")];
		const { isError } = await bot.as(moderator, "ban", { user_ids, tell: true });
		expect(isError).toBe(true);
		const [one] = await bot.all();
		expect(one).toMatchObject({ told: "yes", state: "not done" });
		expect(one?.why).toBeTruthy();
	});

	casesTest("bots, people outside the guild and people without the setting are not told", async (bot) => {
		const robot = bot.simulator.world.users.addBot({ username: "robot" }).user;
		bot.simulator.world.members.add(bot.guild, robot);
		const outsider = bot.simulator.world.users.addPerson({ username: "outsider" }).user;
		const before = bot.simulator.world.messages;
		await bot.call("ban", { user_ids: [robot.id], tell: true });
		await bot.call("ban", { user_ids: [outsider.id], tell: true });
		await bot.call("ban", { user_ids: [bot.id("zoe")] });
		expect(before).toBe(bot.simulator.world.messages);
		expect(bot.simulator.requests.list().filter(({ path }) => path.endsWith("/users/@me/channels"))).toEqual([]);
		expect(await bot.all()).toMatchObject([
			{ userId: robot.id, told: undefined },
			{ userId: outsider.id, told: "failed" },
			{ userId: bot.id("zoe"), told: undefined },
		]);
	});

	casesTest("concurrent calls get consecutive numbers", async (bot) => {
		await Promise.all(
			Array.from({ length: 20 }, () => bot.as(moderator, "note_member", { user_ids: [bot.id("zoe")], note: "note" })),
		);
		const numbers = (await bot.all()).map(({ number }) => number);
		expect(numbers).toEqual(numbers.map((_, index) => index + 1));
		expect(numbers).toHaveLength(20);
	});

	test("without the database the action works and is recorded later, and warnings are refused", async () => {
		let isAway = false;
		const away = () => new StoreUnavailable("away in this test");
		await using bot = await start({
			store(store) {
				const { sql, transaction } = store;
				return Object.assign(store, {
					sql: ((...statement) => (isAway ? Promise.reject(away()) : sql(...statement))) as typeof sql,
					transaction: ((work) => (isAway ? Promise.reject(away()) : transaction(work))) as typeof transaction,
				});
			},
		});
		isAway = true;
		const user_ids = [bot.id("zoe")];
		const { text, isError } = await bot.as(moderator, "ban", { user_ids });
		expect(isError).toBe(false);
		expect(text).toContain("the case will be stored when it is back");
		const warned = await bot.as(moderator, "warn_member", { user_ids: [bot.id("mona_lisa")], reason: "spam" });
		expect(warned.isError).toBe(true);
		expect(warned.text).toContain("Nothing was stored");
		expect(bot.directMessages("mona_lisa")).toEqual([]);
		isAway = false;
		await bot.settled(1);
		expect(await bot.all()).toMatchObject([{ number: 1, action: "ban", state: "done", userId: bot.id("zoe") }]);
	});

	test("after a kill, cases are decided by Discord's audit log and state, and nothing is done again", async () => {
		await using bot = await start();
		const guild = bot.guildOfBot();
		const open = (action: (typeof caseActions)[number], name: string) =>
			bot.cases.open({ ...unsaid, guild, draft: { action, userIds: [bot.id(name)] }, reason: "why", tell: false });
		await open("ban", "zoe");
		await open("ban", "mona_lisa");
		await open("kick", "ada");
		await open("note", "ada");
		await bot.cases.open({ ...unsaid, guild, draft: { action: "lock", userIds: [], channelIds: ["1"] } });
		await guild.bans.create(bot.id("zoe"));
		await bot.kill();
		const writes = () => bot.simulator.requests.list().filter(({ method }) => method !== "GET");
		const before = writes().length;
		await bot.start();
		for (const number of [1, 2, 3, 4, 5]) await bot.settled(number);
		expect(await bot.all()).toMatchObject([
			{ action: "ban", state: "done" },
			{ action: "ban", state: "not done" },
			{ action: "kick", state: "not done" },
			{ action: "note", state: "done" },
			{ action: "lock", state: "unknown" },
		]);
		expect(writes()).toHaveLength(before);
	});

	casesTest("a ban by hand after a kill is its own case, and the bot's is not done", async (bot) => {
		const held = bot.simulator.faults.stall(`PUT ${banRoute}`);
		void bot.as(moderator, "ban", { user_ids: [bot.id("zoe")] });
		await bot.reached(held);
		await bot.kill();
		const { world } = bot.simulator;
		const zoe = world.users.get(bot.id("zoe"));
		const by = { actor: bot.id(moderator) };
		if (zoe) world.bans.add(bot.guild, zoe, 0, by);
		await bot.start();
		held.release();
		expect(await bot.settled(1)).toMatchObject({ state: "not done" });
	});

	casesTest("a bulk ban of 200 people is a case for each, in one call", async (bot) => {
		const { world } = bot.simulator;
		const user_ids = Array.from(
			{ length: 200 },
			(_, count) => world.users.addPerson({ username: `raider${count}` }).user,
		).map(({ id }) => id);
		const { text } = await bot.call("ban", { user_ids, tell: true });
		expect(text).toContain("Cases 1 to 200.");
		expect(text).toContain("Nobody was told");
		const all = await bot.all();
		expect(all.map(({ userId }) => userId)).toEqual(user_ids);
		expect(all.every(({ state }) => state === "done")).toBe(true);
		expect(bot.entries).toHaveLength(200);
	});

	test("without View Audit Log, what Discord does not show is unknown after a kill", async () => {
		await using bot = await start({
			prepare(simulator) {
				const role = roleNamed(simulator, "alpha");
				const { ViewAuditLog } = PermissionFlagsBits;
				const permissions = BigInt(role.permissions) & ~ViewAuditLog;
				simulator.world.roles.edit(simulator.guild("The Cooks"), role, { permissions: String(permissions) });
			},
		});
		const guild = bot.guildOfBot();
		const endsAt = Date.UTC(2100, 0, 1);
		for (const action of ["kick", "ban"] as const)
			await bot.cases.open({ ...unsaid, guild, draft: { action, userIds: [bot.id("zoe")], endsAt } });
		await guild.bans.create(bot.id("zoe"));
		await bot.kill();
		await bot.start();
		expect(await bot.settled(1)).toMatchObject({ state: "unknown" });
		expect(await bot.settled(2)).toMatchObject({ state: "done" });
	});
});
