// Bans with an end, by themselves: clocks that jump, a Discord and a database that are away, and other bans beside them.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { LogEntry } from "../../../src/bot/moderation/moderation-log.ts";
import { TempBans, type TempBansOptions } from "../../../src/bot/moderation/temp-bans.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { render } from "../../../src/texts/texts.ts";
import { jumpClock } from "../../support/jump-clock.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { roleNamed } from "../../support/world.ts";
import { startFeature, withSql } from "../features/running-feature.ts";

const banTest = testWith(startBans);

const dayMs = 86_400_000;
const banRoute = "/guilds/:guild_id/bans/:user_id";

banTest("a clock that is set back ends no ban early, nor does a ban longer than a timer", async (bot) => {
	await bot.ban("zoe", 30 * dayMs);
	bot.clock.now -= 10 * dayMs;
	// The end that comes after it has been looked at says that the other was, too.
	await bot.ban("mona_lisa", dayMs);
	bot.clock.now += 2 * dayMs;
	await until("the other is lifted", () => !bot.isBanned("mona_lisa"));
	expect(bot.isBanned("zoe")).toBe(true);
	expect(bot.writes("DELETE")).toBe(1);
});

banTest.each(["a\nclient \u202e\ud800", "x".repeat(600)])("a ban by %j is recognised and lifted", async (bot, name) => {
	await bot.ban("zoe", dayMs, name);
	bot.clock.now += 2 * dayMs;
	await until("the ban is lifted", () => !bot.isBanned("zoe"));
	expect(bot.writes("DELETE")).toBe(1);
	await bot.rows(0);
});

banTest("an unban is retried until Discord accepts it, and done once", async (bot) => {
	await bot.ban("zoe", dayMs);
	const { faults } = bot.simulator;
	faults.fail(`DELETE ${banRoute}`, 503, { times: 2 });
	faults.refuse(`DELETE ${banRoute}`, 50013, { times: 2 });
	bot.clock.now += 2 * dayMs;
	await until("the moderation log has the entries", () => bot.titles().length === 2);
	// That Discord refuses is told once.
	expect(bot.titles()).toEqual(["Expired ban not lifted", "Ban expired"]);
	expect(bot.writes("DELETE")).toBe(1);
	await bot.rows(0);
});

test("without the permission to ban Discord is not asked, moderators are told once, and it is done when it is back", async () => {
	await using bot = await startBans();
	await bot.ban("zoe", dayMs);
	const { world, requests } = bot.simulator;
	const { cooks } = bot;
	const own = roleNamed({ guild: cooks }, "alpha");
	const { permissions } = own;
	const { BanMembers } = PermissionFlagsBits;
	const without = BigInt(permissions) & ~BanMembers;
	world.roles.edit(cooks, own, { permissions: String(without) });
	await until("the bot has heard", () => {
		const me = bot.guild().members.me;
		return me && !me.permissions.has(BanMembers);
	});
	await bot.settled();
	const asked = requests.list().length;
	bot.clock.now += 2 * dayMs;
	await until("the moderation log has the entries", () => bot.titles().length === 1);
	await bot.settled();
	expect(bot.titles()).toEqual(["Expired ban not lifted"]);
	expect(requests.list()).toHaveLength(asked);
	world.roles.edit(cooks, own, { permissions });
	await until("it is lifted", () => !bot.isBanned("zoe"));
	await bot.rows(0);
});

test("an end whose guild becomes unavailable while it waits for its turn is not asked for until it is back", async () => {
	await using bot = await startBans();
	await bot.ban("zoe", dayMs);
	await bot.settled();
	const { faults, requests } = bot.simulator;
	const held = faults.stall(`GET ${banRoute}`, { times: 1 });
	const again = bot.ban("zoe", dayMs);
	await until("it is asked for", () => held.hits === 1);
	bot.clock.now += 2 * dayMs;
	await bot.settled();
	// As discord.js does at a GUILD_DELETE with `unavailable`.
	bot.guild().available = false;
	const asked = requests.list().length;
	held.release();
	expect(await again).toBe("changed");
	await bot.settled();
	expect(requests.list()).toHaveLength(asked);
	expect(bot.isBanned("zoe")).toBe(true);
	bot.guild().available = true;
	await until("it is lifted", () => !bot.isBanned("zoe"));
	await bot.rows(0);
});

