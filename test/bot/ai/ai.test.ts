// The AI that features ask, against simulated providers that do as they should, and all that they should not.

import { describe, expect, test } from "bun:test";
import { type Ai, type AiMessage, createAi } from "../../../src/bot/ai/ai.ts";
import { AiError, type AiErrorKind } from "../../../src/bot/ai/error.ts";
import type { ProviderSettings } from "../../../src/bot/config/ai-providers.ts";
import { createRegistry } from "../../../src/lib/metrics.ts";
import {
	type AiSimulation,
	startAiProvider,
} from "../../../src/simulator/ai/ai-provider.ts";
import type { AiMisbehaviour } from "../../../src/simulator/ai/chat-completions.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";

const hello: AiMessage[] = [
	{ role: "system", content: "You are a cook." },
	{ role: "user", name: "ada", content: "what is a roux? (private words)" },
];

const heard =
	"I am a simulated AI. The last I heard was: ada: what is a roux? (private words)";

interface WorldOptions {
	/** Of each provider. */
	settings?: ProviderSettings;
	/** How many there are: "first", "second", … */
	count?: number;
}

/** Providers, and the AI that asks them. The clock stands still until it is moved. */
async function startWorld({ settings, count = 1 }: WorldOptions = {}) {
	await using stack = new AsyncDisposableStack();
	const names = ["first", "second", "third"].slice(0, count);
	const simulations: AiSimulation[] = [];
	for (const _ of names) simulations.push(stack.use(await startAiProvider()));
	const recorded = recordLog("debug");
	const registry = createRegistry();
	const clock = { ms: 0 };
	const at = (index: number) => {
		const simulation = simulations[index];
		if (!simulation) throw new Error(`there is no provider ${index}`);
		return simulation;
	};
	const ai = createAi({
		settings: {
			order: names,
			providers: Object.fromEntries(
				names.map((name, index) => [
					name,
					{
						url: at(index).url,
						model: "simulated",
						api_key_env: `${name.toUpperCase()}_API_KEY`,
						...settings,
					},
				]),
			),
		},
		apiKeys: Object.fromEntries(
			names.map((name, index) => [
				`${name.toUpperCase()}_API_KEY`,
				at(index).key,
			]),
		),
		log: recorded.log,
		registry,
		now: () => clock.ms,
	});
	if (!ai) throw new Error("there is no AI");
	const running = stack.move();
	return {
		ai,
		at,
		clock,
		registry,
		recorded,
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

/** What came of an answer, and why there is no more of it. */
async function ask(ai: Ai, options?: Parameters<Ai["answer"]>[1]) {
	const pieces: string[] = [];
	try {
		for await (const piece of ai.answer(hello, options)) pieces.push(piece);
		return { pieces, text: pieces.join("") };
	} catch (error) {
		if (!(error instanceof AiError)) throw error;
		return { pieces, text: pieces.join(""), error };
	}
}

test("a fault of ours is thrown as it is, and not said of the provider", async () => {
	await using world = await startWorld();
	const fault = new RangeError("a bug");
	const onEnd = () => {
		throw fault;
	};
	expect(await ask(world.ai, { onEnd }).catch((error) => error)).toBe(fault);
	expect(world.recorded.messages()).not.toContain("AI provider failed");
});

describe("an answer", () => {
	test("comes in pieces, to what was said and by whom", async () => {
		await using world = await startWorld();
		const { pieces, text } = await ask(world.ai);
		expect(text).toBe(heard);
		expect(pieces.length).toBeGreaterThan(5);
		expect(world.at(0).requests).toEqual([
			{
				model: "simulated",
				messages: [
					{ role: "system", content: "You are a cook." },
					{ role: "user", content: "ada: what is a roux? (private words)" },
				],
				stream: true,
				body: expect.objectContaining({ max_tokens: 1_024 }),
				authorization: "right",
				outcome: expect.anything(),
			},
		]);
	});

	test("a name is one line, whatever somebody calls themselves", async () => {
		await using world = await startWorld();
		await world.ai.complete([
			{ role: "user", name: "eve\nada", content: "hello" },
			{ role: "assistant", name: "bot", content: "hi" },
		]);
		expect(world.at(0).requests[0]?.messages).toEqual([
			{ role: "user", content: "eve\\nada: hello" },
			{ role: "assistant", content: "hi" },
		]);
	});

	test("its first piece is there before the rest of it has been thought of", async () => {
		await using world = await startWorld();
		world.at(0).misbehave("slow-pieces", { times: 1 });
		const pieces = world.ai.answer(hello)[Symbol.asyncIterator]();
		expect(await pieces.next()).toEqual({ done: false, value: "I" });
		const next = pieces.next();
		world.at(0).behave();
		expect(await next).toEqual({ done: false, value: " am" });
		await pieces.return?.();
	});

	test("complete gives it as a whole", async () => {
		await using world = await startWorld();
		expect(await world.ai.complete(hello)).toBe(heard);
	});

	test("white space around it is left out", async () => {
		await using world = await startWorld();
		world.at(0).answer = () => "\n\n  soup \n";
		expect(await world.ai.complete(hello)).toBe("soup");
	});

	test("whoever asked is told when it is not whole, and who gave it", async () => {
		await using world = await startWorld();
		const ends: unknown[] = [];
		const onEnd = (end: unknown) => ends.push(end);
		await ask(world.ai, { onEnd });
		const { text } = await ask(world.ai, { onEnd, maxTokens: 2 });
		expect(text).toBe("I am");
		expect(ends).toEqual([
			{ provider: "first", finish: "stop" },
			{ provider: "first", finish: "length" },
		]);
	});

	test("nobody can ask for more than the provider is to give", async () => {
		await using world = await startWorld({ settings: { max_tokens: 3 } });
		expect((await ask(world.ai, { maxTokens: 500 })).text).toBe("I am a");
	});

	test("what else the configuration says is part of the request", async () => {
		await using world = await startWorld({
			settings: {
				max_tokens_field: "max_completion_tokens",
				temperature: 0.5,
				extra: { reasoning_effort: "low" },
			},
		});
		await ask(world.ai);
		const [request] = world.at(0).requests;
		expect(request?.body).toEqual({
			model: "simulated",
			messages: request?.messages,
			stream: true,
			max_completion_tokens: 1_024,
			temperature: 0.5,
			reasoning_effort: "low",
		});
	});

	test("without end ends at 32,000 characters", async () => {
		await using world = await startWorld();
		world.at(0).misbehave("endless");
		const ends: unknown[] = [];
		const { text } = await ask(world.ai, { onEnd: (end) => ends.push(end) });
		expect(text).toHaveLength(32_000);
		expect(ends).toEqual([{ provider: "first", finish: "length" }]);
		await until(
			"the provider is told",
			() => world.at(0).requests[0]?.outcome === "hung up",
		);
	});
});

interface Failure {
	kind: AiMisbehaviour;
	error: AiErrorKind;
	midway?: true;
	settings?: ProviderSettings;
	says: RegExp;
	logs: RegExp;
}

const failures: Failure[] = [
	{
		kind: "401",
		error: "key",
		says: /my key\. Please tell the people who run this bot/,
		logs: /HTTP 401, invalid_api_key/,
	},
	{ kind: "403", error: "key", says: /my key/, logs: /HTTP 403, forbidden/ },
	{ kind: "no-money", error: "key", says: /my key/, logs: /HTTP 402/ },
	{
		kind: "429",
		error: "limited",
		says: /limiting my requests at the moment\. Please try again in 7 seconds\.$/,
		logs: /HTTP 429/,
	},
	{
		kind: "content-filter",
		error: "refused",
		says: /does not want to answer this/,
		logs: /HTTP 400, content_filter/,
	},
	{
		kind: "400",
		error: "rejected",
		says: /may be too long/,
		logs: /HTTP 400, invalid_value/,
	},
	{
		kind: "404",
		error: "rejected",
		says: /tell the people/,
		logs: /model_not_found/,
	},
	{ kind: "500", error: "unavailable", says: /reached/, logs: /HTTP 500/ },
	{ kind: "dropped", error: "unavailable", says: /./, logs: /connection/ },
	{
		kind: "redirect",
		error: "nonsense",
		says: /invalid response/,
		logs: /HTTP 307/,
	},
	{
		kind: "html",
		error: "nonsense",
		says: /invalid response/,
		logs: /event stream/,
	},
	{
		kind: "no-stream",
		error: "nonsense",
		says: /invalid response/,
		logs: /event stream/,
	},
	{
		kind: "huge",
		error: "nonsense",
		says: /invalid response/,
		logs: /256 KiB/,
	},
	{
		kind: "wrong-types",
		error: "nonsense",
		says: /invalid response/,
		logs: /unexpected stream event/,
	},
	{ kind: "empty", error: "nonsense", says: /invalid response/, logs: /empty/ },
	{ kind: "blank", error: "nonsense", says: /invalid response/, logs: /empty/ },
	{
		kind: "slow",
		error: "timeout",
		settings: { silence_seconds: 0.05 },
		says: /too long/,
		logs: /no data for 0\.05 seconds/,
	},
	{
		kind: "slow",
		error: "timeout",
		settings: { timeout_seconds: 0.05 },
		says: /too long/,
		logs: /no complete answer within 0\.05 seconds/,
	},
	{
		kind: "slow-pieces",
		error: "timeout",
		midway: true,
		settings: { silence_seconds: 1.5 },
		says: /^The answer broke off here\. .*too long/,
		logs: /no data/,
	},
	{
		kind: "cut",
		error: "cut",
		midway: true,
		says: /^The answer broke off here\. /,
		logs: /the connection was lost|closed/,
	},
	{
		kind: "unfinished",
		error: "cut",
		midway: true,
		says: /broke off here/,
		logs: /ended early/,
	},
	{
		kind: "wrong-json",
		error: "nonsense",
		midway: true,
		says: /broke off here/,
		logs: /unexpected stream event/,
	},
	{
		kind: "filtered",
		error: "refused",
		midway: true,
		says: /broke off here\. .*does not want/,
		logs: /filter/,
	},
	{
		kind: "error-event",
		error: "unavailable",
		midway: true,
		says: /broke off here/,
		logs: /HTTP 503/,
	},
];

describe("a provider that fails", () => {
	for (const { kind, error: expected, ...row } of failures)
		test(`${kind} is "${expected}"${row.midway ? ", midway" : ""} (${row.logs.source})`, async () => {
			await using world = await startWorld({ settings: row.settings ?? {} });
			world.at(0).misbehave(kind);
			const { error, text } = await ask(world.ai);
			expect(error?.kind).toBe(expected);
			expect(error?.midway).toBe(row.midway ?? false);
			expect(error?.message).toMatch(row.says);
			expect(text).toBe(row.midway ? "I" : "");
			const [entry] = world.recorded.entries("AI provider failed");
			expect(entry?.reason).toMatch(row.logs);
			expect(world.registry.text()).toContain(
				`guildhall_bot_ai_requests_total{provider="first",outcome="${expected}"} 1`,
			);
		});

	test("neither the key nor what was written is in an error or a log, though the provider quotes both", async () => {
		await using world = await startWorld();
		for (const { kind } of failures.filter(({ settings }) => !settings)) {
			world.clock.ms += 3_600_000;
			world.at(0).misbehave(kind, { times: 1 });
			const { error } = await ask(world.ai);
			const shown = `${Bun.inspect(error)}${JSON.stringify(error)}`;
			expect(shown).not.toContain(world.at(0).key);
			expect(shown).not.toContain("private words");
		}
		const lines = world.recorded.lines.join("\n");
		expect(lines).not.toContain(world.at(0).key);
		expect(lines).not.toContain("private words");
		expect(world.recorded.lines.length).toBeGreaterThan(10);
	});

	test("a provider that is not there cannot be reached", async () => {
		await using world = await startWorld();
		await world.at(0).close();
		const { error } = await ask(world.ai);
		expect(error?.kind).toBe("unavailable");
	});

	test("complete gives no part of an answer", async () => {
		await using world = await startWorld();
		world.at(0).misbehave("cut");
		expect(world.ai.complete(hello)).rejects.toMatchObject({ midway: true });
	});
});

describe("several providers", () => {
	const early = failures.filter(({ midway }) => !midway);
	test.each(early.filter(({ settings }) => !settings).map(({ kind }) => kind))(
		"where the first answers %s, the second is asked",
		async (kind) => {
			await using world = await startWorld({ count: 2 });
			world.at(0).misbehave(kind);
			const { text, error } = await ask(world.ai);
			expect(error).toBeUndefined();
			expect(text).toBe(heard);
			expect(world.at(1).requests).toHaveLength(1);
		},
	);

	test("where the first is silent, the second is asked in time", async () => {
		await using world = await startWorld({
			count: 2,
			settings: { silence_seconds: 1.5 },
		});
		world.at(0).misbehave("slow");
		expect((await ask(world.ai)).text).toBe(heard);
	});

	test("where the first dies in the middle, nobody else is asked to go on", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave("cut");
		expect((await ask(world.ai)).error?.midway).toBe(true);
		expect(world.at(1).requests).toEqual([]);
	});

	test("where none answers, the first one's failure is told", async () => {
		await using world = await startWorld({ count: 3 });
		world.at(0).misbehave("content-filter");
		world.at(1).misbehave("500");
		world.at(2).misbehave("401");
		expect((await ask(world.ai)).error?.kind).toBe("refused");
		expect(world.at(2).requests).toHaveLength(1);
	});
});

describe("after a failure", () => {
	/** Fails once, and tells how long the provider is then left alone, in seconds. */
	async function restAfter(kind: AiMisbehaviour): Promise<number> {
		await using world = await startWorld();
		world.at(0).misbehave(kind, { times: 1 });
		await ask(world.ai);
		for (let seconds = 0; seconds <= 3_600; seconds += 1) {
			world.clock.ms = seconds * 1_000;
			if ((await ask(world.ai)).error) continue;
			expect(world.at(0).requests).toHaveLength(2);
			return seconds;
		}
		throw new Error("it rests for more than an hour");
	}

	test.each([
		["500", 2],
		["cut", 2],
		["429", 7],
		["401", 300],
		["content-filter", 0],
		["400", 0],
	] as const)("of %s a provider rests for %d s", async (kind, seconds) => {
		expect(await restAfter(kind)).toBe(seconds);
	});

	test("it rests longer with each failure in a row, up to two minutes, and after an answer shortly again", async () => {
		await using world = await startWorld();
		const rest = () =>
			Number(
				world.recorded.entries("AI provider failed").at(-1)?.cooldown_seconds,
			);
		const rests: number[] = [];
		world.at(0).misbehave("500");
		for (let count = 0; count < 9; count += 1) {
			await ask(world.ai);
			rests.push(rest());
			world.clock.ms += rest() * 1_000;
		}
		expect(rests).toEqual([2, 4, 8, 16, 32, 64, 120, 120, 120]);
		world.at(0).behave();
		await ask(world.ai);
		world.at(0).misbehave("500");
		await ask(world.ai);
		expect(rest()).toBe(2);
	});

	test("requests that fail together count as one failure", async () => {
		await using world = await startWorld();
		world.at(0).misbehave("slow", { times: 4 });
		const asked = [1, 2, 3, 4].map(() => ask(world.ai));
		await until("all four wait", () => world.at(0).requests.length === 4);
		await world.at(0).close();
		for (const { error } of await Promise.all(asked))
			expect(error).toBeDefined();
		const entries = world.recorded.entries("AI provider failed");
		expect(entries.map(({ cooldown_seconds }) => cooldown_seconds)).toEqual([
			2, 2, 2, 2,
		]);
	});

	test("while all rest, nobody is asked, and the error says when to come back", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave("401", { times: 1 });
		world.at(1).misbehave("429", { times: 1 });
		await ask(world.ai);
		world.clock.ms += 3_000;
		const { error } = await ask(world.ai);
		expect(error?.message).toEndWith("Please try again in 4 seconds.");
		expect(world.at(0).requests).toHaveLength(1);
		expect(world.at(1).requests).toHaveLength(1);
		world.clock.ms += 4_000;
		expect((await ask(world.ai)).text).toBe(heard);
	});
});

