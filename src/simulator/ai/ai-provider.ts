// An AI provider with the part of OpenAI's API that most providers share: chat completions, streamed or not. By default it
// quotes the last message. It can misbehave on demand.
// https://platform.openai.com/docs/api-reference/chat

import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import { aborted } from "../../lib/signal.ts";
import { createControl, readBody, urlOf } from "../control/control.ts";
import {
	type AiMisbehaviour,
	aiMisbehaviours,
	type ChatMessage,
	type ChatRequest,
	chatRequest,
	createCompletion,
	errorResponses,
	openAiError,
	quoteLastMessage,
	toJson,
} from "./chat-completions.ts";
import { streamAnswer } from "./stream.ts";

/**
 * A chat completion request that the simulated AI provider received, and how the provider's response to the request
 * ended.
 */
export interface AiRequest {
	readonly model: string | undefined;
	readonly messages: readonly ChatMessage[];
	readonly stream: boolean;
	readonly body: unknown;
	/** Whether the request had the right API key, a wrong one, or none. */
	readonly authorization: "right" | "wrong" | "none";
	/**
	 * "waiting" until the response ends. Then how it ended: "whole" (complete), "broken" (broken off by the provider),
	 * "hung up" (aborted by the client), or the HTTP status of an error.
	 */
	readonly outcome: "waiting" | "whole" | "broken" | "hung up" | number;
}

export interface AiSimulation extends AsyncDisposable {
	/** The base URL of the simulated AI provider for a bot's configuration: "http://127.0.0.1:PORT/v1". */
	readonly url: string;
	/** The origin of the simulated AI provider: "http://127.0.0.1:PORT". Its control routes are below /simulator/. */
	readonly origin: string;
	readonly key: string;
	/** The latest 1,000 chat completion requests that the simulated AI provider received, oldest first. */
	readonly requests: readonly AiRequest[];
	/** Returns the text with which the simulated AI responds to a conversation. Tests may replace this function. */
	answer: (messages: readonly ChatMessage[]) => string;
	/** Makes the AI provider misbehave for the next `times` requests. Default: until `behave()` is called. */
	misbehave(kind: AiMisbehaviour, given?: { times?: number | undefined }): void;
	/** Ends the misbehaviour of the AI provider, which then sends the responses that it has held back. */
	behave(): void;
	close(): Promise<void>;
}

export interface AiSimulationOptions {
	readonly port?: number;
	/** The API key that clients of the simulated AI provider must send. Random by default. */
	readonly key?: string;
}

const maxRequests = 1_000;

const misbehaveRequest = v.strictObject({
	kind: v.picklist(aiMisbehaviours),
	times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

const answerRequest = v.strictObject({ text: v.nullable(v.string()) });

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export async function startAiProvider(options: AiSimulationOptions = {}): Promise<AiSimulation> {
	const key = options.key ?? `sk-simulated-${randomUUID()}`;
	const requests: Writable<AiRequest>[] = [];
	let wrong: { kind: AiMisbehaviour; left: number } | undefined;
	let held = Promise.withResolvers<void>();

	const nextMisbehaviour = (): AiMisbehaviour | undefined => {
		const now = wrong;
		if (!now) return undefined;
		now.left -= 1;
		if (now.left <= 0) wrong = undefined;
		return now.kind;
	};

	const note = (body: unknown, request: ChatRequest | undefined, header: string | null) => {
		const record: Writable<AiRequest> = {
			model: request?.model,
			messages: request ? plainMessages(request) : [],
			stream: request?.stream ?? false,
			body,
			authorization: header === null ? "none" : header === `Bearer ${key}` ? "right" : "wrong",
			outcome: "waiting",
		};
		requests.push(record);
		if (requests.length > maxRequests) requests.shift();
		return record;
	};

	const complete = async (request: Request): Promise<Response> => {
		const body = parseJson(await request.text());
		const { success, output } = v.safeParse(chatRequest, body);
		const header = request.headers.get("authorization");
		const record = note(body, success ? output : undefined, header);
		const finish = (response: Response) => {
			record.outcome = response.ok ? "whole" : response.status;
			return response;
		};
		if (record.authorization !== "right") return finish(unauthorized(header));
		const invalid = "Invalid request body.";
		if (!success) return finish(openAiError(400, "invalid_request", invalid));
		const kind = nextMisbehaviour();
		const errorResponse = kind && errorResponses[kind];
		if (errorResponse) return finish(errorResponse(key));
		const { promise: released } = held;
		if (kind === "slow") await Promise.race([released, aborted(request.signal)]);
		if (request.signal.aborted) {
			record.outcome = "hung up";
			return new Response(null, { status: 500 });
		}
		const text = simulation.answer(record.messages);
		const answer = createCompletion(output, text);
		if (!output.stream || kind === "no-stream") return finish(Response.json(toJson(answer)));
		const onEnd = (how: "whole" | "broken" | "hung up") => {
			if (record.outcome === "waiting") record.outcome = how;
		};
		request.signal.addEventListener("abort", () => onEnd("hung up"));
		return streamAnswer(answer, { kind, released, onEnd });
	};

	const simulation: Omit<AiSimulation, "url" | "origin"> = {
		key,
		requests,
		answer: quoteLastMessage,
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
			const { text } = await readBody(answerRequest, request);
			simulation.answer = text === null ? quoteLastMessage : () => text;
			return { text };
		},
		"POST /simulator/misbehave": async (request) => {
			const { kind, times } = await readBody(misbehaveRequest, request);
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
			if (route !== "GET /v1/models") return openAiError(404, "unknown_url", `Unknown URL: ${route}.`);
			const header = request.headers.get("authorization");
			return header === `Bearer ${key}`
				? Response.json({
						object: "list",
						data: [{ id: "simulated", object: "model", owned_by: "simulator" }],
					})
				: unauthorized(header);
		},
	});
	const origin = `http://127.0.0.1:${server.port}`;
	return Object.assign(simulation, { origin, url: `${origin}/v1` });
}

function unauthorized(header: string | null): Response {
	const message = `Incorrect API key provided: ${header ?? "none"}.`;
	return openAiError(401, "invalid_api_key", message);
}

function plainMessages({ messages }: ChatRequest): ChatMessage[] {
	return messages.map(({ role, content }) => ({
		role,
		content: typeof content === "string" ? content : content.map(({ text }) => text).join("\n"),
	}));
}
