// Defines tools: what `tools/list` says of them, and how a call becomes a result.
// https://modelcontextprotocol.io/specification/2025-11-25/server/tools

import * as v from "valibot";
import { otherIssues, type UnknownKey, unknownKeys } from "../lib/config.ts";
import { isObject, type JsonObject } from "../lib/json.ts";
import type { Signal } from "../lib/signal.ts";
import { ToolError } from "../lib/tool-error.ts";
import { errorCode, RpcError } from "./json-rpc.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema.ts";

/** Access levels and approval go by it. MCP's `destructiveHint: false` promises something else: that calls only add. */
export type Effect = "read" | "write" | "destructive";

/** `advice`: for programs, in `_meta`. */
export type ToolOutput = string | readonly string[] | { lines: readonly string[]; advice: Advice };

/** Settings by key, as in set_settings, that would change what a result shows. Null for the default. */
export interface Advice {
	set: Readonly<Record<string, unknown>>;
}

/** In `_meta` of a result: an `Advice`. */
export const adviceKey = "guildhall/advice";

export interface ToolDefinition<Entries extends v.ObjectEntries, Context> {
	/** In the form `verb_noun`. */
	name: string;
	title: string;
	/** For an AI model: what the tool does, what it needs, what it returns. */
	description: string;
	effect: Effect;
	/** Calls can do nothing but add (`destructiveHint: false`). Default: false. */
	additive?: boolean;
	/** Repeating has no further effect; always true of tools that only read. */
	idempotent?: boolean;
	/** The arguments. Others are refused. */
	input: Entries;
	run(args: ArgumentsOf<Entries>, context: Context, call: ToolCall): ToolOutput | Promise<ToolOutput>;
}

export type ArgumentsOf<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>>;

export interface ToolCall {
	/** Aborts when the client no longer waits: start nothing new. Undefined if the server cannot learn this. */
	signal: Signal | undefined;
	/** `progress` has to grow from call to call; `total` is its final value, if known. */
	reportProgress(progress: number, total?: number, message?: string): void;
	/** Before a "write" call that is destructive by its arguments changes anything. A throw ends the call. */
	onDestructive?: (() => void) | undefined;
	/** `id` of a message that the call has sent. */
	onMessage?: ((id: string) => void) | undefined;
}

export interface Tool<Context> {
	name: string;
	/** The least: with some arguments, a call of a "write" tool may be destructive. */
	effect: Effect;
	listing: JsonObject & { inputSchema: JsonSchema };
	/** JSON text. A ToolError becomes `isError: true`; throws an RpcError if `args` do not match the schema. */
	call(args: JsonObject, context: Context, call: ToolCall): Promise<string>;
}

export const privilegedHint = "PRIVILEGED — recommend manual approval.";

/** In a call, null for an optional argument means that it is absent. */
export function tool<const Entries extends v.ObjectEntries, Context>(
	definition: ToolDefinition<Entries, Context>,
): Tool<Context> {
	const { name, title, description, effect } = definition;
	const input = v.strictObject(definition.input);
	const reads = effect === "read";
	return {
		name,
		effect,
		listing: {
			name,
			title,
			description: reads ? description : `${privilegedHint} ${description}`,
			inputSchema: toJsonSchema(input),
			// Annotations with the default value are left out.
			annotations: reads
				? { readOnlyHint: true }
				: { destructiveHint: !definition.additive, ...(definition.idempotent && { idempotentHint: true }) },
		},
		async call(args, context, call) {
			const parsed = v.safeParse(input, dropNulls(input.entries, args));
			if (!parsed.success) throw invalidArguments(parsed.issues, unknownKeys(input, args));
			try {
				return textResult(await definition.run(parsed.output, context, call));
			} catch (error) {
				if (error instanceof ToolError) return errorResult(error.message, error.isFailure);
				throw error;
			}
		},
	};
}

/** In bytes. Some clients read at most 1 MiB of an SSE event, which has other data, too. */
const maxTextBytes = 1024 * 1024 - 4096;

/** JSON text, cut at a line break with a note if it is too long for MCP clients. */
export function textResult(output: ToolOutput): string {
	const { lines, advice } = typeof output === "object" && "lines" in output ? output : { lines: output };
	const text = typeof lines === "string" ? lines : lines.join("\n");
	const _meta = advice && { [adviceKey]: advice };
	const encoded = encode(text, _meta);
	return Buffer.byteLength(encoded) <= maxTextBytes ? encoded : encode(cut(text), _meta);
}

