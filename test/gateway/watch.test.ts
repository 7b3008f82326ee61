// What the gateway shows of a bot is true soon: the bot is asked whether it is ready, and `up` says what it knows of the
// processes.

import { describe, expect, test } from "bun:test";
import { reasonFor } from "../../src/gateway/catalog/status.ts";
import { createWatch } from "../../src/gateway/routing/watch.ts";
import type { Signal } from "../../src/lib/signal.ts";
import { readinessResponse } from "../../src/mcp/readiness.ts";
import { startFakeUp } from "../support/fake-up.ts";
import { createTestBackend, gatewayToken, startTestGateway } from "../support/gateway.ts";
import { startStubBackend } from "../support/stub-backend.ts";
import { until } from "../support/until.ts";
import { signedIn, signedInPerson } from "./console/console-client.ts";

interface Shown {
	state: string;
	reason?: string;
}

/** The first bot in /status. */
async function statusOf(url: string): Promise<Shown | undefined> {
	const response = await fetch(`${url}/status`, { headers: { Authorization: `Bearer ${gatewayToken}` } });
	return ((await response.json()) as { backends: Shown[] }).backends[0];
}

test("each bot is asked once in 6 ticks, and is late after 8", async () => {
	const asked: string[] = [];
	let signal: Signal | undefined;
	const quick = { watch: async () => void asked.push("quick") };
	const silent = {
		watch: (given: Signal) => {
			asked.push("silent");
			signal = given;
			return new Promise<void>((resolve) => given.addEventListener("abort", resolve));
		},
	};
	const { tick } = createWatch([quick, silent]);
	for (let count = 0; count < 8; count++) {
		tick();
		await Promise.resolve();
	}
	expect(asked).toEqual(["silent", "quick"]);
	expect(signal?.aborted).toBe(false);
	tick();
	expect((signal?.reason as Error | undefined)?.name).toBe("TimeoutError");
});

describe("a bot is shown as what it is, without a call to it:", () => {
	const shows = (gateway: { url: string; watch(): void }, wanted: Shown) =>
		until(`it is ${wanted.state}`, async () => {
			gateway.watch();
			const { state, reason } = (await statusOf(gateway.url)) ?? {};
			return state === wanted.state && reason === wanted.reason;
		});

	test("not ready, and why; then ready", async () => {
		const lacks = "Discord is not connected: the token “x” was refused";
		await using bot = startStubBackend({ sessions: false });
		await using gateway = await startTestGateway({ alpha: bot });
		bot.on.GET = () => readinessResponse("starting", lacks);
		await shows(gateway, { state: "not ready", reason: lacks });
		expect(await gateway.text("list_instances")).toContain(`alpha | online, but not ready (${lacks})`);
		const listed = bot.received("list_guilds").length;
		bot.on.GET = () => new Response(null, { status: 405 });
		await shows(gateway, { state: "online" });
		await bot.arrived("list_guilds", listed + 1);
	});

	test("offline if it does not answer, and online again when it does", async () => {
		await using bot = startStubBackend({ sessions: false });
		await using gateway = await startTestGateway({ alpha: bot });
		bot.on.GET = () => new Promise(() => {});
		await shows(gateway, { state: "offline", reason: "no response in time" });
		bot.on = {};
		await shows(gateway, { state: "online" });
		await bot.stop();
		await shows(gateway, { state: "offline", reason: "the connection was refused" });
	});
});

test("a bot that is back is refreshed at once, however often that has failed", async () => {
	const bot = startStubBackend();
	const { backend } = createTestBackend({ url: bot.url });
	const signal = AbortSignal.timeout(60_000);
	await bot.stop();
	for (let count = 0; count < 4; count++) await backend.refresh();
	await backend.watch(signal);
	await using back = startStubBackend({ port: bot.port });
	await backend.watch(signal);
	await back.arrived("list_guilds");
	await backend.close();
});

test("what a bot lacks, and why its process ended, is only for the operator", async () => {
	const { backend } = createTestBackend({ url: "http://127.0.0.1:1" });
	const { health } = backend;
	health.setProcess({ details: "it ended and is started again: a secret" });
	expect([reasonFor(backend, true), reasonFor(backend, false)]).toEqual([
		"it ended and is started again: a secret",
		"not yet reached",
	]);
	health.setOnline();
	health.notReady = "Discord is not connected: a secret";
	expect([reasonFor(backend, true), reasonFor(backend, false)]).toEqual([health.notReady, undefined]);
});

