import { expect, test } from "bun:test";
import { DiscordAPIError, REST, Routes } from "discord.js";
import { toToolError } from "../../../src/discord/rest/errors.ts";
import { RequestPacing } from "../../../src/discord/rest/request-pacing.ts";
import {
	endingEarlier,
	guardRest,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	restOptions,
	timeLeftMs,
	withinRun,
} from "../../../src/discord/rest/rest.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";

const messages = "POST /channels/:channel_id/messages";
/** Longer than any of these tests takes on a loaded machine, and shorter than the rate limits of a minute. */
const longMs = 30_000;
/** Long enough for a request to arrive. */
const shortMs = 1_000;

/** A simulator, and discord.js's REST manager in front of it as the bot has it. */
async function startPlatform(timeoutMs = longMs, requests = new RequestPacing()) {
	const simulator = await startSimulator();
	const channel = simulator.channel("The Cooks/general");
	const unauthorized: string[] = [];
	const rest = new REST(restOptions(simulator.api, undefined, requests));
	rest.setToken(simulator.bot("alpha").token);
	// Closing, so that a lost message is not sent again: see nonce.test.ts.
	guardRest(rest, { timeoutMs, onUnauthorized: () => unauthorized.push("401"), closing: AbortSignal.abort() });
	return {
		simulator,
		rest,
		channel,
		unauthorized,
		say: (content: string) => rest.post(Routes.channelMessages(channel.id), { body: { content } }),
		[Symbol.asyncDispose]: () => simulator.close(),
	};
}

const failureOf = (call: Promise<unknown>) =>
	call.then(
		() => {
			throw new Error("it succeeded");
		},
		(error: unknown) => error,
	);

function expectOutcome(error: unknown, kind: typeof PlatformTimeout | typeof PlatformFailure, outcome: string) {
	expect(error).toBeInstanceOf(kind);
	expect(error).toMatchObject({ outcome });
}

/** discord.js's REST manager, as the bot has it, in front of a server that answers every request with `answer`. */
function startServer(timeoutMs: number, answer: () => Response) {
	const server = Bun.serve({ port: 0, fetch: answer });
	const rest = new REST(restOptions(`http://127.0.0.1:${server.port}/api`));
	rest.setToken("token");
	guardRest(rest, { timeoutMs, onUnauthorized: () => {}, closing: AbortSignal.abort() });
	return { rest, [Symbol.asyncDispose]: () => server.stop(true) };
}

test.concurrent("a stalled write times out with an unknown outcome, and is sent once", async () => {
	await using platform = await startPlatform(shortMs);
	const { simulator } = platform;
	simulator.faults.stall(messages, { after: true });
	const error = await failureOf(platform.say("once"));
	expectOutcome(error, PlatformTimeout, "unknown");
	expect(simulator.requests.list(messages)).toHaveLength(1);
	expect(simulator.journal.entries(messages)).toHaveLength(1);
});

test.concurrent("endingEarlier shortens the deadline of a write, and timeLeftMs tells that of the tool", async () => {
	await using platform = await startPlatform();
	const { simulator } = platform;
	simulator.faults.stall(messages, { after: true });
	const run = {
		signal: new AbortController().signal,
		endsAt: performance.now() + 3_600_000,
		reason: undefined,
		mayWrite: true,
	};
	await withinRun(run, async () => {
		const leftMs = timeLeftMs();
		expect(leftMs).toBeGreaterThan(3_000_000);
		const error = await failureOf(endingEarlier(leftMs - shortMs, () => platform.say("once")));
		expectOutcome(error, PlatformTimeout, "unknown");
		expect(run.signal.aborted).toBe(false);
	});
	expect(simulator.requests.list(messages)).toHaveLength(1);
});

test.concurrent("a stalled read times out and has changed nothing", async () => {
	await using platform = await startPlatform(shortMs);
	platform.simulator.faults.stall("GET /channels/:channel_id");
	const error = await failureOf(platform.rest.get(Routes.channel(platform.channel.id)));
	expectOutcome(error, PlatformTimeout, "read");
});

