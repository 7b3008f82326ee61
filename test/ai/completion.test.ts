// One request to one provider: streams as providers send them, and messages as they want them.

import { expect, test } from "bun:test";
import { type AnswerEnd, complete } from "../../src/ai/completion.ts";
import type { AiProvider } from "../../src/ai/providers.ts";
import { type ToolCall, toMessages } from "../../src/ai/tool-calls.ts";

const provider: AiProvider = {
	name: "first",
	url: "",
	model: "model",
	apiKey: undefined,
	keyVariable: undefined,
	extra: {},
	maxTokens: 100,
	maxTokensField: "max_tokens",
	temperature: undefined,
	timeoutMs: 60_000,
	idleTimeoutMs: 60_000,
};

const tools = [{ name: "look", description: "Look.", parameters: { type: "object" } }];

/** The last event of an answer with this body, or the error. */
async function endOf(body: string) {
	await using server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
	});
	const messages = [{ role: "user" as const, content: "Hello" }];
	const events = complete({ ...provider, url: server.url.origin }, { messages, tools });
	const all = await Array.fromAsync(events).catch((error: unknown) => [error]);
	return all.at(-1);
}

test("an answer larger than 8 MiB is an error that names the limit", async () => {
	const comment = `: ${"x".repeat(64 * 1024)}\n\n`;
	const details = { detail: "the AI provider's response is larger than 8 MiB" };
	expect(await endOf(comment.repeat(128))).toMatchObject({ kind: "nonsense", details });
});

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const finished = event({ choices: [{ delta: {}, finish_reason: "stop" }] });
const streamOf = (...deltas: object[]) => deltas.map((delta) => event({ choices: [{ delta }] })).join("") + finished;

/** "INDEX ID NAME ARGUMENTS", each possibly missing as "-"; arguments after "=" are an object. */
function piece(text: string) {
	const [index, id, name, args] = text.split(" ").map((word) => (word === "-" ? undefined : word));
	const given = args?.startsWith("=") ? JSON.parse(args.slice(1)) : args;
	return { tool_calls: [{ index: index && Number(index), id, function: { name, arguments: given } }] };
}

test.each([
	["OpenAI: pieces by index", `0 1 a -|1 2 b -|0 - - {"x"|1 - - {}|0 - - :1}`, `1 a {"x":1}|2 b {}`],
	["Gemini: whole calls without an index", "- 1 a {}|- 2 a {}", "1 a {}|2 a {}"],
	["the same index for all", "0 1 a {}|0 2 b {}", "1 a {}|2 b {}"],
	["no ids", `0 - a {}|0 - a {"x":1}|0 - b {}`, `? a {}|? a {"x":1}|? b {}`],
	["the name repeated, without ids", `- - a {"x"|- - a :1}|- - a -`, `? a {"x":1}`],
	["the id and name repeated", `0 1 a {"x"|0 1 a :1}`, `1 a {"x":1}`],
	["later pieces without index, id and name", `- 1 a {"x"|- - - :1}`, `1 a {"x":1}`],
	["arguments as an object", `- 1 a ={"x":1}`, `1 a {"x":1}`],
	["no arguments", "- 1 a -|- 2 b -", "1 a {}|2 b {}"],
	["ids that other providers refuse", `0 functions.a:0 a {}|1 ${"x".repeat(41)} a {}`, "? a {}|? a {}"],
	["an id used twice", "0 1 a {}|1 1 b {}", "1 a {}|? b {}"],
])("tool calls: %s", async (_, pieces, expected) => {
	const { end } = (await endOf(streamOf(...pieces.split("|").map(piece)))) as { end: AnswerEnd };
	expect(end).toMatchObject({ finish: "tools", provider: "first" });
	const words = end.toolCalls.map(({ id, name, arguments: args }) => `${id} ${name} ${args}`);
	expect(words.join("|").replaceAll(/call_[0-9a-f]{32}\b/g, "?")).toBe(expected);
});

