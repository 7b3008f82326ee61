// What a request of the stateless revision has to bring: its version and the client's capabilities in `_meta`, and
// headers that say the same as the body, so that whoever routes it need not read that.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports

import {
	errorCode,
	isObject,
	type JsonObject,
	RpcError,
	type RpcNotification,
	type RpcRequest,
} from "./json-rpc.ts";

/** The revision without sessions that we speak. */
export const modernVersion = "2026-07-28";

const metaPrefix = "io.modelcontextprotocol/";
const versionKey = `${metaPrefix}protocolVersion`;
const capabilitiesKey = `${metaPrefix}clientCapabilities`;
/** Where a result says who it is from. */
export const serverInfoKey = `${metaPrefix}serverInfo`;

const clientInfoKey = `${metaPrefix}clientInfo`;

/** What a client of the stateless revision calls itself, for logs; at most 100 characters. */
export function modernClientName(params: JsonObject): string | undefined {
	const info = metaOf(params)[clientInfoKey];
	const name = isObject(info) ? info.name : undefined;
	return typeof name === "string" ? name.slice(0, 100) : undefined;
}

type Message = RpcRequest | RpcNotification;

/** Whether a message is of the stateless era: it says so in its `_meta`, or at least in its header. */
export function isModern(headers: Headers, { params }: Message): boolean {
	return (
		headers.get("mcp-protocol-version") === modernVersion ||
		versionKey in metaOf(params)
	);
}

/** Throws the RpcError, to be answered with HTTP 400, for a message that does not keep to the revision. */
export function checkModern(headers: Headers, message: Message): void {
	const meta = metaOf(message.params);
	const isRequest = message.kind === "request";
	// A notification may leave `_meta` away, and then it is its header that made it modern.
	const { [versionKey]: version = isRequest ? undefined : modernVersion } =
		meta;
	if (typeof version !== "string")
		throw invalidMeta(`${versionKey}: expected a string`);
	if (isRequest && !isObject(meta[capabilitiesKey]))
		throw invalidMeta(`${capabilitiesKey}: expected an object`);

	match(headers, "MCP-Protocol-Version", version);
	if (version !== modernVersion)
		throw new RpcError(
			errorCode.unsupportedVersion,
			"Unsupported protocol version",
			{ data: { supported: [modernVersion], requested: version } },
		);
	match(headers, "Mcp-Method", message.method);
	const { name } = message.params;
	if (message.method === "tools/call" && typeof name === "string")
		match(headers, "Mcp-Name", name);
}

/** Throws unless a header says what the body does. */
function match(headers: Headers, header: string, expected: string): void {
	const given = headers.get(header);
	if (given === null)
		throw new RpcError(errorCode.headerMismatch, `${header} is missing`);
	if (decodeHeader(given) !== expected)
		throw new RpcError(
			errorCode.headerMismatch,
			`${header} does not say what the body does`,
		);
}

/** A header's value; `=?base64?…?=` carries what a header cannot. Undefined for broken base64 or UTF-8. */
function decodeHeader(value: string): string | undefined {
	const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
	if (encoded === undefined) return value;
	const bytes = Buffer.from(encoded, "base64");
	// Buffer skips what is no base64; writing it again shows that.
	if (bytes.toString("base64") !== encoded) return undefined;
	const text = bytes.toString("utf8");
	return Buffer.from(text).equals(bytes) ? text : undefined;
}

function metaOf(params: JsonObject): JsonObject {
	return isObject(params._meta) ? params._meta : {};
}

function invalidMeta(fault: string): RpcError {
	return new RpcError(
		errorCode.invalidParams,
		`Invalid parameters: _meta.${fault}`,
	);
}
