// Tool calls in OpenAI's chat completions format: read from streamed pieces, and sent back with their results. Where
// providers differ: README.md.

import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { isObject, type JsonObject, parseJson } from "../lib/json.ts";
import { AiError } from "./error.ts";
import type { AiProvider } from "./providers.ts";

const maxCalls = 16;
const maxArgumentsLength = 64 * 1024;

export interface ToolSpec {
	name: string;
	description: string;
	/** JSON Schema. */
	parameters: object;
}

export interface ToolCall {
	id: string;
	name: string;
	/** The text that the model wrote, meant to be a JSON object. */
	arguments: string;
	/** What the call's provider wants back: fields of the call, and of the message that holds it. */
	extra?: { provider: string; call: JsonObject; message: JsonObject };
}

export type AiMessage =
	| { role: "system" | "user" | "assistant"; content: string; toolCalls?: readonly ToolCall[] }
	| { role: "tool"; content: string; callId: string };

const object = v.record(v.string(), v.unknown());
const text = v.nullish(v.string());

const callPiece = v.object({
	index: v.nullish(v.number()),
	id: text,
	function: v.nullish(v.object({ name: text, arguments: v.nullish(v.union([v.string(), object])) })),
	extra_content: v.nullish(object),
});

/** A streamed piece of an answer. */
export const delta = v.object({
	content: text,
	refusal: text,
	tool_calls: v.nullish(v.array(callPiece)),
	reasoning_content: text,
	reasoning_details: v.fallback(v.nullish(v.array(object)), undefined),
});

type PartialCall = Omit<ToolCall, "extra"> & { index: number | null | undefined; fields: JsonObject };

export class ToolCallReader {
	readonly #calls: PartialCall[] = [];
	readonly #message: { reasoning_content?: string; reasoning_details?: JsonObject[] } = {};
	#length = 0;

	add({ tool_calls, reasoning_content, reasoning_details }: v.InferOutput<typeof delta>): void {
		if (reasoning_content)
			this.#message.reasoning_content = (this.#message.reasoning_content ?? "") + reasoning_content;
		for (const detail of reasoning_details ?? []) this.#addDetail(detail);
		for (const piece of tool_calls ?? []) {
			const given = piece.function?.arguments ?? "";
			const written = typeof given === "string" ? given : JSON.stringify(given);
			const call = this.#callOf(piece, written);
			call.arguments += written;
			if (piece.extra_content) call.fields.extra_content = piece.extra_content;
			this.#length += written.length;
			if (this.#length > maxArgumentsLength)
				throw invalid(`more than ${maxArgumentsLength / 1024} KiB of arguments of tool calls`);
		}
	}

	/** The first calls: that a model calls too often is no failure of its provider. */
	finish(provider: string): ToolCall[] {
		const ids = new Set<string>();
		return this.#calls.slice(0, maxCalls).map(({ id: given, name, arguments: written, fields }, index) => {
			if (name === "") throw invalid("a tool call without a name");
			// Some send none, or ids that other providers refuse.
			const id = /^[\w-]{1,40}$/.test(given) && !ids.has(given) ? given : `call_${randomUUID().replaceAll("-", "")}`;
			ids.add(id);
			const message = index === 0 ? this.#message : {};
			return { id, name, arguments: written || "{}", extra: { provider, call: fields, message } };
		});
	}

	#callOf({ index, id, function: named }: v.InferOutput<typeof callPiece>, written: string): PartialCall {
		const name = named?.name ?? "";
		const last = this.#calls.findLast((call) => typeof index !== "number" || call.index === index);
		// Some repeat the name in each piece. After a complete object it belongs to the next call.
		const isNext = id ? id !== last?.id : name !== last?.name || (written !== "" && isJsonObject(last.arguments));
		if (last && (name === "" || !isNext)) return last;
		const call = { index, id: id ?? "", name, arguments: "", fields: {} };
		this.#calls.push(call);
		return call;
	}

	#addDetail(detail: JsonObject): void {
		const { index, type, id } = detail;
		this.#message.reasoning_details ??= [];
		const last = this.#message.reasoning_details.findLast((known) => known.index === index && known.type === type);
		if (!last || index === undefined || (last.id && id && last.id !== id))
			this.#message.reasoning_details.push({ ...detail });
		else
			for (const [key, value] of Object.entries(detail))
				last[key] = key === "text" || key === "summary" ? `${last[key] ?? ""}${value ?? ""}` : (value ?? last[key]);
	}
}

const invalid = (what: string) => new AiError("nonsense", { detail: `the AI provider sent ${what}` });
const isJsonObject = (text: string) => isObject(parseJson(text));

/** Messages in the format of a request to this provider. */
export function toMessages(messages: readonly AiMessage[], { name: provider, url }: AiProvider): object[] {
	const isGemini = url.includes("//generativelanguage.googleapis.com/");
	const unsigned = isGemini && { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } };
	const names = new Map<string, string>();
	return messages.map((message) => {
		const { role, content } = message;
		if (role === "tool")
			return { role, tool_call_id: message.callId, content, ...(isGemini && { name: names.get(message.callId) }) };
		const { toolCalls = [] } = message;
		if (toolCalls.length === 0) return { role, content };
		const own = toolCalls.map(({ extra }) => (extra?.provider === provider ? extra : undefined));
		const tool_calls = toolCalls.map(({ id, name, arguments: written }, index) => {
			names.set(id, name);
			// Several, such as Ollama and vLLM, refuse a request with arguments that are not a JSON object.
			const args = isJsonObject(written) ? written : JSON.stringify({ invalid_json: written });
			const extra = own[index]?.call ?? (index === 0 && unsigned);
			return { id, type: "function", function: { name, arguments: args }, ...extra };
		});
		return { role, content: content || null, ...own[0]?.message, tool_calls };
	});
}
