// How the bot's socket follows Discord's Gateway protocol when a session is lost or refused.

import { expect, test } from "bun:test";
import { type Client, Events } from "discord.js";
import { Connection } from "../../../../src/bot/discord/connection/connection.ts";
import {
	type Simulator,
	startSimulator,
} from "../../../../src/simulator/simulator.ts";
import { recordLog } from "../../../support/log.ts";
import { until } from "../../../support/until.ts";

const lost = "lost Discord's Gateway, reconnecting";
const back = "back on Discord's Gateway";

/** A connection of alpha's that comes back at once, and is opened. */
async function startConnection(
	prepare: (simulator: Simulator) => void = () => {},
	options: Partial<ConstructorParameters<typeof Connection>[0]> = {},
) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	prepare(simulator);
	const recorded = recordLog("info");
	const { id, token } = simulator.bot("alpha");
	const connection = new Connection({
		token,
		api: simulator.api,
		log: recorded.log,
		onResponse() {},
		...options,
		timing: { backOffMs: [1, 4], identifyMs: 0, ...options.timing },
	});
	stack.defer(() => connection.close());
	const opened = connection.open();
	const account = simulator.world.accounts.get(token);
	if (!account) throw new Error("alpha has an account");
	const owned = stack.move();
	return {
		simulator,
		recorded,
		connection,
		account,
		opened,
		logins: () => simulator.world.users.sessionStarts.used.get(id),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

test.concurrent.each([
	["its token was reset", { token: "another" }, true, "DISCORD_TOKEN"],
	[
		"an intent was switched off",
		{ privilegedIntents: [] },
		false,
		"Server Members Intent",
	],
])(
	"a running bot that Discord refuses to have back, since %s, ends and says why",
	async (_, change, resumable, reason) => {
		await using alpha = await startConnection();
		await alpha.opened;
		Object.assign(alpha.account, change);
		alpha.simulator.sockets.disconnect({ resumable });
		expect((await alpha.connection.failed).message).toContain(reason);
	},
	30_000,
);

test.concurrent.each([
	[1000, "new", 2],
	[1001, "resumed", 1],
	[1006, "resumed", 1],
	[4000, "resumed", 1],
	[4001, "resumed", 1],
	[4002, "resumed", 1],
	[4003, "new", 2],
	[4005, "resumed", 1],
	[4007, "new", 2],
	[4008, "resumed", 1],
	[4009, "new", 2],
	[4999, "resumed", 1],
])(
	"after close code %d the session is %s",
	async (code, session, logins) => {
		await using alpha = await startConnection();
		await alpha.opened;
		alpha.simulator.sockets.disconnect({ code });
		await until("it is back", () => alpha.recorded.entries(back).length === 1);
		expect(alpha.recorded.entries(back)).toMatchObject([{ session }]);
		expect(alpha.logins()).toBe(logins);
	},
	30_000,
);

/** A platform with no guilds: a bot that logs in or resumes is answered by `answer`, and is asked for heartbeats so often. */
function fakeDiscord(
	intervalMs: number,
	answer: (
		payload: { op: number },
		socket: Bun.ServerWebSocket<undefined>,
	) => object[],
) {
	/** Of the latest connection. */
	const seen = { heartbeats: 0 };
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch(request, server) {
			if (server.upgrade(request)) return undefined;
			return Response.json({
				...{ url: `ws://127.0.0.1:${server.port}`, shards: 1 },
				session_start_limit: {
					total: 1000,
					remaining: 1000,
					reset_after: 0,
					max_concurrency: 1,
				},
			});
		},
		websocket: {
			open(socket) {
				seen.heartbeats = 0;
				const d = { heartbeat_interval: intervalMs };
				socket.send(JSON.stringify({ op: 10, d }));
			},
			message(socket, text) {
				const payload = JSON.parse(String(text));
				if (payload.op === 1) seen.heartbeats += 1;
				for (const one of answer(payload, socket))
					socket.send(JSON.stringify(one));
			},
		},
	});
	const ready = {
		v: 10,
		user: { id: "140000000000000001", username: "alpha" },
		guilds: [],
		session_id: "session",
		resume_gateway_url: `ws://127.0.0.1:${server.port}`,
		application: { id: "140000000000000001", flags: 0 },
	};
	return {
		...{ seen, api: `http://127.0.0.1:${server.port}/api` },
		ready: { op: 0, t: "READY", s: 1, d: ready },
		[Symbol.asyncDispose]: () => server.stop(true),
	};
}

