// One streaming request to one AI provider.
// https://platform.openai.com/docs/api-reference/chat-streaming

import * as v from "valibot";
import { describeConnectionError } from "../lib/http.ts";
import { parseJson } from "../lib/json.ts";
import { readEvents } from "../mcp/sse.ts";
import { AiError, type AiErrorKind } from "./error.ts";
import { toAiError } from "./error-response.ts";
import type { AiProvider } from "./providers.ts";
import { createTimeouts, type Timeouts } from "./timeouts.ts";

const maxEventLength = 256 * 1024;
const maxAnswerBytes = 8 * 1024 * 1024;
const maxAnswerLength = 32_000;
const maxErrorBytes = 64 * 1024;

/** How an AI answer ended: "stop" if it is complete, "length" if it was truncated at its maximum length. */
export type Finish = "stop" | "length";

/** One event of a streamed AI answer: a piece of its text, or how the answer ended. */
type CompletionEvent = { text: string } | { finish: Finish };

export interface CompletionRequest {
	messages: readonly { role: string; content: string }[];
	/** Maximum length of the AI's answer in tokens. Has no effect if the AI provider's own limit is lower. */
	maxTokens?: number | undefined;
	/** Aborts the request to the AI provider; the signal's abort reason is then thrown. */
	signal?: AbortSignal | undefined;
}

const chunk = v.object({
	choices: v.nullish(
		v.array(
			v.object({
				delta: v.nullish(v.object({ content: v.nullish(v.string()), refusal: v.nullish(v.string()) })),
				finish_reason: v.nullish(v.string()),
			}),
		),
	),
	error: v.nullish(v.unknown()),
});

/** The last event says how the answer ended. Throws an AiError if it fails or breaks off. */
export async function* complete(
	provider: AiProvider,
	{ messages, maxTokens, signal }: CompletionRequest,
): AsyncGenerator<CompletionEvent> {
	signal?.throwIfAborted();
	const timeouts = createTimeouts(provider, signal);
	try {
		const response = await send(provider, timeouts, {
			...provider.extra,
			model: provider.model,
			messages,
			stream: true,
			[provider.maxTokensField]: Math.min(maxTokens ?? provider.maxTokens, provider.maxTokens),
			...(provider.temperature !== undefined && { temperature: provider.temperature }),
		});
		if (!response.ok) {
			const body = await readErrorBody(response, timeouts);
			throw toAiError(response.status, response.headers, parseJson(body));
		}
		yield* readCompletion(bytesOf(response, timeouts, maxAnswerBytes));
	} finally {
		// Also aborts the request if the reader stopped early.
		timeouts.end();
	}
}

function send({ url, apiKey }: AiProvider, timeouts: Timeouts, body: object): Promise<Response> {
	const response = fetch(`${url}/chat/completions`, {
		method: "POST",
		headers: {
			"Content-Type": "application/json",
			Accept: "text/event-stream",
			...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
		},
		body: JSON.stringify(body),
		signal: timeouts.signal,
		// A redirect would send the key and messages elsewhere.
		redirect: "manual",
		// A stale kept-alive connection would look like a lost response.
		keepalive: false,
	});
	return timeouts.within(response, connectionError("unavailable"));
}

const invalidResponse = (detail: string) => new AiError("nonsense", { detail });

const connectionError = (kind: AiErrorKind) => (cause: unknown) =>
	new AiError(kind, { detail: describeConnectionError(cause), cause });

async function* readCompletion(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CompletionEvent> {
	let length = 0;
	let hasEvents = false;
	try {
		for await (const { data } of readEvents(bytes, maxEventLength)) {
			hasEvents = true;
			if (data.trim() === "[DONE]") {
				yield { finish: "stop" };
				return;
			}
			const { text, finish } = readChunk(data);
			if (text !== "") {
				const remaining = maxAnswerLength - length;
				yield { text: text.slice(0, remaining) };
				length += text.length;
			}
			if (finish || length >= maxAnswerLength) {
				yield { finish: finish ?? "length" };
				return;
			}
		}
	} catch (cause) {
		if (!(cause instanceof RangeError)) throw cause;
		throw invalidResponse(`the AI provider's response stream has an event larger than ${maxEventLength / 1024} KiB`);
	}
	throw hasEvents
		? new AiError("cut", { detail: "the AI provider's response stream ended early" })
		: invalidResponse("the AI provider's response is not an event stream");
}

function readChunk(data: string): { text: string; finish?: Finish } {
	const { success, output } = v.safeParse(chunk, parseJson(data));
	if (!success) throw invalidResponse("the AI provider's response stream has an unexpected event");
	if (output.error) throw toAiError(502, new Headers(), output);
	const { delta, finish_reason: reason } = output.choices?.[0] ?? {};
	const text = delta?.content ?? delta?.refusal ?? "";
	switch (reason) {
		case null:
		case undefined:
			return { text };
		case "content_filter":
			throw new AiError("refused", { detail: "the AI provider's content filter stopped the answer" });
		case "error":
			throw new AiError("unavailable", { detail: "the AI provider ended the response stream with an error" });
		default:
			return { text, finish: reason === "length" ? "length" : "stop" };
	}
}

async function* bytesOf({ body }: Response, timeouts: Timeouts, maxBytes: number): AsyncGenerator<Uint8Array> {
	if (!body) return;
	const reader = body.getReader();
	let length = 0;
	for (;;) {
		const read = reader.read();
		const { done, value } = await timeouts.within(read, connectionError("cut"));
		if (done) return;
		length += value.length;
		if (length > maxBytes)
			throw invalidResponse(`the AI provider's response is larger than ${maxBytes / 1024 / 1024} MiB`);
		yield value;
	}
}

async function readErrorBody(response: Response, timeouts: Timeouts): Promise<string> {
	const pieces: Uint8Array[] = [];
	try {
		for await (const piece of bytesOf(response, timeouts, maxErrorBytes)) pieces.push(piece);
	} catch (error) {
		// The status is enough, unless the caller aborted.
		if (!(error instanceof AiError)) throw error;
	}
	return Buffer.concat(pieces).toString();
}