test.concurrent("a response whose body never ends times out", async () => {
	const headers = { "Content-Type": "application/json" };
	await using server = startServer(shortMs, () => {
		const body = new ReadableStream({ start: (controller) => controller.enqueue('{"id":') });
		return new Response(body, { headers });
	});
	const error = await failureOf(server.rest.post("/channels/1/messages", { body: {} }));
	expectOutcome(error, PlatformTimeout, "unknown");
});

test.concurrent("a call queued behind another times out as not sent, and is not sent afterwards", async () => {
	await using platform = await startPlatform();
	const { simulator } = platform;
	const fault = simulator.faults.stall(messages, { times: 1 });
	const first = platform.say("first");
	await until("it has arrived", () => simulator.requests.list().length > 0);
	const run = { reason: undefined, mayWrite: true, endsAt: Infinity };
	const signal = AbortSignal.timeout(shortMs);
	const error = await failureOf(withinRun({ ...run, signal }, () => platform.say("too late")));
	expectOutcome(error, PlatformTimeout, "not sent");
	fault.release();
	await first;
	// The queue keeps its order: when a later call has passed, the one before has had its turn.
	await platform.say("in time");
	expect(platform.channel.transcript()).toBe("alpha: first\nalpha: in time");
});

test.concurrent("a caller that floods slows itself: a request of another passes most of its own", async () => {
	await using platform = await startPlatform();
	const { simulator, rest, channel } = platform;
	const flooding = new AbortController();
	const read = (caller: string) => {
		const run = { caller, signal: flooding.signal, endsAt: Infinity, reason: undefined, mayWrite: false };
		return withinRun(run, () => rest.get(Routes.channelMessages(channel.id)));
	};
	void Promise.allSettled(Array.from({ length: 200 }, () => read("flood")));
	await read("other");
	expect(simulator.requests.list().length).toBeLessThan(40);
	flooding.abort();
});

test.concurrent("a rate limit beyond the deadline fails the call at once with the wait, and it is not sent again", async () => {
	await using platform = await startPlatform();
	const { simulator } = platform;
	const limit = simulator.faults.rateLimit(messages, { retryAfterMs: 60_000 });
	const error = await failureOf(platform.say("too late"));
	expect(error).toBeInstanceOf(PlatformBusy);
	const { why, retryAfterMs } = error as PlatformBusy;
	expect(why).toBe("rate limit");
	expect(retryAfterMs).toBeGreaterThan(longMs);
	expect(retryAfterMs).toBeLessThan(61_000);
	expect(limit.hits).toBe(1);
});

test.concurrent("a global rate limit beyond the deadline fails calls to other routes unsent", async () => {
	await using platform = await startPlatform();
	const { simulator } = platform;
	simulator.faults.rateLimit(messages, { retryAfterMs: 60_000, global: true, times: 1 });
	expect(await failureOf(platform.say("one"))).toBeInstanceOf(PlatformBusy);
	const other = platform.rest.get(Routes.channel(platform.channel.id));
	expect(await failureOf(other)).toBeInstanceOf(PlatformBusy);
	expect(simulator.requests.list()).toHaveLength(1);
});

test.concurrent("after too many invalid requests none is sent, and the error has the wait", async () => {
	const clock = { now: 0 };
	const requests = new RequestPacing({ now: () => clock.now, maxInvalid: 50, perSecond: 1_000 });
	await using platform = await startPlatform(longMs, requests);
	const { simulator } = platform;
	simulator.faults.refuse(messages, 50013);
	for (let call = 0; call < 50; call += 1)
		expect(await failureOf(platform.say("refused"))).toBeInstanceOf(DiscordAPIError);
	const error = await failureOf(platform.say("one too many"));
	expect(error).toBeInstanceOf(PlatformBusy);
	expect((error as PlatformBusy).why).toBe("invalid requests");
	expect((error as PlatformBusy).retryAfterMs).toBe(600_000);
	expect(simulator.requests.list()).toHaveLength(50);
	expect(requests.rejectedCount).toBe(1);
	simulator.faults.clear();
	clock.now = 599_999;
	expect(await failureOf(platform.say("early"))).toBeInstanceOf(PlatformBusy);
	clock.now = 600_000;
	await platform.say("after it");
	expect(platform.channel.transcript()).toBe("alpha: after it");
});