test.concurrent("a heartbeat that Discord asks for is no sign of a dead connection", async () => {
	const acknowledgement = { op: 11 };
	const request = { op: 1, d: null };
	const third = Promise.withResolvers<void>();
	await using discord = fakeDiscord(50, () => {
		const { heartbeats } = discord.seen;
		if (heartbeats === 3) third.resolve();
		// The one that was asked for is not acknowledged before the next is due.
		return heartbeats === 1 ? [acknowledgement, request] : [];
	});
	const connection = new Connection({
		token: "token",
		api: discord.api,
		log: recordLog().log,
		onResponse() {},
		timing: { backOffMs: [1, 4] },
	});
	const opened = connection.open();
	await third.promise;
	await connection.close();
	await opened;
}, 30_000);

test.concurrent.each([
	["of a connection that is silently dead", false, 1],
	["of a connection that Discord closes after it was quiet", true, undefined],
])(
	"what is replayed %s is as old as the last sign of life",
	async (_, closes, late) => {
		await using discord = fakeDiscord(
			closes ? 60_000 : 200,
			({ op }, socket) => {
				// Later than a command may be.
				if (closes) setTimeout(() => socket.close(4000), 300);
				if (op === 2) return [discord.ready];
				if (op !== 6) return [];
				return [
					{ op: 0, t: "MESSAGE_CREATE", s: 2, d: {} },
					{ op: 0, t: "RESUMED", s: 3, d: {} },
				];
			},
		);
		const recorded = recordLog("info");
		const connection = new Connection({
			token: "token",
			api: discord.api,
			log: recorded.log,
			onResponse() {},
			timing: { backOffMs: [1, 4], maxCommandAgeMs: 100 },
		});
		await connection.open();
		// Each connection is lost, and its session resumed.
		await until("it is back, and has told what it did not carry out", () =>
			recorded
				.entries(back)
				.some(({ commands_not_carried_out: count }) => count === late),
		);
		await connection.close();
	},
	100_000,
);

/** Has Discord tell of no guild that the bot is in. */
function withholdGuilds({ sockets }: Simulator): void {
	const d = { id: "140000000000000999", unavailable: true };
	sockets.alterEvents((type, data) => (type === "GUILD_CREATE" ? d : data));
}

test.concurrent("a session that is lost before all of its guilds were told is not taken for one that is there", async () => {
	let begun = 0;
	await using alpha = await startConnection(undefined, {
		timing: { guildsMs: 300 },
		attach: (client) => client.on(Events.ShardReady, () => (begun += 1)),
	});
	await alpha.opened;
	const { sockets } = alpha.simulator;
	withholdGuilds(alpha.simulator);
	sockets.disconnect({ resumable: false });
	await until("it has a session", () => alpha.logins() === 2);
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	await until(
		"it has lost both",
		() => alpha.recorded.entries(lost).length > 1,
	);
	await until("discord.js waits no longer", () => begun === 2);
	expect(alpha.connection.state.connected).toBe(false);
}, 30_000);

test.concurrent("what was told before a new session is not carried out after it", async () => {
	const heard: string[] = [];
	await using alpha = await startConnection(withholdGuilds, {
		attach: (client) =>
			client.on(Events.MessageCreate, ({ id }) => heard.push(id)),
	});
	const { sockets } = alpha.simulator;
	const say = (text: string) =>
		alpha.simulator.user("zoe").say("The Cooks/general", text);
	await until("it has a session", () => alpha.logins() === 1);
	await say("!m nuke 2");
	sockets.alterEvents(undefined);
	sockets.disconnect({ resumable: false });
	await alpha.opened;
	const after = await say("hello");
	await until("the next is heard", () => heard.includes(after.id));
	expect(heard).toEqual([after.id]);
}, 30_000);

