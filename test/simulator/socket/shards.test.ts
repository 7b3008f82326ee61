// Shards of a bot on Discord's Gateway, without a library.
// https://discord.com/developers/docs/events/gateway#sharding

import { describe, expect, test } from "bun:test";
import { GatewayIntentBits as Intent } from "discord.js";
import type { SimulatorOptions } from "../../../src/simulator/simulator.ts";
import { shardedSeed } from "../../support/shards.ts";
import { testWith } from "../../support/test-with.ts";
import { as, openSocket, type Payload, type Simulator, startSimulator } from "../support.ts";

const simulatorTest = testWith(() => startSharded());

const intents =
	Intent.Guilds | Intent.GuildMembers | Intent.GuildMessages | Intent.DirectMessages | Intent.MessageContent;

/** Longer than any test takes. */
const anHour = 3_600_000;

const startSharded = (sharding: SimulatorOptions["sharding"] = {}) =>
	startSimulator({ seed: shardedSeed(8), sharding });

const isEvent = (type: string) => (payload: Payload) => payload.t === type;

/** Opens a connection and identifies as a shard of the bot "alpha". */
async function identify(simulator: Simulator, shard: unknown) {
	const socket = await openSocket(simulator);
	const { token } = simulator.bot("alpha");
	socket.send(2, { token, intents, properties: {}, shard });
	return socket;
}

async function openShard(simulator: Simulator, id: number, count = 4) {
	const socket = await identify(simulator, [id, count]);
	const { d } = await socket.payload("READY", isEvent("READY"));
	return { ...socket, ready: d as { session_id: string; guilds: { id: string }[]; shard: number[] } };
}

const openShards = (simulator: Simulator) => Promise.all([0, 1, 2, 3].map((id) => openShard(simulator, id)));

describe("guilds", () => {
	simulatorTest("READY and GUILD_CREATE name the guilds of the shard", async (simulator) => {
		const shards = await openShards(simulator);
		for (const [id, { ready, payload }] of shards.entries()) {
			const own = [`Guild ${id}`, `Guild ${id + 4}`];
			const ids = own.map((name) => simulator.guild(name).id);
			expect(ready.guilds.map(({ id }) => id)).toEqual(ids);
			expect(ready.shard).toEqual([id, 4]);
			for (const name of own) await payload(name, ({ t, d }) => t === "GUILD_CREATE" && Object(d).name === name);
		}
	});

	simulatorTest("an event of a guild is sent to its shard alone, a direct message to shard 0", async (simulator) => {
		const shards = await openShards(simulator);
		for (const number of [0, 1, 2, 3]) await simulator.user("zoe").say(`Guild ${number}/general`, `to ${number}`);
		const zoe = as(simulator, simulator.user("zoe"));
		const { id: recipient_id } = simulator.bot("alpha");
		const opened = await zoe("POST", "/users/@me/channels", { recipient_id });
		const { id } = opened.json<{ id: string }>();
		await zoe("POST", `/channels/${id}/messages`, { content: "a secret" });
		const heard = async (number: number) => {
			const { payload, received, send } = shards[number] ?? fail(number);
			// All events so far arrive before the acknowledgement.
			send(1, null);
			await payload("acknowledgement", ({ op }) => op === 11);
			return received.filter(isEvent("MESSAGE_CREATE")).map(({ d }) => Object(d).content);
		};
		expect(await heard(0)).toEqual(["to 0", "a secret"]);
		for (const number of [1, 2, 3]) expect(await heard(number)).toEqual([`to ${number}`]);
	});

	simulatorTest("members are requested over the shard of their guild", async (simulator) => {
		const [zero, one] = await openShards(simulator);
		if (!zero || !one) throw new Error("there are four shards");
		const all = { guild_id: simulator.guild("Guild 1").id, query: "", limit: 0 };
		zero.send(8, { ...all, nonce: "other" });
		one.send(8, { ...all, nonce: "own" });
		const { d } = await one.payload("chunk", isEvent("GUILD_MEMBERS_CHUNK"));
		expect(d).toMatchObject({ nonce: "own" });
		zero.send(1, null);
		await zero.payload("acknowledgement", ({ op }) => op === 11);
		expect(zero.received.some(isEvent("GUILD_MEMBERS_CHUNK"))).toBe(false);
	});

	simulatorTest("one shard is closed, and resumes what it missed", async (simulator) => {
		const shards = await openShards(simulator);
		simulator.sockets.disconnect({ shard: 2 });
		expect(await shards[2]?.closed()).toBe(4000);
		expect(simulator.sockets.connected).toHaveLength(3);
		for (const number of [1, 2]) await simulator.user("zoe").say(`Guild ${number}/general`, "missed?");
		const socket = await openSocket(simulator);
		const { token } = simulator.bot("alpha");
		const { session_id } = shards[2]?.ready ?? fail(2);
		const seq = Math.max(...(shards[2]?.received ?? []).map(({ s }) => s ?? 0));
		socket.send(6, { token, session_id, seq });
		await socket.payload("RESUMED", isEvent("RESUMED"));
		const missed = socket.received.filter(isEvent("MESSAGE_CREATE"));
		const { id: guild_id } = simulator.guild("Guild 2");
		expect(missed.map(({ d }) => d)).toMatchObject([{ guild_id }]);
	});
});

