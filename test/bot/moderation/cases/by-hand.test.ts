// What is done by hand, or by other bots, becomes a case once, also what the bot missed.

import { expect, test } from "bun:test";
import { banReason } from "../../../../src/bot/game/chargeback-steps.ts";
import { decide, insertChargeback } from "../../../../src/bot/store/tables/chargebacks.ts";
import { spamIncidentRows } from "../../../../src/bot/store/tables/spam-incidents.ts";
import { said } from "../../../../src/texts/texts.ts";
import { onBoth } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { userNamed } from "../../../support/world.ts";
import { allowStaff, type CasesSetup, moderator, staffedCases } from "./cases-world.ts";

onBoth((databases, kind) => {
	const start = async (setup: CasesSetup = {}) => {
		const bot = await staffedCases(databases)(setup);
		const { world } = bot.simulator;
		const user = (name: string) => {
			const found = world.users.get(bot.id(name));
			if (found) return found;
			throw new Error(`there is no user ${name}`);
		};
		const by = (name: string, reason?: string) => ({ actor: bot.id(name), reason });
		return Object.assign(bot, {
			ban: (name: string, reason?: string) => world.bans.add(bot.guild, user(name), 0, by(moderator, reason)),
			unban(name: string) {
				const ban = bot.guild.bans.get(bot.id(name));
				if (ban) world.bans.remove(bot.guild, ban, by(moderator));
			},
			kick: (name: string) => world.members.remove(bot.guild, bot.feature.member(name), by(moderator)),
			edit: (name: string, changes: object) =>
				world.members.edit(bot.guild, bot.feature.member(name), changes, by(moderator)),
			count: (count: number) =>
				until(`there are ${count} cases`, async () => {
					const all = await bot.all();
					return all.length >= count && all;
				}),
			/** Once the audit log was read for the first time. */
			checked: () =>
				until("the audit log was read", async () => {
					const rows = await bot.store.sql`SELECT * FROM audit_log_marks WHERE wanted = 'cases'`;
					return rows.length > 0;
				}),
		});
	};
	const casesTest = testWith(start);

	test("bans, unbans, kicks, timeouts and their end become cases with moderator and reason; other changes do not", async () => {
		await using bot = await start();
		await bot.checked();
		bot.ban("zoe", "spam *everywhere*");
		bot.unban("zoe");
		bot.edit("mona_lisa", { nick: "Mona" });
		bot.edit("mona_lisa", { roles: [] });
		const end = "2100-01-01T00:00:00.000Z";
		bot.edit("mona_lisa", { communication_disabled_until: end });
		bot.edit("mona_lisa", { communication_disabled_until: null });
		bot.kick("liwei");
		const all = await bot.count(5);
		const moderatorId = bot.id(moderator);
		expect(all).toMatchObject([
			{ action: "ban", userId: bot.id("zoe"), reason: "spam *everywhere*" },
			{ action: "unban", userId: bot.id("zoe") },
			{ action: "timeout", endsAt: Date.parse(end) },
			{ action: "remove_timeout", userId: bot.id("mona_lisa") },
			{ action: "kick", userId: bot.id("liwei") },
		]);
		for (const one of all) expect(one).toMatchObject({ moderatorId, state: "done", client: undefined });
		await logged(bot, 5);
		expect(bot.entries.map(({ caseNumber }) => caseNumber)).toEqual([1, 2, 3, 4, 5]);
	});

	casesTest("what the bot itself does is one case", async (bot) => {
		await bot.checked();
		await bot.as(moderator, "ban", { user_ids: [bot.id("zoe")] });
		bot.ban("liwei");
		const all = await bot.count(2);
		expect(all).toMatchObject([{ userId: bot.id("zoe") }, { userId: bot.id("liwei") }]);
		expect(all).toHaveLength(2);
	});

	casesTest("a timeout by another bot for spam that this bot has found is no second case", async (bot) => {
		await bot.checked();
		const { world } = bot.simulator;
		await spamIncidentRows.save(bot.store.sql, [
			{
				guild_id: bot.guild.id,
				id: "1",
				user_id: bot.id("zoe"),
				rule: "x",
				detected_at: Date.now(),
				until: 0,
				state: "asked",
				timeout: "asked",
				messages: "{}",
				case_number: null,
				log_channel_id: null,
				log_message_id: null,
			},
		]);
		const beta = present(world.users.get(bot.simulator.bot("beta").id));
		world.members.add(bot.guild, beta, {});
		await until("the bot knows beta", () => bot.guildOfBot().members.cache.has(beta.id));
		const byBot = { actor: beta.id };
		const end = "2100-01-01T00:00:00.000Z";
		const timeOut = (name: string, by?: object) =>
			world.members.edit(
				bot.guild,
				bot.feature.member(name),
				{ communication_disabled_until: end },
				{ actor: bot.id(moderator), ...by },
			);
		timeOut("zoe", byBot);
		// Of another person, and by a moderator.
		timeOut("mona_lisa", byBot);
		bot.edit("zoe", { communication_disabled_until: null });
		timeOut("zoe");
		const found = await bot.count(3);
		expect(found).toMatchObject([
			{ action: "timeout", userId: bot.id("mona_lisa") },
			{ action: "remove_timeout", moderatorId: bot.id(moderator) },
			{ action: "timeout", moderatorId: bot.id(moderator) },
		]);
		expect(found).toHaveLength(3);
	});

	test("what was done while the bot was away is found, once; what was done before its first start is not", async () => {
		await using bot = await start({
			prepare(simulator) {
				allowStaff(simulator);
				const user = userNamed(simulator, "liwei");
				const by = { actor: simulator.user(moderator).id };
				simulator.world.bans.add(simulator.guild("The Cooks"), user, 0, by);
			},
		});
		await bot.checked();
		bot.ban("zoe");
		await bot.count(1);
		await bot.kill();
		bot.kick("mona_lisa");
		await bot.start();
		await bot.count(2);
		await bot.kill();
		await bot.start();
		bot.unban("zoe");
		expect(await bot.count(3)).toMatchObject([{ action: "ban" }, { action: "kick" }, { action: "unban" }]);
	});

	// What is read at once does not depend on the database.
	test.skipIf(kind === "PostgreSQL")(
		"thousands of entries that the bot missed become cases in their order",
		async () => {
			await using bot = await start();
			await bot.checked();
			await bot.kill();
			// More than are read at once, of two kinds.
			for (let count = 0; count < 1_050; count += 1) {
				bot.ban("zoe", String(count));
				bot.unban("zoe");
			}
			await bot.start();
			await bot.count(1_000);
			const all = await until("all are stored", async () => {
				const page = { limit: 3_000 };
				const found = await bot.cases.list(bot.guild.id, {}, page);
				return found.length === 2_100 && found.reverse();
			});
			expect(all.map(({ number }) => number)).toEqual(all.map((_, index) => index + 1));
			expect(all.flatMap(({ action, reason }) => (action === "ban" ? reason : []))).toEqual(
				Array.from({ length: 1_050 }, (_, count) => String(count)),
			);
		},
		120_000,
	);

	casesTest("a prune is one case, by hand and by the bot, also one that the bot missed", async (bot) => {
		await bot.checked();
		const byHand = () =>
			bot.simulator.world.state.audit(bot.guild, { actor: bot.id(moderator) }, "MemberPrune", null, {
				options: { delete_member_days: "7", members_removed: "12" },
			});
		byHand();
		await bot.count(1);
		const { isError } = await bot.call("prune_members", { inactive: "30d" });
		expect(isError).toBe(false);
		await bot.kill();
		byHand();
		await bot.start();
		const [first, second, third] = await bot.count(3);
		expect([first, third]).toMatchObject([
			{ action: "prune", detail: [members(12), inactive(7)] },
			{ action: "prune", moderatorId: bot.id(moderator), userId: undefined },
		]);
		expect(second).toMatchObject({ action: "prune", detail: [inactive(30)], state: "done" });
	});

	test("a ban for a chargeback is a case of the person who decided, other bans by the bot are not", async () => {
		await using bot = await start();
		await bot.checked();
		const id = "ab".repeat(32);
		const guild = bot.guildOfBot();
		const event = {
			id,
			guild_id: guild.id,
			uuid: "11111111-2222-4333-8444-555555555555",
			username: "Zoe",
			chat_id: bot.id("zoe"),
			tier: "gold",
			happened_at: "2026-01-01T00:00:00.000Z",
		};
		await insertChargeback(bot.store.sql, event, new Date(0));
		await decide(bot.store.sql, event, "ban", bot.id(moderator));
		const reason = banReason({ id, decided_by: bot.id(moderator) });
		await guild.bans.create(bot.id("zoe"), { reason });
		// Looks like one.
		await guild.bans.create(bot.id("mona_lisa"), { reason });
		bot.ban("liwei");
		const all = await bot.count(2);
		expect(all).toMatchObject([
			{ action: "ban", userId: bot.id("zoe"), reason, moderatorId: bot.id(moderator) },
			{ userId: bot.id("liwei") },
		]);
		expect(all).toHaveLength(2);
	});

	casesTest("timeouts by hand count for rules", { rules: ["1 timeout in 1d: kick"] }, async (bot) => {
		await bot.checked();
		bot.edit("zoe", { communication_disabled_until: "2100-01-01T00:00:00.000Z" });
		await bot.count(2);
		expect(await bot.settled(2)).toMatchObject({ action: "kick", state: "done" });
	});
});

const members = (count: number) => said("case.detail.members", { count });
const inactive = (count: number) => said("case.detail.inactive", { count });

function logged(bot: { entries: readonly unknown[] }, count: number) {
	return until("they are logged", () => bot.entries.length >= count);
}