describe("whoever gives up", () => {
	test("before the first piece is given their own reason, and no other provider is asked", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave("slow");
		const controller = new AbortController();
		const reason = new Error("nobody waits");
		const asked = ask(world.ai, { signal: controller.signal });
		await until("it is asked", () => world.at(0).requests.length === 1);
		controller.abort(reason);
		expect(asked).rejects.toBe(reason);
		await until(
			"the provider is told",
			() => world.at(0).requests[0]?.outcome === "hung up",
		);
		expect(world.at(1).requests).toEqual([]);
		expect(world.recorded.lines).toEqual([]);
		expect(world.registry.text()).toContain('outcome="abandoned"} 1');
	});

	test("before asking asks nobody", async () => {
		await using world = await startWorld();
		const signal = AbortSignal.abort(new Error("too late"));
		expect(ask(world.ai, { signal })).rejects.toThrow("too late");
		expect(world.at(0).requests).toEqual([]);
	});

	test("in the middle by no longer reading ends the request, and the provider is at no fault", async () => {
		await using world = await startWorld();
		world.at(0).misbehave("endless", { times: 1 });
		for await (const _ of world.ai.answer(hello)) break;
		await until(
			"the provider is told",
			() => world.at(0).requests[0]?.outcome === "hung up",
		);
		expect((await ask(world.ai)).text).toBe(heard);
	});
});

test("more than 32 answers at once are refused, and room is made again", async () => {
	await using world = await startWorld();
	world.at(0).misbehave("slow");
	const asked = Array.from({ length: 32 }, () => ask(world.ai));
	await until("all wait", () => world.at(0).requests.length === 32);
	expect((await ask(world.ai)).error?.kind).toBe("busy");
	world.at(0).behave();
	for (const { text } of await Promise.all(asked)) expect(text).toBe(heard);
	expect((await ask(world.ai)).text).toBe(heard);
});

test("without a provider there is no AI", () => {
	const { log } = recordLog();
	expect(createAi({ settings: {}, apiKeys: {}, log })).toBeUndefined();
	expect(
		createAi({
			settings: { order: [] },
			apiKeys: { OPENAI_API_KEY: "k" },
			log,
		}),
	).toBeUndefined();
});
