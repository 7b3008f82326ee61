// An AI provider with the part of OpenAI's API that nearly all others have as well: chat completions, streamed or not.
// It thinks nothing: its answers quote what was said last. They can be made wrong on demand.
// https://platform.openai.com/docs/api-reference/chat

import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import { aborted } from "../../lib/signal.ts";
import { createControl, read, urlOf } from "../control/control.ts";
import {
	type AiMisbehaviour,
	aiMisbehaviours,
	asWhole,
	type ChatMessage,
	type ChatRequest,
	chatAnswer,
	chatRequest,
	plainMisbehaviours,
	quotingAnswer,
	refusal,
} from "./chat-completions.ts";
import { streamAnswer } from "./stream.ts";

/** A request for an answer. */
export interface AiRequest {
	readonly model: string | undefined;
	readonly messages: readonly ChatMessage[];
	readonly stream: boolean;
	/** All of its body. */
	readonly body: unknown;
	/** Whether it brought the key, another one, or none. */
	readonly authorization: "right" | "wrong" | "none";
	/** What became of the answer. */
	readonly outcome: "waiting" | "whole" | "broken" | "hung up" | number;
}

export interface AiSimulation extends AsyncDisposable {
	/** What a bot's configuration names: "http://127.0.0.1:PORT/v1". */
	readonly url: string;
	/** "http://127.0.0.1:PORT", with the control routes below /simulator/. */
	readonly origin: string;
	readonly key: string;
	/** The latest 1,000, in order. */
	readonly requests: readonly AiRequest[];
	/** What it says to these messages; it can be replaced. */
	answer: (messages: readonly ChatMessage[]) => string;
	/** Answers wrongly from now on, or `times` times. */
	misbehave(kind: AiMisbehaviour, given?: { times?: number | undefined }): void;
	/** Answers rightly again, also what was held. */
	behave(): void;
	close(): Promise<void>;
}

export interface AiSimulationOptions {
	readonly port?: number;
	/** Random when absent. */
	readonly key?: string;
}

const maxRequests = 1_000;

const misbehaveRequest = v.strictObject({
	kind: v.picklist(aiMisbehaviours),
	times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

const answerRequest = v.strictObject({ text: v.nullable(v.string()) });

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export async function startAiProvider(
	options: AiSimulationOptions = {},
): Promise<AiSimulation> {
	const key = options.key ?? `sk-simulated-${randomUUID()}`;
	const requests: Writable<AiRequest>[] = [];
	let wrong: { kind: AiMisbehaviour; left: number } | undefined;
	let held = Promise.withResolvers<void>();

	/** How to answer this request wrongly, if at all. */
	const takeWrong = (): AiMisbehaviour | undefined => {
		const now = wrong;
		if (!now) return undefined;
		now.left -= 1;
		if (now.left <= 0) wrong = undefined;
		return now.kind;
	};

	const note = (
		body: unknown,
		request: ChatRequest | undefined,
		header: string | null,
	) => {
		const noted: Writable<AiRequest> = {
			model: request?.model,
			messages: request ? plainMessages(request) : [],
			stream: request?.stream ?? false,
			body,
			authorization:
				header === null
					? "none"
					: header === `Bearer ${key}`
						? "right"
						: "wrong",
			outcome: "waiting",
		};
		requests.push(noted);
		if (requests.length > maxRequests) requests.shift();
		return noted;
	};

	const complete = async (request: Request): Promise<Response> => {
		const body = parseJson(await request.text());
		const { success, output } = v.safeParse(chatRequest, body);
		const header = request.headers.get("authorization");
		const noted = note(body, success ? output : undefined, header);
		const finish = (response: Response) => {
			noted.outcome = response.ok ? "whole" : response.status;
			return response;
		};
		if (noted.authorization !== "right") return finish(unauthorised(header));
		if (!success)
			return finish(refusal(400, "invalid_request", "This is no request."));
		const kind = takeWrong();
		const plain = kind && plainMisbehaviours[kind];
		if (plain) return finish(plain(key));
		const { promise: released } = held;
		if (kind === "slow")
			await Promise.race([released, aborted(request.signal)]);
		if (request.signal.aborted) {
			noted.outcome = "hung up";
			return new Response(null, { status: 500 });
		}
		const text = simulation.answer(noted.messages);
		const answer = chatAnswer(output, text);
		if (!output.stream || kind === "no-stream")
			return finish(Response.json(asWhole(answer)));
		const onEnd = (how: "whole" | "broken" | "hung up") => {
			if (noted.outcome === "waiting") noted.outcome = how;
		};
		request.signal.addEventListener("abort", () => onEnd("hung up"));
		return streamAnswer(answer, { kind, released, onEnd });
	};

	const simulation: Omit<AiSimulation, "url" | "origin"> = {
		key,
		requests,
		answer: quotingAnswer,
		misbehave: (kind, { times = Number.POSITIVE_INFINITY } = {}) => {
			wrong = { kind, left: times };
		},
		behave: () => {
			wrong = undefined;
			held.resolve();
			held = Promise.withResolvers();
		},
		close: async () => {
			held.resolve();
			await server.stop(true);
		},
		[Symbol.asyncDispose]: () => simulation.close(),
	};

	const control = createControl({
		"GET /simulator/state": () => ({
			requests,
			misbehaves: wrong?.kind ?? null,
		}),
		"PUT /simulator/answer": async (request) => {
			const { text } = await read(answerRequest, request);
			simulation.answer = text === null ? quotingAnswer : () => text;
			return { text };
		},
		"POST /simulator/misbehave": async (request) => {
			const { kind, times } = await read(misbehaveRequest, request);
			simulation.misbehave(kind, { times });
			return { kind, times };
		},
		"POST /simulator/behave": () => {
			simulation.behave();
			return {};
		},
	});

	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: options.port ?? 0,
		development: false,
		reusePort: false,
		idleTimeout: 0,
		maxRequestBodySize: 4 * 1024 * 1024,
		fetch: (request) => {
			const url = urlOf(request);
			if (url.pathname.startsWith("/simulator/")) return control(request, url);
			const route = `${request.method} ${url.pathname}`;
			if (route === "POST /v1/chat/completions") return complete(request);
			if (route !== "GET /v1/models")
				return refusal(404, "unknown_url", `There is no ${route}.`);
			const header = request.headers.get("authorization");
			return header === `Bearer ${key}`
				? Response.json({
						object: "list",
						data: [{ id: "simulated", object: "model", owned_by: "simulator" }],
					})
				: unauthorised(header);
		},
	});
	const origin = `http://127.0.0.1:${server.port}`;
	return Object.assign(simulation, { origin, url: `${origin}/v1` });
}

function unauthorised(header: string | null): Response {
	return refusal(
		401,
		"invalid_api_key",
		`Incorrect API key provided: ${header ?? "none"}.`,
	);
}

/** Messages whose parts are one text. */
function plainMessages({ messages }: ChatRequest): ChatMessage[] {
	return messages.map(({ role, content }) => ({
		role,
		content:
			typeof content === "string"
				? content
				: content.map(({ text }) => text).join("\n"),
	}));
}
