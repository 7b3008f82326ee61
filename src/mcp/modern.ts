// The stateless revision: no sessions; version and capabilities of the client in each message's `_meta`, and headers that
// repeat parts of the body, so that proxies can route without reading it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports

import type { Principal } from "../lib/principal.ts";
import { readTrace } from "../lib/trace-context.ts";
import { ClientSignal } from "./client-signal.ts";
import { createEventResponder, json, respond } from "./http-response.ts";
import {
	errorCode,
	errorResponse,
	isObject,
	type JsonObject,
	RpcError,
	type RpcNotification,
	type RpcRequest,
} from "./json-rpc.ts";
import { type Notify, streamResponse, wantsProgress } from "./progress-stream.ts";
import { requestIdIn } from "./read-message.ts";
import type { RpcResponse, Server } from "./server.ts";
import { invalidParameters } from "./tool.ts";

/** The MCP protocol version without sessions, called the stateless revision in other comments. */
export const modernVersion = "2026-07-28";

const metaPrefix = "io.modelcontextprotocol/";
const versionKey = `${metaPrefix}protocolVersion`;
const capabilitiesKey = `${metaPrefix}clientCapabilities`;
/** The key in a result's `_meta` under which an MCP server states its name and version. */
export const serverInfoKey = `${metaPrefix}serverInfo`;

const clientInfoKey = `${metaPrefix}clientInfo`;

/**
 * Returns the client's name from `clientInfo`, in which an MCP client describes itself. The name is for logs and cut to
 * 100 characters.
 */
export function clientName(info: unknown): string | undefined {
	const name = isObject(info) ? info.name : undefined;
	return typeof name === "string" ? name.slice(0, 100) : undefined;
}

/** Returns the client's name from `_meta` in the params of a request of the stateless MCP revision, for logs. */
export function modernClientName(params: JsonObject): string | undefined {
	return clientName(metaOf(params)[clientInfoKey]);
}

/**
 * Whether the client of a message can ask the person who uses it to fill in a form. An empty `elicitation` capability
 * means forms. https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
function canElicit({ params }: Message): boolean {
	const { elicitation } = Object(metaOf(params)[capabilitiesKey]) as JsonObject;
	if (!isObject(elicitation)) return false;
	return "form" in elicitation || Object.keys(elicitation).length === 0;
}

type Message = RpcRequest | RpcNotification;

/**
 * Whether an MCP message uses the stateless protocol version (2026-07-28), according to its MCP-Protocol-Version header
 * or its `_meta`.
 */
export function isModern(headers: Headers, { params }: Message): boolean {
	return headers.get("mcp-protocol-version") === modernVersion || versionKey in metaOf(params);
}

/**
 * Returns an HTTP handler for the stateless MCP revision (2026-07-28). It refuses invalid messages with plain JSON, not
 * with an event stream. `streams` says whether progress notifications may be sent before a response.
 */
export function createModernHandler(
	server: Server,
	{ streams }: { streams: boolean },
): (request: Request, message: Message, principal: Principal | undefined) => Promise<Response> {
	const respondWith = createEventResponder();
	return async (request, message, principal) => {
		const { headers } = request;
		const id = message.kind === "request" ? message.id : "null";
		try {
			checkModern(headers, message);
		} catch (error) {
			if (!(error instanceof RpcError)) throw error;
			return json(400, errorResponse(id, error));
		}
		if (message.kind === "notification") return respond(202, null, {});
		const handle = (notify: Notify | undefined) =>
			server.handle(message, {
				modern: true,
				session: undefined,
				// Aborts when the client closes the stream, which cancels the call.
				signal: new ClientSignal(request),
				notify,
				principal,
				elicits: canElicit(message),
				requestId: requestIdIn(headers),
				trace: readTrace(headers, message.params._meta),
			});
		const finish = (response: RpcResponse) => {
			// 404 is for unknown methods. Clients would take it for an error of the transport and hide the error of an unknown tool.
			const isUnknown = response.errorCode === errorCode.methodNotFound && message.method !== "tools/call";
			const isIncapable = response.errorCode === errorCode.missingCapability;
			return response.kind === "text" && (isUnknown || isIncapable)
				? json(isUnknown ? 404 : 400, response.text, response.headers)
				: respondWith(response, headers);
		};
		return streams && wantsProgress(message) ? streamResponse(handle, finish) : finish(await handle(undefined));
	};
}

/**
 * Throws an RpcError, which the client receives with HTTP 400, if an MCP message violates the rules of the stateless
 * revision (2026-07-28).
 */
function checkModern(headers: Headers, message: Message): void {
	const meta = metaOf(message.params);
	const isRequest = message.kind === "request";
	// Such a notification without `_meta` got here by its header.
	const { [versionKey]: version = isRequest ? undefined : modernVersion } = meta;
	if (typeof version !== "string") throw invalidParameters([`_meta.${versionKey}: expected a string`]);
	if (isRequest && !isObject(meta[capabilitiesKey]))
		throw invalidParameters([`_meta.${capabilitiesKey}: expected an object`]);

	match(headers, "MCP-Protocol-Version", `_meta.${versionKey}`, version);
	if (version !== modernVersion)
		throw new RpcError(errorCode.unsupportedVersion, "Unsupported protocol version", {
			data: { supported: [modernVersion], requested: version },
		});
	match(headers, "Mcp-Method", "method", message.method);
	const { name } = message.params;
	const isNamed = ["tools/call", "prompts/get"].includes(message.method);
	if (isNamed && typeof name === "string") match(headers, "Mcp-Name", "params.name", name);
}

function match(headers: Headers, header: string, field: string, expected: string): void {
	const given = headers.get(header);
	if (given === null) throw new RpcError(errorCode.headerMismatch, `${header} is missing`);
	if (decodeHeader(given) !== expected)
		throw new RpcError(
			errorCode.headerMismatch,
			`the header ${header} differs from the field ${field} of the request body`,
		);
}

function decodeHeader(value: string): string | undefined {
	const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
	if (encoded === undefined) return value;
	const bytes = Buffer.from(encoded, "base64");
	// Buffer skips invalid characters; then the result encodes to another text.
	if (bytes.toString("base64") !== encoded) return undefined;
	const text = bytes.toString("utf8");
	return Buffer.from(text).equals(bytes) ? text : undefined;
}

function metaOf(params: JsonObject): JsonObject {
	return isObject(params._meta) ? params._meta : {};
}
