// Injected faults: what a client sees, and whether the request was executed.

import { test as bunTest, describe, expect } from "bun:test";
import { generousLimits, realisticLimits } from "../../../src/simulator/rest/rate-limits.ts";
import { until } from "../../support/until.ts";
import { type Cooks, cooksOf, type Simulator, startSimulator, testWith } from "../support.ts";

const route = "POST /channels/:channel_id/messages";

function general({ simulator, channel: { id }, as }: Cooks) {
	const path = `/channels/${id}/messages`;
	const asAda = as("ada");
	return {
		id,
		path,
		asAda,
		write: () => asAda("POST", path, { content: "x" }),
		executed: () => simulator.journal.entries(route).length,
	};
}

const test = testWith(general);

test("a refusal has Discord's body for its code, and nothing is executed", async ({ write, executed, simulator }) => {
	simulator.faults.refuse(route, 50013);
	const answer = await write();
	expect(answer.status).toBe(403);
	expect(answer.json()).toEqual({ message: "Missing Permissions", code: 50013 });
	expect(executed()).toBe(0);
	expect(simulator.requests.list(route)).toMatchObject([{ status: 403, fault: "refuse" }]);
});

test("a fault applies as many times as its limit", async ({ write, simulator }) => {
	const fault = simulator.faults.refuse("* *", 50001, { times: 2 });
	const statuses: number[] = [];
	for (let number = 0; number < 3; number += 1) statuses.push((await write()).status);
	expect(statuses).toEqual([403, 403, 200]);
	expect(fault.hits).toBe(2);
	expect(simulator.faults.list()).toEqual([]);
});

test("a fault can be for one channel, or one actor", async ({ write, id, simulator }) => {
	simulator.faults.refuse(`POST /channels/${id}/messages`, 50001, { times: 1 });
	expect((await write()).status).toBe(403);
	simulator.faults.refuse("* *", 50001, { actor: simulator.bot("alpha").id });
	expect((await write()).status).toBe(200);
});

test("a malformed match throws", async ({ simulator }) => {
	expect(() => simulator.faults.refuse("messages", 50001)).toThrow(
		'an injected fault of the simulator needs a method and a route such as "POST /channels/*/messages", received "messages"',
	);
});

test("any response can replace the API's, before or after execution, without rate limit headers", async (given) => {
	const { write, executed, simulator } = given;
	const edge = { status: 403, body: "null", times: 1 };
	simulator.faults.answer(route, { ...edge, headers: { "x-from": "edge" } });
	const foreign = await write();
	expect([foreign.status, foreign.json<unknown>()]).toEqual([403, null]);
	expect(foreign.headers.get("x-from")).toBe("edge");
	expect(foreign.headers.get("content-type")).toBe("application/json");
	expect(foreign.headers.get("x-ratelimit-limit")).toBeNull();
	expect(executed()).toBe(0);
	simulator.faults.answer(route, { ...edge, status: 202, executed: true });
	expect((await write()).status).toBe(202);
	expect(executed()).toBe(1);
	expect(simulator.requests.list(route)).toMatchObject([
		{ status: 403, fault: "answer" },
		{ status: 202, fault: "answer" },
	]);
	expect(simulator.requests.invalid).toBe(1);
});

bunTest("an exchange names the fault that held or replaced its response, and none that did not", async () => {
	const seen: unknown[] = [];
	await using simulator = await startSimulator({
		onExchange: ({ status, fault, headers }) => seen.push([status, fault, "x-ratelimit-limit" in headers]),
	});
	const { path, asAda } = general(cooksOf(simulator));
	const { faults } = simulator;
	const once = { times: 1 };
	faults.fail(route, 500, { executed: true, ...once });
	await asAda("POST", path, { content: "x" });
	// The simulator refuses it before the fault.
	faults.fail(route, 500, { executed: true, ...once });
	await asAda("POST", path, {});
	faults.answer(route, { status: 502, ...once });
	await asAda("POST", path, { content: "x" });
	const stall = faults.stall(route, once);
	const held = asAda("POST", path, { content: "x" });
	await until("it is held", () => stall.hits === 1);
	stall.release();
	await held;
	expect(seen).toEqual([
		[500, "fail", true],
		[400, undefined, true],
		[502, "answer", false],
		[200, "stall", true],
	]);
});

describe("a stall", () => {
	const waiting = (simulator: Simulator) =>
		until("the request to be held", () =>
			simulator.requests.list(route).some(({ status, fault }) => status === "waiting" && fault),
		);

	test("ends when the client disconnects, and executes nothing later", async ({ path, executed, simulator }) => {
		simulator.faults.stall(route);
		const controller = new AbortController();
		const answer = fetch(`${simulator.api}/v10${path}`, {
			method: "POST",
			headers: { authorization: simulator.user("ada").token, "content-type": "application/json" },
			body: '{"content":"x"}',
			signal: controller.signal,
		}).catch((error: Error) => error.name);
		await waiting(simulator);
		controller.abort();
		expect(await answer).toBe("AbortError");
		await until("it is noticed", () => simulator.requests.list(route).some(({ status }) => status === "hung up"));
		simulator.faults.clear();
		expect(executed()).toBe(0);
	});

	bunTest("ends with the simulator, and executes nothing", async () => {
		const simulator = await startSimulator();
		const { write, executed } = general(cooksOf(simulator));
		simulator.faults.stall(route);
		const answer = write().then(
			() => "answered",
			() => "hung up",
		);
		await waiting(simulator);
		await simulator.close();
		expect(await answer).toBe("hung up");
		expect(executed()).toBe(0);
	});
});

