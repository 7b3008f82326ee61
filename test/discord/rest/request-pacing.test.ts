// Which requests are sent first when more are due than Discord allows per second, and when all pause. The clock is the test's.

import { describe, expect, test } from "bun:test";
import { REST, Routes } from "discord.js";
import { ActingPerson, actAs } from "../../../src/discord/acting-person.ts";
import { type Pause, type Priority, RequestPacing, stopsHarm } from "../../../src/discord/rest/request-pacing.ts";
import { ForeignResponse } from "../../../src/discord/rest/response.ts";
import {
	guardRest,
	inBackground,
	PlatformBusy,
	PlatformTimeout,
	restOptions,
	withinRun,
} from "../../../src/discord/rest/rest.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const never = new AbortController().signal;

function createQueue(perSecond = 10) {
	let now = 0;
	const timers: { work: () => void; at: number }[] = [];
	const queue = new RequestPacing({
		perSecond,
		now: () => now,
		schedule: (work, ms) => timers.push({ work, at: now + ms }),
	});
	const sent: string[] = [];
	return {
		queue,
		sent,
		/** Takes a turn for a request, which is sent as soon as it may be. */
		async send(priority: Priority, name: string = priority, signal = never) {
			const request = await queue.begin(priority, signal);
			sent.push(name);
			request.responded(200, null);
		},
		/** Lets time pass, with all timers that are due. */
		async pass(ms: number) {
			await settled();
			const end = now + ms;
			for (;;) {
				timers.sort((a, b) => a.at - b.at);
				const [next] = timers;
				if (!next || next.at > end) break;
				timers.shift();
				now = next.at;
				next.work();
				await settled();
			}
			now = end;
		},
	};
}

