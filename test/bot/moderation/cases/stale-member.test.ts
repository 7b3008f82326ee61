// A rule about a member of whom the bot has missed a change.

import { expect, test } from "bun:test";
import { present, until } from "../../../support/until.ts";
import { allowStaff, moderator, startCases } from "./cases-world.ts";

test("a rule does nothing to a person of whom the bot does not know that they have left", async () => {
	await using bot = await startCases({ prepare: allowStaff, rules: ["1 warning in 1d: kick"] });
	const zoe = bot.id("zoe");
	const members = present([...bot.feature.connection.guilds].find(({ id }) => id === bot.guild.id)?.members.cache);
	const remembered = present(members.get(zoe));
	bot.simulator.world.members.remove(bot.guild, bot.feature.member("zoe"));
	await until("the bot has heard", () => !members.has(zoe));
	members.set(zoe, remembered);
	await bot.cases.add(bot.guild.id, {
		action: "warn",
		userId: zoe,
		moderatorId: bot.id(moderator),
		createdAt: Date.now(),
		source: "entry:1",
	});
	const [row] = await until("the rule's case has an outcome", async () => {
		const rows = await bot.store.sql<{ state: string; why: string | null }>`
			SELECT state, why FROM cases WHERE action = ${"kick"} AND state <> ${"asked"}`;
		return rows.length > 0 && rows;
	});
	expect(row).toEqual({ state: "not done", why: "The user is not a member any more." });
});
