// Faults on demand: what a client sees, and whether the request was executed.

import { describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { as, type Simulator, startSimulator } from "../support.ts";

const route = "POST /channels/:channel_id/messages";

function general(simulator: Simulator) {
	const { id } = simulator.channel("The Cooks/general");
	const ada = as(simulator, simulator.user("ada"));
	return {
		id,
		path: `/channels/${id}/messages`,
		ada,
		write: () => ada("POST", `/channels/${id}/messages`, { content: "x" }),
		executed: () => simulator.journal.entries(route).length,
	};
}

test("a refusal has Discord's body for its code, and nothing is executed", async () => {
	await using simulator = await startSimulator();
	const { write, executed } = general(simulator);
	simulator.faults.refuse(route, 50013);
	const answer = await write();
	expect(answer.status).toBe(403);
	expect(answer.json()).toEqual({
		message: "Missing Permissions",
		code: 50013,
	});
	expect(executed()).toBe(0);
	expect(simulator.requests.list(route)).toMatchObject([
		{ status: 403, fault: "refuse" },
	]);
});

test("a fault hits as often as it is told to, and then no more", async () => {
	await using simulator = await startSimulator();
	const { write } = general(simulator);
	const fault = simulator.faults.refuse("* *", 50001, { times: 2 });
	const statuses: number[] = [];
	for (let number = 0; number < 3; number += 1)
		statuses.push((await write()).status);
	expect(statuses).toEqual([403, 403, 200]);
	expect(fault.hits).toBe(2);
	expect(simulator.faults.list()).toEqual([]);
});

test.each([
	["POST /channels/:channel_id/messages", true],
	["POST /channels/*/messages", true],
	["POST /channels/*", true],
	["* *", true],
	["POST *", true],
	["PATCH /channels/*/messages", false],
	["POST /channels/*/messages/*", false],
	["POST /channels/*/typing", false],
	["POST /channels/1/messages", false],
])("%s hits a message being written: %p", async (match, hit) => {
	await using simulator = await startSimulator();
	const { write } = general(simulator);
	simulator.faults.refuse(match, 50001);
	expect((await write()).status === 403).toBe(hit);
});

test("a fault can be for one channel, or one actor", async () => {
	await using simulator = await startSimulator();
	const { write, id } = general(simulator);
	simulator.faults.refuse(`POST /channels/${id}/messages`, 50001, { times: 1 });
	expect((await write()).status).toBe(403);
	simulator.faults.refuse("* *", 50001, { actor: simulator.bot("alpha").id });
	expect((await write()).status).toBe(200);
});

test("a match of another form is an error at once", async () => {
	await using simulator = await startSimulator();
	expect(() => simulator.faults.refuse("messages", 50001)).toThrow(
		'expected a method and a route such as "POST /channels/*/messages", received "messages"',
	);
});

test("a server error comes before the execution, or after it", async () => {
	await using simulator = await startSimulator();
	const { write, executed } = general(simulator);
	simulator.faults.fail(route, 500, { times: 1 });
	expect((await write()).status).toBe(500);
	expect(executed()).toBe(0);
	simulator.faults.fail(route, 503, { times: 1, executed: true });
	expect((await write()).status).toBe(503);
	expect(executed()).toBe(1);
});

test.each([
	["before", 0],
	["after", 1],
] as const)(
	"a connection dropped %s the execution ends without an answer",
	async (when, times) => {
		await using simulator = await startSimulator();
		const { write, executed } = general(simulator);
		simulator.faults.drop(route, { when, times: 1 });
		const error = await write().then(
			() => undefined,
			(error: unknown) => error,
		);
		expect(error).toMatchObject({ code: "ECONNRESET" });
		expect(executed()).toBe(times);
		expect(simulator.requests.list(route)).toMatchObject([
			{ status: "hung up", fault: "drop" },
		]);
		expect((await write()).status).toBe(200);
	},
);

test("any other answer comes in place of the API's, without its rate limits, or after the execution", async () => {
	await using simulator = await startSimulator();
	const { write, executed } = general(simulator);
	const given = { status: 403, body: "null", times: 1 };
	simulator.faults.answer(route, { ...given, headers: { "x-from": "edge" } });
	const foreign = await write();
	expect([foreign.status, foreign.json<unknown>()]).toEqual([403, null]);
	expect(foreign.headers.get("x-from")).toBe("edge");
	expect(foreign.headers.get("content-type")).toBe("application/json");
	expect(foreign.headers.get("x-ratelimit-limit")).toBeNull();
	expect(executed()).toBe(0);
	simulator.faults.answer(route, { ...given, status: 202, executed: true });
	expect((await write()).status).toBe(202);
	expect(executed()).toBe(1);
	expect(simulator.requests.list(route)).toMatchObject([
		{ status: 403, fault: "answer" },
		{ status: 202, fault: "answer" },
	]);
	expect(simulator.requests.invalid).toBe(1);
});

test("the right answer is changed on its way", async () => {
	await using simulator = await startSimulator();
	const { write, executed } = general(simulator);
	simulator.faults.rewrite(route, ({ status, body = "" }) => ({
		status,
		body: body.replace('"content":"x"', '"content":"y"'),
	}));
	const answer = await write();
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-ratelimit-limit")).not.toBeNull();
	expect(answer.json()).toMatchObject({ content: "y" });
	expect(executed()).toBe(1);
});

test("a dropped connection sends not one byte", async () => {
	await using simulator = await startSimulator();
	simulator.faults.drop("GET /users/@me", { when: "before" });
	const ended = Promise.withResolvers<string>();
	let received = "";
	await Bun.connect({
		hostname: "127.0.0.1",
		port: simulator.port,
		socket: {
			open: (socket) => {
				socket.write(
					`GET /api/v10/users/@me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${simulator.user("ada").token}\r\n\r\n`,
				);
			},
			data: (_, data) => {
				received += data.toString();
			},
			close: () => ended.resolve(received),
		},
	});
	expect(await ended.promise).toBe("");
});

describe("a stall", () => {
	const waiting = (simulator: Simulator) =>
		until("the request to be held", () =>
			simulator.requests
				.list(route)
				.some(({ status, fault }) => status === "waiting" && fault),
		);

	test("holds the request, and executes it when released", async () => {
		await using simulator = await startSimulator();
		const { write, executed } = general(simulator);
		const stall = simulator.faults.stall(route, { times: 1 });
		const answer = write();
		await waiting(simulator);
		expect(executed()).toBe(0);
		stall.release();
		expect((await answer).status).toBe(200);
		expect(executed()).toBe(1);
	});

	test("after the execution holds only the answer", async () => {
		await using simulator = await startSimulator();
		const { write, executed } = general(simulator);
		simulator.faults.stall(route, { after: true });
		const answer = write();
		await waiting(simulator);
		expect(executed()).toBe(1);
		simulator.clearFaults();
		expect((await answer).status).toBe(200);
	});

	test("is over for a client that hangs up, and nothing is executed later", async () => {
		await using simulator = await startSimulator();
		const { path, executed } = general(simulator);
		simulator.faults.stall(route);
		const controller = new AbortController();
		const answer = fetch(`${simulator.api}/v10${path}`, {
			method: "POST",
			headers: {
				authorization: simulator.user("ada").token,
				"content-type": "application/json",
			},
			body: '{"content":"x"}',
			signal: controller.signal,
		}).catch((error: Error) => error.name);
		await waiting(simulator);
		controller.abort();
		expect(await answer).toBe("AbortError");
		await until("it is noticed", () =>
			simulator.requests.list(route).some(({ status }) => status === "hung up"),
		);
		simulator.clearFaults();
		expect(executed()).toBe(0);
	});

	test("ends with the simulator, and executes nothing then", async () => {
		const simulator = await startSimulator();
		const { write, executed } = general(simulator);
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

test("a rate limit on demand has Discord's headers and body", async () => {
	await using simulator = await startSimulator();
	const { write } = general(simulator);
	simulator.faults.rateLimit(route, { retryAfterMs: 1500, times: 1 });
	const answer = await write();
	expect(answer.status).toBe(429);
	expect(answer.json()).toEqual({
		message: "You are being rate limited.",
		retry_after: 1.5,
		global: false,
	});
	expect(answer.headers.get("retry-after")).toBe("2");
	expect(answer.headers.get("x-ratelimit-scope")).toBe("user");
	simulator.faults.rateLimit(route, {
		retryAfterMs: 1,
		scope: "shared",
		times: 1,
	});
	await write();
	expect(simulator.requests.invalid).toBe(1);
	simulator.faults.rateLimit(route, {
		retryAfterMs: 1,
		global: true,
		times: 1,
	});
	expect((await write()).headers.get("x-ratelimit-global")).toBe("true");
});

describe("rate limits", () => {
	test("a bucket is for one route, one actor and one channel", async () => {
		await using simulator = await startSimulator({
			rateLimits: {
				global: { requests: 1000, perMs: 60_000 },
				each: { requests: 100, perMs: 60_000 },
				routes: { [route]: { requests: 2, perMs: 60_000 } },
			},
		});
		const { path, ada, write } = general(simulator);
		const first = await write();
		expect(first.headers.get("x-ratelimit-limit")).toBe("2");
		expect(first.headers.get("x-ratelimit-remaining")).toBe("1");
		expect(
			Number(first.headers.get("x-ratelimit-reset-after")),
		).toBeGreaterThan(0);
		expect(first.headers.get("x-ratelimit-bucket")).toBeString();
		const missing = await ada("GET", "/channels/1");
		expect(missing.status).toBe(404);
		expect(missing.headers.get("x-ratelimit-remaining")).toBe("99");
		await write();
		const third = await write();
		expect(third.status).toBe(429);
		expect(third.headers.get("x-ratelimit-remaining")).toBe("0");
		expect(third.json<{ retry_after: number }>().retry_after).toBeGreaterThan(
			0,
		);
		expect((await ada("GET", path)).status).toBe(200);
		const staff = simulator.channel("The Cooks/staff").id;
		expect(
			(await ada("POST", `/channels/${staff}/messages`, { content: "x" }))
				.status,
		).toBe(200);
		const jose = as(simulator, simulator.user("jose.garcia"));
		expect((await jose("POST", path, { content: "x" })).status).toBe(200);
	});

	test("all requests of one actor share the global limit", async () => {
		await using simulator = await startSimulator({
			rateLimits: {
				global: { requests: 2, perMs: 60_000 },
				each: { requests: 100, perMs: 60_000 },
			},
		});
		const { ada } = general(simulator);
		await ada("GET", "/users/@me");
		await ada("GET", "/gateway");
		const third = await ada("GET", "/users/@me/guilds");
		expect(third.status).toBe(429);
		expect(third.json().global).toBe(true);
		expect(third.headers.get("x-ratelimit-scope")).toBe("global");
	});
});
