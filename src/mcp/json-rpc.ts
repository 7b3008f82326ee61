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
	/** A header does not say what the body does. From 2026-07-28 on. */
	headerMismatch: -32020,
	/** The error's data names the versions that are supported. From 2026-07-28 on. */
	unsupportedVersion: -32022,
	/** An SDK convention, with HTTP 404. */
	sessionNotFound: -32001,
} as const;

/** A fault that the MCP client has to mend. It becomes a JSON-RPC error. */
export class RpcError extends Error {
	override name = "RpcError";
	/** What the error says beside its message, for programs. */
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

/** A response to a request that we never sent: we send none. */
export interface RpcResponse {
	kind: "response";
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** A message that is not one, with the id to answer it under: JSON text, "null" where none could be read. */
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
			if (id !== undefined) throw standsTwice("id");
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
	if (repeated) throw standsTwice(repeated, id);
	if (message.jsonrpc !== "2.0")
		throw invalid('"jsonrpc" is not the string "2.0"', id);

	const { method, params = {} } = message;
	if (method === undefined && ("result" in message || "error" in message))
		return { kind: "response" };
	if (typeof method !== "string") throw invalid('"method" is no string', id);
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

/** The fault of a message in which a key stands twice that decides what it asks for: it could be read two ways. */
export function standsTwice(key: string, id?: string): MalformedMessage {
	return invalid(`"${key}" stands twice`, id);
}

/** Whether JSON text is a request's id: a string or an integer, of any size. */
function isId(text: string): boolean {
	return text.startsWith('"') || /^-?\d+$/.test(text);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// The parser's own words would quote the body.
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
