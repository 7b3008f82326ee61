// Bans with an end, by themselves: clocks that jump, a Discord and a database that are away, and other bans beside them.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { Connection } from "../../../../src/bot/discord/connection/connection.ts";
import type { LogEntry } from "../../../../src/bot/features/moderation/moderation-log.ts";
import { createTempBans } from "../../../../src/bot/features/moderation/temp-bans.ts";
import { StoreUnavailable } from "../../../../src/bot/store/database/db-error.ts";
import type { Sql } from "../../../../src/bot/store/database/statement.ts";
import type { Store } from "../../../../src/bot/store/store.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { KeyedMutex } from "../../../../src/lib/keyed-mutex.ts";
import { startSimulator } from "../../../../src/simulator/simulator.ts";
import { botConfig } from "../../../support/bot-config.ts";
import { recordLog } from "../../../support/log.ts";
import { onBoth, openStore, type Place } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";

const dayMs = 86_400_000;
const banRoute = "/guilds/:guild_id/bans/:user_id";

test("a clock that was set back ends nothing early, and a ban of 30 days is slept through", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", 30 * dayMs);
	stage.clock.now -= 10 * dayMs;
	// The end that comes after it has been looked at says that the other was, too.
	await stage.ban("mona_lisa", dayMs);
	stage.clock.now += 2 * dayMs;
	await until("the other is lifted", () => !stage.isBanned("mona_lisa"));
	expect(stage.isBanned("zoe")).toBe(true);
	expect(stage.writes("DELETE")).toBe(1);
});

test("an end is tried until Discord takes it, and done once", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	const { faults } = stage.simulator;
	faults.fail(`DELETE ${banRoute}`, 503, { times: 2 });
	faults.refuse(`DELETE ${banRoute}`, 50013, { times: 2 });
	stage.clock.now += 2 * dayMs;
	await until("it is told", () => stage.titles().length === 3);
	// That Discord refuses is told once.
	expect(stage.titles()).toEqual([
		"Ban",
		"Expired ban not lifted",
		"Ban expired",
	]);
	expect(stage.writes("DELETE")).toBe(1);
	await stage.rows(0);
});

test("without the permission to ban Discord is not asked, moderators are told once, and it is done when it is back", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	const { world, requests } = stage.simulator;
	const cooks = stage.simulator.guild("The Cooks");
	const own = [...cooks.roles.values()].find(({ name }) => name === "alpha");
	if (!own) throw new Error("the bot has a role");
	const { permissions } = own;
	const { BanMembers } = PermissionFlagsBits;
	const without = BigInt(permissions) & ~BanMembers;
	world.roles.edit(cooks, own, { permissions: String(without) });
	await until("the bot has heard", () => {
		const me = stage.guild().members.me;
		return me && !me.permissions.has(BanMembers);
	});
	await stage.settled();
	const asked = requests.list().length;
	stage.clock.now += 2 * dayMs;
	await until("it is told", () => stage.titles().length === 2);
	await stage.settled();
	expect(stage.titles()).toEqual(["Ban", "Expired ban not lifted"]);
	expect(requests.list()).toHaveLength(asked);
	world.roles.edit(cooks, own, { permissions });
	await until("it is lifted", () => !stage.isBanned("zoe"));
	await stage.rows(0);
});

test("an end whose guild becomes unavailable while it waits for its turn is not asked for until it is back", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	await stage.settled();
	const { faults, requests } = stage.simulator;
	const held = faults.stall(`GET ${banRoute}`, { times: 1 });
	const again = stage.ban("zoe", dayMs);
	await until("it is asked for", () => held.hits === 1);
	stage.clock.now += 2 * dayMs;
	await stage.settled();
	// As discord.js does at a GUILD_DELETE with `unavailable`.
	stage.guild().available = false;
	const asked = requests.list().length;
	held.release();
	expect(await again).toBe("changed");
	await stage.settled();
	expect(requests.list()).toHaveLength(asked);
	expect(stage.isBanned("zoe")).toBe(true);
	stage.guild().available = true;
	await until("it is lifted", () => !stage.isBanned("zoe"));
	await stage.rows(0);
});

