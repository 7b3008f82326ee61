// Discord's Gateway without a library: how sessions begin, end and are resumed.

import { describe, expect, test } from "bun:test";
import { GatewayIntentBits as Intent } from "discord.js";
import { simulatorTest } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { openSocket, type Payload, type Simulator, startSimulator } from "../support.ts";

const everything = Intent.Guilds | Intent.GuildMembers | Intent.GuildMessages;

const isEvent = (type: string) => (payload: Payload) => payload.t === type;
const isOp = (op: number) => (payload: Payload) => payload.op === op;

function identify(simulator: Simulator, more: object = {}) {
	return { token: simulator.bot("alpha").token, intents: everything, properties: {}, ...more };
}

async function session(simulator: Simulator, more: object = {}) {
	const socket = await openSocket(simulator);
	socket.send(2, identify(simulator, more));
	const ready = await socket.payload("READY", isEvent("READY"));
	const { session_id } = ready.d as { session_id: string };
	return { ...socket, session_id, ready: ready.d as Record<string, unknown> };
}

describe("identifying", () => {
	simulatorTest("READY lists guilds as unavailable, with the URL to resume", async (simulator) => {
		const { ready } = await session(simulator);
		expect(ready).toMatchObject({
			v: 10,
			user: { username: "alpha" },
			guilds: [{ id: simulator.guild("The Cooks").id, unavailable: true }],
			resume_gateway_url: `ws://127.0.0.1:${simulator.port}/socket`,
			application: { id: simulator.bot("alpha").id },
		});
	});

	simulatorTest("the root of the address is the socket, and without an upgrade the page", async (simulator) => {
		const socket = new WebSocket(`${simulator.url.replace("http", "ws")}/?v=10`);
		const { data } = await new Promise<MessageEvent>((resolve) =>
			socket.addEventListener("message", resolve, { once: true }),
		);
		socket.close();
		expect(JSON.parse(String(data))).toMatchObject({ op: 10 });
		const page = await fetch(simulator.url);
		expect(page.headers.get("content-type")).toStartWith("text/html");
	});

	simulatorTest.each([
		["an invalid token", 2, { token: "x" }, 4004],
		["an intent that does not exist", 2, { intents: 1 << 30 }, 4013],
		["an intent that is a text", 2, { intents: "all" }, 4002],
		["a shard beyond the last", 2, { shard: [2, 2] }, 4010],
		["an opcode that does not exist", 99, {}, 4001],
		["an opcode before identifying", 8, { guild_id: "1" }, 4003],
	])("%s closes the connection", async (simulator, _, op, more, code) => {
		using socket = await openSocket(simulator);
		socket.send(op, identify(simulator, more));
		expect(await socket.closed()).toBe(code);
	});

	simulatorTest.each(["/socket", "/socket/"])("the socket is at %s", async (simulator, path) => {
		const url = `${simulator.url.replace("http", "ws")}${path}?v=10`;
		const socket = new WebSocket(url);
		await new Promise((resolve) => {
			socket.onmessage = resolve;
		});
		socket.close();
	});

	simulatorTest("a person's token is refused", async (simulator) => {
		using socket = await openSocket(simulator);
		socket.send(2, identify(simulator, { token: simulator.user("ada").token }));
		expect(await socket.closed()).toBe(4004);
	});

	simulatorTest("an intent that the bot was not granted closes with 4014", async (simulator) => {
		const { token } = simulator.world.users.addBot({ username: "gamma", privilegedIntents: ["GuildMembers"] });
		using socket = await openSocket(simulator);
		socket.send(2, { token, intents: Intent.MessageContent, properties: {} });
		expect(await socket.closed()).toBe(4014);
		using allowed = await openSocket(simulator);
		allowed.send(2, { token, intents: Intent.GuildMembers, properties: {} });
		await allowed.payload("READY", isEvent("READY"));
	});

	simulatorTest.each([
		["what is not JSON", "{"],
		["more than 4096 bytes", JSON.stringify({ op: 1, d: "x".repeat(5000) })],
		["a payload without an opcode", "[]"],
	])("%s closes with 4002", async (simulator, _, text) => {
		using socket = await openSocket(simulator);
		socket.sendText(text);
		expect(await socket.closed()).toBe(4002);
	});

	simulatorTest("identifying twice closes with 4005", async (simulator) => {
		const socket = await session(simulator);
		socket.send(2, identify(simulator));
		expect(await socket.closed()).toBe(4005);
	});

	simulatorTest("another version closes with 4012, another encoding with 4002", async (simulator) => {
		using old = await openSocket(simulator, "v=6&encoding=json");
		expect(await old.closed()).toBe(4012);
		using etf = await openSocket(simulator, "v=10&encoding=etf");
		expect(await etf.closed()).toBe(4002);
	});

	simulatorTest("more than 120 payloads a minute close with 4008", async (simulator) => {
		using socket = await openSocket(simulator);
		for (let number = 0; number < 121; number += 1) socket.send(1, null);
		expect(await socket.closed()).toBe(4008);
	});
});

