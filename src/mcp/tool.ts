// A tool: its listing, and how a call becomes a result.
// https://modelcontextprotocol.io/specification/2025-11-25/server/tools

import * as v from "valibot";
import { otherIssues, type UnknownKey, unknownKeys } from "../lib/config.ts";
import type { Signal } from "../lib/signal.ts";
import { errorCode, isObject, type JsonObject, RpcError } from "./json-rpc.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema.ts";

/** What a call does. The hint in the description and the annotations follow from it. */
export type Effect = "read" | "write" | "destructive";

/** The text of an answer, or its lines. */
export type ToolOutput = string | readonly string[];

export interface ToolDefinition<Entries extends v.ObjectEntries, Context> {
	/** `verb_noun`, the name that a model calls. */
	name: string;
	/** For people: a few words. */
	title: string;
	/** For a model: what it does, what it needs, what it returns. */
	description: string;
	effect: Effect;
	/** Whether a second equal call changes nothing more. Reads always are. */
	idempotent?: boolean;
	input: v.StrictObjectSchema<Entries, undefined>;
	run(
		args: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
		context: Context,
		call: ToolCall,
	): ToolOutput | Promise<ToolOutput>;
}

/** One call of a tool. */
export interface ToolCall {
	/** Fires when the caller no longer waits: nothing new should be begun. Undefined if the caller cannot say so. */
	signal: Signal | undefined;
	/** Reports progress to a caller that asked for it. `progress` has to grow; `total` is its final value, if known. */
	reportProgress(progress: number, total?: number, message?: string): void;
}

export interface Tool<Context> {
	name: string;
	/** Other names for calls, which are not listed. */
	aliases?: readonly string[];
	/** The entry in `tools/list`. */
	listing: JsonObject & { inputSchema: JsonSchema };
	/**
	 * Checks the arguments, runs the tool and gives the result as JSON text. A ToolError is a result with
	 * `isError: true`; arguments that do not match are an RpcError -32602; anything else thrown is a bug.
	 */
	call(args: JsonObject, context: Context, call: ToolCall): Promise<string>;
}

/** An error for the model: the message says what is wrong, shows the value, and gives the next step. */
export class ToolError extends Error {
	override name = "ToolError";
}

export const privilegedHint = "PRIVILEGED — recommend manual approval.";

/** A tool from its definition. Nulls in optional arguments mean absent. */
export function tool<const Entries extends v.ObjectEntries, Context>(
	definition: ToolDefinition<Entries, Context>,
): Tool<Context> {
	const { name, title, description, effect, input } = definition;
	const reads = effect === "read";
	return {
		name,
		listing: {
			name,
			title,
			description: reads ? description : `${privilegedHint} ${description}`,
			inputSchema: toJsonSchema(input),
			// Values that clients assume by default are left out.
			annotations: reads
				? { readOnlyHint: true }
				: {
						destructiveHint: effect === "destructive",
						...(definition.idempotent && { idempotentHint: true }),
					},
		},
		async call(args, context, call) {
			const unknown = unknownKeys(input, args);
			const parsed = v.safeParse(input, dropNulls(input.entries, args));
			if (!parsed.success || unknown.length > 0)
				throw invalidArguments(parsed.issues ?? [], unknown);
			try {
				return textResult(await definition.run(parsed.output, context, call));
			} catch (error) {
				if (error instanceof ToolError) return errorResult(error.message);
				throw error;
			}
		},
	};
}

/** Some clients stop reading an event at 1 MiB; this leaves room for the rest of the response. */
const maxTextBytes = 1024 * 1024 - 4096;

/** A result with one text item, as JSON text. Text that is too long for clients is cut at a line break, with a note. */
export function textResult(output: ToolOutput): string {
	const text = typeof output === "string" ? output : output.join("\n");
	const encoded = encode(text);
	return Buffer.byteLength(encoded) <= maxTextBytes
		? encoded
		: encode(cut(text));
}

function encode(text: string): string {
	return JSON.stringify({ content: [{ type: "text", text }] });
}

/** As many lines of `text` as fit, or the start of its first line, and how to get the rest. */
function cut(text: string): string {
	let kept = text;
	for (let bytes = Infinity; bytes > maxTextBytes; ) {
		const encoded = Buffer.byteLength(encode(kept));
		const fits = Math.floor((kept.length * maxTextBytes) / encoded) - 500;
		const end = kept.lastIndexOf("\n", fits);
		kept = kept.slice(0, end > 0 ? end : fits);
		bytes = Buffer.byteLength(encode(kept)) + 500;
	}
	return `${kept.toWellFormed()}\n[Cut here: the whole answer has ${text.length} characters. Ask for less at a time, with a smaller limit, and go on from the last id shown, with after or before.]`;
}

/** A result with `isError`, as JSON text. */
export function errorResult(text: string): string {
	return JSON.stringify({ content: [{ type: "text", text }], isError: true });
}

/** Whether a result of a tool, as `tool()` makes it, is one with `isError`. */
export function isErrorResult(result: string): boolean {
	// Text cannot end like this: quotation marks in a string are escaped.
	return result.endsWith('],"isError":true}');
}

/** Name and arguments of a `tools/call`. Absent arguments and null are `{}`. */
export function readToolCall(params: JsonObject): {
	name: string;
	args: JsonObject;
} {
	const { name } = params;
	if (typeof name !== "string")
		throw invalidParameters(["name: expected the name of a tool"]);
	const args = params.arguments ?? {};
	if (!isObject(args))
		throw invalidParameters(["arguments: expected an object"]);
	return { name, args };
}

/** The error for invalid parameters; each fault begins with the name of its field. */
export function invalidParameters(faults: readonly string[]): RpcError {
	return new RpcError(
		errorCode.invalidParams,
		`Invalid parameters: ${faults.join("; ")}`,
	);
}

function dropNulls(entries: v.ObjectEntries, args: JsonObject): JsonObject {
	const kept = Object.entries(args).filter(
		([key, value]) => value !== null || entries[key]?.type !== "optional",
	);
	return Object.fromEntries(kept);
}

function invalidArguments(
	issues: readonly v.BaseIssue<unknown>[],
	unknown: readonly UnknownKey[],
): RpcError {
	const noSuch = (field: string) => `${field}: this tool has no such parameter`;
	return invalidParameters([
		...otherIssues(issues, unknown).map((issue) => {
			const field = v.getDotPath(issue) ?? "arguments";
			if (issue.kind !== "schema") return `${field}: ${issue.message}`;
			if (issue.type === "strict_object" && issue.expected === "never")
				return noSuch(field);
			if (issue.received === "undefined") return `${field}: is required`;
			return `${field}: expected ${issue.expected}, received ${issue.received}`;
		}),
		...unknown.map(({ path }) => noSuch(path.join("."))),
	]);
}