test("an end that Discord carried out without saying so is told all the same, once", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	const { faults } = stage.simulator;
	faults.drop(`DELETE ${banRoute}`, { when: "after", times: 1 });
	stage.clock.now += 2 * dayMs;
	await stage.rows(0);
	expect(stage.titles()).toEqual(["Ban", "Ban expired"]);
	expect(stage.writes("DELETE")).toBe(1);
});

test("an end waits for the database to come back", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	stage.away(true);
	stage.clock.now += 2 * dayMs;
	await until("it was asked", () => stage.refused() > 3);
	await expect(stage.ban("mona_lisa", dayMs)).rejects.toThrow(
		"The bot's database is unavailable at the moment",
	);
	expect(stage.isBanned("mona_lisa")).toBe(false);
	expect(stage.isBanned("zoe")).toBe(true);
	stage.away(false);
	await until("it is lifted", () => !stage.isBanned("zoe"));
	await stage.rows(0);
});

test("a ban that somebody lifts while Discord's Gateway has lost the bot is not kept", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	await stage.settled();
	const { sockets, world } = stage.simulator;
	const cooks = stage.simulator.guild("The Cooks");
	const made = cooks.bans.get(stage.id("zoe"));
	if (!made) throw new Error("she is banned");
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	world.bans.remove(cooks, made);
	sockets.refuseConnections(undefined);
	await stage.rows(0);
	expect(stage.writes("DELETE")).toBe(0);
});

test("two bots' worth of asking ends a ban once", async () => {
	await using stage = await startStage();
	await stage.ban("zoe", dayMs);
	const held = stage.simulator.faults.stall(`DELETE ${banRoute}`, {
		times: 1,
	});
	stage.clock.now += 2 * dayMs;
	await until("it is asked for", () => held.hits === 1);
	for (let index = 0; index < 20; index++) stage.bans.start();
	const lifted = stage.bans.unban(stage.guild(), {
		...{ userId: stage.id("zoe"), reason: null },
		moderator: { id: "1", name: "someone" },
	});
	held.release();
	expect(await lifted).toBe(false);
	await stage.rows(0);
	expect(stage.writes("DELETE")).toBe(1);
});

onBoth((databases) => {
	test.each([
		["forwards, beyond what a timer can sleep", 60 * dayMs],
		["forwards, by a day", 1.5 * dayMs],
	])("a clock that jumps %s ends a ban that is over", async (_, jumpMs) => {
		await using stage = await startStage(await databases.place());
		await stage.ban("zoe", dayMs);
		await stage.settled();
		stage.clock.now += jumpMs;
		await until("it is lifted", () => !stage.isBanned("zoe"));
		await until("it is told", () => stage.titles().length === 2);
		expect(stage.titles()).toEqual(["Ban", "Ban expired"]);
		expect(stage.writes("DELETE")).toBe(1);
	});

	test("a ban that was made and lifted before the database could be told of it is not made again", async () => {
		await using stage = await startStage(await databases.place());
		const held = stage.simulator.faults.stall(`PUT ${banRoute}`, { times: 1 });
		const banning = stage.ban("zoe", dayMs);
		await until("it is asked for", () => held.hits === 1);
		stage.away(true);
		held.release();
		await banning;
		expect(stage.isBanned("zoe")).toBe(true);
		const cooks = stage.simulator.guild("The Cooks");
		const made = cooks.bans.get(stage.id("zoe"));
		if (!made) throw new Error("Zoë is banned");
		stage.simulator.world.bans.remove(cooks, made);
		stage.away(false);
		await stage.rows(0);
		expect(stage.isBanned("zoe")).toBe(false);
		expect(stage.writes("PUT")).toBe(1);
	});

	test("whoever was banned for a chargeback meanwhile stays banned", async () => {
		const place = await databases.place();
		await using stage = await startStage(place);
		await stage.ban("zoe", dayMs);
		await place.look(
			`INSERT INTO chargebacks (id, uuid, username, chat_id, tier, happened_at, received_at, restriction, saved_roles, alerts_lost, decision, decided_at, discord_ban, game_ban, restoration, lost_roles, closed) VALUES ('x', 'u', 'zoe', '${stage.id("zoe")}', 'gold', 't', 1, 'none', '[]', 0, 'ban', ${stage.clock.now + 1}, 'done', 'done', 'void', '[]', 1)`,
		);
		stage.clock.now += 2 * dayMs;
		await stage.rows(0);
		expect(stage.isBanned("zoe")).toBe(true);
		expect(stage.writes("DELETE")).toBe(0);
	});

	test("thirty that end at once are all lifted", async () => {
		await using stage = await startStage(await databases.place());
		stage.simulator.world.members.addMany(
			stage.simulator.guild("The Cooks"),
			30,
		);
		const { members } = stage.simulator.guild("The Cooks");
		const crowd = [...members.values()].slice(-30);
		for (const { user } of crowd) await stage.ban(user.id, dayMs);
		expect(stage.writes("PUT")).toBe(30);
		stage.clock.now += 2 * dayMs;
		await stage.rows(0);
		expect(stage.writes("DELETE")).toBe(30);
		expect(stage.simulator.guild("The Cooks").bans.size).toBe(0);
	});
});