describe("identifying", () => {
	test.each<[what: string, shard: unknown, code: number]>([
		["a shard beyond the last", [4, 4], 4010],
		["a negative shard", [-1, 4], 4010],
		["no shards at all", [0, 0], 4010],
		["half a shard", [0.5, 4], 4010],
		["one number", [0], 4002],
		["a text", "0", 4002],
	])("%s is refused", async (_, shard, code) => {
		await using simulator = await startSharded();
		using socket = await identify(simulator, shard);
		expect(await socket.closed()).toBe(code);
	});

	test("a shard with too many guilds is closed with 4011, and more shards are not", async () => {
		await using simulator = await startSharded({ maxGuilds: 2 });
		for (const count of [1, 2]) {
			using socket = await identify(simulator, [0, count]);
			expect(await socket.closed()).toBe(4011);
		}
		await openShards(simulator);
	});

	test("a shard that identifies beyond max_concurrency gets op 9, and later READY", async () => {
		await using simulator = await startSharded({ identifyMs: anHour });
		await openShard(simulator, 0);
		const refused = await identify(simulator, [1, 4]);
		const { d } = await refused.payload("op 9", ({ op }) => op === 9);
		expect(d).toBe(false);
		expect(simulator.sockets.connected).toHaveLength(1);
		simulator.world.sharding.configure({ identifyMs: 0 });
		await openShard(simulator, 1);
	});

	test("shards with different rate limit keys identify at once", async () => {
		await using simulator = await startSharded({ identifyMs: anHour, maxConcurrency: 2 });
		await Promise.all([openShard(simulator, 0), openShard(simulator, 3)]);
		for (const shard of [1, 2]) {
			using refused = await identify(simulator, [shard, 4]);
			await refused.payload("op 9", ({ op }) => op === 9);
		}
	});

	test("bots do not wait for each other", async () => {
		await using simulator = await startSharded({ identifyMs: anHour });
		await openShard(simulator, 0);
		const { token } = simulator.bot("beta");
		using socket = await openSocket(simulator);
		socket.send(2, { token, intents, properties: {} });
		await socket.payload("READY", isEvent("READY"));
	});
});

simulatorTest("GET /gateway/bot recommends a number of shards and has max_concurrency", async (simulator) => {
	const info = async () => (await as(simulator, simulator.bot("alpha"))("GET", "/gateway/bot")).json();
	expect(await info()).toMatchObject({ shards: 1, session_start_limit: { max_concurrency: 1 } });
	simulator.world.sharding.configure({ shards: 4, maxConcurrency: 16 });
	expect(await info()).toMatchObject({ shards: 4, session_start_limit: { max_concurrency: 16 } });
});

function fail(shard: number): never {
	throw new Error(`there is no shard ${shard}`);
}
