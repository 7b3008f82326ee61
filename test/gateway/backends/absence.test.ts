// Calls to a bot that is away: it was online, and restarts.

import { describe, expect, test } from "bun:test";
import { BackendHealth } from "../../../src/gateway/backends/backend-health.ts";
import { createGatewayClient, startTestGateway } from "../../support/gateway.ts";
import { recordLog } from "../../support/log.ts";
import { ownHost } from "../../support/own-host.ts";
import { type Behaviour, type StubOptions, startStubBackend, textResult } from "../../support/stub-backend.ts";
import { until } from "../../support/until.ts";

const reading = '{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}';
const writing = '{"name":"act","inputSchema":{"type":"object"}}';
/** The gateway looks for a stopped bot at its port, which no other bot must get meanwhile. */
const hostname = ownHost(77);
/** Longer than any test takes. */
const forever = 2 ** 30;

const draining: Behaviour = () =>
	new Response("stopping", { status: 503, headers: { "X-Guildhall-Draining": "1", Connection: "close" } });

interface WorldOptions {
	awayMs?: number;
	env?: Record<string, string>;
	stub?: StubOptions;
}

/** Starts a gateway in front of two bots. Calls go to alpha, which can be replaced; beta stays online. */
async function startWorld({ awayMs = forever, env = {}, stub = {} }: WorldOptions = {}) {
	await using stack = new AsyncDisposableStack();
	const options = { hostname, tools: [reading, writing], ...stub };
	const bot = stack.use(startStubBackend(options));
	const beta = stack.use(startStubBackend());
	const gateway = stack.use(
		await startTestGateway({ alpha: bot, beta }, { env: { DEFAULT_INSTANCE: "alpha", ...env }, options: { awayMs } }),
	);
	const owned = stack.move();
	const state = async () => {
		const Authorization = "Bearer the-token-of-the-test";
		const response = await fetch(`${gateway.url}/status`, { headers: { Authorization } });
		const { backends } = (await response.json()) as { backends: { state: string; calls_held: number }[] };
		return backends[0];
	};
	return {
		bot,
		beta,
		...gateway,
		state,
		/** Resolves when this many calls are held. */
		held: (count: number) =>
			until(`${count} calls are held`, async () => {
				return (await state())?.calls_held === count;
			}),
		/** Starts another bot at the address of alpha. */
		replace: (more: StubOptions = {}) => owned.use(startStubBackend({ ...options, port: bot.port, ...more })),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

describe("a bot that was online and cannot be reached", () => {
	test("gets its calls, each once, when it is back", async () => {
		await using world = await startWorld();
		await world.bot.stop();
		const calls = Array.from({ length: 20 }, () => world.text("act"));
		await world.held(20);
		expect((await world.state())?.state).toBe("away");
		expect((await fetch(`${world.url}/readyz`)).ok).toBe(true);
		expect(await world.text("act", { instance: "beta" })).toBe("ran act");
		const back = world.replace();
		for (const text of await Promise.all(calls)) expect(text).toBe("ran act");
		expect(back.received("act")).toHaveLength(20);
		expect((await world.state())?.state).toBe("online");
	});

	test("is asked for its tools and guilds again when it is back", async () => {
		await using world = await startWorld();
		await world.bot.stop();
		const call = world.text("act");
		await world.held(1);
		world.replace({ guilds: { "300": "C" } });
		await call;
		await until("its guild is known", async () => (await world.text("list_instances")).includes("C (300)"));
	});

	test("is offline if it stays away: its calls fail, and later ones at once", async () => {
		await using world = await startWorld({ awayMs: 300 });
		await world.bot.stop();
		const offline =
			"ERROR Gateway error: BackendOffline: alpha cannot be reached (the connection was refused); nothing was done.";
		expect(await world.text("act")).toStartWith(offline);
		expect((await world.state())?.state).toBe("offline");
		expect(world.recorded.entries("bot is offline")).toHaveLength(1);
		expect(await world.text("act")).toStartWith(offline);
		expect((await world.state())?.state).toBe("offline");
	});

	test("is offline if it stays away while the question whether it is back gets no answer", async () => {
		const { log, entries } = recordLog();
		const health = new BackendHealth({
			name: "alpha",
			log,
			refresh() {},
			onChange() {},
			awayMs: 1,
			maxHeld: 1,
			ask: () => new Promise(() => {}),
		});
		health.setOnline();
		health.setOffline("gone", "silent");
		expect(health.state.away ?? false).toBe(true);
		await expect(health.hold(new AbortController().signal)).rejects.toThrow("gone");
		expect(health.state.away ?? false).toBe(false);
		expect(health.state).toMatchObject({ online: false, reason: "gone" });
		expect(entries("bot is offline")).toHaveLength(1);
		health.close();
	});

	test("does not delay a call beyond its deadline", async () => {
		await using world = await startWorld({ env: { CALL_TIMEOUT_SECONDS: "1" } });
		await world.bot.stop();
		expect(await world.text("act")).toBe(
			"ERROR Gateway error: BackendOffline: alpha cannot be reached (no answer within 1 s); nothing was done. list_instances shows when it is online again. Available instances: alpha, beta.",
		);
		const back = world.replace();
		await until("it is online", async () => {
			return (await world.state())?.state === "online";
		});
		expect(back.received("act")).toEqual([]);
	});

	test("never gets the call of a client that has disconnected meanwhile", async () => {
		await using world = await startWorld();
		await world.bot.stop();
		const leaving = new AbortController();
		const lost = fetch(`${world.url}/mcp`, {
			method: "POST",
			headers: { Authorization: "Bearer the-token-of-the-test" },
			body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act"}}',
			signal: leaving.signal,
		}).catch(() => "gone");
		await world.held(1);
		leaving.abort();
		expect(await lost).toBe("gone");
		await world.held(0);
		const back = world.replace();
		expect(await world.text("look")).toBe("ran look");
		expect(back.received("act")).toEqual([]);
	});

	test("has a limit of held calls, which run and wait when it is back", async () => {
		await using world = await startWorld({ env: { MAX_IN_FLIGHT: "2" } });
		await world.bot.stop();
		const calls = Array.from({ length: 4 }, () => world.text("act"));
		await world.held(4);
		expect(await world.text("act")).toBe(
			"ERROR Gateway error: Overloaded: alpha is busy with other tool calls (4 waiting while it restarts); nothing was done. Try again in a few seconds. Available instances: alpha, beta.",
		);
		expect(await world.text("act", { instance: "beta" })).toBe("ran act");
		world.replace();
		for (const text of await Promise.all(calls)) expect(text).toBe("ran act");
	});

	test("gets a lost call again only if the tool reads", async () => {
		const begun = Promise.withResolvers<void>();
		let calls = 0;
		const lose: Behaviour = () => {
			if (++calls === 2) begun.resolve();
			return new Promise<undefined>(() => {});
		};
		await using world = await startWorld({ stub: { on: { look: lose, act: lose } } });
		const answers = [world.text("look"), world.text("act")];
		await begun.promise;
		await world.bot.stop();
		const back = world.replace({ on: {} });
		const [read, written] = await Promise.all(answers);
		expect(read).toBe("ran look");
		expect(written).toStartWith("ERROR Gateway error: OutcomeUnknown: ");
		expect(back.received("act")).toEqual([]);
	});

	test("is not waited for while it was never online", async () => {
		const bot = startStubBackend({ hostname });
		await bot.stop();
		await using gateway = await startTestGateway({ alpha: bot }, { options: { awayMs: forever } });
		expect(await gateway.text("act", { instance: "alpha" })).toStartWith("ERROR Gateway error: BackendOffline: ");
	});

	test("is not waited for if it answers with another token", async () => {
		await using world = await startWorld();
		world.bot.wipeSessions();
		world.bot.on.initialize = () => new Response(null, { status: 401 });
		expect(await world.text("act")).toStartWith(
			"ERROR Gateway error: BackendOffline: alpha cannot be reached (the MCP server answered HTTP 401: it expects another token)",
		);
	});
});

describe("a server in the place of a bot that is away", () => {
	test.each([
		["answers 502", () => new Response(null, { status: 502 })],
		["answers 404", () => new Response(null, { status: 404 })],
		["is a web server", () => new Response("<html>")],
	])("and %s gets no call before it has opened a session", async (_, behaviour) => {
		await using world = await startWorld();
		await world.bot.stop();
		const calls = Array.from({ length: 8 }, () => world.text("act"));
		await world.held(8);
		const other = world.replace({ on: { initialize: behaviour } });
		await other.arrived("initialize", 3);
		expect(other.received("act")).toEqual([]);
		other.on = {};
		for (const text of await Promise.all(calls)) expect(text).toBe("ran act");
		expect(other.received("act")).toHaveLength(8);
	});
});

describe("a bot that drains", () => {
	test("gets what it refused when it is back, and nothing meanwhile", async () => {
		await using world = await startWorld({ awayMs: 500 });
		const release = Promise.withResolvers<void>();
		const { bot } = world;
		bot.on.slow = async ({ id }) => {
			await release.promise;
			return textResult(id, "ran slow");
		};
		const slow = world.text("slow");
		await bot.arrived("slow");
		bot.on.act = draining;
		bot.on.initialize = draining;
		const calls = [world.text("act"), world.text("act")];
		await world.held(2);
		const refused = bot.received("act").length;
		// The bot still answers a running call. This does not show that the bot is back.
		release.resolve();
		expect(await slow).toBe("ran slow");
		// Longer than a silent bot may be away.
		await bot.arrived("initialize", 8);
		expect((await world.state())?.calls_held).toBe(2);
		expect(bot.received("act")).toHaveLength(refused);
		bot.on = {};
		for (const text of await Promise.all(calls)) expect(text).toBe("ran act");
		expect(bot.received("act")).toHaveLength(refused + 2);
	});

	test("is waited for also by a gateway that has just started", async () => {
		await using bot = startStubBackend({ on: { initialize: draining } });
		await using gateway = await startTestGateway({ alpha: bot }, { refreshed: false, options: { awayMs: forever } });
		const call = gateway.text("act", { instance: "alpha" });
		await bot.arrived("initialize", 2);
		bot.on = {};
		expect(await call).toBe("ran act");
		expect(bot.received("act")).toHaveLength(1);
	});

	test("is offline if it is then silent for too long", async () => {
		await using world = await startWorld({ awayMs: 300 });
		world.bot.on = { act: draining, initialize: draining };
		const call = world.text("act");
		await world.held(1);
		await world.bot.stop();
		expect(await call).toStartWith("ERROR Gateway error: BackendOffline: ");
	});
});

test("a request for a prompt waits for a bot that is away, too", async () => {
	const prompts = [{ name: "job" }];
	await using world = await startWorld({ stub: { prompts } });
	const client = createGatewayClient(`${world.url}/mcp`);
	await world.bot.stop();
	const answer = client.post(
		'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"job","arguments":{"instance":"alpha"}}}',
	);
	await world.held(1);
	world.replace({
		on: {
			"prompts/get": ({ id }) =>
				new Response(`{"jsonrpc":"2.0","id":${id},"result":{"messages":[]}}`, {
					headers: { "Content-Type": "application/json" },
				}),
		},
	});
	expect((await answer).body).toContain('"result":{"messages":[]}');
});
