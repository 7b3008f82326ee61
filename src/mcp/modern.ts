// The stateless revision: version and capabilities are in each message's `_meta`, and headers repeat parts of the
// body, so that proxies can route without reading it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports

import { isObject, type JsonObject } from "../lib/json.ts";
import { onOneLine } from "../lib/text.ts";
import { errorCode, RpcError, type RpcNotification, type RpcRequest } from "./json-rpc.ts";
import { invalidParameters } from "./tool.ts";

/** Without sessions; "the stateless revision" in other comments. */
export const modernVersion = "2026-07-28";

const metaPrefix = "io.modelcontextprotocol/";
export const versionKey = `${metaPrefix}protocolVersion`;
const capabilitiesKey = `${metaPrefix}clientCapabilities`;
export const serverInfoKey = `${metaPrefix}serverInfo`;

const clientInfoKey = `${metaPrefix}clientInfo`;

/** For logs: on one line, cut to 100 characters. */
export function clientName(info: unknown): string | undefined {
	const name = isObject(info) ? info.name : undefined;
	return typeof name === "string" ? onOneLine(name, 100).slice(0, 100) : undefined;
}

/** For logs. */
export function modernClientName(params: JsonObject): string | undefined {
	return clientName(metaOf(params)[clientInfoKey]);
}

/** An empty capability means forms: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation */
export function canElicit({ params }: Message): boolean {
	const { elicitation } = Object(metaOf(params)[capabilitiesKey]) as JsonObject;
	if (!isObject(elicitation)) return false;
	return "form" in elicitation || Object.keys(elicitation).length === 0;
}

/** What Mcp-Name repeats: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers */
export const named: Readonly<Record<string, string>> = {
	"tools/call": "name",
	"prompts/get": "name",
	"resources/read": "uri",
};

type Message = RpcRequest | RpcNotification;

/** Throws an RpcError, sent with HTTP 400, if the message violates the stateless revision. */
export function checkModern(headers: Headers, message: Message): void {
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
	const field = named[message.method];
	const name = field && message.params[field];
	if (typeof name === "string") match(headers, "Mcp-Name", `params.${field}`, name);
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
