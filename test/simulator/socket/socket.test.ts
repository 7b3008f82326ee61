// Discord's Gateway without a library: how sessions begin, end and are taken up again.

import { describe, expect, test } from "bun:test";
import { GatewayIntentBits as Intent } from "discord.js";
import { until } from "../../support/until.ts";
import {
	connect,
	openSocket,
	type Payload,
	type Simulator,
	startSimulator,
} from "../support.ts";

const everything = Intent.Guilds | Intent.GuildMembers | Intent.GuildMessages;

const isEvent = (type: string) => (payload: Payload) => payload.t === type;
const isOp = (op: number) => (payload: Payload) => payload.op === op;

function identify(simulator: Simulator, more: object = {}) {
	return {
		token: simulator.bot("alpha").token,
		intents: everything,
		properties: {},
		...more,
	};
}

async function session(simulator: Simulator, more: object = {}) {
	const socket = await openSocket(simulator);
	socket.send(2, identify(simulator, more));
	const ready = await socket.payload("READY", isEvent("READY"));
	const { session_id } = ready.d as { session_id: string };
	return { ...socket, session_id, ready: ready.d as Record<string, unknown> };
}

describe("identifying", () => {
	test("READY lists guilds as unavailable, and says where to come back", async () => {
		await using simulator = await startSimulator();
		const { ready } = await session(simulator);
		expect(ready).toMatchObject({
			v: 10,
			user: { username: "alpha" },
			guilds: [{ id: simulator.guild("The Cooks").id, unavailable: true }],
			resume_gateway_url: `ws://127.0.0.1:${simulator.port}/socket`,
			application: { id: simulator.bot("alpha").id },
		});
	});

	test.each([
		["a token that is none", { token: "x" }, 4004],
		["an intent that does not exist", { intents: 1 << 30 }, 4013],
		["an intent that is a text", { intents: "all" }, 4002],
		["a shard beyond the last", { shard: [2, 2] }, 4010],
	])("%s closes the connection", async (_, more, code) => {
		await using simulator = await startSimulator();
		using socket = await openSocket(simulator);
		socket.send(2, identify(simulator, more));
		expect(await socket.closed()).toBe(code);
	});

	test("a person's token is none for the socket", async () => {
		await using simulator = await startSimulator();
		using socket = await openSocket(simulator);
		socket.send(2, identify(simulator, { token: simulator.user("ada").token }));
		expect(await socket.closed()).toBe(4004);
	});

	test("an intent that the bot was not granted closes with 4014", async () => {
		await using simulator = await startSimulator();
		const { token } = simulator.world.users.addBot({
			username: "gamma",
			privilegedIntents: ["GuildMembers"],
		});
		using socket = await openSocket(simulator);
		socket.send(2, { token, intents: Intent.MessageContent, properties: {} });
		expect(await socket.closed()).toBe(4014);
		using allowed = await openSocket(simulator);
		allowed.send(2, { token, intents: Intent.GuildMembers, properties: {} });
		await allowed.payload("READY", isEvent("READY"));
	});

	test.each([
		["an opcode that does not exist", 99, {}, 4001],
		["an opcode before identifying", 8, { guild_id: "1" }, 4003],
	])("%s closes the connection", async (_, op, d, code) => {
		await using simulator = await startSimulator();
		using socket = await openSocket(simulator);
		socket.send(op, d);
		expect(await socket.closed()).toBe(code);
	});

	test.each([
		["what is not JSON", "{"],
		["more than 4096 bytes", JSON.stringify({ op: 1, d: "x".repeat(5000) })],
		["a payload without an opcode", "[]"],
	])("%s closes with 4002", async (_, text) => {
		await using simulator = await startSimulator();
		using socket = await openSocket(simulator);
		socket.sendText(text);
		expect(await socket.closed()).toBe(4002);
	});

	test("identifying twice closes with 4005", async () => {
		await using simulator = await startSimulator();
		const socket = await session(simulator);
		socket.send(2, identify(simulator));
		expect(await socket.closed()).toBe(4005);
	});

	test("another version closes with 4012, another encoding with 4002", async () => {
		await using simulator = await startSimulator();
		using old = await openSocket(simulator, "v=6&encoding=json");
		expect(await old.closed()).toBe(4012);
		using etf = await openSocket(simulator, "v=10&encoding=etf");
		expect(await etf.closed()).toBe(4002);
	});

	test("more than 120 payloads a minute close with 4008", async () => {
		await using simulator = await startSimulator();
		using socket = await openSocket(simulator);
		for (let number = 0; number < 121; number += 1) socket.send(1, null);
		expect(await socket.closed()).toBe(4008);
	});

	test("a guild is told to the shard that it belongs to", async () => {
		await using simulator = await startSimulator();
		const zero = await session(simulator, { shard: [0, 2] });
		const one = await session(simulator, { shard: [1, 2] });
		const count = ({ ready }: typeof zero) =>
			(ready.guilds as unknown[]).length;
		expect(count(zero) + count(one)).toBe(1);
	});
});

