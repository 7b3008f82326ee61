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
import { type AiMessage, delta, type ToolCall, ToolCallReader, type ToolSpec, toMessages } from "./tool-calls.ts";

const maxEventLength = 256 * 1024;
const maxAnswerBytes = 8 * 1024 * 1024;
const maxAnswerLength = 32_000;
const maxErrorBytes = 64 * 1024;

/** "stop": complete; "length": truncated at its maximum length; "tools": the model wants tool calls. */
export type Finish = "stop" | "length" | "tools";

export interface AnswerEnd {
	finish: Finish;
	/** None without the finish "tools". */
	toolCalls: readonly ToolCall[];
	/** Tokens, if the provider counts them. */
	usage?: { input: number; output: number } | undefined;
	provider: string;
}

/** One event of a streamed AI answer: a piece of its text, or its end. */
type CompletionEvent = { text: string } | { end: AnswerEnd };

export interface CompletionRequest {
	messages: readonly AiMessage[];
	/** Without them, tool calls of the model are ignored. */
	tools?: readonly ToolSpec[] | undefined;
	/** Maximum length of the AI's answer in tokens. Has no effect if the AI provider's own limit is lower. */
	maxTokens?: number | undefined;
	/** Aborts the request to the AI provider; the signal's abort reason is then thrown. */
	signal?: AbortSignal | undefined;
}

const chunk = v.object({
	choices: v.nullish(v.array(v.object({ delta: v.nullish(delta), finish_reason: v.nullish(v.string()) }))),
	usage: v.fallback(v.nullish(v.object({ prompt_tokens: v.number(), completion_tokens: v.number() })), undefined),
	error: v.nullish(v.unknown()),
});

/** The last event says how the answer ended. Throws an AiError if it fails or breaks off. */
export async function* complete(
	provider: AiProvider,
	{ messages, tools = [], maxTokens, signal }: CompletionRequest,
): AsyncGenerator<CompletionEvent> {
	signal?.throwIfAborted();
	const timeouts = createTimeouts(provider, signal);
	try {
		const request = fetch(`${provider.url}/chat/completions`, {
			method: "POST",
			headers: {
				"Content-Type": "application/json",
				Accept: "text/event-stream",
				...(provider.apiKey !== undefined && { Authorization: `Bearer ${provider.apiKey}` }),
			},
			body: JSON.stringify({
				// `extra` may replace it, for a provider that refuses it.
				stream_options: { include_usage: true },
				...provider.extra,
				model: provider.model,
				messages: toMessages(messages, provider),
				...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
				stream: true,
				[provider.maxTokensField]: Math.min(maxTokens ?? provider.maxTokens, provider.maxTokens),
				...(provider.temperature !== undefined && { temperature: provider.temperature }),
			}),
			signal: timeouts.signal,
			// A redirect would send the key and messages elsewhere.
			redirect: "manual",
			// A stale kept-alive connection would look like a lost response.
			keepalive: false,
		});
		const response = await timeouts.within(request, connectionError("unavailable"));
		if (!response.ok) {
			const body = await Array.fromAsync(bytesOf(response, timeouts, maxErrorBytes)).catch((error) => {
				// The status is enough, unless the caller aborted.
				if (!(error instanceof AiError)) throw error;
				return [];
			});
			throw toAiError(response.status, response.headers, parseJson(Buffer.concat(body).toString()));
		}
		const bytes = bytesOf(response, timeouts, maxAnswerBytes);
		yield* readCompletion(bytes, provider.name, tools.length > 0 ? new ToolCallReader() : undefined);
	} finally {
		// Also aborts the request if the reader stopped early.
		timeouts.end();
	}
}

const invalidResponse = (detail: string) => new AiError("nonsense", { detail });

const connectionError = (kind: AiErrorKind) => (cause: unknown) =>
	new AiError(kind, { detail: describeConnectionError(cause), cause });

async function* readCompletion(bytes: AsyncIterable<Uint8Array>, provider: string, calls?: ToolCallReader) {
	let length = 0;
	let hasEvents = false;
	let finish: Finish | undefined;
	let usage: AnswerEnd["usage"];
	try {
		for await (const { data } of readEvents(bytes, maxEventLength)) {
			hasEvents = true;
			if (data.trim() === "[DONE]") {
				finish ??= "stop";
				break;
			}
			const piece = readChunk(data);
			usage = piece.usage ?? usage;
			// The usage comes after the finish, in an event of its own.
			if (finish) continue;
			if (piece.delta) calls?.add(piece.delta);
			const text = piece.delta?.content ?? piece.delta?.refusal ?? "";
			if (text !== "") {
				yield { text: text.slice(0, maxAnswerLength - length) };
				length += text.length;
			}
			finish = piece.finish;
			if (length >= maxAnswerLength) {
				finish ??= "length";
				break;
			}
		}
	} catch (cause) {
		const error =
			cause instanceof RangeError
				? invalidResponse(`the AI provider's response stream has an event larger than ${maxEventLength / 1024} KiB`)
				: cause;
		// After the finish only the usage can be missing.
		if (!finish || !(error instanceof AiError)) throw error;
	}
	if (!finish)
		throw hasEvents
			? new AiError("cut", { detail: "the AI provider's response stream ended early" })
			: invalidResponse("the AI provider's response is not an event stream");
	// The last call of a truncated answer may be incomplete.
	const toolCalls = finish === "length" ? [] : (calls?.finish(provider) ?? []);
	yield { end: { finish: toolCalls.length > 0 ? "tools" : finish, toolCalls, usage, provider } };
}

function readChunk(data: string) {
	const { success, output } = v.safeParse(chunk, parseJson(data));
	if (!success) throw invalidResponse("the AI provider's response stream has an unexpected event");
	if (output.error) throw toAiError(502, new Headers(), output);
	const { delta, finish_reason: reason } = output.choices?.[0] ?? {};
	const failure = reason === "content_filter" ? "refused" : reason === "error" ? "unavailable" : undefined;
	if (failure) throw new AiError(failure, { detail: `the AI provider ended the answer with the reason ${reason}` });
	const finish: Finish | undefined = reason ? (reason === "length" ? "length" : "stop") : undefined;
	const { prompt_tokens: input, completion_tokens: out } = output.usage ?? {};
	const usage = input === undefined || out === undefined ? undefined : { input, output: out };
	return { delta, finish, usage };
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
