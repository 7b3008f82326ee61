// The AI provider: completions in OpenAI's format, and misbehaviour on demand.

import { describe, expect, test } from "bun:test";
import { type AiSimulation, startAiProvider } from "../../../src/simulator/ai/ai-provider.ts";
import { type AiMisbehaviour, aiMisbehaviours } from "../../../src/simulator/ai/chat-completions.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";

const aiTest = testWith(() => startAiProvider());

const messages = [
	{ role: "system", content: "You are a cook." },
	{ role: "user", content: "bob: soup?" },
	{ role: "assistant", content: "Soup." },
	{ role: "user", content: "ada: and bread?" },
];

const heard = "I am a simulated AI. The last I heard was: ada: and bread?";

function post(
	ai: AiSimulation,
	body: object = {},
	{ key = ai.key, signal }: { key?: string; signal?: AbortSignal } = {},
) {
	return fetch(`${ai.url}/chat/completions`, {
		method: "POST",
		redirect: "manual",
		headers: { authorization: `Bearer ${key}` },
		body: JSON.stringify({ model: "any", messages, ...body }),
		...(signal && { signal }),
	});
}

interface Chunk {
	choices: [{ delta: { content?: string }; finish_reason: string | null }];
}

/** The data of a stream's events, parsed if it is JSON. */
async function events(response: Response): Promise<(Chunk | string)[]> {
	const text = await response.text();
	return text
		.split("\n\n")
		.filter((frame) => frame !== "" && !frame.startsWith(":"))
		.map((frame) => {
			expect(frame).toStartWith("data: ");
			const data = frame.slice("data: ".length);
			return data === "[DONE]" ? data : (JSON.parse(data) as Chunk);
		});
}

const textOf = (chunks: (Chunk | string)[]) =>
	chunks.map((chunk) => (typeof chunk === "string" ? "" : (chunk.choices[0].delta.content ?? ""))).join("");

describe("a completion", () => {
	aiTest("without a stream is one JSON object that quotes the last message", async (ai) => {
		const response = await post(ai);
		const message = { role: "assistant", content: heard };
		expect(await response.json()).toMatchObject({
			object: "chat.completion",
			model: "any",
			choices: [{ message, finish_reason: "stop" }],
		});
	});

	aiTest("is streamed word by word, and ends with finish_reason and [DONE]", async (ai) => {
		const response = await post(ai, { stream: true });
		expect(response.headers.get("content-type")).toBe("text/event-stream");
		const chunks = await events(response);
		expect(textOf(chunks)).toBe(heard);
		expect(chunks.length).toBe(heard.split(" ").length + 3);
		expect(chunks.at(-1)).toBe("[DONE]");
		expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: "stop" }] });
	});

	test.each(["max_tokens", "max_completion_tokens"])("is cut at %s, with finish_reason length", async (field) => {
		await using ai = await startAiProvider();
		const chunks = await events(await post(ai, { stream: true, [field]: 3 }));
		expect(textOf(chunks)).toBe("I am a");
		expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: "length" }] });
	});

	aiTest("has the text that `answer` returns", async (ai) => {
		ai.answer = (given) => `${given.length} messages`;
		expect(textOf(await events(await post(ai, { stream: true })))).toBe("4 messages");
	});

	aiTest("accepts message content in parts", async (ai) => {
		const content = [{ type: "text", text: "ada: parts" }];
		await post(ai, { messages: [{ role: "user", content }] });
		const [request] = ai.requests;
		expect(request?.messages).toEqual([{ role: "user", content: "ada: parts" }]);
	});
});

aiTest("requests without the key get 401", async (ai) => {
	const response = await post(ai, {}, { key: "other" });
	expect(response.status).toBe(401);
	expect(await response.json()).toMatchObject({ error: { code: "invalid_api_key" } });
	const models = await fetch(`${ai.url}/models`);
	expect(models.status).toBe(401);
	expect(ai.requests).toMatchObject([{ authorization: "wrong", outcome: 401 }]);
});

aiTest("invalid requests get 400, other paths 404", async (ai) => {
	for (const body of [
		{ messages: [] },
		{ messages: [{ role: "king", content: "x" }] },
		{ model: "" },
		{ max_tokens: 0 },
	])
		expect((await post(ai, body)).status).toBe(400);
	expect((await fetch(`${ai.url}/embeddings`)).status).toBe(404);
});

aiTest("the latest 1,000 requests are kept", async (ai) => {
	for (let count = 0; count < 1_010; count += 1) await post(ai, { model: `m${count}` });
	expect(ai.requests).toHaveLength(1_000);
	expect(ai.requests[0]?.model).toBe("m10");
});

/** Reads a stream. `whole`: it ended without an error. */
async function look(ai: AiSimulation) {
	const response = await post(ai, { stream: true });
	let text = "";
	let whole = true;
	try {
		for await (const chunk of response.body ?? []) {
			text += Buffer.from(chunk).toString();
			if (text.length > 100_000) break;
		}
	} catch {
		whole = false; // The connection ended.
	}
	return { response, text, whole };
}