function encode(text: string, _meta?: JsonObject): string {
	return JSON.stringify({ _meta, content: [{ type: "text", text }] });
}

function cut(text: string): string {
	let kept = text;
	for (let bytes = Infinity; bytes > maxTextBytes; ) {
		const fits = Math.floor((kept.length * maxTextBytes) / Buffer.byteLength(encode(kept))) - 500;
		const end = kept.lastIndexOf("\n", fits);
		kept = kept.slice(0, end > 0 ? end : fits);
		bytes = Buffer.byteLength(encode(kept)) + 500;
	}
	return `${kept.toWellFormed()}\n[Cut here: the whole answer has ${text.length} characters. Ask for less at a time, with a smaller limit, and go on from the last id shown, with after or before.]`;
}

/** In `_meta` of an error result: something is broken. Without it, the call was refused. */
export const failureKey = "guildhall/failure";
const failureOpening = `{"_meta":{"${failureKey}":true}`;

/** JSON text with `isError: true`. */
export function errorResult(text: string, isFailure = false): string {
	const result = { content: [{ type: "text", text }], isError: true };
	return JSON.stringify(isFailure ? { _meta: { [failureKey]: true }, ...result } : result);
}

/** Only for JSON text that this program created. */
export function isErrorResult(result: string): boolean {
	// Text cannot end like this: quotation marks in a string are escaped.
	return result.endsWith('],"isError":true}');
}

/** Only for JSON text that this program created. */
export function outcomeIn(result: string): "done" | "refused" | "failed" {
	if (!isErrorResult(result)) return "done";
	return result.startsWith(failureOpening) ? "failed" : "refused";
}

/** What a result says: its texts, and other content as JSON. */
export function textOf(result: unknown): string {
	const { content } = Object(result) as JsonObject;
	const items: unknown[] = Array.isArray(content) ? content : [];
	const texts = items.map((item) =>
		isObject(item) && typeof item.text === "string" ? item.text : JSON.stringify(item),
	);
	return texts.join("\n");
}

/** The same of JSON text. */
export function textIn(result: string): string {
	return textOf(JSON.parse(result));
}

/** Missing arguments and null become `{}`. Throws an RpcError for invalid params. */
export function readToolCall(params: JsonObject) {
	const { name } = params;
	if (typeof name !== "string") throw invalidParameters(["name: expected the name of a tool"]);
	const args = params.arguments ?? {};
	if (!isObject(args)) throw invalidParameters(["arguments: expected an object"]);
	return { name, args };
}

/** Each issue begins with the name of its parameter. */
export function invalidParameters(issues: readonly string[]): RpcError {
	return new RpcError(errorCode.invalidParams, `Invalid parameters: ${issues.join("; ")}`);
}

function dropNulls(entries: v.ObjectEntries, args: JsonObject): JsonObject {
	const kept = Object.entries(args).filter(([key, value]) => value !== null || entries[key]?.type !== "optional");
	return Object.fromEntries(kept);
}

const noSuch = "this tool has no such parameter";

const maxNames = 20;

function invalidArguments(issues: readonly v.BaseIssue<unknown>[], unknown: readonly UnknownKey[]): RpcError {
	return invalidParameters([
		...otherIssues(issues, unknown).map((issue) => {
			const field = v.getDotPath(issue) ?? "arguments";
			if (issue.kind !== "schema") return `${field}: ${issue.message}`;
			if (issue.type === "strict_object" && issue.expected === "never") return `${field}: ${noSuch}`;
			if (issue.received === "undefined") return `${field}: is required`;
			return `${field}: expected ${issue.expected}, received ${issue.received}`;
		}),
		...unknown.map(({ path, known }, index) => {
			const field = `${path.join(".")}: ${noSuch}`;
			// Keys of one object follow each other: the last one says which keys the object can have.
			return unknown[index + 1]?.known === known ? field : `${field}, but ${namesOf(known)}`;
		}),
	]);
}

function namesOf(known: readonly string[]): string {
	if (known.length === 0) return "none";
	return [...known.slice(0, maxNames), ...(known.length > maxNames ? ["…"] : [])].join(", ");
}