test.concurrent("members that were asked for before a guild was unavailable do not count as its members after it", async () => {
	const answers: object[] = [];
	let told: object = {};
	await using alpha = await startConnection(({ sockets }) =>
		sockets.alterEvents((type, data) => {
			if (type === "GUILD_CREATE") told = Object(data);
			if (type !== "GUILD_MEMBERS_CHUNK") return data;
			answers.push(Object(data));
			// An answer to something else.
			return { ...Object(data), members: [], nonce: "0" };
		}),
	);
	const { connection, simulator } = alpha;
	const send = (type: string, data: object) =>
		simulator.sockets.dispatch(simulator.bot("alpha").id, type, data);
	const { id } = simulator.guild("The Cooks");
	const guild = await until("it asks for the members", () =>
		answers.length === 1
			? connection.guilds.find((one) => one.id === id)
			: undefined,
	);
	send("GUILD_DELETE", { id, unavailable: true });
	send("GUILD_CREATE", told);
	await until("it asks again", () => answers.length === 2);
	simulator.sockets.alterEvents(undefined);

	const [first = {}, second = {}] = answers;
	send("GUILD_MEMBERS_CHUNK", first);
	send("GUILD_UPDATE", { ...told, name: "Heard" });
	await until("it has heard the first answer", () => guild.name === "Heard");
	// What the first answer leads to follows at once.
	await new Promise(setImmediate);
	expect(connection.knowsMembers(guild)).toBe(false);
	send("GUILD_MEMBERS_CHUNK", second);
	await until("it knows them", () => connection.knowsMembers(guild));
	expect(alpha.recorded.entries("members loaded")).toHaveLength(1);
}, 30_000);

test.concurrent("a login under way when the bot stops opens no socket", async () => {
	let login: Promise<string> | undefined;
	let held: ReturnType<Simulator["faults"]["stall"]> | undefined;
	let simulator: Simulator | undefined;
	await using alpha = await startConnection(
		(given) => {
			simulator = given;
		},
		{
			attach(client: Client) {
				const begin = client.login.bind(client);
				client.login = (token) => {
					held = simulator?.faults.stall("GET /gateway/bot", { after: true });
					login = begin(token);
					return login;
				};
			},
		},
	);
	await until("discord.js asks where to connect", () => held?.hits === 1);
	await alpha.connection.close();
	await alpha.opened;
	held?.release();
	await expect(login).rejects.toThrow("abort");
	expect(alpha.connection.sockets).toBe(0);
	expect(alpha.simulator.sockets.upgrades).toBe(0);
}, 30_000);

test.concurrent.each<
	[what: string, act: (simulator: Simulator) => void, session: string]
>([
	[
		"is asked to reconnect",
		({ sockets }) => sockets.requestReconnect(),
		"resumed",
	],
	[
		"is told that its session is invalid for now",
		({ sockets }) => sockets.invalidate({ resumable: true }),
		"resumed",
	],
	[
		"is told that its session is invalid",
		({ sockets }) => sockets.invalidate(),
		"new",
	],
])(
	"a bot that %s comes back at once",
	async (_, act, session) => {
		await using alpha = await startConnection();
		const { recorded } = alpha;
		// What it asks for in an invalid session is refused.
		await until(
			"it has asked for its members",
			() => recorded.entries("members loaded").length === 1,
		);
		act(alpha.simulator);
		await until("it is back", () => recorded.entries(back).length === 1);
		expect(recorded.entries(back)).toMatchObject([{ session }]);
		// The one connection before, and the one that came instead.
		expect(alpha.simulator.sockets.upgrades).toBe(2);
		expect(alpha.logins()).toBe(session === "new" ? 2 : 1);
	},
	30_000,
);