banTest("an unban whose response is lost is logged once", async (bot) => {
	await bot.ban("zoe", dayMs);
	const { faults } = bot.simulator;
	faults.drop(`DELETE ${banRoute}`, { when: "after", times: 1 });
	bot.clock.now += 2 * dayMs;
	await bot.rows(0);
	expect(bot.titles()).toEqual(["Ban expired"]);
	expect(bot.writes("DELETE")).toBe(1);
});

banTest("an unban waits for the database", async (bot) => {
	await bot.ban("zoe", dayMs);
	bot.away(true);
	bot.clock.now += 2 * dayMs;
	await until("it was asked", () => bot.refused() > 3);
	await expect(bot.ban("mona_lisa", dayMs)).rejects.toThrow("The bot's database is unavailable at the moment");
	expect(bot.isBanned("mona_lisa")).toBe(false);
	expect(bot.isBanned("zoe")).toBe(true);
	bot.away(false);
	await until("it is lifted", () => !bot.isBanned("zoe"));
	await bot.rows(0);
});

banTest("without the database a ban can be lifted, and is not made again when it is back", async (bot) => {
	await bot.ban("zoe", dayMs);
	await bot.settled();
	// As if the bot had not recorded that Discord made the ban.
	await bot.sql`UPDATE temp_bans SET state = 'asked'`;
	bot.away(true);
	const forget = await bot.bans.beforeUnban(bot.cooks.id, bot.id("zoe"));
	bot.lift("zoe");
	await forget?.();
	bot.away(false);
	await bot.rows(0);
	expect(bot.isBanned("zoe")).toBe(false);
	expect(bot.writes("PUT")).toBe(1);
});

banTest("a lifted ban is forgotten although the first check of it fails", async (bot) => {
	await bot.ban("zoe", dayMs);
	await bot.settled();
	bot.simulator.faults.fail(`GET ${banRoute}`, 503, { times: 3 });
	bot.lift("zoe");
	await bot.rows(0);
});

banTest("a ban lifted while the bot is disconnected is forgotten", async (bot) => {
	await bot.ban("zoe", dayMs);
	await bot.settled();
	const { sockets } = bot.simulator;
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	bot.lift("zoe");
	sockets.refuseConnections(undefined);
	await bot.rows(0);
	expect(bot.writes("DELETE")).toBe(0);
});

banTest("concurrent attempts end a ban once", async (bot) => {
	await bot.ban("zoe", dayMs);
	const held = bot.simulator.faults.stall(`DELETE ${banRoute}`, { times: 1 });
	bot.clock.now += 2 * dayMs;
	await until("it is asked for", () => held.hits === 1);
	for (let index = 0; index < 20; index++) bot.bans.start();
	held.release();
	await bot.rows(0);
	expect(bot.writes("DELETE")).toBe(1);
});

test("a jump of the clock over the end of a ban ends it at once", async () => {
	await using bot = await startBans(undefined, { maxSleepMs: 3_600_000 });
	await bot.ban("zoe", dayMs);
	await bot.rows(1);
	bot.clock.now += 2 * dayMs;
	await until("it is lifted", () => {
		jumpClock();
		return !bot.isBanned("zoe");
	});
	expect(bot.writes("DELETE")).toBe(1);
});

