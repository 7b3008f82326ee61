// JSON-RPC 2.0 as MCP uses it: one message per body, and ids that are strings or integers.
// https://www.jsonrpc.org/specification, https://modelcontextprotocol.io/specification/2025-11-25/basic

import { isObject, type JsonObject, parseJson } from "../lib/json.ts";
import { MemberReader } from "./json-text.ts";
import type { PreparedEvent } from "./sse.ts";

export { isObject, type JsonObject };

/** JSON-RPC error codes that our MCP servers return. https://www.jsonrpc.org/specification#error_object */
export const errorCode = {
	parse: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	/** Error code for an HTTP header that contradicts the request body. In MCP since revision 2026-07-28. */
	headerMismatch: -32020,
	/**
	 * Error code for a request that requires a capability which the client has not declared. The error's `data` lists it. In
	 * MCP since revision 2026-07-28.
	 */
	missingCapability: -32021,
	/**
	 * Error code for an unsupported MCP version. The error's `data` lists the supported versions. In MCP since revision
	 * 2026-07-28.
	 */
	unsupportedVersion: -32022,
	/** Error code for an unknown session. A convention of the MCP SDKs, sent with HTTP 404. */
	sessionNotFound: -32001,
} as const;

/** Thrown for a mistake of the MCP client, such as invalid parameters. The client receives it as a JSON-RPC error. */
export class RpcError extends Error {
	override name = "RpcError";
	/** The `data` member of the JSON-RPC error: details for client programs, beside the message for people. */
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
 * A parsed JSON-RPC request. `id` is JSON text as the client wrote it, so that integers beyond 2^53 stay exact. `text`
 * is the whole message; `paramsAt` is the position of the `params` value in `text`.
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
	/** A JSON-RPC response sent by a client. It is ignored, since our servers send no requests. */
	| { kind: "response" };

/**
 * Thrown for an invalid JSON-RPC message. `id` is the message's id as JSON text, for the error response; "null" if no
 * id could be read. `status` is the HTTP status of the error response.
 */
export class MalformedMessage extends RpcError {
	constructor(
		code: number,
		message: string,
		readonly id: string = "null",
		readonly status: number = 400,
	) {
		super(code, message);
	}
}

/** Parses one JSON-RPC message. Throws a MalformedMessage for anything else, including batches of messages. */
export function parseMessage(text: string): RpcMessage {
	const message = parseJson(text);
	// The message of the parser would quote the body.
	if (message === undefined) throw new MalformedMessage(errorCode.parse, "Parse error");
	if (Array.isArray(message)) throw invalidRequest("JSON-RPC batches are not supported");
	if (!isObject(message)) throw invalidRequest("a JSON-RPC message must be a JSON object");

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
	if (id !== undefined && !isId(id)) throw invalidRequest("id: expected a string or an integer");
	if (repeated) throw duplicateKey(repeated, id);
	if (message.jsonrpc !== "2.0") throw invalidRequest('"jsonrpc" is not the string "2.0"', id);

	const { method, params = {} } = message;
	if (method === undefined && ("result" in message || "error" in message)) return { kind: "response" };
	if (typeof method !== "string") throw invalidRequest('"method" is not a string', id);
	if (!isObject(params))
		throw new MalformedMessage(errorCode.invalidParams, "Invalid parameters: params is not an object", id);
	if (id === undefined) return { kind: "notification", method, params };
	return { kind: "request", id, method, params, text, paramsAt };
}

/** The outcome of an MCP request: "tool_error" is a result with `isError: true`, "rpc_error" a JSON-RPC error. */
export type Outcome = "ok" | "tool_error" | "rpc_error";

/** An MCP server's response to a request: JSON text, a complete SSE event, or a prepared list of tools. */
export type RpcResponse =
	| TextResponse
	/** A response that another MCP server sent as an SSE event. It is passed on without being parsed. */
	| (ResponseFacts & { kind: "event"; event: Uint8Array })
	/** The response to `tools/list`, encoded and compressed in advance (fast/tool-list.ts). */
	| (ResponseFacts & { kind: "list"; list: PreparedEvent });

interface ResponseFacts {
	outcome: Outcome;
	errorCode?: number;
	headers?: Record<string, string>;
}

export interface TextResponse extends ResponseFacts {
	kind: "text";
	text: string;
	/** The protocol version of the new MCP session, if this is the response to `initialize`. */
	initialized?: string;
}

/** Returns the JSON text of a JSON-RPC response with a result. `id` and `result` are JSON text, too. */
export function resultResponse(id: string, result: string): string {
	return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** Builds the response to a request. `id` and `result` are JSON text. */
export function textResponse(id: string, result: string, outcome: Outcome = "ok"): TextResponse {
	return { kind: "text", text: resultResponse(id, result), outcome };
}

/** Returns the JSON text of a JSON-RPC response with an error. `id` is JSON text, too. */
export function errorResponse(
	id: string,
	{ code, message, data }: Pick<RpcError, "code" | "message" | "data">,
): string {
	const error = JSON.stringify({ code, message, data });
	return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** Returns the error for a JSON-RPC message in which the key `key`, such as "id" or "method", occurs twice. */
export function duplicateKey(key: string, id?: string): MalformedMessage {
	return invalidRequest(`duplicate key "${key}"`, id);
}

function isId(text: string): boolean {
	return text.startsWith('"') || /^-?\d+$/.test(text);
}

/**
 * Returns the error for an invalid JSON-RPC message. `what` describes the problem; `id` is the message's id as JSON
 * text.
 */
export function invalidRequest(what: string, id?: string, status?: number): MalformedMessage {
	return new MalformedMessage(errorCode.invalidRequest, `Invalid request: ${what}`, id, status);
}
