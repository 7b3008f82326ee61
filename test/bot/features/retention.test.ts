// What is deleted after a guild's number of days, and after the bot has left a guild.

import { expect, test } from "bun:test";
import { createRetention } from "../../../src/bot/features/privacy/retention.ts";
import { present, until } from "../../support/until.ts";
import { startFeature } from "./running-feature.ts";

const day = 86_400_000;
const elsewhere = "999";

async function startRetention() {
	const clock = { now: 1_700_000_000_000 };
	const bot = await startFeature({
		settings: () => ({ keep: { calls_days: 7 } }),
		create: (options) => createRetention(options, { now: () => clock.now, backOffMs: [5, 20], maxSleepMs: 10 }),
	});
	const known = () => bot.store.sql`SELECT guild_id, left_at FROM known_guilds ORDER BY guild_id`;
	const here = { guild_id: bot.guild.id, left_at: null };
	await until("it knows its guild", async () => (await known()).length === 1);
	const calls = async () =>
		(await bot.store.sql`SELECT guild_id FROM tool_calls`).map(({ guild_id }) => guild_id).sort();
	const call = (guild_id: string, at: number) =>
		bot.store.sql`INSERT INTO tool_calls (id, at, client, tool, guild_id, arguments, outcome, milliseconds, effect)
			VALUES (${`${guild_id} ${at}`}, ${at}, 'c', 't', ${guild_id}, '{}', 'done', 1, 'read')`;
	return { bot, clock, known, here, calls, call, [Symbol.asyncDispose]: () => bot[Symbol.asyncDispose]() };
}

test("calls are deleted after the guild's days, and after audit_days everywhere", async () => {
	await using world = await startRetention();
	const { bot, clock, call, calls } = world;
	await call(bot.guild.id, clock.now - 8 * day);
	await call(bot.guild.id, clock.now - 6 * day);
	await call(elsewhere, clock.now - 8 * day);
	await call(elsewhere, clock.now - 91 * day);
	await bot.stop();
	await bot.start();
	await until("two are gone", async () => (await calls()).length === 2);
	expect(await calls()).toEqual([bot.guild.id, elsewhere].sort());
});

test("a guild that the bot left while it was off is erased after 30 days, by any later life", async () => {
	await using world = await startRetention();
	const { bot, clock, call, calls, known, here } = world;
	await call(elsewhere, clock.now);
	await call(bot.guild.id, clock.now + 30 * day);
	const { sql } = bot.store;
	await sql`INSERT INTO known_guilds (guild_id) VALUES (${elsewhere})`;
	const left = { guild_id: elsewhere, left_at: clock.now };
	const all = [here, left].sort((a, b) => (a.guild_id < b.guild_id ? -1 : 1));
	await until("it has noticed", async () => Bun.deepEquals(await known(), all));
	await bot.kill();
	clock.now += 30 * day - 1;
	await bot.start();
	// As if the clock had been wrong when the bot left it.
	await bot.store.sql`INSERT INTO known_guilds VALUES ('998', ${clock.now + 365 * day})`;
	await until("a scan has run", async () => (await known()).some(({ left_at }) => left_at === clock.now));
	await bot.store.sql`DELETE FROM known_guilds WHERE guild_id = '998'`;
	expect(await calls()).toEqual([bot.guild.id, elsewhere].sort());
	clock.now += 1;
	await until("it is erased", async () => Bun.deepEquals(await known(), [here]));
	expect(await calls()).toEqual([bot.guild.id]);
});

test("an outage is no leaving, and a jump of the clock not 30 days; who joins again within them finds everything", async () => {
	await using world = await startRetention();
	const { bot, clock, known, call, calls } = world;
	const { simulator, guild } = bot;
	const { id } = simulator.bot("alpha");
	const member = present(guild.members.get(id));
	await call(guild.id, clock.now + 30 * day);
	simulator.sockets.dispatch(id, "GUILD_DELETE", { id: guild.id, unavailable: true });
	await until("the bot has heard", () => bot.connection.guild(guild.id)?.available === false);
	const leftOf = async (guild_id: string) => (await known()).find((one) => one.guild_id === guild_id)?.left_at;
	await bot.store.sql`INSERT INTO known_guilds (guild_id) VALUES (${elsewhere})`;
	await until("a scan has seen another", async () => (await leftOf(elsewhere)) === clock.now);
	expect(await leftOf(guild.id)).toBe(null);
	simulator.world.members.remove(guild, member);
	await until("it has left", async () => (await leftOf(guild.id)) === clock.now);
	clock.now += 30 * day;
	for (const sentinel of ["997", "998"]) {
		await bot.store.sql`INSERT INTO known_guilds (guild_id) VALUES (${sentinel})`;
		await until("a scan has seen it", async () => (await leftOf(sentinel)) === clock.now);
	}
	expect(await leftOf(elsewhere)).toBe(clock.now - 30 * day);
	simulator.world.members.add(guild, member.user, { botPermissions: 8n });
	await until("it is back", async () => (await leftOf(guild.id)) === null);
	await bot.kill();
	await bot.start();
	await until("the other is erased", async () => (await leftOf(elsewhere)) === undefined);
	expect(await calls()).toEqual([guild.id]);
});