test.each<[what: string, firstMs: number, secondMs: number | null]>([
	["longer", dayMs, 3 * dayMs],
	["shorter", 3 * dayMs, dayMs],
	["permanent", dayMs, null],
])("of two bots, the one asked last decides the end: %s", async (_, firstMs, secondMs) => {
	await using alpha = await startBans();
	await using beta = await startBans(undefined, {}, alpha.simulator);
	await alpha.ban("zoe", firstMs);
	expect(await beta.ban("zoe", secondMs)).toBe("changed");
	await alpha.rows(0);
	await beta.rows(secondMs === null ? 0 : 1);
	for (const bot of [alpha, beta]) bot.clock.now += 2 * dayMs;
	const stays = secondMs === null || secondMs > 2 * dayMs;
	if (!stays) await until("it is lifted", () => !alpha.isBanned("zoe"));
	await alpha.settled();
	expect(alpha.isBanned("zoe")).toBe(stays);
	alpha.clock.now += 2 * dayMs;
	beta.clock.now += 2 * dayMs;
	await beta.rows(0);
	expect(alpha.isBanned("zoe")).toBe(secondMs === null);
	// Each by the bot that was asked last: one to replace the ban, one at its end.
	expect(alpha.writes("DELETE")).toBe(secondMs === null ? 1 : 2);
	expect(alpha.titles()).toEqual([]);
});

banTest.each(["DELETE", "PUT"])(
	"a ban of another bot is replaced although Discord's response to %s is lost",
	async (alpha, method) => {
		await using beta = await startBans(undefined, {}, alpha.simulator);
		await alpha.ban("zoe", dayMs);
		for (const when of ["before", "after"] as const) {
			const fault = { when, times: 1 };
			alpha.simulator.faults.drop(`${method} ${banRoute}`, fault);
			await beta.ban("zoe", 3 * dayMs).catch(() => {});
			await until("beta has made its ban", async () => {
				const [row] = await beta.sql`SELECT state FROM temp_bans`;
				return row?.state === "banned";
			});
			alpha.simulator.faults.clear();
		}
		await alpha.rows(0);
		expect(alpha.isBanned("zoe")).toBe(true);
	},
);

banTest("a ban that replaces another and that Discord refuses is tried again", async (alpha) => {
	await using beta = await startBans(undefined, {}, alpha.simulator);
	await alpha.ban("zoe", dayMs);
	alpha.simulator.faults.refuse(`PUT ${banRoute}`, 50013, { times: 1 });
	await expect(beta.ban("zoe", 3 * dayMs)).rejects.toThrow("Discord did not confirm the ban");
	await until("beta has made its ban", () => alpha.isBanned("zoe"));
	await alpha.rows(0);
	await beta.rows(1);
});

banTest("a ban by hand is not replaced when it gets an end", async (bot) => {
	const { world } = bot.simulator;
	const user = present(world.users.get(bot.id("zoe")));
	world.bans.add(bot.cooks, user, 0, { actor: "1", reason: "rude" });
	expect(await bot.ban("zoe", dayMs)).toBe("changed");
	expect(bot.writes("DELETE")).toBe(0);
	bot.clock.now += 2 * dayMs;
	await until("it is lifted", () => !bot.isBanned("zoe"));
});

onBoth((databases) => {
	test.each([
		["forwards, beyond what a timer can sleep", 60 * dayMs],
		["forwards, by a day", 1.5 * dayMs],
	])("a clock that jumps %s ends a ban that is over", async (_, jumpMs) => {
		await using bot = await startBans(await databases.place());
		await bot.ban("zoe", dayMs);
		await bot.settled();
		bot.clock.now += jumpMs;
		await until("it is lifted", () => !bot.isBanned("zoe"));
		await until("the moderation log has the entries", () => bot.titles().length === 1);
		expect(bot.titles()).toEqual(["Ban expired"]);
		expect(bot.writes("DELETE")).toBe(1);
	});

	test("a ban that was made and lifted before the database could be told of it is not made again", async () => {
		await using bot = await startBans(await databases.place());
		const held = bot.simulator.faults.stall(`PUT ${banRoute}`, { times: 1 });
		const banning = bot.ban("zoe", dayMs);
		await until("it is asked for", () => held.hits === 1);
		bot.away(true);
		held.release();
		await banning;
		expect(bot.isBanned("zoe")).toBe(true);
		bot.lift("zoe");
		bot.away(false);
		await bot.rows(0);
		expect(bot.isBanned("zoe")).toBe(false);
		expect(bot.writes("PUT")).toBe(1);
	});

	test("a user banned for a chargeback since then stays banned", async () => {
		const place = await databases.place();
		await using bot = await startBans(place);
		await bot.ban("zoe", dayMs);
		await place.look(
			`INSERT INTO chargebacks (id, guild_id, uuid, username, chat_id, tier, happened_at, received_at, restriction, saved_roles, alerts_lost, decision, decided_at, discord_ban, game_ban, restoration, lost_roles, closed) VALUES ('x', '${bot.guild().id}', 'u', 'zoe', '${bot.id("zoe")}', 'gold', 't', 1, 'none', '[]', 0, 'ban', ${bot.clock.now + 1}, 'done', 'done', 'void', '[]', 1)`,
		);
		bot.clock.now += 2 * dayMs;
		await bot.rows(0);
		expect(bot.isBanned("zoe")).toBe(true);
		expect(bot.writes("DELETE")).toBe(0);
	});

	test("30 bans that end at once are all lifted", async () => {
		await using bot = await startBans(await databases.place());
		bot.simulator.world.members.addMany(bot.cooks, 30);
		const { members } = bot.cooks;
		const crowd = [...members.values()].slice(-30);
		for (const { user } of crowd) await bot.ban(user.id, dayMs);
		expect(bot.writes("PUT")).toBe(30);
		bot.clock.now += 2 * dayMs;
		await bot.rows(0);
		expect(bot.writes("DELETE")).toBe(30);
		expect(bot.cooks.bans.size).toBe(0);
	});
});