/** Bans on a connection and a store of their own, with a clock that can be set. */
async function startStage(place?: Place) {
	await using stack = new AsyncDisposableStack();
	const settings = place?.settings ?? {
		...{ databaseUrl: undefined, schema: undefined },
		directory: botConfig().dataDirectory,
	};
	const simulator = stack.use(
		await startSimulator({
			rateLimits: {
				global: { requests: 10_000, perMs: 1_000 },
				each: { requests: 1_000, perMs: 1_000 },
			},
		}),
	);
	const { store } = stack.use(await openStore({ settings }, { migrations }));
	const { log, lines } = recordLog("debug");
	const clock = { now: 1_700_000_000_000 };
	const entries: LogEntry[] = [];
	let isAway = false;
	let refused = 0;
	let statements = 0;
	const sql: Sql = (...statement) => {
		statements += 1;
		if (!isAway) return store.sql(...statement);
		refused += 1;
		return Promise.reject(new StoreUnavailable("for a test"));
	};
	const connection = new Connection({
		...{ token: simulator.bot("alpha").token, api: simulator.api, log },
		onResponse: () => {},
		needsBanEvents: true,
		attach: (client) => bans.attach(client),
		timing: { backOffMs: [1, 4], identifyMs: 0 },
	});
	stack.defer(() => connection.close());
	const bans = createTempBans({
		...{ connection, log, mutex: new KeyedMutex() },
		store: { sql } as Pick<Store, "sql">,
		moderationLog: { add: (_, entry) => entries.push(entry) },
		now: () => clock.now,
		backOffMs: [5, 50],
		maxSleepMs: 20,
	});
	stack.defer(() => bans.close());
	await connection.open();
	bans.start();
	const cooks = simulator.guild("The Cooks");
	const id = (person: string) =>
		/^\d+$/.test(person) ? person : simulator.user(person).id;
	const guild = () => {
		const found = connection.guilds.find((one) => one.id === cooks.id);
		if (!found) throw new Error("the bot is in its guild");
		return found;
	};
	await until("the guild is there", () => guild().available);
	const running = stack.move();
	return {
		...{ simulator, clock, bans, id, guild, lines },
		ban: (person: string, ms: number) =>
			bans.ban(guild(), {
				...{ userId: id(person), reason: null, endsAt: clock.now + ms },
				moderator: { id: "1", name: "@someone (ID: 1)" },
			}),
		isBanned: (person: string) => cooks.bans.has(id(person)),
		titles: () => entries.map(({ title }) => title),
		writes: (method: string) =>
			simulator.journal.entries(`${method} ${banRoute}`).length,
		away: (away: boolean) => {
			isAway = away;
		},
		refused: () => refused,
		/** Until nothing is under way, and the worker looks only because it has slept. */
		async settled() {
			const before = statements;
			await until("it has looked again", () => statements > before + 10);
		},
		/** Waits until there are so many. */
		rows: (count: number) =>
			until(
				`${count} rows`,
				async () =>
					(await store.sql`SELECT user_id FROM temp_bans`).length === count,
			),
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}