/** Lets everything run that waits for nothing but promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const times = (count: number, work: (index: number) => unknown) => {
	for (let index = 0; index < count; index++) void work(index);
};

describe("within a second", () => {
	test.each([
		["protection", 10],
		["call", 9],
		["other", 6],
		["background", 4],
	] as const)("requests of the priority %s are at most %d of 10", async (priority, max) => {
		const { queue, sent, send, pass } = createQueue();
		times(25, (index) => send(priority, String(index)));
		await settled();
		expect([sent.length, queue.waiting]).toEqual([max, 25 - max]);
		await pass(1_049);
		expect(sent).toHaveLength(max);
		await pass(1);
		expect(sent).toHaveLength(Math.min(25, 2 * max));
		await pass(10_000);
		expect(sent).toEqual(Array.from({ length: 25 }, (_, index) => `${index}`));
		expect(queue.waiting).toBe(0);
	});
});

test("the most urgent request is sent first, and at once as long as others leave a share", async () => {
	const { sent, send, pass } = createQueue();
	times(20, () => send("background"));
	await settled();
	expect(sent).toHaveLength(4);
	times(3, () => send("other"));
	times(3, () => send("call"));
	times(2, () => send("protection"));
	await settled();
	expect(sent.slice(4)).toEqual([...["other", "other", "call", "call", "call", "protection"]]);
	sent.length = 0;
	await pass(1_050);
	expect(sent).toEqual(["protection", "other", "background", "background"]);
});

test("a more urgent request does not wait for the time at which a less urgent one is due", async () => {
	const { sent, send, pass } = createQueue();
	times(4, () => send("background"));
	await pass(500);
	times(2, () => send("other"));
	times(3, () => send("call"));
	await settled();
	expect(sent).toHaveLength(9);
	void send("background", "late");
	void send("call", "soon");
	await pass(549);
	expect(sent.slice(9)).toEqual([]);
	await pass(1);
	expect(sent.slice(9)).toEqual(["soon"]);
	await pass(500);
	expect(sent.slice(9)).toEqual(["soon", "late"]);
});

test("a request counts for a second after its response, which may be late", async () => {
	const { queue, sent, send, pass } = createQueue(2);
	const request = await queue.begin("protection", never);
	await queue.begin("protection", never);
	void send("protection", "third");
	void send("protection", "fourth");
	await pass(300);
	request.responded(200, null);
	await pass(1_049);
	expect(sent).toEqual([]);
	await pass(1);
	expect(sent).toEqual(["third"]);
	// No response at all.
	await pass(699);
	expect(sent).toEqual(["third"]);
	await pass(1);
	expect(sent).toEqual(["third", "fourth"]);
});

test("a request that is cancelled leaves the queue", async () => {
	const { queue, sent, send, pass } = createQueue(1);
	const cancel = new AbortController();
	await send("call", "first");
	const cancelled = send("call", "second", cancel.signal);
	void send("call", "third");
	cancel.abort(new Error("cancelled"));
	expect(cancelled).rejects.toThrow("cancelled");
	await settled();
	expect(queue.waiting).toBe(1);
	await pass(1_050);
	expect(sent).toEqual(["first", "third"]);
	expect(send("call", "fourth", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
	await settled();
	expect(queue.waiting).toBe(0);
});

test("after the connection is closed, nothing is sent", async () => {
	const { queue, sent, send, pass } = createQueue(1);
	const cancel = new AbortController();
	await send("call", "first");
	const waiting = send("call", "second", cancel.signal);
	await settled();
	queue.close();
	const late = send("call", "third", cancel.signal);
	await pass(10_000);
	expect(sent).toEqual(["first"]);
	const failed = Promise.allSettled([waiting, late]);
	cancel.abort(new Error("cancelled"));
	expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
	expect(queue.waiting).toBe(0);
});

test("a limited number of requests of a priority wait, and leave more urgent ones their room", async () => {
	const { queue, sent, send, pass } = createQueue(1);
	times(2_001, () => send("other"));
	await settled();
	expect(queue.waiting).toBe(2_000);
	const error = await send("other").catch((error) => error);
	expect(error).toBeInstanceOf(PlatformBusy);
	expect(error.retryAfterMs).toBe(2_000_000);
	void send("protection");
	await pass(1_050);
	expect(sent).toEqual(["other", "protection"]);
});

test.each([
	["PUT", Routes.guildBan("1", "2"), undefined, true],
	["POST", Routes.guildBulkBan("1"), { user_ids: ["2"] }, true],
	["DELETE", Routes.guildBan("1", "2"), undefined, false],
	["DELETE", Routes.guildMember("1", "2"), undefined, true],
	["PUT", Routes.guildMember("1", "2"), {}, false],
	["GET", Routes.guildBan("1", "2"), undefined, false],
	[
		...(["PATCH", Routes.guildMember("1", "2")] as const),
		{ communication_disabled_until: "2026-01-01T00:00:00.000Z" },
		true,
	],
	[...(["PATCH", Routes.guildMember("1", "2")] as const), { communication_disabled_until: null }, false],
	["PATCH", Routes.guildMember("1", "2"), { nick: "a" }, false],
	["PATCH", Routes.guildMember("1", "2"), undefined, false],
	["DELETE", Routes.guildMemberRole("1", "2", "3"), undefined, false],
	["PUT", "/guilds/1/incident-actions", {}, true],
	["DELETE", Routes.channelMessage("1", "2"), undefined, false],
	["PATCH", Routes.channel("1"), { rate_limit_per_user: 30 }, true],
	["PATCH", Routes.channel("1"), { rate_limit_per_user: 0 }, false],
	["PATCH", Routes.channel("1"), { topic: "a" }, false],
])("whether %s %s with %j stops harm: %j", (method, fullRoute, body, stops) => {
	const request = { method, fullRoute, body } as Parameters<typeof stopsHarm>[0];
	expect(stopsHarm(request)).toBe(stops);
});

/** discord.js's REST manager as the bot has it, allowed ten requests per second of the test's clock. */
async function startPlatform() {
	const simulator = await startSimulator();
	const clock = createQueue(10);
	const expiry = new AbortController();
	const options = restOptions(simulator.api, undefined, clock.queue);
	const rest = new REST(options).setToken(simulator.bot("alpha").token);
	guardRest(rest, { timeoutMs: 10_000, timeoutSignal: () => expiry.signal, onUnauthorized() {} });
	const guild = simulator.guild("The Cooks");
	const run = { signal: never, endsAt: Infinity, reason: undefined, mayWrite: true };
	const channels = [...guild.channels.values()].map(({ id }) => id);
	return {
		simulator,
		clock,
		rest,
		guild,
		expiry,
		inRun: <T>(work: () => Promise<T>) => withinRun(run, work),
		/** Reads channels, each on a route of its own. */
		flood: (count: number) =>
			Array.from({ length: count }, (_, index) =>
				inBackground(() => rest.get(Routes.channel(channels[index % channels.length] ?? ""))).catch(
					(error: unknown) => error,
				),
			),
		[Symbol.asyncDispose]: () => simulator.close(),
	};
}

