// One request to one AI provider, whose answer comes in pieces.
// https://platform.openai.com/docs/api-reference/chat-streaming

import * as v from "valibot";
import { describeConnectionError } from "../../lib/http.ts";
import { parseJson } from "../../lib/json.ts";
import { readEvents } from "../../mcp/sse.ts";
import type { AiProvider } from "../config/ai-providers.ts";
import { AiError } from "./error.ts";
import { refusal } from "./refusal.ts";
import { createPatience, type Patience } from "./timeouts.ts";

/** One event of a stream says little more than one piece. */
const maxEventLength = 256 * 1024;
/** All of an answer, with what a model thinks before it. */
const maxAnswerBytes = 8 * 1024 * 1024;
/** An answer ends here, however long the provider would go on. */
const maxAnswerLength = 32_000;
/** Of the body of a refusal. */
const maxRefusalBytes = 64 * 1024;

/** Whether an answer is whole, or ends where it was longest. */
export type Finish = "stop" | "length";

/** A piece of the answer's text; at the end, why it ends. */
export type CompletionEvent = { text: string } | { finish: Finish };

export interface CompletionRequest {
	messages: readonly { role: string; content: string }[];
	/** No more than the provider's own. */
	maxTokens?: number | undefined;
	/** Gives up; its reason is then thrown. */
	signal?: AbortSignal | undefined;
}

const chunk = v.object({
	choices: v.nullish(
		v.array(
			v.object({
				delta: v.nullish(
					v.object({
						content: v.nullish(v.string()),
						refusal: v.nullish(v.string()),
					}),
				),
				finish_reason: v.nullish(v.string()),
			}),
		),
	),
	error: v.nullish(v.unknown()),
});

/** Asks once. The last event is a `finish`; all that keeps it from coming is an AiError. */
export async function* complete(
	provider: AiProvider,
	{ messages, maxTokens, signal }: CompletionRequest,
): AsyncGenerator<CompletionEvent> {
	signal?.throwIfAborted();
	const patience = createPatience(provider, signal);
	try {
		const response = await send(provider, patience, {
			...provider.extra,
			model: provider.model,
			messages,
			stream: true,
			[provider.maxTokensField]: Math.min(
				maxTokens ?? provider.maxTokens,
				provider.maxTokens,
			),
			...(provider.temperature !== undefined && {
				temperature: provider.temperature,
			}),
		});
		if (!response.ok) {
			const body = await readStart(response, patience);
			throw refusal(response.status, response.headers, parseJson(body));
		}
		yield* read(bytesOf(response, patience, maxAnswerBytes));
	} finally {
		// Also where nobody wants the rest: the provider stops thinking of it.
		patience.end();
	}
}

async function send(
	{ url, apiKey }: AiProvider,
	patience: Patience,
	body: object,
): Promise<Response> {
	return patience.within(
		fetch(`${url}/chat/completions`, {
			method: "POST",
			headers: {
				"Content-Type": "application/json",
				Accept: "text/event-stream",
				...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
			},
			body: JSON.stringify(body),
			signal: patience.signal,
			// To follow it would carry the key, and what people wrote, to another place.
			redirect: "manual",
			// A kept connection that was closed meanwhile looks like an answer that was lost.
			keepalive: false,
		}),
		(cause) =>
			new AiError("unavailable", {
				detail: describeConnectionError(cause),
				cause,
			}),
	);
}

/** The events of an answer's body. */
async function* read(
	bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<CompletionEvent> {
	let length = 0;
	let heard = false;
	try {
		for await (const { data } of readEvents(bytes, maxEventLength)) {
			heard = true;
			if (data.trim() === "[DONE]") {
				yield { finish: "stop" };
				return;
			}
			const { text, finish } = readChunk(data);
			if (text !== "") {
				const rest = maxAnswerLength - length;
				yield { text: text.slice(0, rest) };
				length += text.length;
			}
			if (finish || length >= maxAnswerLength) {
				yield { finish: finish ?? "length" };
				return;
			}
		}
	} catch (cause) {
		if (!(cause instanceof RangeError)) throw cause;
		throw new AiError("nonsense", {
			detail: `one event is longer than ${maxEventLength / 1024} KiB`,
		});
	}
	throw heard
		? new AiError("cut", { detail: "the answer ended without its end" })
		: new AiError("nonsense", { detail: "the answer is no event stream" });
}

/** What one event says. */
function readChunk(data: string): { text: string; finish?: Finish } {
	const { success, output } = v.safeParse(chunk, parseJson(data));
	if (!success)
		throw new AiError("nonsense", { detail: "an event that is no piece" });
	if (output.error) throw refusal(502, new Headers(), output);
	const { delta, finish_reason: reason } = output.choices?.[0] ?? {};
	const text = delta?.content ?? delta?.refusal ?? "";
	switch (reason) {
		case null:
		case undefined:
			return { text };
		case "content_filter":
			throw new AiError("refused", { detail: "its filter ended the answer" });
		case "error":
			throw new AiError("unavailable", { detail: "it ended with an error" });
		default:
			return { text, finish: reason === "length" ? "length" : "stop" };
	}
}

/** A body, as it comes: no longer than `maxBytes`, and not too slowly. */
async function* bytesOf(
	{ body }: Response,
	patience: Patience,
	maxBytes: number,
): AsyncGenerator<Uint8Array> {
	if (!body) return;
	const reader = body.getReader();
	let length = 0;
	for (;;) {
		const { done, value } = await patience.within(
			reader.read(),
			(cause) =>
				new AiError("cut", { detail: describeConnectionError(cause), cause }),
		);
		if (done) return;
		length += value.length;
		if (length > maxBytes)
			throw new AiError("nonsense", {
				detail: `an answer of more than ${maxBytes / 1024 / 1024} MiB`,
			});
		yield value;
	}
}

/** The body of a refusal: what there is of it. */
async function readStart(
	response: Response,
	patience: Patience,
): Promise<string> {
	const pieces: Uint8Array[] = [];
	try {
		for await (const piece of bytesOf(response, patience, maxRefusalBytes))
			pieces.push(piece);
	} catch (error) {
		// The status says enough, unless nobody waits any longer.
		if (!(error instanceof AiError)) throw error;
	}
	return Buffer.concat(pieces).toString();
}