const signed = { extra_content: { google: { thought_signature: "s" } } };
const call = { tool_calls: [{ ...piece("- 1 look {}").tool_calls[0], ...signed }] };
const thought = (text: string) => ({ type: "reasoning.text", index: 0, text });
const secret = { type: "reasoning.encrypted", index: 0, data: "d" };
const details = [{ reasoning_details: [thought("Hm, "), secret] }, { reasoning_details: [thought("so.")] }];

test.each<[name: string, stream: object[], message: object]>([
	["reasoning", [{ reasoning_content: "Hm, " }, { reasoning_content: "so." }], { reasoning_content: "Hm, so." }],
	["details, joined by index", details, { reasoning_details: [thought("Hm, so."), secret] }],
])("what a provider wants back is kept with the call: its signature and %s", async (_, stream, message) => {
	const extra = { provider: "first", call: signed, message };
	expect(await endOf(streamOf(...stream, call))).toMatchObject({ end: { toolCalls: [{ extra }] } });
});

const text = event({ choices: [{ delta: { content: "Hi" } }], usage: null });
const usage = { prompt_tokens: 3, completion_tokens: 1 };
const counted = { input: 3, output: 1 };

test.each([
	["in an event of its own", text + finished + event({ choices: [], usage }), counted],
	["with the finish", text + event({ choices: [{ finish_reason: "stop" }], usage }), counted],
	["of wrong types", text + finished + event({ usage: { prompt_tokens: "3" } }), undefined],
	["that is no JSON", `${text}${finished}data: oops\n\n`, undefined],
])("usage %s", async (_, stream, expected) => {
	expect(await endOf(stream)).toEqual({ end: { finish: "stop", toolCalls: [], usage: expected, provider: "first" } });
});

test.each([
	["too long", [`0 - a ${"x".repeat(64 * 1024)}`, "0 - - x"], "more than 64 KiB of arguments of tool calls"],
	["a call without a name", ["0 1 - {}"], "a tool call without a name"],
])("%s is an error", async (_, pieces, what) => {
	const error = await endOf(streamOf(...pieces.map(piece)));
	expect(error).toMatchObject({ kind: "nonsense", details: { detail: `the AI provider sent ${what}` } });
});

const look = { id: "1", name: "look", arguments: "{}" };
const message = { reasoning_content: "Hm" };
const own: ToolCall = { ...look, extra: { provider: "first", call: signed, message } };
const parallel: ToolCall = { ...look, extra: { provider: "first", call: {}, message: {} } };
const foreign: ToolCall = { ...look, extra: { provider: "second", call: { extra_content: "t" }, message } };
const sent = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
const ownSent = { ...sent, ...signed };
const wrapped = { ...sent, function: { name: "look", arguments: '{"invalid_json":"{\\"x"}' } };
const skipped = { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } };
const gemini = "https://generativelanguage.googleapis.com/v1beta/openai";

test.each<[string, url: string, ToolCall[], fields: object, calls: object[], result?: object]>([
	["of the same provider", "", [own], message, [ownSent]],
	["of another provider", "", [foreign], {}, [sent]],
	["of another provider, for Gemini", gemini, [foreign, look], {}, [{ ...sent, ...skipped }, sent], { name: "look" }],
	["of Gemini", gemini, [own, parallel], message, [ownSent, sent], { name: "look" }],
	["whose arguments are not JSON", "", [{ ...look, arguments: '{"x' }], {}, [wrapped]],
])("messages with calls %s", (_, url, toolCalls, fields, tool_calls, result = {}) => {
	const answer = { role: "assistant" as const, content: "", toolCalls };
	expect(toMessages([answer, { role: "tool", content: "Soup.", callId: "1" }], { ...provider, url })).toEqual([
		{ role: "assistant", content: null, ...fields, tool_calls },
		{ role: "tool", tool_call_id: "1", content: "Soup.", ...result },
	]);
});