test.concurrent("a call waits for a rate limit that ends before its deadline", async () => {
	await using platform = await startPlatform();
	platform.simulator.faults.rateLimit(messages, { retryAfterMs: 50, times: 1 });
	await platform.say("patient");
	expect(platform.channel.transcript()).toBe("alpha: patient");
	expect(platform.simulator.journal.entries(messages)).toHaveLength(1);
});

const html = { "content-type": "text/html" };
const page = { body: "<!DOCTYPE html><title>Access denied</title> error code: 1015", headers: html };
const noWait = { message: "You are being rate limited.", global: false };

// A wait in the body alone, as documented: https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit
test.concurrent.each([
	["in the body alone", { ...noWait, retry_after: 0.05 }, {}],
	["of no time at all", { ...noWait, retry_after: 0 }, {}],
	["beside a header that is no number", { retry_after: 0.05 }, { "retry-after": "soon" }],
	["in X-RateLimit-Reset-After", {}, { "x-ratelimit-reset-after": "0.05" }],
] as const)("a 429 with a wait %s is sent again after it", async (_, body, headers) => {
	await using platform = await startPlatform();
	const { faults, requests } = platform.simulator;
	const given = { status: 429, body: JSON.stringify(body), headers, times: 2 };
	faults.answer(messages, given);
	await platform.say("patient");
	expect(requests.list(messages)).toHaveLength(3);
	expect(platform.channel.transcript()).toBe("alpha: patient");
});

test.concurrent.each([-1, "soon", null])(
	"a 429 with the wait %p comes from something in front of Discord",
	async (retry_after) => {
		await using platform = await startPlatform();
		const { faults } = platform.simulator;
		const body = JSON.stringify({ retry_after });
		faults.answer(messages, { status: 429, body });
		const error = await failureOf(platform.say("patient"));
		expect(String(error)).toContain("has no usable retry_after: no message");
	},
);

test.concurrent.each([
	["a moment", 0.05],
	["no time", 0],
])(
	"a call fails after five rate limits of %s in a row",
	async (_, retry_after) => {
		await using platform = await startPlatform();
		const { faults, requests } = platform.simulator;
		const body = JSON.stringify({ ...noWait, retry_after });
		faults.answer(messages, { status: 429, body });
		const error = await failureOf(platform.say("too much"));
		expect(error).toBeInstanceOf(PlatformBusy);
		expect((error as PlatformBusy).why).toBe("rate limit");
		expect((error as PlatformBusy).retryAfterMs).toBe(1_000);
		expect(requests.list(messages)).toHaveLength(5);
	},
	120_000,
);

test.concurrent("a 429 that is global only in its body pauses all routes", async () => {
	await using platform = await startPlatform();
	const { simulator, rest, channel } = platform;
	const body = JSON.stringify({ retry_after: 60, global: true });
	simulator.faults.answer(messages, { status: 429, body, times: 1 });
	expect(await failureOf(platform.say("one"))).toBeInstanceOf(PlatformBusy);
	const other = rest.get(Routes.channel(channel.id));
	expect(await failureOf(other)).toBeInstanceOf(PlatformBusy);
	expect(simulator.requests.list()).toHaveLength(1);
});

