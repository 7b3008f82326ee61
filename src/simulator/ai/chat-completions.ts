// Chat completions in OpenAI's format, and the errors of a provider that misbehaves.

import * as v from "valibot";
import { count } from "../control/control.ts";

const part = v.object({ type: v.literal("text"), text: v.string() });

export const chatRequest = v.looseObject({
	model: v.pipe(v.string(), v.minLength(1)),
	messages: v.pipe(
		v.array(
			v.looseObject({
				role: v.picklist(["system", "developer", "user", "assistant"]),
				content: v.union([v.string(), v.array(part)]),
			}),
		),
		v.minLength(1),
	),
	stream: v.nullish(v.boolean(), false),
	max_tokens: v.nullish(count),
	max_completion_tokens: v.nullish(count),
});

export type ChatRequest = v.InferOutput<typeof chatRequest>;

/** A message in a chat completion request: its role and its text. */
export interface ChatMessage {
	role: string;
	content: string;
}

const maxQuoted = 500;

/** The default text of the simulated AI: quotes the last user message. */
export function quoteLastMessage(messages: readonly ChatMessage[]): string {
	const last = messages.findLast(({ role }) => role === "user");
	if (!last) return "I am a simulated AI, and nobody has said anything.";
	const quoted = [...last.content].slice(0, maxQuoted).join("");
	return `I am a simulated AI. The last I heard was: ${quoted}`;
}

/** The simulated AI's response to a chat request, split into pieces of one word each for streaming. */
export interface Completion {
	model: string;
	pieces: readonly string[];
	finish: "stop" | "length" | "content_filter";
}

/** Keeps at most as many words as the request's `max_tokens`: one word counts as one token. */
export function createCompletion(request: ChatRequest, text: string): Completion {
	const all = text.match(/\s*\S+/g) ?? [];
	const maxWords = request.max_tokens ?? request.max_completion_tokens ?? all.length;
	return { model: request.model, pieces: all.slice(0, maxWords), finish: all.length > maxWords ? "length" : "stop" };
}

const about = (model: string) => ({ id: "chatcmpl-simulated", created: 1_800_000_000, model });

/** Converts a completion to the JSON object of a response that is not streamed ("chat.completion"). */
export function toJson({ model, pieces, finish }: Completion): object {
	return {
		...about(model),
		object: "chat.completion",
		choices: [{ index: 0, message: { role: "assistant", content: pieces.join("") }, finish_reason: finish }],
		usage: { prompt_tokens: 1, completion_tokens: pieces.length, total_tokens: pieces.length + 1 },
	};
}

/** Returns a server-sent event with one "chat.completion.chunk" object. */
export function streamEvent(model: string, delta: object, finish: string | null = null): string {
	return frame({
		...about(model),
		object: "chat.completion.chunk",
		choices: [{ index: 0, delta, finish_reason: finish }],
	});
}

export const frame = (data: object | string) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** Yields the server-sent events of a whole streamed response, up to "[DONE]". */
export function* streamEvents({ model, pieces, finish }: Completion): Generator<string> {
	// Several providers send such comments.
	yield ": keep-alive\n\n";
	yield streamEvent(model, { role: "assistant", content: "" });
	for (const content of pieces) yield streamEvent(model, { content });
	yield streamEvent(model, {}, finish);
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
