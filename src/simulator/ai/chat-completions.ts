// What the simulated AI says, on a wire like OpenAI's, and what it can answer wrongly.

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
	/** Nothing until `behave()`; then the right answer. */
	"slow",
	/** The first piece, and nothing more until `behave()`. */
	"slow-pieces",
	/** The connection ends before anything of the answer, or after its first piece. */
	"dropped",
	"cut",
	/** The stream ends in order after the first piece, without saying that it is over. */
	"unfinished",
	/** Refusals. 429 says to come back in 7 s; `content-filter` and `no-money` are 400 and 402. */
	"400",
	"401",
	"403",
	"404",
	"429",
	"500",
	"content-filter",
	"no-money",
	/** To a path that does not exist. */
	"redirect",
	/** An error page with status 200. */
	"html",
	/** The whole answer as JSON, where a stream was asked for. */
	"no-stream",
	/** One event of 64 MB; pieces without end. */
	"huge",
	"endless",
	/** After the first piece an event that is no JSON. */
	"wrong-json",
	/** JSON of the right fields with the wrong types. */
	"wrong-types",
	/** No text at all; white space alone. */
	"empty",
	"blank",
	/** The first piece, and the end as if the answer were too long. */
	"length",
	/** The first piece, and the end because of what is in it. */
	"filtered",
	/** The first piece, and an error in the stream. */
	"error-event",
] as const;

export type AiMisbehaviour = (typeof aiMisbehaviours)[number];

/** Of what the last user wrote, this much is quoted. */
const maxQuoted = 500;

/** What the simulated AI says unless it is told otherwise: it quotes who spoke last. */
export function quotingAnswer(messages: readonly ChatMessage[]): string {
	const last = messages.findLast(({ role }) => role === "user");
	if (!last) return "I am a simulated AI, and nobody has said anything.";
	const quoted = [...last.content].slice(0, maxQuoted).join("");
	return `I am a simulated AI. The last I heard was: ${quoted}`;
}

/** An answer, in pieces of a word each. `finish` says why it ends. */
export interface ChatAnswer {
	readonly model: string;
	readonly pieces: readonly string[];
	readonly finish: "stop" | "length" | "content_filter";
}

/** An answer in words, no more of them than were asked for: a word counts as a token. */
export function chatAnswer(request: ChatRequest, text: string): ChatAnswer {
	const all = text.match(/\s*\S+/g) ?? [];
	const most =
		request.max_tokens ?? request.max_completion_tokens ?? all.length;
	return {
		model: request.model,
		pieces: all.slice(0, most),
		finish: all.length > most ? "length" : "stop",
	};
}

const about = (model: string) => ({
	id: "chatcmpl-simulated",
	created: 1_800_000_000,
	model,
});

/** The answer as one JSON object. */
export function asWhole({ model, pieces, finish }: ChatAnswer): object {
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

/** One event of a stream. */
export function asEvent(
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

/** The events of an answer, one by one. */
export function* asEvents({
	model,
	pieces,
	finish,
}: ChatAnswer): Generator<string> {
	// Several providers send these while one waits: whoever takes them for an event breaks.
	yield ": keep-alive\n\n";
	yield asEvent(model, { role: "assistant", content: "" });
	for (const content of pieces) yield asEvent(model, { content });
	yield asEvent(model, {}, finish);
	yield frame("[DONE]");
}

/** A refusal as OpenAI has it. */
export function refusal(
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

/** Wrong answers that are no stream. `key` is quoted, as careless providers do. */
export const plainMisbehaviours: Readonly<
	Partial<Record<AiMisbehaviour, (key: string) => Response>>
> = {
	"400": () => refusal(400, "invalid_value", "max_tokens is too large."),
	"401": (key) =>
		refusal(401, "invalid_api_key", `Incorrect API key provided: ${key}.`),
	"403": () => refusal(403, "forbidden", "Your country is not supported."),
	"404": () => refusal(404, "model_not_found", "There is no such model."),
	"429": () =>
		refusal(429, "rate_limit_exceeded", "Too many requests.", {
			"retry-after": "7",
		}),
	"500": () => new Response("Internal Server Error", { status: 500 }),
	"content-filter": () =>
		refusal(400, "content_filter", "The prompt was flagged."),
	"no-money": () =>
		refusal(402, "insufficient_balance", "Insufficient Balance"),
	redirect: () =>
		new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
	html: () =>
		new Response("<!doctype html><title>Welcome to nginx!</title>", {
			headers: { "content-type": "text/html" },
		}),
};