describe("under up", () => {
	async function startWorld() {
		const up = startFakeUp(["alpha"]);
		const bot = startStubBackend();
		const env = { GATEWAY_UP_SOCKET: up.socket };
		const gateway = await startTestGateway({ alpha: bot }, { env, options: { awayMs: 2 ** 30 } });
		return {
			...gateway,
			bot,
			up,
			async [Symbol.asyncDispose]() {
				await gateway[Symbol.asyncDispose]();
				await up[Symbol.asyncDispose]();
			},
		};
	}

	test("a call to a bot that was stopped on purpose is answered at once, with the next step", async () => {
		await using world = await startWorld();
		world.up.set("alpha", { state: "stopped", isHalted: true });
		await world.bot.stop();
		// Without the knowledge of `up`, the call would wait for the bot until its deadline.
		expect(await world.text("echo", { instance: "alpha" })).toBe(
			"ERROR Gateway error: BackendOffline: alpha cannot be reached (it was stopped on purpose; bun run up start alpha starts it); nothing was done. list_instances shows when it is online again. Available instances: alpha.",
		);
		expect((await statusOf(world.url))?.state).toBe("stopped");
		expect(world.recorded.lines.at(-1)).toMatch(/"level":"info".*"outcome":"stopped"/);
		expect(await world.text("list_instances")).toContain("alpha | offline (it was stopped on purpose; ");
		await using back = startStubBackend({ port: world.bot.port });
		expect(await world.text("echo", { instance: "alpha" })).toContain("BackendOffline");
		expect(back.requests).toEqual([]);
		await (await signedIn(world.url)).post("control", { command: "start", name: "alpha" });
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
	});

	test("a bot that restarts gets its calls", async () => {
		await using world = await startWorld();
		world.up.set("alpha", { state: "stopping" });
		await world.bot.stop();
		const call = world.text("echo", { instance: "alpha" });
		await until("it is away", async () => (await statusOf(world.url))?.state === "away");
		await using _back = startStubBackend({ port: world.bot.port });
		expect(await call).toBe("ran echo");
	});

	test("a bot that cannot start says why, but only to the operator", async () => {
		await using world = await startWorld();
		world.up.set("alpha", { state: "waiting", issue: "config.toml:\n  key: is unknown" });
		await world.bot.stop();
		expect(await world.text("echo", { instance: "alpha" })).toContain("(it cannot start; bun run up status says why)");
		const why = "it cannot start: config.toml:   key: is unknown";
		expect(await statusOf(world.url)).toMatchObject({ state: "cannot start", reason: why });
		expect(await world.text("list_instances")).toContain(why);
	});

	test("the console controls programs, with the token alone", async () => {
		await using world = await startWorld();
		const client = await signedIn(world.url);
		expect((await client.get("state")).body).toMatchObject({ gateway: { hasControl: true } });
		expect((await client.post("control", { command: "log", name: "alpha" })).body).toMatchObject({
			lines: ["12:00:00 INFO alpha: logged in", "a second line"],
		});
		expect((await client.post("control", { command: "restart", name: "alpha" })).body).toEqual({
			lines: ["alpha listens at http://127.0.0.1:1/mcp."],
		});
		const added = await client.post("control", { command: "add", name: "alpha", token: "the.secret.token" });
		expect([added.status, added.body.error?.message]).toEqual([400, "alpha: the name is taken"]);
		expect((await client.post("control", { command: "kill", name: "alpha" })).status).toBe(400);
		expect((await client.post("control", { command: "log", name: "alpha" }, { "X-Guildhall-Csrf": "" })).status).toBe(
			403,
		);
		const hanna = { id: "100000000000000001", name: "Hanna" };
		const person = await signedInPerson(world.url, hanna, Date.now());
		expect((await person.post("control", { command: "log", name: "alpha" })).body.error?.code).toBe("forbidden");
		expect((await person.get("state")).body).toMatchObject({ gateway: { hasControl: false } });
		expect(world.up.commands.map(({ command }) => command)).toEqual(["log", "restart", "add"]);
		expect(world.recorded.lines.join("\n")).not.toContain("secret");
	});

	test("a gateway without up has no control", async () => {
		await using gateway = await startTestGateway({ alpha: startStubBackend() });
		const { status } = await (await signedIn(gateway.url)).post("control", { command: "log", name: "alpha" });
		expect(status).toBe(503);
	});
});
