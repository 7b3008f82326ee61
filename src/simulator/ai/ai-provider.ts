// An AI provider with the part of OpenAI's API that most providers share: chat completions, streamed or not. By default it
// quotes the last message. It can misbehave on demand.
// https://platform.openai.com/docs/api-reference/chat
//
// A gap: The AI provider has no tools, images, JSON modes, reasoning, usage in streams, embeddings and prices. Its
// errors follow the documented kinds of OpenAI, DeepSeek and OpenRouter, none exactly.

import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import { aborted } from "../../lib/signal.ts";
import { type ControlRoutes, count, Misbehaviours, serveControlled, withBody } from "../control/control.ts";
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

/** A chat completion request that the provider received, and how its response ended. */
interface AiRequest {
	model: string | undefined;
	messages: readonly ChatMessage[];
	stream: boolean;
	body: unknown;
	authorization: "right" | "wrong" | "none";
	/** Until the end "waiting"; "broken" by the provider, "hung up" by the client; a number: HTTP status of an error. */
	outcome: "waiting" | "whole" | "broken" | "hung up" | number;
}

interface AiSimulationOptions {
	port?: number;
	/** The API key that clients of the simulated AI provider must send. Random by default. */
	key?: string;
}

const maxRequests = 1_000;

const misbehaveRequest = v.strictObject({ kind: v.picklist(aiMisbehaviours), times: v.optional(count) });

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export async function startAiProvider(options: AiSimulationOptions = {}): Promise<AiSimulation> {
	return new AiSimulation(options);
}

export class AiSimulation implements AsyncDisposable {
	/** The base URL of the simulated AI provider for a bot's configuration: "http://127.0.0.1:PORT/v1". */
	readonly url: string;
	/** The origin of the simulated AI provider: "http://127.0.0.1:PORT". Its control routes are below /simulator/. */
	readonly origin: string;
	readonly key: string;
	/** The latest 1,000 chat completion requests that the simulated AI provider received, oldest first. */
	readonly requests: AiRequest[] = [];
	answer: (messages: readonly ChatMessage[]) => string = quoteLastMessage;
	readonly #wrong = new Misbehaviours<AiMisbehaviour>();
	readonly #server: Bun.Server<undefined>;

	constructor(options: AiSimulationOptions) {
		this.key = options.key ?? `sk-simulated-${randomUUID()}`;
		this.#server = serveControlled(options.port ?? 0, controlRoutes(this), (...asked) => this.#respond(...asked));
		this.origin = `http://127.0.0.1:${this.#server.port}`;
		this.url = `${this.origin}/v1`;
	}

	/** Makes the AI provider misbehave for the next `times` requests. Default: until `behave()` is called. */
	misbehave(kind: AiMisbehaviour, { times }: { times?: number | undefined } = {}): void {
		this.#wrong.set(kind, times);
	}

	behave(): void {
		this.#wrong.clear();
	}

	async close(): Promise<void> {
		this.behave();
		await this.#server.stop(true);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#respond(request: Request, { pathname }: URL): Response | Promise<Response> {
		const route = `${request.method} ${pathname}`;
		if (route === "POST /v1/chat/completions") return this.#complete(request);
		if (route !== "GET /v1/models") return openAiError(404, "unknown_url", `Unknown URL: ${route}.`);
		const header = request.headers.get("authorization");
		if (header !== `Bearer ${this.key}`) return unauthorized(header);
		return Response.json({ object: "list", data: [{ id: "simulated", object: "model", owned_by: "simulator" }] });
	}

	async #complete(request: Request): Promise<Response> {
		const body = parseJson(await request.text());
		const { success, output } = v.safeParse(chatRequest, body);
		const header = request.headers.get("authorization");
		const record: Writable<AiRequest> = {
			model: success ? output.model : undefined,
			messages: success ? plainMessages(output) : [],
			stream: (success && output.stream) ?? false,
			body,
			authorization: header === null ? "none" : header === `Bearer ${this.key}` ? "right" : "wrong",
			outcome: "waiting",
		};
		this.requests.push(record);
		if (this.requests.length > maxRequests) this.requests.shift();
		const finish = (response: Response) => {
			record.outcome = response.ok ? "whole" : response.status;
			return response;
		};
		if (record.authorization !== "right") return finish(unauthorized(header));
		if (!success) return finish(openAiError(400, "invalid_request", "Invalid request body."));
		const { released } = this.#wrong;
		const kind = this.#wrong.next();
		const errorResponse = kind && errorResponses[kind];
		if (errorResponse) return finish(errorResponse(this.key));
		if (kind === "slow") await Promise.race([released, aborted(request.signal)]);
		if (request.signal.aborted) {
			record.outcome = "hung up";
			return new Response(null, { status: 500 });
		}
		const answer = createCompletion(output, this.answer(record.messages));
		if (!output.stream || kind === "no-stream") return finish(Response.json(toJson(answer)));
		const onEnd = (how: "whole" | "broken" | "hung up") => {
			if (record.outcome === "waiting") record.outcome = how;
		};
		request.signal.addEventListener("abort", () => onEnd("hung up"));
		return streamAnswer(answer, { kind, released, onEnd });
	}
}

function controlRoutes(ai: AiSimulation): ControlRoutes {
	return {
		"GET /simulator/state": () => ({ requests: ai.requests }),
		"PUT /simulator/answer": withBody(v.strictObject({ text: v.nullable(v.string()) }), ({ text }) => {
			ai.answer = text === null ? quoteLastMessage : () => text;
			return { text };
		}),
		"POST /simulator/misbehave": withBody(misbehaveRequest, (given) => {
			ai.misbehave(given.kind, given);
			return given;
		}),
		"POST /simulator/behave": () => {
			ai.behave();
			return {};
		},
	};
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
