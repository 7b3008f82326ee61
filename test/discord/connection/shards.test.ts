// A bot with several shards, in one process.
// https://discord.com/developers/docs/events/gateway#sharding

import { expect, test } from "bun:test";
import { Events } from "discord.js";
import type { Connection } from "../../../src/discord/connection/connection.ts";
import { recommendedShards, shardOf } from "../../../src/discord/connection/shards.ts";
import type { SimulatorOptions } from "../../../src/simulator/simulator.ts";
import { openConnection } from "../../support/connection.ts";
import { shardedSeed } from "../../support/shards.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

type Options = NonNullable<Parameters<typeof openConnection>[1]>;

/** Longer than any test takes. */
const anHour = 3_600_000;

/** A bot in eight guilds, with four shards. */
async function startSharded(options: Options = {}, sharding: SimulatorOptions["sharding"] = {}) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator({ seed: shardedSeed(8), sharding }));
	const { id, token } = simulator.bot("alpha");
	const alpha = stack.use(openConnection(simulator.api, { token, shards: 4, ...options }));
	const owned = stack.move();
	return {
		...alpha,
		simulator,
		logins: () => simulator.world.users.sessionStarts.used.get(id) ?? 0,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

type Sharded = Awaited<ReturnType<typeof startSharded>>;

const isLoaded = ({ connection }: { connection: Connection }) =>
	connection.guilds.length === 8 && connection.guilds.every((guild) => connection.hasAllMembers(guild));

const connectedOf = ({ connection }: Sharded) => connection.shards.filter((one) => one.connected).map(({ id }) => id);

// https://discord.com/developers/docs/events/gateway#sharding-sharding-formula
test.each([
	[1, 0],
	[3, 2],
	[4, 2],
	[16, 2],
])("of %d shards a guild belongs to that of Discord's formula", (count, shard) => {
	expect(shardOf("197038439483310086", count)).toBe(shard);
});

test.each([
	[{ shards: 9 }, 9],
	[{ shards: 0 }, undefined],
	[{ shards: 1e9 }, undefined],
	[{ shards: "many" }, undefined],
	[{ shards: 1.5 }, undefined],
	[{}, undefined],
	[undefined, undefined],
])("of the response %j the recommended number is %p", (response, expected) => {
	expect(recommendedShards(response)).toBe(expected);
});

test.concurrent("four shards have all guilds and their members, and each logs in once", async () => {
	await using alpha = await startSharded();
	const { connection, simulator } = alpha;
	await alpha.opened;
	expect(connection.guilds.map(({ name }) => name).sort()).toEqual(
		Array.from({ length: 8 }, (_, number) => `Guild ${number}`),
	);
	await until("all members are known", () => isLoaded(alpha));
	for (const guild of connection.guilds) {
		expect(guild.members.cache.size).toBe(guild.memberCount);
		expect(`Guild ${guild.shardId}`).toBe(`Guild ${Number(guild.name.slice(6)) % 4}`);
	}
	expect(connection.sockets).toBe(4);
	expect(alpha.logins()).toBe(4);
	expect(connection.sessionStarts).toBe(4);
	expect(connectedOf(alpha)).toEqual([0, 1, 2, 3]);
	expect(simulator.requests.list().filter(({ path }) => path.includes("/members"))).toEqual([]);
});

test.concurrent("SHARDS=auto takes the number that Discord recommends", async () => {
	await using alpha = await startSharded({ shards: "auto" }, { shards: 4 });
	await alpha.opened;
	expect(connectedOf(alpha)).toEqual([0, 1, 2, 3]);
});

test.concurrent("with SHARDS=auto a token that Discord refuses ends the bot", async () => {
	await using alpha = await startSharded({ shards: "auto", token: "wrong" });
	expect((await alpha.connection.failed).message).toContain("DISCORD_TOKEN");
});

test.concurrent("with SHARDS=auto the bot waits for Discord to tell the number", async () => {
	const simulator = await startSimulator({ seed: shardedSeed(8), sharding: { shards: 4 } });
	const fault = simulator.faults.fail("GET /gateway/bot", 500);
	const { token } = simulator.bot("alpha");
	const alpha = openConnection(simulator.api, { token, shards: "auto" });
	await using _ = { [Symbol.asyncDispose]: () => simulator.close() };
	await using __ = alpha;
	await until("it has asked", () => fault.hits > 2);
	expect(simulator.sockets.upgrades).toBe(0);
	fault.release();
	await alpha.opened;
	expect(alpha.connection.sockets).toBe(4);
});

test.concurrent.each<[what: string, shards: number | "auto", next: string]>([
	["a number", 1, "set SHARDS=auto in .env (now 1)"],
	["auto", "auto", "start the bot again"],
])("a bot with too few shards, set as %s, ends with the next step", async (_, shards, next) => {
	await using alpha = await startSharded({ shards }, { maxGuilds: 7 });
	expect((await alpha.connection.failed).message).toBe(
		`Discord refuses the number of shards, because a shard would have more guilds than Discord allows: ${shards === "auto" ? `${next}, so that it asks Discord for the number of shards` : next}`,
	);
});

test.concurrent("events of all guilds reach the bot, each over its shard", async () => {
	const heard: [guild: string, shard: number][] = [];
	let shard = -1;
	await using alpha = await startSharded({
		attach(client) {
			client.on(Events.Raw, (_: unknown, id: number) => (shard = id));
			client.on(Events.ChannelCreate, ({ guild }) => heard.push([guild.name, shard]));
		},
	});
	const { world, guild } = alpha.simulator;
	await alpha.opened;
	for (const number of [5, 6, 7, 0]) world.channels.add(guild(`Guild ${number}`), { name: "new" });
	await until("it has heard of all", () => heard.length === 4);
	expect(heard.sort()).toEqual([
		["Guild 0", 0],
		["Guild 5", 1],
		["Guild 6", 2],
		["Guild 7", 3],
	]);
});

test.concurrent("a lost shard is reported, its guilds have no members, and the others go on", async () => {
	const heard: string[] = [];
	await using alpha = await startSharded({
		attach: (client) => client.on(Events.ChannelCreate, ({ guild }) => heard.push(guild.name)),
	});
	const { connection, simulator } = alpha;
	await alpha.opened;
	await until("all members are known", () => isLoaded(alpha));
	simulator.sockets.holdConnections(true);
	simulator.sockets.disconnect({ shard: 2 });
	await until("it is lost", () => connectedOf(alpha).length === 3);
	expect(connectedOf(alpha)).toEqual([0, 1, 3]);
	expect(connection.ready).toBe(true);
	expect(connection.state.connected).toBe(false);
	for (const guild of connection.guilds) {
		const isThere = guild.shardId !== 2;
		expect(connection.isConnected(guild)).toBe(isThere);
		expect(connection.hasAllMembers(guild)).toBe(isThere);
	}
	const add = (number: number) => simulator.world.channels.add(simulator.guild(`Guild ${number}`), { name: "new" });
	for (const number of [2, 3]) add(number);
	await until("the other is heard", () => heard.length === 1);
	expect(heard).toEqual(["Guild 3"]);
	simulator.sockets.holdConnections(false);
	await until("it is back", () => connection.state.connected);
	await until("it has heard what it missed", () => heard.length === 2);
	expect(alpha.losses()).toMatchObject([{ shard: 2 }]);
	expect(alpha.returns()).toMatchObject([{ shard: 2, session: "resumed" }]);
	expect(isLoaded(alpha)).toBe(true);
	expect(alpha.logins()).toBe(4);
});

test.concurrent("a shard with a new session loses no guild of the others, and loads its members again", async () => {
	const deleted: string[] = [];
	await using alpha = await startSharded({
		attach: (client) => client.on(Events.GuildDelete, ({ name }) => deleted.push(name)),
	});
	const { connection, simulator } = alpha;
	await alpha.opened;
	await until("all members are known", () => isLoaded(alpha));
	const loads = () => alpha.recorded.entries("loaded all members of a guild").length;
	simulator.sockets.holdConnections(true);
	simulator.sockets.disconnect({ shard: 1, resumable: false });
	// No event reports this.
	const guild = simulator.guild("Guild 5");
	const self = guild.members.get(simulator.bot("alpha").id);
	if (self) simulator.world.members.remove(guild, self);
	simulator.sockets.holdConnections(false);
	await until("the guild is gone", () => deleted.length > 0);
	expect(deleted).toEqual(["Guild 5"]);
	await until("the other guild is loaded again", () => loads() === 9);
	await until("it is back", () => connection.state.connected);
	expect(connection.guilds).toHaveLength(7);
	expect(alpha.returns()).toMatchObject([{ shard: 1, session: "new" }]);
	expect(alpha.logins()).toBe(5);
});

test.concurrent("with max_concurrency 1 the shards log in one after the other, in order", async () => {
	let now = 0;
	let looks = 0;
	const order: number[] = [];
	await using alpha = await startSharded(
		{
			timing: {
				identifyMs: 1,
				identifyClock: () => {
					looks += 1;
					return now;
				},
			},
			attach: (client) => {
				client.on(Events.Raw, ({ t }: { t: string }, shard: number) => {
					if (t === "READY") order.push(shard);
				});
			},
		},
		{ maxConcurrency: 1 },
	);
	for (const count of [1, 2, 3, 4]) {
		await until("one more is connected", () => alpha.logins() === count);
		const enough = looks + 8;
		// All others look at the clock, which does not move.
		if (count < 4) await until("the others wait", () => looks >= enough);
		expect(alpha.logins()).toBe(count);
		if (count < 4) expect(alpha.connection.ready).toBe(false);
		now += 1;
	}
	await alpha.opened;
	expect(order.slice(1)).toEqual(order.slice(1).sort());
});

test.concurrent("with max_concurrency 16 all shards log in at once", async () => {
	await using alpha = await startSharded(
		{ timing: { identifyMs: anHour } },
		{ maxConcurrency: 16, identifyMs: anHour },
	);
	await alpha.opened;
	expect(alpha.logins()).toBe(4);
});

test.concurrent("a shard that identified too early is refused and tries again", async () => {
	await using alpha = await startSharded({ timing: { identifyMs: 0 } }, { identifyMs: anHour });
	await until("shards are refused", () => alpha.failures().length > 3);
	expect(alpha.failures()[0]).toMatchObject({
		reason: "Discord's Gateway reported the session as invalid",
		shard: expect.any(Number),
	});
	expect(connectedOf(alpha).length).toBeLessThanOrEqual(1);
	alpha.simulator.world.sharding.configure({ identifyMs: 0 });
	await alpha.opened;
	expect(connectedOf(alpha)).toEqual([0, 1, 2, 3]);
});

test.concurrent("a bot without logins for all of its shards waits", async () => {
	const simulator = await startSimulator({ seed: shardedSeed(8) });
	const { id, token } = simulator.bot("alpha");
	simulator.world.users.sessionStarts.used.set(id, 897);
	const alpha = openConnection(simulator.api, { token, shards: 4 });
	await using _ = { [Symbol.asyncDispose]: () => simulator.close() };
	await using __ = alpha;
	await until("it waits", () => alpha.connection.state.reason.startsWith("too many logins to Discord"));
	expect(simulator.sockets.upgrades).toBe(0);
});

test.concurrent("the members of many guilds are requested a few at a time", async () => {
	let asked = 0;
	const simulator = await startSimulator({ seed: shardedSeed(60) });
	await using _ = { [Symbol.asyncDispose]: () => simulator.close() };
	simulator.sockets.holdMembers(true);
	await using alpha = openConnection(simulator.api, {
		token: simulator.bot("alpha").token,
		attach: (client) =>
			client.on(Events.GuildAvailable, ({ members }) => {
				const fetch = members.fetch.bind(members);
				members.fetch = ((options: never) => {
					asked += 1;
					return fetch(options);
				}) as typeof members.fetch;
			}),
	});
	const { connection } = alpha;
	await alpha.opened;
	await until("it asks", () => asked > 0);
	expect(connection.guilds).toHaveLength(60);
	expect(asked).toBe(10);
	simulator.sockets.holdMembers(false);
	await until("all members are known", () => connection.guilds.every((guild) => connection.hasAllMembers(guild)));
	expect(asked).toBe(60);
});

test.concurrent("a shard that resumes after all others are ready completes the login", async () => {
	let now = 0;
	await using alpha = await startSharded(
		{ shards: 2, timing: { identifyMs: 1, identifyClock: () => now } },
		{ maxConcurrency: 1 },
	);
	const { connection, simulator } = alpha;
	const isReturned = () => connection.shards.filter(({ connected }) => connected).length;
	await until("one is ready", () => isReturned() === 1);
	await until("the other waits", () => simulator.sockets.upgrades === 2);
	const [first] = connectedOf(alpha);
	simulator.sockets.holdConnections(true);
	simulator.sockets.disconnect({ shard: first });
	await until("it is lost", () => isReturned() === 0);
	now += 1;
	await until("the other is ready", () => isReturned() === 1);
	expect(connection.ready).toBe(false);
	simulator.sockets.holdConnections(false);
	await alpha.opened;
	expect(connection.state.connected).toBe(true);
	expect(alpha.logins()).toBe(2);
});