// An address that is blocked: a page of Cloudflare's, or https://github.com/discord/discord-api-docs/issues/5810.
test.concurrent.each([
	[{ status: 429, ...page }, "refused", 5],
	[{ status: 403, ...page }, "refused", 5],
	[{ status: 429, body: JSON.stringify(noWait) }, "refused", 5],
	[{ status: 401, body: "null" }, "refused", 5],
	[{ status: 429, body: "" }, "refused", 5],
	[{ status: 429, ...page, headers: { ...html, "retry-after": "90" } }, "refused", 90],
] as const)("the response %j fails a call at once, and pauses all others", async (answer, outcome, seconds) => {
	const clock = { now: 1_000 };
	const requests = new RequestPacing({ now: () => clock.now });
	await using platform = await startPlatform(longMs, requests);
	const { simulator, rest, channel } = platform;
	simulator.faults.answer("* *", answer);
	const error = await failureOf(platform.say("blocked"));
	expectOutcome(error, PlatformFailure, outcome);
	const { message = "" } = toToolError(error) ?? {};
	expect(message).toStartWith(`Discord API error: the response (HTTP ${answer.status}) `);
	expect(message).toEndWith(` Requests are paused for ${seconds} s.`);
	expect(message).not.toContain("1015");
	simulator.faults.clear();
	clock.now += seconds * 1_000 - 1_001;
	const other = await failureOf(rest.get(Routes.channel(channel.id)));
	expect(other).toBeInstanceOf(PlatformBusy);
	expect(toToolError(other)?.message).toContain("so the bot sends no requests for 2 s.");
	expect(simulator.requests.list()).toHaveLength(1);
	clock.now += 1_001;
	await platform.say("let in again");
	expect(platform.unauthorized).toEqual([]);
});

// Proxies in front of Discord answer so now and then, for a moment.
test.concurrent.each([
	{ status: 502, ...page },
	{ status: 503, body: "upstream connect error", headers: html },
	{ status: 520, body: "error code: 520" },
])("a single response %j delays this and later requests, and a second one in a row fails them", async (answer) => {
	const clock = { now: 1_000 };
	const requests = new RequestPacing({ now: () => clock.now });
	await using platform = await startPlatform(longMs, requests);
	const { simulator, rest, channel } = platform;
	const read = () => rest.get(Routes.channel(channel.id));
	const passPause = async () => {
		await until("requests are paused", () => requests.pause);
		expect(requests.pause?.waitMs).toBe(1_000);
		clock.now += 1_000;
	};
	simulator.faults.answer("* *", { ...answer, times: 1 });
	const first = read();
	await until("requests are paused", () => requests.pause);
	const write = platform.say("a moment later");
	await passPause();
	await Promise.all([first, write]);
	expect(simulator.requests.list()).toHaveLength(3);
	expect(requests.rejectedCount).toBe(0);

	simulator.faults.answer("* *", answer);
	const second = failureOf(read());
	await passPause();
	expect(await second).toBeInstanceOf(PlatformFailure);
	expect(toToolError(await second)?.message).toMatch(new RegExp(`HTTP ${answer.status}.* paused for 2 s\\.$`));
	expect(await failureOf(platform.say("too early"))).toBeInstanceOf(PlatformBusy);
	expect(simulator.requests.list()).toHaveLength(5);
});

test.concurrent("a write answered by a 5xx page is sent once, and its outcome is unknown", async () => {
	await using platform = await startPlatform();
	const { faults, requests } = platform.simulator;
	faults.answer(messages, { status: 502, ...page });
	const error = await failureOf(platform.say("once"));
	expectOutcome(error, PlatformFailure, "unknown");
	expect(toToolError(error)?.message).toEndWith("are paused for 1 s.");
	expect(requests.list(messages)).toHaveLength(1);
});

test.concurrent.each([300, 307, 308, 302, 303])(
	"a redirect with %d is not followed, neither by a write nor by a read",
	async (status) => {
		await using platform = await startPlatform();
		await using elsewhere = await startPlatform();
		const { simulator, rest, channel } = platform;
		const location = elsewhere.simulator.api;
		simulator.faults.answer("* *", { status, headers: { location } });
		const error = await failureOf(platform.say("elsewhere"));
		expectOutcome(error, PlatformFailure, "unknown");
		expect(String(error)).toContain(`(HTTP ${status}) is a redirect`);
		const read = await failureOf(rest.get(Routes.channel(channel.id)));
		expectOutcome(read, PlatformFailure, "read");
		expect(simulator.requests.list()).toHaveLength(2);
		expect(elsewhere.simulator.requests.list()).toEqual([]);
	},
);