test("a ban and an interaction's response are sent while others wait", async () => {
	await using platform = await startPlatform();
	const { simulator, clock, rest, guild } = platform;
	const requests = () => simulator.requests.list().map(({ method, path }) => `${method} ${path}`);
	const flood = platform.flood(30);
	await until("they wait", () => clock.queue.waiting > 0);
	await until("the first are sent", () => requests().length === 4);
	const ban = Routes.guildBan(guild.id, simulator.user("zoe").id);
	await platform.inRun(() => rest.put(ban, { body: {} }));
	expect(requests().at(-1)).toBe(`PUT ${ban}`);
	for (let count = 0; count < 20; count++)
		await rest.post(Routes.webhook("1", "token"), { auth: false, body: {} }).catch(() => {});
	expect(requests().slice(5)).toHaveLength(20);
	let isDone = false;
	void Promise.all(flood).then(() => {
		isDone = true;
	});
	await until("all are sent", async () => {
		await clock.pass(1_050);
		return isDone;
	});
	expect(await Promise.all(flood)).not.toContainEqual(expect.any(Error));
});

test("a request that waits past its deadline was not sent", async () => {
	await using platform = await startPlatform();
	const { clock, expiry } = platform;
	let answered = 0;
	const flood = platform.flood(6);
	for (const one of flood)
		void one.then(() => {
			answered += 1;
		});
	await until("four are answered", () => answered === 4);
	await until("two wait", () => clock.queue.waiting === 2);
	expiry.abort(new DOMException("The time is up", "TimeoutError"));
	const outcomes = await Promise.all(flood);
	const failed = outcomes.filter((one) => one instanceof PlatformTimeout);
	expect(failed.map(({ outcome }) => outcome)).toEqual(["not sent", "not sent"]);
	expect(clock.queue.waiting).toBe(0);
});

test("a tool call for which the queue has no room is not sent, and says how long the wait is; a person's is next", async () => {
	await using platform = await startPlatform();
	const { clock, rest } = platform;
	times(2_009, () => clock.send("call"));
	await settled();
	const read = () => platform.inRun(() => rest.get(Routes.user()));
	const error = await read().catch((error) => error);
	expect(error).toMatchObject({ why: "rate limit", retryAfterMs: 200_000 });
	const asked = actAs(new ActingPerson("1", true), read);
	await until("it waits", () => clock.queue.waiting === 2_001);
	await clock.pass(1_050);
	expect(clock.sent).toHaveLength(17);
	await asked;
});

test("a tool fails at once with the wait if a rate limit outlasts its deadline, and does nothing", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const channel_id = simulator.channel("The Cooks/general").id;
	const route = "POST /channels/:channel_id/messages";
	const limit = simulator.faults.rateLimit(route, { retryAfterMs: 61_000 });
	const text = await world.expectError("send_message", { channel_id, content: "too much" });
	expect(text).toMatch(
		/^Discord API error: Discord's rate limit allows this request again in 6[12] s\. Nothing was done\. Call again after this time, not before\.$/,
	);
	expect(limit.hits).toBe(1);
	expect(simulator.journal.entries()).toEqual([]);
});