test.concurrent("a session whose own address cannot be used is resumed at the first one", async () => {
	await using alpha = await startConnection(({ sockets }) =>
		sockets.alterEvents((type, data) =>
			type === "READY"
				? { ...(data as object), resume_gateway_url: "no address" }
				: data,
		),
	);
	await alpha.opened;
	alpha.simulator.sockets.disconnect();
	await until("it is back", () => alpha.recorded.entries(back).length === 1);
	expect(alpha.recorded.entries(back)).toMatchObject([{ session: "resumed" }]);
}, 30_000);

test.concurrent("a session that lasted begins the back-off anew", async () => {
	const failed = "could not connect to Discord's Gateway, trying again";
	await using alpha = await startConnection(
		({ sockets }) => sockets.refuseConnections(502),
		{ timing: { backOffMs: [4, 60_000], stableMs: 0 } },
	);
	const { recorded } = alpha;
	const { sockets } = alpha.simulator;
	await until("it backs off", () => recorded.entries(failed).length === 5);
	sockets.refuseConnections(undefined);
	await alpha.opened;
	const before = recorded.entries(failed).length;
	sockets.refuseConnections(502);
	sockets.disconnect();
	const next = await until(
		"it is refused",
		() => recorded.entries(failed)[before],
	);
	expect(Number(next.retry_in_ms)).toBeLessThanOrEqual(8);
}, 30_000);

test.concurrent("a bot sends no more payloads a minute than Discord takes", async () => {
	const sent = Promise.withResolvers<number>();
	let payloads = 0;
	await using discord = fakeDiscord(60_000, ({ op }) => {
		if (op === 2) return [discord.ready];
		if (op === 3) payloads += 1;
		// What was sent before its heartbeat is here.
		if (op === 3 && payloads === 110) return [{ op: 1, d: null }];
		if (op === 1 && payloads >= 110) sent.resolve(payloads);
		return [];
	});
	let client: Client | undefined;
	const connection = new Connection({
		token: "token",
		api: discord.api,
		log: recordLog().log,
		onResponse() {},
		attach: (given) => {
			client = given;
		},
	});
	await connection.open();
	for (let count = 0; count < 300; count++)
		client?.user?.setPresence({ status: "idle" });
	expect(await sent.promise).toBe(110);
	await connection.close();
}, 30_000);

test.concurrent("what was heard before a session is resumed is not heard again", async () => {
	const heard: string[] = [];
	await using alpha = await startConnection(undefined, {
		attach: (client) =>
			// discord.js shows no message of a known id again.
			client.on(Events.Raw, ({ t: type, d }) => {
				if (type === "MESSAGE_CREATE") heard.push(d.id);
			}),
	});
	await alpha.opened;
	const say = async (text: string) => {
		const { id } = await alpha.simulator
			.user("zoe")
			.say("The Cooks/general", text);
		await until("it is heard", () => heard.includes(id));
		return id;
	};
	const before = await say("!m nuke 2");
	alpha.simulator.sockets.disconnect();
	await until("it is back", () => alpha.recorded.entries(back).length === 1);
	expect([before, await say("hello")]).toEqual(heard);
	expect(alpha.logins()).toBe(1);
}, 30_000);

test.concurrent("a login that Discord does not answer is given up, and tried again", async () => {
	await using discord = fakeDiscord(60_000, () => []);
	const recorded = recordLog("info");
	const connection = new Connection({
		token: "token",
		api: discord.api,
		log: recorded.log,
		onResponse() {},
		timing: { backOffMs: [1, 4], identifyMs: 0, readyMs: 20 },
	});
	const opened = connection.open();
	await until("it has tried twice", () => {
		const message = "could not connect to Discord's Gateway, trying again";
		const [first, second] = recorded.entries(message);
		return second && first?.reason === "Discord does not begin the session";
	});
	await connection.close();
	await opened;
}, 30_000);
