// JSON-RPC 2.0 as MCP uses it: one message a body, ids that are strings or integers.
// https://www.jsonrpc.org/specification, https://modelcontextprotocol.io/specification/2025-11-25/basic

import { MemberReader } from "./json-text.ts";

export type JsonObject = Record<string, unknown>;

/** The codes we answer with. https://www.jsonrpc.org/specification#error_object */
export const errorCode = {
	parse: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	/** A header contradicts the body. From 2026-07-28 on. */
	headerMismatch: -32020,
	/** The error's data lists the supported versions. From 2026-07-28 on. */
	unsupportedVersion: -32022,
	/** An SDK convention, with HTTP 404. */
	sessionNotFound: -32001,
} as const;

/** An error of the MCP client. It becomes a JSON-RPC error. */
export class RpcError extends Error {
	override name = "RpcError";
	/** The `data` of the JSON-RPC error, for programs. */
	readonly data: JsonObject | undefined;
	constructor(
		readonly code: number,
		message: string,
		options?: ErrorOptions & { data?: JsonObject },
	) {
		super(message, options);
		this.data = options?.data;
	}
}

/**
 * A request. `id` is the id as JSON text, exactly as it was written: an integer beyond 2^53 comes back whole.
 * `text` is the whole message, `paramsAt` where its params begin in it.
 */
export interface RpcRequest {
	kind: "request";
	id: string;
	method: string;
	params: JsonObject;
	text: string;
	paramsAt: number | undefined;
}

export interface RpcNotification {
	kind: "notification";
	method: string;
	params: JsonObject;
}

export type RpcMessage =
	| RpcRequest
	| RpcNotification
	/** Ignored: it answers a request that we never sent. */
	| { kind: "response" };

/** An invalid message, with the id for the error: JSON text, "null" if none could be read. */
export class MalformedMessage extends RpcError {
	constructor(
		code: number,
		message: string,
		readonly id: string = "null",
	) {
		super(code, message);
	}
}

/** Reads one message. Throws a MalformedMessage for anything else, batches included. */
export function parseMessage(text: string): RpcMessage {
	const message = parseJson(text);
	if (Array.isArray(message)) throw invalid("batches are not supported");
	if (!isObject(message)) throw invalid("a message is a JSON object");

	const members = new MemberReader(text);
	let id: string | undefined;
	let paramsAt: number | undefined;
	let hasMethod = false;
	let repeated: string | undefined;
	while (members.next()) {
		if (members.is("id")) {
			if (id !== undefined) throw duplicateKey("id");
			id = members.value;
		} else if (members.is("method")) {
			if (hasMethod) repeated ??= "method";
			hasMethod = true;
		} else if (members.is("params")) {
			if (paramsAt !== undefined) repeated ??= "params";
			paramsAt = members.start;
		}
	}
	if (id !== undefined && !isId(id))
		throw invalid("an id is a string or an integer");
	if (repeated) throw duplicateKey(repeated, id);
	if (message.jsonrpc !== "2.0")
		throw invalid('"jsonrpc" is not the string "2.0"', id);

	const { method, params = {} } = message;
	if (method === undefined && ("result" in message || "error" in message))
		return { kind: "response" };
	if (typeof method !== "string") throw invalid('"method" is not a string', id);
	if (!isObject(params))
		throw new MalformedMessage(
			errorCode.invalidParams,
			"Invalid parameters: params is not an object",
			id,
		);
	if (id === undefined) return { kind: "notification", method, params };
	return { kind: "request", id, method, params, text, paramsAt };
}

/** The text of a response with a result that is JSON text already. */
export function resultResponse(id: string, result: string): string {
	return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** The text of a response with an error. */
export function errorResponse(
	id: string,
	{ code, message, data }: Pick<RpcError, "code" | "message" | "data">,
): string {
	const error = JSON.stringify({ code, message, data });
	return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

export function isObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The error for a duplicate key that decides what a message asks for: parsers differ in which of the two they read. */
export function duplicateKey(key: string, id?: string): MalformedMessage {
	return invalid(`duplicate key "${key}"`, id);
}

/** Whether JSON text is a request's id: a string or an integer, of any size. */
function isId(text: string): boolean {
	return text.startsWith('"') || /^-?\d+$/.test(text);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// The parser's own message would quote the body.
		throw new MalformedMessage(errorCode.parse, "Parse error");
	}
}

function invalid(what: string, id?: string): MalformedMessage {
	return new MalformedMessage(
		errorCode.invalidRequest,
		`Invalid request: ${what}`,
		id,
	);
}