describe("misbehaviour", () => {
	const statuses: Partial<Record<AiMisbehaviour, number>> = {
		"400": 400,
		"401": 401,
		"403": 403,
		"404": 404,
		"429": 429,
		"500": 500,
		"content-filter": 400,
		"no-money": 402,
		redirect: 307,
	};
	for (const [kind, status] of Object.entries(statuses))
		aiTest(`${kind} responds once with ${status}`, async (ai) => {
			ai.misbehave(kind as AiMisbehaviour, { times: 1 });
			expect((await post(ai, { stream: true })).status).toBe(status);
			expect((await post(ai, { stream: true })).status).toBe(200);
		});

	const streams: [AiMisbehaviour, { whole: boolean; text: RegExp }][] = [
		["cut", { whole: false, text: /"content":"I"/ }],
		["unfinished", { whole: true, text: /"content":"I".*\n\n$/ }],
		["html", { whole: true, text: /^<!doctype html>/ }],
		["no-stream", { whole: true, text: /^\{.*"content":"I am/ }],
		["huge", { whole: true, text: /x{100}/ }],
		["endless", { whole: true, text: /(and so on ){10}/ }],
		["wrong-json", { whole: true, text: /"delta":\n\n$/ }],
		["wrong-types", { whole: true, text: /"content":7/ }],
		["empty", { whole: true, text: /^(?!.*"content":"[^"]).*\[DONE\]/s }],
		["blank", { whole: true, text: /"content":" ".*\[DONE\]/s }],
		["length", { whole: true, text: /"finish_reason":"length"/ }],
		["filtered", { whole: true, text: /"finish_reason":"content_filter"/ }],
		["error-event", { whole: true, text: /"error":\{"code":503/ }],
	];
	for (const [kind, expected] of streams)
		aiTest(`${kind} has status 200, and is ${expected.whole ? "sent to its end" : "cut off"}`, async (ai) => {
			ai.misbehave(kind);
			const { response, text, whole } = await look(ai);
			expect(response.status).toBe(200);
			expect(whole).toBe(expected.whole);
			expect(text).toMatch(expected.text);
		});

	aiTest("dropped closes the connection without a response", async (ai) => {
		ai.misbehave("dropped");
		const text = await look(ai).then(
			({ text, whole }) => text + (whole ? "whole" : ""),
			() => "",
		);
		expect(text).toBe("");
	});

	aiTest("slow holds the response until behave(), slow-pieces all but the first delta", async (ai) => {
		ai.misbehave("slow");
		const slow = post(ai, { stream: true });
		await until("it waits", () => ai.requests[0]?.outcome === "waiting");
		expect(await Promise.race([slow, Bun.sleep(50)])).toBeUndefined();
		ai.behave();
		expect(textOf(await events(await slow))).toBe(heard);

		ai.misbehave("slow-pieces");
		const { body } = await post(ai, { stream: true });
		let text = "";
		for await (const chunk of body ?? []) {
			text += Buffer.from(chunk).toString();
			if (!text.includes('"content":"I"')) continue;
			if (!text.includes("[DONE]")) ai.behave();
		}
		expect(text).toContain("[DONE]");
	});

	test("every kind is tested here", () => {
		const tried = [...Object.keys(statuses), ...streams.map(([kind]) => kind)];
		tried.push("dropped", "slow", "slow-pieces");
		expect(tried.sort()).toEqual([...aiMisbehaviours].sort());
	});

	aiTest("a disconnected client is recorded", async (ai) => {
		ai.misbehave("endless");
		const controller = new AbortController();
		const { signal } = controller;
		const response = await post(ai, { stream: true }, { signal });
		const reader = response.body?.getReader();
		await reader?.read();
		controller.abort();
		await until("it is recorded", () => ai.requests[0]?.outcome === "hung up");
	});
});

describe("from another process", () => {
	const control = (ai: AiSimulation, method: string, path: string, body = {}) =>
		fetch(`${ai.origin}/simulator/${path}`, { method, ...(method !== "GET" && { body: JSON.stringify(body) }) });

	aiTest("misbehaviour and the answer can be set, and the state lists the requests", async (ai) => {
		await control(ai, "POST", "misbehave", { kind: "500", times: 2 });
		expect((await post(ai)).status).toBe(500);
		await control(ai, "POST", "behave");
		await control(ai, "PUT", "answer", { text: "Bread." });
		expect(textOf(await events(await post(ai, { stream: true })))).toBe("Bread.");
		await control(ai, "PUT", "answer", { text: null });
		expect(textOf(await events(await post(ai, { stream: true })))).toBe(heard);
		const state = await (await control(ai, "GET", "state")).json();
		expect(state).toMatchObject({ requests: [{ outcome: 500, messages }, { outcome: "whole" }, { outcome: "whole" }] });
		expect(JSON.stringify(state)).not.toContain(ai.key);
	});

	aiTest("an unknown kind is refused", async (ai) => {
		const response = await control(ai, "POST", "misbehave", { kind: "no" });
		expect(response.status).toBe(400);
	});
});