test("a rate limit on demand has Discord's headers and body", async ({ write, simulator }) => {
	simulator.faults.rateLimit(route, { retryAfterMs: 1500, times: 1 });
	const answer = await write();
	expect(answer.status).toBe(429);
	expect(answer.json()).toEqual({ message: "You are being rate limited.", retry_after: 1.5, global: false });
	expect(answer.headers.get("retry-after")).toBe("2");
	expect(answer.headers.get("x-ratelimit-scope")).toBe("user");
	simulator.faults.rateLimit(route, { retryAfterMs: 1, scope: "shared", times: 1 });
	await write();
	expect(simulator.requests.invalid).toBe(1);
	simulator.faults.rateLimit(route, { retryAfterMs: 1, global: true, times: 1 });
	expect((await write()).headers.get("x-ratelimit-global")).toBe("true");
});

describe("rate limits", () => {
	bunTest("a bucket is for one route, actor and channel", async () => {
		await using simulator = await startSimulator({
			rateLimits: {
				global: { requests: 1000, perMs: 60_000 },
				each: { requests: 100, perMs: 60_000 },
				routes: { [route]: { requests: 2, perMs: 60_000 } },
			},
		});
		const cooks = cooksOf(simulator);
		const { path, asAda, write } = general(cooks);
		const first = await write();
		expect(first.headers.get("x-ratelimit-limit")).toBe("2");
		expect(first.headers.get("x-ratelimit-remaining")).toBe("1");
		expect(Number(first.headers.get("x-ratelimit-reset-after"))).toBeGreaterThan(0);
		expect(first.headers.get("x-ratelimit-bucket")).toBeString();
		const missing = await asAda("GET", "/channels/1");
		expect(missing.status).toBe(404);
		expect(missing.headers.get("x-ratelimit-remaining")).toBe("99");
		await write();
		const third = await write();
		expect(third.status).toBe(429);
		expect(third.headers.get("x-ratelimit-remaining")).toBe("0");
		expect(third.json<{ retry_after: number }>().retry_after).toBeGreaterThan(0);
		expect((await asAda("GET", path)).status).toBe(200);
		const staff = simulator.channel("The Cooks/staff").id;
		expect((await asAda("POST", `/channels/${staff}/messages`, { content: "x" })).status).toBe(200);
		const jose = cooks.as("jose.garcia");
		expect((await jose("POST", path, { content: "x" })).status).toBe(200);
	});

	bunTest("a channel's name and its topic change twice in ten minutes each, and no header says so", async () => {
		let now = 0;
		await using simulator = await startSimulator({
			rateLimits: { ...realisticLimits, ...generousLimits },
			rateLimitNow: () => now,
		});
		const { channel, alpha, channelNamed } = cooksOf(simulator);
		const edit = (body: object, { id } = channel) => alpha("PATCH", `/channels/${id}`, body);
		const [name, topic] = ["soup", "Soup"];
		const statuses = [];
		for (const body of [{ name }, { name, topic }, { nsfw: true }, { topic }]) statuses.push((await edit(body)).status);
		expect(statuses).toEqual([200, 200, 200, 200]);
		for (const body of [{ name }, { topic }, { name, topic: "" }]) {
			const answer = await edit(body);
			expect(answer.status).toBe(429);
			expect(answer.json()).toMatchObject({ retry_after: 600, global: false });
			const remaining = answer.headers.get("x-ratelimit-remaining");
			expect(Number(remaining)).toBeGreaterThan(1);
		}
		expect((await edit({ nsfw: false })).status).toBe(200);
		expect((await edit({ name }, channelNamed("staff"))).status).toBe(200);
		now = 600_000;
		expect((await edit({ name, topic })).status).toBe(200);
	});

	bunTest("all requests of one actor share the global limit", async () => {
		await using simulator = await startSimulator({
			rateLimits: { global: { requests: 2, perMs: 60_000 }, each: { requests: 100, perMs: 60_000 } },
		});
		const { asAda } = general(cooksOf(simulator));
		await asAda("GET", "/users/@me");
		await asAda("GET", "/gateway");
		const third = await asAda("GET", "/users/@me/guilds");
		expect(third.status).toBe(429);
		expect(third.json().global).toBe(true);
		expect(third.headers.get("x-ratelimit-scope")).toBe("global");
	});
});