const second = 1_000;
const minute = 60 * second;

function startGuard(limit = 1_000) {
	const clock = { now: 0 };
	const now = () => clock.now;
	const started: Pause[] = [];
	const guard = new RequestPacing({ onPause: (pause) => void started.push(pause), now, maxInvalid: limit });
	const begin = () => guard.begin(undefined, never);
	/** Sends a request as soon as there is no pause, and answers it with a foreign response. */
	const answerForeign = async (status: number, retryAfterMs?: number) => {
		clock.now += guard.pause?.waitMs ?? 0;
		clock.now += 1;
		(await begin()).failed(new ForeignResponse(status, "", retryAfterMs));
		return guard.pause?.waitMs;
	};
	return { guard, clock, started, begin, answerForeign };
}

test.each([
	[403, 5 * second, 10 * minute],
	[429, 5 * second, 10 * minute],
	[502, second, minute],
])(
	"the pauses after foreign responses with %d double from %d ms up to %d ms, until Discord responds",
	async (status, first, longest) => {
		const { guard, clock, begin, answerForeign } = startGuard();
		const pauses = [];
		for (let index = 0; index < 9; index += 1) pauses.push(await answerForeign(status));
		expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256].map((factor) => Math.min(first * factor, longest)));
		clock.now += guard.pause?.waitMs ?? 0;
		(await begin()).responded(200, null);
		expect(await answerForeign(status)).toBe(first);
	},
);

test("Retry-After is respected, up to an hour", async () => {
	const { answerForeign } = startGuard();
	expect(await answerForeign(429, 90 * second)).toBe(90 * second);
	expect(await answerForeign(429, 1e12)).toBe(60 * minute);
});

test("responses to requests sent before the pause neither extend nor end it", async () => {
	const { guard, clock, started, begin, answerForeign } = startGuard();
	const early = await Promise.all(Array.from({ length: 50 }, begin));
	expect(await answerForeign(403)).toBe(5 * second);
	clock.now += 2 * second;
	for (const request of early) request.failed(new ForeignResponse(403, "", undefined));
	expect(guard.pause).toEqual({ why: "foreign response", waitMs: 3 * second, status: 403 });
	early[0]?.responded(200, null);
	expect(await answerForeign(403)).toBe(10 * second);
	expect(started.map(({ waitMs }) => waitMs)).toEqual([5 * second, 10 * second]);
});

test("too many invalid requests and a foreign response each pause requests; the longer pause applies", async () => {
	const { guard, started, begin, answerForeign } = startGuard(2);
	(await begin()).responded(403, null);
	expect(guard.pause).toBeUndefined();
	const late = await begin();
	await answerForeign(502);
	expect(guard.pause?.why).toBe("foreign response");
	late.responded(401, null);
	const pause = { why: "invalid requests", waitMs: 10 * minute - 1 } as const;
	expect(guard.pause).toEqual(pause);
	expect(guard.invalidCount).toBe(2);
	expect(started.map(({ why }) => why)).toEqual(["foreign response"]);
});

test("401, 403 and 429 count for 10 minutes, except a 429 of a shared limit", async () => {
	const { guard, clock, begin } = startGuard(3);
	const respond = async (status: number, scope: string | null = null) => (await begin()).responded(status, scope);
	for (const status of [200, 400, 404, 500]) await respond(status);
	await respond(429, "shared");
	expect(guard.invalidCount).toBe(0);
	await respond(401);
	clock.now += minute;
	await respond(403);
	expect([guard.invalidCount, guard.pause]).toEqual([2, undefined]);
	await respond(429, "user");
	expect([guard.invalidCount, guard.pause?.waitMs]).toEqual([3, 9 * minute]);
	clock.now += 9 * minute;
	expect([guard.invalidCount, guard.pause]).toEqual([2, undefined]);
	await respond(429, "global");
	expect([guard.invalidCount, guard.pause?.waitMs]).toEqual([3, minute]);
});
