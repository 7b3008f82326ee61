// The AI provider: completions in OpenAI's format, and misbehaviour on demand.

import { describe, expect } from "bun:test";
import { type AiSimulation, startAiProvider } from "../../../src/simulator/ai/ai-provider.ts";
import { testWith } from "../../support/test-with.ts";

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
	aiTest.each(["max_tokens", "max_completion_tokens"])("is cut at %s, with finish_reason length", async (ai, field) => {
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

const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };

aiTest("invalid requests get 400, other paths 404", async (ai) => {
	for (const body of [
		{ messages: [] },
		{ messages: [{ role: "king", content: "x" }] },
		{ messages: [{ role: "assistant", content: null }] },
		{ messages: [{ role: "assistant", content: null, tool_calls: [call] }, ...messages] },
		{ messages: [{ role: "tool", content: "x", tool_call_id: "1" }] },
		{ tools: [{ ...call, function: { name: "no spaces" } }] },
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

	aiTest("a script of tool calls can be set, and is streamed with the usage", async (ai) => {
		const steps = [{ calls: [{ name: "look", arguments: { at: "soup" } }] }];
		await control(ai, "PUT", "script", { steps, repeat: true });
		const asked = [...messages, { role: "assistant", content: null, tool_calls: [call] }];
		const body = { messages: [...asked, { role: "tool", content: "40", tool_call_id: "1" }] };
		const json = await (await post(ai, body)).json();
		expect(json).toMatchObject({ choices: [{ message: { content: null, tool_calls: [{ type: "function" }] } }] });
		const stream = await events(await post(ai, { ...body, stream: true, stream_options: { include_usage: true } }));
		expect(stream.slice(-3)).toMatchObject([{ choices: [{ finish_reason: "tool_calls" }] }, { usage: {} }, "[DONE]"]);
	});

	aiTest("an unknown kind is refused", async (ai) => {
		const response = await control(ai, "POST", "misbehave", { kind: "no" });
		expect(response.status).toBe(400);
	});
});
