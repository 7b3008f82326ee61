// Chat completions in OpenAI's format, and the ways in which the simulated provider can misbehave.

import * as v from "valibot";

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
	max_tokens: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
	max_completion_tokens: v.nullish(
		v.pipe(v.number(), v.integer(), v.minValue(1)),
	),
});

export type ChatRequest = v.InferOutput<typeof chatRequest>;

/** A message of a request. */
export interface ChatMessage {
	readonly role: string;
	readonly content: string;
}

export const aiMisbehaviours = [
	/** Holds the correct response until `behave()`. */
	"slow",
	/** Sends the first delta, and the rest at `behave()`. */
	"slow-pieces",
	/** Closes the connection before the response; closes it after the first delta. */
	"dropped",
	"cut",
	/** Ends the stream after the first delta, without a finish_reason. */
	"unfinished",
	/** Sends errors. 429 has retry-after: 7; `content-filter` is 400 and `no-money` 402. */
	"400",
	"401",
	"403",
	"404",
	"429",
	"500",
	"content-filter",
	"no-money",
	/** Redirects to a path that does not exist. */
	"redirect",
	/** Sends an error page with status 200. */
	"html",
	/** Sends one JSON object in place of a stream. */
	"no-stream",
	/** Sends one event of 64 MB; sends an endless stream. */
	"huge",
	"endless",
	/** Sends the first delta, then an event that is not JSON. */
	"wrong-json",
	/** Sends JSON with the right fields, but of wrong types. */
	"wrong-types",
	/** Sends no text; sends only white space. */
	"empty",
	"blank",
	/** Sends the first delta, then finish_reason "length". */
	"length",
	/** Sends the first delta, then finish_reason "content_filter". */
	"filtered",
	/** Sends the first delta, then an error event. */
	"error-event",
] as const;

export type AiMisbehaviour = (typeof aiMisbehaviours)[number];

/** Maximum number of characters that are quoted of a message. */
const maxQuoted = 500;

/** The default response: quotes the last user message. */
export function quoteLastMessage(messages: readonly ChatMessage[]): string {
	const last = messages.findLast(({ role }) => role === "user");
	if (!last) return "I am a simulated AI, and nobody has said anything.";
	const quoted = [...last.content].slice(0, maxQuoted).join("");
	return `I am a simulated AI. The last I heard was: ${quoted}`;
}

/** A response in deltas of one word each. */
export interface Completion {
	readonly model: string;
	readonly pieces: readonly string[];
	readonly finish: "stop" | "length" | "content_filter";
}

/** Splits a text into words, up to max_tokens: a word counts as a token. */
export function createCompletion(
	request: ChatRequest,
	text: string,
): Completion {
	const all = text.match(/\s*\S+/g) ?? [];
	const maxWords =
		request.max_tokens ?? request.max_completion_tokens ?? all.length;
	return {
		model: request.model,
		pieces: all.slice(0, maxWords),
		finish: all.length > maxWords ? "length" : "stop",
	};
}

const about = (model: string) => ({
	id: "chatcmpl-simulated",
	created: 1_800_000_000,
	model,
});

/** A response as one JSON object. */
export function toJson({ model, pieces, finish }: Completion): object {
	return {
		...about(model),
		object: "chat.completion",
		choices: [
			{
				index: 0,
				message: { role: "assistant", content: pieces.join("") },
				finish_reason: finish,
			},
		],
		usage: {
			prompt_tokens: 1,
			completion_tokens: pieces.length,
			total_tokens: pieces.length + 1,
		},
	};
}

/** An event of a stream. */
export function streamEvent(
	model: string,
	delta: object,
	finish: string | null = null,
): string {
	return frame({
		...about(model),
		object: "chat.completion.chunk",
		choices: [{ index: 0, delta, finish_reason: finish }],
	});
}

export const frame = (data: object | string) =>
	`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** The events of a streamed response. */
export function* streamEvents({
	model,
	pieces,
	finish,
}: Completion): Generator<string> {
	// Several providers send such comments.
	yield ": keep-alive\n\n";
	yield streamEvent(model, { role: "assistant", content: "" });
	for (const content of pieces) yield streamEvent(model, { content });
	yield streamEvent(model, {}, finish);
	yield frame("[DONE]");
}

/** An error in OpenAI's format. */
export function openAiError(
	status: number,
	code: string,
	message: string,
	headers: Record<string, string> = {},
): Response {
	return Response.json(
		{ error: { message, type: "invalid_request_error", param: null, code } },
		{ status, headers },
	);
}

/** Misbehaviours that send one whole response in place of a stream. Some providers quote the API key in an error. */
export const errorResponses: Readonly<
	Partial<Record<AiMisbehaviour, (key: string) => Response>>
> = {
	"400": () => openAiError(400, "invalid_value", "max_tokens is too large."),
	"401": (key) =>
		openAiError(401, "invalid_api_key", `Incorrect API key provided: ${key}.`),
	"403": () => openAiError(403, "forbidden", "Your country is not supported."),
	"404": () => openAiError(404, "model_not_found", "There is no such model."),
	"429": () =>
		openAiError(429, "rate_limit_exceeded", "Too many requests.", {
			"retry-after": "7",
		}),
	"500": () => new Response("Internal Server Error", { status: 500 }),
	"content-filter": () =>
		openAiError(400, "content_filter", "The prompt was flagged."),
	"no-money": () =>
		openAiError(402, "insufficient_balance", "Insufficient Balance"),
	redirect: () =>
		new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
	html: () =>
		new Response("<!doctype html><title>Welcome to nginx!</title>", {
			headers: { "content-type": "text/html" },
		}),
};
