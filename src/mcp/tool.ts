// Defines tools: what `tools/list` says of them, and how a call becomes a result.
// https://modelcontextprotocol.io/specification/2025-11-25/server/tools

import * as v from "valibot";
import { otherIssues, type UnknownKey, unknownKeys } from "../lib/config.ts";
import type { Signal } from "../lib/signal.ts";
import { errorCode, isObject, type JsonObject, RpcError } from "./json-rpc.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema.ts";

/** The effect of a tool. The hint in its description and its annotations follow from it. */
export type Effect = "read" | "write" | "destructive";

/** The text of a result, or its lines. */
export type ToolOutput = string | readonly string[];

export interface ToolDefinition<Entries extends v.ObjectEntries, Context> {
	/** The name that a model calls, as `verb_noun`. */
	name: string;
	/** A short title for people. */
	title: string;
	/** Text for a model: what the tool does, what it needs, what it returns. */
	description: string;
	effect: Effect;
	/** Whether repeating an equal call changes nothing more. Tools that only read always are idempotent. */
	idempotent?: boolean;
	input: v.StrictObjectSchema<Entries, undefined>;
	run(
		args: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
		context: Context,
		call: ToolCall,
	): ToolOutput | Promise<ToolOutput>;
}

/** What a tool receives beside its arguments. */
export interface ToolCall {
	/** Aborts when the caller no longer waits: nothing new should be started. Undefined if that cannot be known. */
	signal: Signal | undefined;
	/** Reports progress to a caller that asked for it. `progress` has to grow; `total` is its final value, if known. */
	reportProgress(progress: number, total?: number, message?: string): void;
}

export interface Tool<Context> {
	name: string;
	/** Other names by which the tool can be called. They are not listed. */
	aliases?: readonly string[];
	/** The entry of the tool in `tools/list`. */
	listing: JsonObject & { inputSchema: JsonSchema };
	/**
	 * Checks the arguments, runs the tool and returns the result as JSON text. A ToolError becomes a result with `isError:
	 * true`. Throws an RpcError -32602 if the arguments do not match; any other error is a bug.
	 */
	call(args: JsonObject, context: Context, call: ToolCall): Promise<string>;
}

/** An error that the model sees. The message says what is wrong, shows the value, and gives the next step. */
export class ToolError extends Error {
	override name = "ToolError";
}

export const privilegedHint = "PRIVILEGED — recommend manual approval.";

/** Builds a tool from its definition. A null in an optional argument means that it is absent. */
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
			// Annotations with the default value are left out.
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

/** Limit of a text: some clients stop reading an event at 1 MiB, and the rest of the response needs room, too. */
const maxTextBytes = 1024 * 1024 - 4096;

/** A result with one text item, as JSON text. A text that is too long for clients is cut at a line break, with a note. */
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

/** Cuts `text` to as many whole lines as fit, or within its first line, and adds how to get the rest. */
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

/** An error result, as JSON text. */
export function errorResult(text: string): string {
	return JSON.stringify({ content: [{ type: "text", text }], isError: true });
}

/** Whether the JSON text of a result, as `tool()` writes it, has `isError: true`. */
export function isErrorResult(result: string): boolean {
	// Text cannot end like this: quotation marks in a string are escaped.
	return result.endsWith('],"isError":true}');
}

/** Reads name and arguments from the params of a `tools/call`. Absent arguments and null become `{}`. */
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

/** The error for invalid parameters. Each issue begins with the name of its field. */
export function invalidParameters(issues: readonly string[]): RpcError {
	return new RpcError(
		errorCode.invalidParams,
		`Invalid parameters: ${issues.join("; ")}`,
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