describe("members", () => {
	test("all members take the intent; a few do not", async () => {
		await using simulator = await startSimulator();
		const socket = await session(simulator, { intents: Intent.Guilds });
		const guild_id = simulator.guild("The Cooks").id;
		socket.send(8, { guild_id, query: "", limit: 0, nonce: "all" });
		socket.send(8, {
			guild_id,
			user_ids: [simulator.user("zoe").id, "1"],
			nonce: "few",
		});
		const chunk = await socket.payload("chunk", isEvent("GUILD_MEMBERS_CHUNK"));
		expect(chunk.d).toMatchObject({
			nonce: "few",
			members: [{ user: { username: "zoe" } }],
			not_found: ["1"],
			chunk_index: 0,
			chunk_count: 1,
		});
	});

	test("events that are held back come late, and in their order", async () => {
		await using simulator = await startSimulator();
		const guild = simulator.guild("The Cooks");
		const socket = await session(simulator, { intents: Intent.Guilds });
		await socket.payload("guild", isEvent("GUILD_CREATE"));
		simulator.sockets.holdEvents(true);
		const { id } = simulator.world.roles.add(guild, { name: "late" });
		simulator.world.channels.add(guild, { name: "later" });
		socket.send(1, null);
		await socket.payload("acknowledgement", ({ op }) => op === 11);
		expect(socket.received.some(isEvent("GUILD_ROLE_CREATE"))).toBe(false);
		simulator.sockets.holdEvents(false);
		const role = await socket.payload("role", isEvent("GUILD_ROLE_CREATE"));
		expect(role.d).toMatchObject({ role: { id } });
		await socket.payload("channel", isEvent("CHANNEL_CREATE"));
		const order = socket.received.map(({ s }) => s).filter((s) => s !== null);
		expect(order).toEqual(order.toSorted((a, b) => a - b));
	});

	test("new connections wait while they are held, and are let in afterwards", async () => {
		await using simulator = await startSimulator();
		using before = await openSocket(simulator);
		simulator.sockets.holdConnections(true);
		let open = false;
		const opening = openSocket(simulator).then((socket) => {
			open = true;
			return socket;
		});
		before.send(1, null);
		await before.payload("acknowledgement", isOp(11));
		expect(open).toBe(false);
		simulator.sockets.holdConnections(false);
		using after = await opening;
		await after.payload("hello", isOp(10));
	});

	test("requests for members wait while they are held, and are answered afterwards", async () => {
		await using simulator = await startSimulator();
		const intents = Intent.Guilds | Intent.GuildMembers;
		const socket = await session(simulator, { intents });
		const guild_id = simulator.guild("The Cooks").id;
		simulator.sockets.holdMembers(true);
		socket.send(8, { guild_id, query: "", limit: 0, nonce: "held" });
		// An answer to a heartbeat that was sent later: the request has arrived.
		socket.send(1, null);
		await socket.payload("acknowledgement", ({ op }) => op === 11);
		expect(socket.received.some(isEvent("GUILD_MEMBERS_CHUNK"))).toBe(false);
		simulator.sockets.holdMembers(false);
		const chunk = await socket.payload("chunk", isEvent("GUILD_MEMBERS_CHUNK"));
		expect(chunk.d).toMatchObject({ nonce: "held" });
	});

	test("GUILD_CREATE lists all members to those who see presences, if they are few", async () => {
		await using simulator = await startSimulator();
		const members = async (intents: number) => {
			const socket = await session(simulator, { intents });
			const { d } = await socket.payload("guild", isEvent("GUILD_CREATE"));
			return (d as { members: unknown[] }).members.length;
		};
		expect(await members(Intent.Guilds | Intent.GuildMembers)).toBe(1);
		expect(await members(Intent.Guilds | Intent.GuildPresences)).toBe(6);
		simulator.world.members.addMany(simulator.guild("The Cooks"), 50);
		expect(await members(Intent.Guilds | Intent.GuildPresences)).toBe(1);
	});

	test("presences and voice states are accepted", async () => {
		await using simulator = await startSimulator();
		const socket = await session(simulator);
		socket.send(3, { since: null, activities: [], status: "idle", afk: false });
		socket.send(4, {
			guild_id: "1",
			channel_id: null,
			self_mute: false,
			self_deaf: false,
		});
		socket.send(1, null);
		await socket.payload("ack", isOp(11));
	});
});

