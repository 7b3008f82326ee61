// This file sets the wall clock of its process: no test in it may run beside another.

import { afterEach, expect, setSystemTime, test } from "bun:test";
import { REST, Routes } from "discord.js";
import { guardRest, restOptions } from "../../../src/discord/rest/rest.ts";
import { until } from "../../support/until.ts";

const hourMs = 3_600_000;
const limited = (afterSeconds: number) => ({
	"x-ratelimit-limit": "1",
	"x-ratelimit-remaining": "0",
	"x-ratelimit-reset-after": String(afterSeconds),
});

function setBack(): void {
	setSystemTime(new Date(Date.now() - hourMs));
}

afterEach(() => {
	setSystemTime();
});

/** An API that returns `answers` in order, then empty objects. */
function startApi(answers: Response[]) {
	let received = 0;
	const server = Bun.serve({
		port: 0,
		fetch: () => {
			received += 1;
			return answers.shift() ?? Response.json({});
		},
	});
	const rest = new REST(restOptions(`http://127.0.0.1:${server.port}/api`));
	rest.setToken("token");
	guardRest(rest, { timeoutMs: 30_000, onUnauthorized: () => {} });
	return {
		ask: () => rest.get(Routes.gatewayBot()),
		received: () => received,
		[Symbol.asyncDispose]: () => server.stop(true),
	};
}

test("a clock set back by an hour does not extend a rate limit", async () => {
	await using api = startApi([Response.json({}, { headers: limited(0.3) })]);
	await api.ask();
	setBack();
	await api.ask();
	expect(api.received()).toBe(2);
});

const global = { message: "x", retry_after: 0.3, global: true };
test.each([
	["the route", () => Response.json({}, { headers: limited(0.3) })],
	["the whole bot", () => Response.json(global, { status: 429 })],
])("a clock set back by an hour while a request waits for a limit of %s does not extend the wait", async (_, limit) => {
	await using api = startApi([limit()]);
	const first = api.ask();
	const second = api.ask();
	await until("the limit is known", () => api.received() > 0);
	setBack();
	await Promise.all([first, second]);
	expect(api.received()).toBeGreaterThan(1);
});

test("a clock set forward by an hour does not end a rate limit", async () => {
	await using api = startApi([Response.json({}, { headers: limited(60) })]);
	await api.ask();
	setSystemTime(new Date(Date.now() + hourMs));
	await expect(api.ask()).rejects.toThrow("rate limit");
	expect(api.received()).toBe(1);
});