test.concurrent("a response that is too long is not read to its end, compressed or not", async () => {
	await using platform = await startPlatform();
	const { simulator } = platform;
	const body = `["${"x".repeat(16 * 1024 * 1024)}"]`;
	simulator.faults.answer(messages, { status: 200, body, executed: true });
	const error = await failureOf(platform.say("long"));
	expect(String(error)).toContain("(HTTP 200) is larger than 16 MiB");
	expectOutcome(error, PlatformFailure, "unknown");
	const packed = Bun.gzipSync(body);
	const headers = { "content-encoding": "gzip" };
	await using server = startServer(longMs, () => new Response(packed, { headers }));
	const other = await failureOf(server.rest.get("/users/@me"));
	expect(String(other)).toContain("(HTTP 200) is larger than 16 MiB");
});

test.concurrent.each([
	["{}", "Discord API error: 400"],
	['{"message":null,"code":{}}', "Discord API error: 400"],
	['{"message":"No","code":50035,"errors":{"a":null}}', "Discord API error: No (code 50035)."],
	['{"message":"No","code":50035,"errors":7}', "Discord API error: No (code 50035)."],
])("the error response %s becomes an error without undefined", async (body, shown) => {
	await using platform = await startPlatform();
	platform.simulator.faults.answer(messages, { status: 400, body });
	const error = await failureOf(platform.say("refused"));
	expect(error).toBeInstanceOf(DiscordAPIError);
	const { message = "" } = toToolError(error) ?? {};
	expect(message).toStartWith(shown);
	expect(message).not.toMatch(/undefined|\[object/);
});

// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
test.concurrent.each([
	[30035, "Discord limits bans of users who are not members."],
	[30046, "Discord limits edits of messages older than an hour."],
	[40003, "Nothing was sent. Wait some minutes"],
	[40006, "Discord also sends this error if COMMUNITY is enabled"],
	[50086, "Use edit_guild to choose another channel for rules or updates first."],
	[50101, "get_guild_info shows the boost level"],
	[50278, "The bot can only write to people who share a guild with it."],
	[60003, "The account that owns the bot's application has to enable"],
])("the error %d has advice", async (code, advice) => {
	await using platform = await startPlatform();
	platform.simulator.faults.refuse(messages, code);
	const error = toToolError(await failureOf(platform.say("refused")));
	expect(error?.message).toContain(` (code ${code}). ${advice}`);
});

test.concurrent.each(["before", "after"] as const)(
	"a write whose connection drops %s it is carried out is sent once, and its outcome is unknown",
	async (when) => {
		await using platform = await startPlatform();
		const { simulator, rest, channel } = platform;
		await platform.say("keeps the connection");
		const { id: messageId } = await simulator.user("ada").say("The Cooks/general", "x");
		const guild = simulator.guild("The Cooks");
		const regular = [...guild.roles.values()].find((r) => r.name === "Regular");
		const role = Routes.guildMemberRole(guild.id, simulator.user("liwei").id, regular?.id ?? "");
		const writes = {
			POST: () => platform.say("dropped"),
			PATCH: () => rest.patch(Routes.channelMessage(channel.id, messageId), { body: {} }),
			PUT: () => rest.put(role),
			DELETE: () => rest.delete(Routes.channelMessage(channel.id, messageId)),
		};
		for (const [method, write] of Object.entries(writes)) {
			simulator.faults.drop(`${method} *`, { when, times: 1 });
			const before = simulator.requests.list().length;
			const error = await failureOf(write());
			expectOutcome(error, PlatformFailure, "unknown");
			// A read afterwards shows that nothing else is on its way before it.
			await rest.get(Routes.user());
			const arrived = simulator.requests.list().slice(before);
			expect(arrived.map((request) => request.method)).toEqual([method, "GET"]);
			simulator.faults.clear();
		}
	},
);

test.concurrent("a write answered with 500 is sent once, and its outcome is unknown", async () => {
	await using platform = await startPlatform();
	platform.simulator.faults.fail(messages, 500, { executed: true });
	const error = await failureOf(platform.say("once"));
	expectOutcome(error, PlatformFailure, "unknown");
	expect(platform.simulator.requests.list(messages)).toHaveLength(1);
});

test.concurrent("a failed read is retried once", async () => {
	await using platform = await startPlatform();
	const { simulator, rest, channel } = platform;
	const route = "GET /channels/:channel_id";
	const read = () => rest.get(Routes.channel(channel.id));
	simulator.faults.drop(route, { when: "before", times: 1 });
	expect(await read()).toMatchObject({ id: channel.id });
	simulator.faults.fail(route, 502, { times: 1 });
	expect(await read()).toMatchObject({ id: channel.id });
	expect(simulator.requests.list(route)).toHaveLength(4);
	simulator.faults.fail(route, 502);
	expect(await failureOf(read())).toBeInstanceOf(PlatformFailure);
	expect(simulator.requests.list(route)).toHaveLength(6);
});

test.concurrent("a call to a closed port was not sent", async () => {
	const platform = await startPlatform();
	await platform.simulator.close();
	const error = await failureOf(platform.say("hello?"));
	expectOutcome(error, PlatformFailure, "not sent");
});

test.concurrent("a call ends with the deadline of its tool", async () => {
	await using platform = await startPlatform();
	platform.simulator.faults.stall(messages);
	const run = { reason: undefined, mayWrite: true, endsAt: Infinity };
	const deadline = new AbortController();
	const call = withinRun({ ...run, signal: deadline.signal }, () => platform.say("late"));
	await until("the request is held", () => platform.simulator.requests.list(messages).length === 1);
	deadline.abort(new DOMException("too late", "TimeoutError"));
	expect(await failureOf(call)).toBeInstanceOf(PlatformTimeout);
	const passed = withinRun({ ...run, signal: AbortSignal.abort() }, () => platform.say("never"));
	const error = await failureOf(passed);
	expectOutcome(error, PlatformTimeout, "not sent");
	expect(platform.simulator.requests.list(messages)).toHaveLength(1);
});

test.concurrent("a read-only tool cannot write, and the reason of a writing one reaches the audit log", async () => {
	await using platform = await startPlatform();
	const { signal } = new AbortController();
	const run = { signal, endsAt: Infinity, reason: "spring cleaning", mayWrite: false };
	const error = await failureOf(withinRun(run, () => platform.say("forbidden")));
	expect(String(error)).toContain("may only read from Discord");
	expect(platform.simulator.requests.list(messages)).toEqual([]);
	await withinRun({ ...run, mayWrite: true }, async () => {
		await platform.rest.patch(Routes.channel(platform.channel.id), { body: { topic: "allowed" } });
		await platform.say("allowed");
	});
	// The audit log has no entries for messages.
	expect(platform.simulator.journal.entries().map(({ reason }) => reason)).toEqual(["spring cleaning", undefined]);
});

test.concurrent("a 401 is reported, and the REST manager keeps the token", async () => {
	await using platform = await startPlatform();
	platform.simulator.faults.refuse(messages, 0, { status: 401, times: 1 });
	await failureOf(platform.say("refused"));
	expect(platform.unauthorized).toEqual(["401"]);
	await platform.say("accepted");
	expect(platform.channel.transcript()).toBe("alpha: accepted");
});

test.concurrent("no error contains a webhook's token, and a refused one does not count as a refused bot token", async () => {
	await using platform = await startPlatform(shortMs);
	const { simulator, rest, channel } = platform;
	const { world, faults } = simulator;
	const known = present(simulator.guild("The Cooks").channels.get(channel.id));
	const { id, token = "" } = world.webhooks.add(known, { name: "Crier" });
	const post = () => rest.post(Routes.webhook(id, token), { body: { content: "x" }, auth: false });
	const match = `POST ${Routes.webhook(id, token)}`;
	const times = 1;
	const shown: string[] = [];
	for (const fault of [
		() => faults.refuse(match, 50013, { times }),
		() => faults.refuse(match, 50027, { times }),
		() => faults.fail(match, 502, { times }),
		() => faults.drop(match, { when: "before", times }),
		() => faults.stall(match, { times }),
		() => faults.rateLimit(match, { retryAfterMs: 60_000, times }),
	]) {
		fault();
		const error = await failureOf(post());
		shown.push(Bun.inspect(error, { depth: 10 }));
	}
	expect(shown).toHaveLength(6);
	for (const text of shown) expect(text).not.toContain(token);
	expect(platform.unauthorized).toEqual([]);
});
