// An AI provider with the part of OpenAI's API that most providers share: chat completions with tools, streamed or not. By
// default it quotes the last message; tool calls come from a script. It can misbehave on demand.
// https://platform.openai.com/docs/api-reference/chat
//
// A gap: The AI provider has no images, JSON modes, reasoning, embeddings and prices, and ignores tool_choice and the schemas
// of tools. Its errors follow the documented kinds of OpenAI, DeepSeek and OpenRouter, none exactly.

import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import { aborted } from "../../lib/signal.ts";
import { ControlledServer, type ControlRoutes, withBody } from "../control/control.ts";
import {
	type AnswerStep,
	answerStep,
	type ChatMessage,
	type ChatRequest,
	chatRequest,
	conversationError,
	createCompletion,
	errorResponses,
	openAiError,
	quoteLastMessage,
	streamEvents,
	toJson,
} from "./chat-completions.ts";
import { streamAnswer, wrongStreams } from "./stream.ts";

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
	key?: string;
}

const maxRequests = 1_000;
const scriptBody = v.strictObject({ steps: v.array(answerStep), repeat: v.optional(v.boolean()) });

export type AiMisbehaviour = "slow" | "no-stream" | keyof typeof errorResponses | keyof typeof wrongStreams;

const misbehaviours = ["slow", "no-stream", ...Object.keys({ ...errorResponses, ...wrongStreams })];

export async function startAiProvider(options: AiSimulationOptions = {}): Promise<AiSimulation> {
	return new AiSimulation(options);
}

export class AiSimulation extends ControlledServer<AiMisbehaviour> {
	readonly url = `${this.origin}/v1`;
	readonly key: string;
	readonly requests: AiRequest[] = [];
	answer: (messages: readonly ChatMessage[]) => string = quoteLastMessage;
	/** Each request takes the first step off the list, or asks the function. Without a step it gets the text of `answer`. */
	script: AnswerStep[] | ((messages: readonly ChatMessage[]) => AnswerStep | undefined) = [];

	constructor({ port = 0, key = `sk-simulated-${randomUUID()}` }: AiSimulationOptions) {
		super(port, misbehaviours as readonly AiMisbehaviour[]);
		this.key = key;
	}

	protected controls(): ControlRoutes {
		return {
			"GET /simulator/state": () => ({ requests: this.requests }),
			"PUT /simulator/answer": withBody(v.strictObject({ text: v.nullable(v.string()) }), ({ text }) => {
				this.answer = text === null ? quoteLastMessage : () => text;
				return { text };
			}),
			"PUT /simulator/script": withBody(scriptBody, ({ steps, repeat }) => {
				this.script = repeat ? () => steps[0] : steps;
				return { steps, repeat };
			}),
		};
	}

	protected respond(request: Request, { pathname }: URL): Response | Promise<Response> {
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
		const record: AiRequest = {
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
		const invalid = success ? conversationError(output) : "Invalid request body.";
		if (!success || invalid) return finish(openAiError(400, "invalid_request", invalid ?? ""));
		const { released } = this;
		const kind = this.nextFault()?.kind;
		if (kind && isKey(errorResponses, kind)) return finish(errorResponses[kind](this.key));
		if (kind === "slow") await Promise.race([released, aborted(request.signal)]);
		if (request.signal.aborted) {
			record.outcome = "hung up";
			return new Response(null, { status: 500 });
		}
		const step = typeof this.script === "function" ? this.script(record.messages) : this.script.shift();
		const answer = createCompletion(output, step ?? { text: this.answer(record.messages) });
		if (!output.stream || kind === "no-stream") return finish(Response.json(toJson(answer)));
		const onEnd = (how: "whole" | "broken" | "hung up") => {
			if (record.outcome === "waiting") record.outcome = how;
		};
		request.signal.addEventListener("abort", () => onEnd("hung up"));
		const events = kind && isKey(wrongStreams, kind) ? wrongStreams[kind] : streamEvents;
		return streamAnswer(answer, { events, released, onEnd });
	}
}

function isKey<T extends object>(table: T, key: PropertyKey): key is keyof T {
	return Object.hasOwn(table, key);
}

function unauthorized(header: string | null): Response {
	const message = `Incorrect API key provided: ${header ?? "none"}.`;
	return openAiError(401, "invalid_api_key", message);
}

function plainMessages({ messages }: ChatRequest): ChatMessage[] {
	return messages.map(({ content, ...message }) => ({
		...message,
		content: typeof content === "string" ? content : (content ?? []).map(({ text }) => text).join("\n"),
	}));
}