describe("members", () => {
	simulatorTest("requesting all members needs the intent, requesting a few does not", async (simulator) => {
		const socket = await session(simulator, { intents: Intent.Guilds });
		const guild_id = simulator.guild("The Cooks").id;
		socket.send(8, { guild_id, query: "", limit: 0, nonce: "all" });
		const user_ids = [simulator.user("zoe").id, "1"];
		socket.send(8, { guild_id, user_ids, nonce: "few" });
		const chunk = await socket.payload("chunk", isEvent("GUILD_MEMBERS_CHUNK"));
		expect(chunk.d).toMatchObject({
			nonce: "few",
			members: [{ user: { username: "zoe" } }],
			not_found: ["1"],
			chunk_index: 0,
			chunk_count: 1,
		});
	});

	test("all members of a guild can be requested once in 30 seconds", async () => {
		const timing = { allMembersMs: 30_000 };
		await using simulator = await startSimulator({ timing });
		const intents = Intent.Guilds | Intent.GuildMembers;
		const guild_id = simulator.guild("The Cooks").id;
		const all = { guild_id, query: "", limit: 0 };
		const first = await session(simulator, { intents });
		first.send(8, { ...all, nonce: "first" });
		await first.payload("chunk", isEvent("GUILD_MEMBERS_CHUNK"));
		const next = await session(simulator, { intents });
		next.send(8, { ...all, nonce: "again" });
		const { d } = await next.payload("limit", isEvent("RATE_LIMITED"));
		expect(d).toMatchObject({ opcode: 8, meta: { guild_id, nonce: "again" } });
		const { retry_after } = d as { retry_after: number };
		expect(retry_after).toBeGreaterThan(0);
		expect(retry_after).toBeLessThanOrEqual(30);
		next.send(8, { ...all, limit: 1, nonce: "one" });
		next.send(8, { ...all, query: "zoe", nonce: "named" });
		for (const nonce of ["one", "named"]) await next.payload(nonce, ({ d }) => Object(d).nonce === nonce);
	});

	simulatorTest("ids beyond 2^53 can be sent as integers", async (simulator) => {
		const socket = await session(simulator);
		const { id: guild } = simulator.guild("The Cooks");
		const { id: user } = simulator.user("zoe");
		socket.sendText(`{"op":8,"d":{"guild_id":${guild},"user_ids":[${user}]}}`);
		const chunk = await socket.payload("chunk", isEvent("GUILD_MEMBERS_CHUNK"));
		expect(chunk.d).toMatchObject({ members: [{ user: { id: user } }] });
	});

	simulatorTest(
		"GUILD_CREATE lists all members to those who see presences, if they are few; else the bot and those in voice",
		async (simulator) => {
			const members = async (intents: number) => {
				const socket = await session(simulator, { intents });
				const { d } = await socket.payload("guild", isEvent("GUILD_CREATE"));
				const { members, presences } = d as Record<string, unknown[]>;
				expect(presences).toHaveLength(members?.length ?? 0);
				return members?.length;
			};
			expect(await members(Intent.Guilds | Intent.GuildMembers)).toBe(1);
			expect(await members(Intent.Guilds | Intent.GuildPresences)).toBe(6);
			simulator.world.members.addMany(simulator.guild("The Cooks"), 50);
			expect(await members(Intent.Guilds | Intent.GuildPresences)).toBe(1);
			const { world } = simulator;
			const guild = simulator.guild("The Cooks");
			const ada = guild.members.get(simulator.user("ada").id);
			const lounge = world.channels.add(guild, { name: "lounge", type: 2 });
			if (ada) world.voice.join(lounge, ada, { self_stream: true });
			expect(await members(Intent.Guilds)).toBe(2);
		},
	);

	simulatorTest("presences and voice states are accepted", async (simulator) => {
		const socket = await session(simulator);
		socket.send(3, { since: null, activities: [], status: "idle", afk: false });
		const unmuted = { self_mute: false, self_deaf: false };
		socket.send(4, { guild_id: "1", channel_id: null, ...unmuted });
		socket.send(1, null);
		await socket.payload("ack", isOp(11));
	});
});

describe("resuming", () => {
	simulatorTest("missed events are replayed, then RESUMED", async (simulator) => {
		const first = await session(simulator);
		const guild = await first.payload("guild", isEvent("GUILD_CREATE"));
		first.close();
		await until("it is gone", () => simulator.sockets.connected.length === 0);
		await simulator.user("ada").say("The Cooks/general", "missed");

		using second = await openSocket(simulator);
		const { token } = simulator.bot("alpha");
		second.send(6, { token, session_id: first.session_id, seq: guild.s });
		await second.payload("RESUMED", isEvent("RESUMED"));
		expect(second.received.flatMap(({ t }) => t ?? [])).toEqual(["MESSAGE_CREATE", "RESUMED"]);
	});

	simulatorTest("an unknown session cannot be resumed", async (simulator) => {
		using socket = await openSocket(simulator);
		const { token } = simulator.bot("alpha");
		socket.send(6, { token, session_id: "x", seq: 1 });
		expect((await socket.payload("op 9", isOp(9))).d).toBe(false);
	});

	simulatorTest("another bot's session and a future sequence number are refused", async (simulator) => {
		const { session_id } = await session(simulator);
		for (const [bot, seq, code] of [
			["beta", 1, 4004],
			["alpha", 999, 4007],
		] as const) {
			using socket = await openSocket(simulator);
			socket.send(6, { token: simulator.bot(bot).token, session_id, seq });
			expect(await socket.closed()).toBe(code);
		}
	});

	simulatorTest("a session ends after the resume window", { timing: { resumeWindowMs: 1 } }, async (simulator) => {
		const first = await session(simulator);
		first.close();
		const { token } = simulator.bot("alpha");
		await until("the session is forgotten", async () => {
			using socket = await openSocket(simulator);
			socket.send(6, { token, session_id: first.session_id, seq: 1 });
			const answer = await socket.payload("an answer", (payload) => payload.op === 9 || payload.t === "RESUMED");
			return answer.op === 9;
		});
	});
});

describe("faults", () => {
	test("a connection without heartbeats is closed with 4009", async () => {
		await using simulator = await startSimulator({ timing: { heartbeatIntervalMs: 10 } });
		using socket = await openSocket(simulator);
		expect(await socket.closed()).toBe(4009);
	});
});