/** Temporary bans alone, with a clock that tests set and a database that they can take away. */
async function startBans(place?: Place, changes: Partial<TempBansOptions> = {}, beside?: Simulator) {
	const clock = { now: 1_700_000_000_000 };
	const entries: LogEntry[] = [];
	let bans: TempBans | undefined;
	let isAway = false;
	let refused = 0;
	let statements = 0;
	const bot = await startFeature({
		...(place && { place }),
		...(beside && { beside }),
		simulator: { rateLimits: { global: { requests: 10_000, perMs: 1_000 }, each: { requests: 1_000, perMs: 1_000 } } },
		store: (store) =>
			withSql(store, (...statement) => {
				statements += 1;
				if (!isAway) return store.sql(...statement);
				refused += 1;
				return Promise.reject(new StoreUnavailable("for a test"));
			}),
		create(options) {
			bans = new TempBans({
				...options,
				moderationLog: { add: (_, entry) => entries.push(entry) },
				now: () => clock.now,
				backOffMs: [5, 50],
				maxSleepMs: 20,
				...changes,
			});
			return bans;
		},
	});
	const { simulator, guild: cooks } = bot;
	const current = () => {
		if (bans) return bans;
		throw new Error("the bans were not created");
	};
	const id = (person: string) => (/^\d+$/.test(person) ? person : simulator.user(person).id);
	const guild = () => {
		return present(bot.connection.guilds.find((one) => one.id === cooks.id));
	};
	return {
		simulator,
		clock,
		bans: current(),
		id,
		guild,
		cooks,
		ban: (person: string, ms: number | null, name = "@someone (ID: 1)") =>
			current().ban(guild(), {
				userId: id(person),
				reason: null,
				endsAt: ms === null ? null : clock.now + ms,
				moderator: { id: "1", name },
			}),
		isBanned: (person: string) => cooks.bans.has(id(person)),
		/** Lifts a ban as a moderator does by hand. */
		lift(person: string) {
			const ban = present(cooks.bans.get(id(person)), `${person} is not banned`);
			simulator.world.bans.remove(cooks, ban);
		},
		titles: () => entries.map(({ title }) => render(title, "en")),
		writes: (method: string) => simulator.journal.entries(`${method} ${banRoute}`).length,
		away: (away: boolean) => {
			isAway = away;
		},
		refused: () => refused,
		/** Runs a statement although the database is taken away. */
		sql: bot.store.sql,
		/** Resolves when no step runs and the worker scans only because of `maxSleepMs`. */
		async settled() {
			const before = statements;
			await until("more scans", () => statements > before + 10);
		},
		rows: (count: number) =>
			until(`${count} rows`, async () => {
				const rows = await bot.store.sql`SELECT user_id FROM temp_bans`;
				return rows.length === count;
			}),
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}