describe("resuming", () => {
	test("what was missed is replayed, then RESUMED", async () => {
		await using simulator = await startSimulator();
		const first = await session(simulator);
		const guild = await first.payload("guild", isEvent("GUILD_CREATE"));
		first.close();
		await until("it is gone", () => simulator.sockets.connected.length === 0);
		await simulator.user("ada").say("The Cooks/general", "missed");

		using second = await openSocket(simulator);
		const { token } = simulator.bot("alpha");
		second.send(6, { token, session_id: first.session_id, seq: guild.s });
		await second.payload("RESUMED", isEvent("RESUMED"));
		expect(second.received.flatMap(({ t }) => t ?? [])).toEqual([
			"MESSAGE_CREATE",
			"RESUMED",
		]);
	});

	test("a session that does not exist is invalid, for good", async () => {
		await using simulator = await startSimulator();
		using socket = await openSocket(simulator);
		const { token } = simulator.bot("alpha");
		socket.send(6, { token, session_id: "x", seq: 1 });
		expect((await socket.payload("op 9", isOp(9))).d).toBe(false);
	});

	test("another bot's session is refused, and a number never sent too", async () => {
		await using simulator = await startSimulator();
		const { session_id } = await session(simulator);
		using thief = await openSocket(simulator);
		thief.send(6, { token: simulator.bot("beta").token, session_id, seq: 1 });
		expect(await thief.closed()).toBe(4004);
		using wrong = await openSocket(simulator);
		wrong.send(6, {
			token: simulator.bot("alpha").token,
			session_id,
			seq: 999,
		});
		expect(await wrong.closed()).toBe(4007);
	});

	test("a session is forgotten when its time to come back is over", async () => {
		await using simulator = await startSimulator({
			timing: { resumeWindowMs: 1 },
		});
		const first = await session(simulator);
		first.close();
		const { token } = simulator.bot("alpha");
		await until("the session is forgotten", async () => {
			using socket = await openSocket(simulator);
			socket.send(6, { token, session_id: first.session_id, seq: 1 });
			const answer = await socket.payload(
				"an answer",
				(payload) => payload.op === 9 || payload.t === "RESUMED",
			);
			return answer.op === 9;
		});
	});
});

describe("faults", () => {
	test("a connection without heartbeats is closed with 4009", async () => {
		await using simulator = await startSimulator({
			timing: { heartbeatIntervalMs: 10 },
		});
		using socket = await openSocket(simulator);
		expect(await socket.closed()).toBe(4009);
	});

	test("discord.js resumes after a lost connection, and misses nothing", async () => {
		await using simulator = await startSimulator();
		await using bot = await connect(simulator);
		simulator.disconnectSockets();
		await simulator.user("ada").say("The Cooks/general", "missed");
		await bot.event("MESSAGE_CREATE", ({ content }) => content === "missed");
		expect(bot.events.filter(({ t }) => t === "READY")).toHaveLength(1);
		expect(bot.events.some(({ t }) => t === "RESUMED")).toBe(true);
	});

	test("discord.js begins anew when its session is lost", async () => {
		await using simulator = await startSimulator();
		await using bot = await connect(simulator);
		simulator.disconnectSockets({ resumable: false });
		await until(
			"a second READY",
			() => bot.events.filter(({ t }) => t === "READY").length === 2,
		);
	});

	test("discord.js does what op 7 and op 9 ask for", async () => {
		await using simulator = await startSimulator();
		await using bot = await connect(simulator);
		simulator.sockets.requestReconnect();
		await bot.event("RESUMED");
		simulator.sockets.invalidate({ resumable: true });
		await until(
			"a second RESUMED",
			() => bot.events.filter(({ t }) => t === "RESUMED").length === 2,
		);
	});

	test("heartbeats that go unanswered make discord.js come back", async () => {
		await using simulator = await startSimulator({
			timing: { heartbeatIntervalMs: 50 },
		});
		await using bot = await connect(simulator);
		simulator.sockets.ignoreHeartbeats(true);
		await until("it is gone", () => simulator.sockets.connected.length === 0);
		simulator.sockets.ignoreHeartbeats(false);
		await bot.event("RESUMED");
	});
});
