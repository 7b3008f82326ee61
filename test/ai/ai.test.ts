// The AI of features, against simulated providers that work and that fail in every way.

import { describe, expect, test } from "bun:test";
import { type Ai, type AiMessage, type AnswerEnd, createAi } from "../../src/ai/ai.ts";
import { AiError, type AiErrorKind } from "../../src/ai/error.ts";
import type { ProviderSettings } from "../../src/ai/providers.ts";
import { createRegistry } from "../../src/lib/metrics.ts";
import { type AiMisbehaviour, type AiSimulation, startAiProvider } from "../../src/simulator/ai/ai-provider.ts";
import { recordLog } from "../support/log.ts";
import { testWith } from "../support/test-with.ts";
import { present, until } from "../support/until.ts";

const hello: AiMessage[] = [
	{ role: "system", content: "You are a cook." },
	{ role: "user", content: "ada: what is a roux? (private words)" },
];

const expectedAnswer = "I am a simulated AI. The last I heard was: ada: what is a roux? (private words)";

interface WorldOptions {
	/** Of each provider. */
	settings?: ProviderSettings;
	/** Number of providers: "first", "second", … */
	count?: number;
}

/** Simulated providers, and the AI that uses them. The test moves the clock. */
async function startWorld({ settings, count = 1 }: WorldOptions = {}) {
	await using stack = new AsyncDisposableStack();
	const names = ["first", "second", "third"].slice(0, count);
	const simulations: AiSimulation[] = [];
	for (const _ of names) simulations.push(stack.use(await startAiProvider()));
	const recorded = recordLog("debug");
	const registry = createRegistry();
	const clock = { ms: 0 };
	const at = (index: number) => {
		return present(simulations[index], `there is no provider ${index}`);
	};
	const providers: Record<string, ProviderSettings> = {};
	const apiKeys: Record<string, string> = {};
	for (const [index, name] of names.entries()) {
		const { url, key } = at(index);
		const api_key_env = `${name.toUpperCase()}_API_KEY`;
		providers[name] = { url, model: "simulated", api_key_env, ...settings };
		apiKeys[api_key_env] = key;
	}
	const ai = createAi({
		settings: { order: names, providers },
		apiKeys,
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
		/** Waits until the request to the first provider was aborted. */
		hungUp: () => until("it is aborted", () => at(0).requests[0]?.outcome === "hung up"),
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

const botTest = testWith(startWorld);

/** The answer, and the error that ended it. */
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

botTest("an internal error is thrown as it is, and not blamed on the provider", async (world) => {
	const bug = new RangeError("a bug");
	const onEnd = () => {
		throw bug;
	};
	expect(await ask(world.ai, { onEnd }).catch((error) => error)).toBe(bug);
	expect(world.recorded.messages()).not.toContain("request to an AI provider failed");
});

describe("an answer", () => {
	botTest("comes in pieces, and the request holds the messages with their authors", async (world) => {
		const { pieces, text } = await ask(world.ai);
		expect(text).toBe(expectedAnswer);
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

	botTest("its first piece is available before the rest", async (world) => {
		world.at(0).misbehave("slow-pieces", { times: 1 });
		const pieces = world.ai.answer(hello)[Symbol.asyncIterator]();
		expect(await pieces.next()).toEqual({ done: false, value: "I" });
		const next = pieces.next();
		world.at(0).behave();
		expect(await next).toEqual({ done: false, value: " am" });
		await pieces.return?.();
	});

	botTest("complete returns it whole, without white space around it", async (world) => {
		expect(await world.ai.complete(hello)).toBe(expectedAnswer);
		world.at(0).answer = () => "\n\n  soup \n";
		expect(await world.ai.complete(hello)).toBe("soup");
		world.at(0).misbehave("refusal");
		expect(await world.ai.complete(hello)).toBe("I cannot help with that.");
	});

	botTest("onEnd says whether it is complete or truncated", async (world) => {
		const ends: string[] = [];
		const onEnd = ({ finish }: AnswerEnd) => ends.push(finish);
		await ask(world.ai, { onEnd });
		const { text } = await ask(world.ai, { onEnd, maxTokens: 2 });
		expect(text).toBe("I am");
		expect(ends).toEqual(["stop", "length"]);
	});

	test("the provider's max_tokens limits maxTokens", async () => {
		await using world = await startWorld({ settings: { max_tokens: 3 } });
		expect((await ask(world.ai, { maxTokens: 500 })).text).toBe("I am a");
	});

	test("the other settings of the provider are part of the request", async () => {
		await using world = await startWorld({
			settings: { max_tokens_field: "max_completion_tokens", temperature: 0.5, extra: { reasoning_effort: "low" } },
		});
		await ask(world.ai);
		const [request] = world.at(0).requests;
		expect(request?.body).toEqual({
			model: "simulated",
			messages: request?.messages,
			stream: true,
			stream_options: { include_usage: true },
			max_completion_tokens: 1_024,
			temperature: 0.5,
			reasoning_effort: "low",
		});
	});

	botTest("an endless one is truncated at 32,000 characters", async (world) => {
		world.at(0).misbehave("endless");
		const ends: string[] = [];
		const onEnd = ({ finish }: AnswerEnd) => ends.push(finish);
		expect((await ask(world.ai, { onEnd })).text).toHaveLength(32_000);
		expect(ends).toEqual(["length"]);
		await world.hungUp();
	});
});

const tools = [{ name: "look", description: "Look at it.", parameters: { type: "object" } }];
const calls = [{ name: "look", arguments: { at: "soup" } }];

describe("with tools", () => {
	botTest("a call and its result go back, and the answer follows", async (world) => {
		world.at(0).script = [{ calls }, { text: "It is hot." }];
		const ends: AnswerEnd[] = [];
		const options = { tools, onEnd: (end: AnswerEnd) => ends.push(end) };
		expect(await ask(world.ai, options)).toEqual({ pieces: [], text: "" });
		const toolCalls = ends[0]?.toolCalls ?? [];
		expect(toolCalls).toMatchObject([{ name: "look", arguments: '{"at":"soup"}' }]);
		const result: AiMessage = { role: "tool", callId: toolCalls[0]?.id ?? "", content: "40 °C" };
		const messages: AiMessage[] = [...hello, { role: "assistant", content: "", toolCalls }, result];
		expect(await world.ai.complete(messages, options)).toBe("It is hot.");
		const end = { provider: "first", usage: { input: expect.any(Number), output: expect.any(Number) } };
		expect(ends).toMatchObject([
			{ ...end, finish: "tools" },
			{ ...end, finish: "stop", toolCalls: [] },
		]);
		expect(world.at(0).requests[1]?.body).toMatchObject({ tools: [{ type: "function", function: tools[0] }] });
	});

	test("when the first breaks off within the arguments, the second is asked", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).script = [{ calls }];
		world.at(0).misbehave("cut-arguments");
		expect((await ask(world.ai, { tools })).text).toBe(expectedAnswer);
	});

	test.each([
		["of 1,000 calls the first are used", { tools }, { calls: Array(1_000).fill(calls[0]) }, "tools", 16],
		["the calls of a truncated answer are not used", { tools, maxTokens: 1 }, { text: "I look.", calls }, "length", 0],
		["calls of tools that were not offered are ignored", {}, { calls }, "nonsense", 0],
	])("%s", async (_, options, step, expected, count) => {
		await using world = await startWorld();
		world.at(0).script = [step];
		let end: AnswerEnd | undefined;
		const { error } = await ask(world.ai, { ...options, onEnd: (given) => (end = given) });
		expect<unknown>([error?.kind ?? end?.finish, end?.toolCalls.length ?? 0]).toEqual([expected, count]);
	});
});

type Failure = [kind: AiMisbehaviour, error: AiErrorKind, logged: RegExp, settings?: ProviderSettings];

const early: Failure[] = [
	["401", "key", /HTTP 401, invalid_api_key/],
	["403", "key", /HTTP 403, forbidden/],
	["no-money", "key", /HTTP 402/],
	["429", "limited", /HTTP 429/],
	["content-filter", "refused", /400, content_filter/],
	["400", "rejected", /HTTP 400, invalid_value/],
	["404", "rejected", /model_not_found/],
	["500", "unavailable", /HTTP 500/],
	["dropped", "unavailable", /connection/],
	["redirect", "nonsense", /HTTP 307/],
	["html", "nonsense", /event stream/],
	["no-stream", "nonsense", /event stream/],
	["huge", "nonsense", /256 KiB/],
	["wrong-types", "nonsense", /response stream has an unexpected event/],
	["empty", "nonsense", /empty/],
	["blank", "nonsense", /empty/],
	["slow", "timeout", /no data for 0\.05 seconds/, { silence_seconds: 0.05 }],
	["slow", "timeout", /no complete answer within 0\.05 seconds/, { timeout_seconds: 0.05 }],
];

const midway: Failure[] = [
	["slow-pieces", "timeout", /no data/, { silence_seconds: 1.5 }],
	["cut", "cut", /the connection was lost|closed/],
	["unfinished", "cut", /ended early/],
	["wrong-json", "nonsense", /response stream has an unexpected event/],
	["filtered", "refused", /filter/],
	["error-event", "unavailable", /HTTP 503/],
];

/** Kinds of failures that need no settings. */
const kindsOf = (failures: Failure[]) => failures.filter(({ length }) => length === 3).map(([kind]) => kind);

describe("a provider that fails", () => {
	for (const [isMidway, failures] of [
		[false, early],
		[true, midway],
	] as const)
		test.each(failures)(
			`%s is "%s"${isMidway ? ", midway" : ""} (%p)`,
			async (kind, expected, logged, settings = {}) => {
				await using world = await startWorld({ settings });
				world.at(0).misbehave(kind);
				const { error, text } = await ask(world.ai);
				expect(error?.kind).toBe(expected);
				expect(error?.midway).toBe(isMidway);
				expect(text).toBe(isMidway ? "I" : "");
				const [entry] = world.recorded.entries("request to an AI provider failed");
				expect(entry?.reason).toMatch(logged);
				expect(world.registry.text()).toContain(
					`guildhall_bot_ai_requests_total{provider="first",outcome="${expected}"} 1`,
				);
			},
		);

	botTest("an error or log line shows neither the key nor the messages that the provider quotes", async (world) => {
		for (const kind of kindsOf([...early, ...midway])) {
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

	botTest("a provider that does not listen is unavailable", async (world) => {
		await world.at(0).close();
		const { error } = await ask(world.ai);
		expect(error?.kind).toBe("unavailable");
	});

	botTest("complete rejects when the answer breaks off, but not after its finish", async (world) => {
		world.at(0).misbehave("cut-usage");
		expect(await world.ai.complete(hello)).toBe("I");
		world.at(0).misbehave("cut");
		expect(world.ai.complete(hello)).rejects.toMatchObject({ midway: true });
	});
});

describe("several providers", () => {
	test.each(kindsOf(early))("after %s the second is asked", async (kind) => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave(kind);
		const { text, error } = await ask(world.ai);
		expect(error).toBeUndefined();
		expect(text).toBe(expectedAnswer);
		expect(world.at(1).requests).toHaveLength(1);
	});

	test("after the idle timeout of the first the second is asked", async () => {
		await using world = await startWorld({ count: 2, settings: { silence_seconds: 1.5 } });
		world.at(0).misbehave("slow");
		expect((await ask(world.ai)).text).toBe(expectedAnswer);
	});

	test("when the first breaks off midway, no other is asked", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave("cut");
		expect((await ask(world.ai)).error?.midway).toBe(true);
		expect(world.at(1).requests).toEqual([]);
	});

	test("when all fail, the error is that of the first", async () => {
		await using world = await startWorld({ count: 3 });
		world.at(0).misbehave("content-filter");
		world.at(1).misbehave("500");
		world.at(2).misbehave("401");
		expect((await ask(world.ai)).error?.kind).toBe("refused");
		expect(world.at(2).requests).toHaveLength(1);
	});
});

describe("after a failure", () => {
	/** The cooldown after one failure, in seconds. */
	async function cooldownAfter(kind: AiMisbehaviour): Promise<number> {
		await using world = await startWorld();
		world.at(0).misbehave(kind, { times: 1 });
		await ask(world.ai);
		for (let seconds = 0; seconds <= 3_600; seconds += 1) {
			world.clock.ms = seconds * 1_000;
			if ((await ask(world.ai)).error) continue;
			expect(world.at(0).requests).toHaveLength(2);
			return seconds;
		}
		throw new Error("the cooldown is longer than an hour");
	}

	test.each([
		["500", 2],
		["cut", 2],
		["429", 7],
		["401", 300],
		["content-filter", 0],
		["400", 0],
	] as const)("%s starts a cooldown of %d s", async (kind, seconds) => {
		expect(await cooldownAfter(kind)).toBe(seconds);
	});

	botTest(
		"the cooldown doubles with each failure in a row, up to two minutes, and an answer resets it",
		async (world) => {
			const cooldowns = () =>
				world.recorded
					.entries("request to an AI provider failed")
					.map(({ cooldown_seconds }) => Number(cooldown_seconds));
			world.at(0).misbehave("500");
			for (let count = 0; count < 9; count += 1) {
				await ask(world.ai);
				world.clock.ms += (cooldowns().at(-1) ?? 0) * 1_000;
			}
			expect(cooldowns()).toEqual([2, 4, 8, 16, 32, 64, 120, 120, 120]);
			world.at(0).behave();
			await ask(world.ai);
			world.at(0).misbehave("500");
			await ask(world.ai);
			expect(cooldowns().at(-1)).toBe(2);
		},
	);

	botTest("concurrent failures count as one", async (world) => {
		world.at(0).misbehave("slow", { times: 4 });
		const asked = [1, 2, 3, 4].map(() => ask(world.ai));
		await until("all four wait", () => world.at(0).requests.length === 4);
		await world.at(0).close();
		for (const { error } of await Promise.all(asked)) expect(error).toBeDefined();
		const entries = world.recorded.entries("request to an AI provider failed");
		expect(entries.map(({ cooldown_seconds }) => cooldown_seconds)).toEqual([2, 2, 2, 2]);
	});

	test("while all cool down, none is asked, and the error says when to try again", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave("401", { times: 1 });
		world.at(1).misbehave("429", { times: 1 });
		await ask(world.ai);
		world.clock.ms += 3_000;
		const { error } = await ask(world.ai);
		expect(error?.details.retryAfterMs).toBe(4_000);
		expect(world.at(0).requests).toHaveLength(1);
		expect(world.at(1).requests).toHaveLength(1);
		world.clock.ms += 4_000;
		expect((await ask(world.ai)).text).toBe(expectedAnswer);
	});
});

describe("cancelling", () => {
	test("before the first piece rejects with the signal's reason, and no other provider is asked", async () => {
		await using world = await startWorld({ count: 2 });
		world.at(0).misbehave("slow");
		const controller = new AbortController();
		const reason = new Error("cancelled");
		const asked = ask(world.ai, { signal: controller.signal });
		await until("it is asked", () => world.at(0).requests.length === 1);
		controller.abort(reason);
		expect(asked).rejects.toBe(reason);
		await world.hungUp();
		expect(world.at(1).requests).toEqual([]);
		expect(world.recorded.lines).toEqual([]);
		expect(world.registry.text()).toContain('outcome="abandoned"} 1');
	});

	botTest("before the request sends none", async (world) => {
		const signal = AbortSignal.abort(new Error("too late"));
		expect(ask(world.ai, { signal })).rejects.toThrow("too late");
		expect(world.at(0).requests).toEqual([]);
	});

	botTest("by ending the iteration aborts the request, without a cooldown", async (world) => {
		world.at(0).misbehave("endless", { times: 1 });
		for await (const _ of world.ai.answer(hello)) break;
		await world.hungUp();
		expect((await ask(world.ai)).text).toBe(expectedAnswer);
	});
});

botTest("the 33rd concurrent answer is refused until one has ended", async (world) => {
	world.at(0).misbehave("slow");
	const asked = Array.from({ length: 32 }, () => ask(world.ai));
	await until("all wait", () => world.at(0).requests.length === 32);
	expect((await ask(world.ai)).error?.kind).toBe("busy");
	world.at(0).behave();
	for (const { text } of await Promise.all(asked)) expect(text).toBe(expectedAnswer);
	expect((await ask(world.ai)).text).toBe(expectedAnswer);
});

test("without a provider there is no AI", () => {
	const { log } = recordLog();
	const apiKeys = { OPENAI_API_KEY: "k" };
	expect(createAi({ settings: {}, apiKeys: {}, log })).toBeUndefined();
	expect(createAi({ settings: { order: [] }, apiKeys, log })).toBeUndefined();
});
