// JSON-RPC 2.0 as MCP uses it: one message per body, and ids that are strings or integers.
// https://www.jsonrpc.org/specification, https://modelcontextprotocol.io/specification/2025-11-25/basic

import { isObject, type JsonObject, parseJson } from "../lib/json.ts";
import { MemberReader } from "./json-text.ts";
import type { PreparedEvent } from "./sse.ts";

/** https://www.jsonrpc.org/specification#error_object */
export const errorCode = {
	parse: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	/** An HTTP header contradicts the body. Since revision 2026-07-28. */
	headerMismatch: -32020,
	/** The client lacks a capability, listed in `data`. Since revision 2026-07-28. */
	missingCapability: -32021,
	/** `data` lists the supported versions. Since revision 2026-07-28. */
	unsupportedVersion: -32022,
	/** A convention of the MCP SDKs, sent with HTTP 404. */
	sessionNotFound: -32001,
} as const;

/** A mistake of the MCP client, which receives it as a JSON-RPC error. */
export class RpcError extends Error {
	override name = "RpcError";
	/** Details for programs, beside the message for people. */
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

/** `id` is JSON text, exact beyond 2^53. `text` is the whole message; `params` start at `paramsAt` in it. */
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
	/** Ignored, since our servers send no requests. */
	| { kind: "response" };

/** `id` is JSON text, "null" if none could be read; `status` is the HTTP status. */
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

/** Throws a MalformedMessage, for batches too. */
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
	if (id !== undefined && !(id.startsWith('"') || /^-?\d+$/.test(id)))
		throw invalidRequest("id: expected a string or an integer");
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

/** "refused" is a result with `isError: true`, "failed" one that says that something is broken, "rpc_error" a JSON-RPC error. */
export type Outcome = "done" | "refused" | "failed" | "rpc_error";

export type RpcResponse =
	| TextResponse
	/** From another MCP server, passed on without being parsed. */
	| (ResponseFacts & { kind: "event"; event: Uint8Array })
	/** Encoded and compressed in advance (tool-list.ts). */
	| (ResponseFacts & { kind: "list"; list: PreparedEvent });

interface ResponseFacts {
	outcome: Outcome;
	errorCode?: number;
	headers?: Record<string, string>;
	/** The request needs a token with more scope: HTTP 403 with this value of WWW-Authenticate. */
	challenge?: string | undefined;
}

export interface TextResponse extends ResponseFacts {
	kind: "text";
	text: string;
	/** The version of the new session, in a response to `initialize`. */
	initialized?: string;
}

/** `id` and `result` are JSON text. */
export function resultResponse(id: string, result: string): string {
	return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** `id` and `result` are JSON text. */
export function textResponse(id: string, result: string, outcome: Outcome = "done"): TextResponse {
	return { kind: "text", text: resultResponse(id, result), outcome };
}

/** `id` is JSON text. */
export function errorResponse(
	id: string,
	{ code, message, data }: Pick<RpcError, "code" | "message" | "data">,
): string {
	return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`;
}

/** For a `key` that occurs twice, such as "id". */
export function duplicateKey(key: string, id?: string): MalformedMessage {
	return invalidRequest(`duplicate key "${key}"`, id);
}

/** `id` is JSON text. */
export function invalidRequest(what: string, id?: string, status?: number): MalformedMessage {
	return new MalformedMessage(errorCode.invalidRequest, `Invalid request: ${what}`, id, status);
}
