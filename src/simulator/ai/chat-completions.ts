// Chat completions in OpenAI's format, and the errors of a provider that misbehaves.

import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { count } from "../control/control.ts";

const part = v.object({ type: v.literal("text"), text: v.string() });

const toolCall = v.looseObject({
	id: v.pipe(v.string(), v.maxLength(40)),
	type: v.literal("function"),
	function: v.object({ name: v.string(), arguments: v.string() }),
});

const toolName = v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/));
const tool = v.looseObject({ type: v.literal("function"), function: v.looseObject({ name: toolName }) });

export const chatRequest = v.looseObject({
	model: v.pipe(v.string(), v.minLength(1)),
	messages: v.pipe(
		v.array(
			v.looseObject({
				role: v.picklist(["system", "developer", "user", "assistant", "tool"]),
				content: v.nullish(v.union([v.string(), v.array(part)])),
				tool_calls: v.optional(v.pipe(v.array(toolCall), v.minLength(1))),
				tool_call_id: v.optional(v.string()),
			}),
		),
		v.minLength(1),
	),
	tools: v.nullish(v.array(tool), []),
	tool_choice: v.nullish(v.union([v.picklist(["none", "auto", "required"]), tool])),
	stream: v.nullish(v.boolean(), false),
	stream_options: v.nullish(v.object({ include_usage: v.nullish(v.boolean()) })),
	max_tokens: v.nullish(count),
	max_completion_tokens: v.nullish(count),
});

export type ChatRequest = v.InferOutput<typeof chatRequest>;

/** A message in a chat completion request, its content as text. */
export type ChatMessage = Omit<ChatRequest["messages"][number], "content"> & { content: string };

/** OpenAI's reason to refuse a conversation, if any: each tool call needs its result, and each result its call. */
export function conversationError({ messages }: ChatRequest): string | undefined {
	const open = new Set<string>();
	for (const { role, content, tool_calls = [], tool_call_id = "" } of messages) {
		if (role === "tool") {
			if (open.delete(tool_call_id)) continue;
			return "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
		}
		if (open.size > 0) break;
		if (content == null && tool_calls.length === 0) return "Invalid value for 'content': expected a string, got null.";
		for (const { id } of tool_calls) open.add(id);
	}
	if (open.size === 0) return undefined;
	return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
}

const maxQuoted = 500;

export function quoteLastMessage(messages: readonly ChatMessage[]): string {
	const last = messages.findLast(({ role }) => role === "user");
	if (!last) return "I am a simulated AI, and nobody has said anything.";
	const quoted = [...last.content].slice(0, maxQuoted).join("");
	return `I am a simulated AI. The last I heard was: ${quoted}`;
}

const scriptedCall = v.strictObject({ name: v.string(), arguments: v.union([v.string(), v.looseObject({})]) });
export const answerStep = v.strictObject({ text: v.optional(v.string()), calls: v.optional(v.array(scriptedCall)) });
/** One scripted answer. Arguments that are a string are sent as they are. */
export type AnswerStep = v.InferOutput<typeof answerStep>;

/** The simulated AI's response to a chat request, split into pieces of one word each for streaming. */
export interface Completion {
	model: string;
	pieces: readonly string[];
	calls: readonly v.InferOutput<typeof toolCall>[];
	finish: "stop" | "length" | "content_filter" | "tool_calls";
	/** Token counts; undefined for a stream without `stream_options.include_usage`. */
	usage: object | undefined;
}

/** Keeps at most as many words as the request's `max_tokens`: one word counts as one token. */
export function createCompletion(request: ChatRequest, { text = "", calls = [] }: AnswerStep): Completion {
	const all = text.match(/\s*\S+/g) ?? [];
	const maxWords = request.max_tokens ?? request.max_completion_tokens ?? all.length;
	const pieces = all.slice(0, maxWords);
	const [input, output] = [JSON.stringify(request.messages).split(" ").length, pieces.length];
	const isCounted = !request.stream || request.stream_options?.include_usage;
	return {
		model: request.model,
		pieces,
		calls: calls.map(({ name, arguments: given }) => ({
			id: `call_${randomUUID().slice(-12)}`,
			type: "function",
			function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
		})),
		finish: all.length > maxWords ? "length" : calls.length > 0 ? "tool_calls" : "stop",
		usage: isCounted ? { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } : undefined,
	};
}

const about = (model: string) => ({ id: "chatcmpl-simulated", created: 1_800_000_000, model });

export function toJson({ model, pieces, calls, finish, usage }: Completion): object {
	const message = { role: "assistant", content: pieces.join("") || null, tool_calls: calls.length ? calls : undefined };
	return { ...about(model), object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }], usage };
}

export function streamEvent(model: string, delta: object, finish: string | null = null): string {
	return chunk(model, { choices: [{ index: 0, delta, finish_reason: finish }] });
}

const chunk = (model: string, fields: object) => frame({ ...about(model), object: "chat.completion.chunk", ...fields });

export const frame = (data: object | string) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** The id and name of each tool call come first, then its arguments in pieces. */
export function* callEvents({ model, calls }: Pick<Completion, "model" | "calls">): Generator<string> {
	for (const [index, call] of calls.entries()) {
		const { name, arguments: text } = call.function;
		const piece = (fields: object) => streamEvent(model, { tool_calls: [{ index, ...fields }] });
		yield piece({ ...call, function: { name, arguments: "" } });
		for (const [part] of text.matchAll(/.{1,40}/gs)) yield piece({ function: { arguments: part } });
	}
}

export function* streamEvents({ model, pieces, calls, finish, usage }: Completion): Generator<string> {
	// Several providers send such comments.
	yield ": keep-alive\n\n";
	yield streamEvent(model, { role: "assistant", content: "" });
	for (const content of pieces) yield streamEvent(model, { content });
	yield* callEvents({ model, calls });
	yield streamEvent(model, {}, finish);
	if (usage) yield chunk(model, { choices: [], usage });
	yield frame("[DONE]");
}

export function openAiError(
	status: number,
	code: string,
	message: string,
	headers: Record<string, string> = {},
): Response {
	return Response.json({ error: { message, type: "invalid_request_error", param: null, code } }, { status, headers });
}

/** The faults that send an error. The parameter is the API key, which some providers quote in it. */
export const errorResponses = {
	"400": () => openAiError(400, "invalid_value", "max_tokens is too large."),
	"401": (key) => openAiError(401, "invalid_api_key", `Incorrect API key provided: ${key}.`),
	"403": () => openAiError(403, "forbidden", "Your country is not supported."),
	"404": () => openAiError(404, "model_not_found", "There is no such model."),
	"429": () => openAiError(429, "rate_limit_exceeded", "Too many requests.", { "retry-after": "7" }),
	"500": () => new Response("Internal Server Error", { status: 500 }),
	"content-filter": () => openAiError(400, "content_filter", "The prompt was flagged."),
	"no-money": () => openAiError(402, "insufficient_balance", "Insufficient Balance"),
	redirect: () => new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
	html: () =>
		new Response("<!doctype html><title>Welcome to nginx!</title>", { headers: { "content-type": "text/html" } }),
} satisfies Record<string, (key: string) => Response>;
