// Joins an MCP client that talks to processes (stdio) to a gateway (streamable HTTP). Messages pass unchanged, one a line.
// The gateway opens no stream of its own (GET) and keeps no sessions, so none are opened and none are ended.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports

import { isObject, type JsonObject } from "../lib/json.ts";
import { named, versionKey } from "../mcp/modern.ts";
import { onOneLine, readEvents } from "../mcp/sse.ts";

interface BridgeOptions {
	url: string;
	token: string | undefined;
	/** Receives lines for the client, without line breaks. */
	write(line: string): void;
}

export const maxMessageLength = 16 * 1024 * 1024;
/** The code of the SDKs for an error of the transport. */
const transportError = -32_000;

export class Bridge {
	readonly #options: BridgeOptions;
	/** Requests without a response, by their id as JSON. */
	readonly #open = new Map<string, AbortController>();
	/** The id of the request "initialize" as JSON, and what it brought. */
	#handshake: string | undefined;
	#session: string | null = null;
	#version: string | undefined;

	constructor(options: BridgeOptions) {
		this.#options = options;
	}

	/** Resolves when the gateway has the message, if later ones must not overtake it. Never rejects. */
	async send(line: string): Promise<void> {
		let message: unknown;
		try {
			message = JSON.parse(line);
		} catch {
			return this.#fail(null, "the line is not JSON", -32_700);
		}
		if (!isObject(message)) return this.#fail(null, "expected one JSON-RPC message", -32_600);
		const { id, method, params } = message;
		if (method === "notifications/cancelled" && isObject(params) && this.#cancel(params.requestId)) return;
		if (id === undefined || method === undefined || method === "initialize") await this.#post(message, line);
		else void this.#post(message, line);
	}

	/** Cancels what has no response. Resolves when the gateway knows. */
	async close(): Promise<void> {
		const ids = [...this.#open.keys()].map((key) => JSON.parse(key));
		const cancelled = ids.map((requestId) => {
			const params = { requestId, reason: "the client has ended" };
			return this.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
		});
		await Promise.all(cancelled);
	}

	/** Whether that is all: in the stateless revision, the end of the HTTP request cancels. */
	#cancel(requestId: unknown): boolean {
		const key = JSON.stringify(requestId);
		const request = this.#open.get(key);
		this.#open.delete(key);
		if (this.#version !== undefined) return false;
		request?.abort();
		return true;
	}

	async #post(message: JsonObject, body: string): Promise<void> {
		const { id, method } = message;
		const isRequest = id !== undefined && method !== undefined;
		const key = JSON.stringify(id);
		const ended = new AbortController();
		if (isRequest) this.#open.set(key, ended);
		if (method === "initialize") this.#handshake = key;
		try {
			const headers = this.#headersFor(message);
			const options = { method: "POST", headers, body, signal: ended.signal, redirect: "manual" } as const;
			const response = await fetch(this.#options.url, options);
			if (method === "initialize") this.#session = response.headers.get("mcp-session-id");
			await this.#read(response);
			if (!response.ok && (!isRequest || this.#open.has(key))) throw new Error(refusal(response));
			if (this.#open.has(key)) throw new Error("the connection ended before the response: it may have taken effect");
		} catch (error) {
			// Cancelled requests get no response.
			if (isRequest && !this.#open.has(key)) return;
			const { message, cause } = error as Error;
			const reason = cause instanceof Error && cause.message ? cause.message : message;
			this.#fail(isRequest ? id : undefined, `${this.#options.url}: ${reason}`);
		} finally {
			if (isRequest) this.#open.delete(key);
		}
	}

	#headersFor({ method, params }: JsonObject): Record<string, string> {
		const { token } = this.#options;
		const fields = isObject(params) ? params : {};
		const meta = isObject(fields._meta) ? fields._meta : {};
		const stateless = typeof meta[versionKey] === "string" ? meta[versionKey] : undefined;
		const version = stateless ?? this.#version;
		const name = typeof method === "string" ? fields[named[method] ?? ""] : undefined;
		return {
			"Content-Type": "application/json",
			Accept: "application/json, text/event-stream",
			...(token && { Authorization: `Bearer ${token}` }),
			...(version && { "MCP-Protocol-Version": version }),
			...(this.#session && !stateless && { "Mcp-Session-Id": this.#session }),
			...(stateless && { "Mcp-Method": String(method) }),
			...(stateless && typeof name === "string" && { "Mcp-Name": inHeader(name) }),
		};
	}

	async #read(response: Response): Promise<void> {
		const type = response.headers.get("content-type") ?? "";
		if (type.startsWith("text/event-stream")) {
			for await (const { data } of readEvents(bytesOf(response), maxMessageLength)) this.#deliver(data);
		} else {
			const text = await response.text();
			if (type.startsWith("application/json")) this.#deliver(text);
		}
	}

	#deliver(text: string): void {
		const message: unknown = JSON.parse(text);
		if (!isObject(message) || message.jsonrpc !== "2.0") return;
		if (message.method === undefined) {
			const { id, result, error } = message;
			const key = JSON.stringify(id);
			if (key === this.#handshake && isObject(result)) this.#version = String(result.protocolVersion);
			if (id === null && isObject(error)) throw new Error(String(error.message));
			// Otherwise the client does not wait for the response any more.
			if (!this.#open.delete(key)) return;
		}
		this.#options.write(onOneLine(text));
	}

	/** Without an id nobody waits: then it goes to stderr. */
	#fail(id: unknown, message: string, code = transportError): void {
		if (id === undefined) console.error(message);
		else this.#options.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
	}
}

function refusal({ status, headers }: Response): string {
	if (status === 401)
		return "the gateway did not accept GUILDHALL_TOKEN: expected MCP_AUTH_TOKEN or a key made in the console";
	const place = headers.get("location");
	return place ? `HTTP ${status}: it is at ${place} now` : `HTTP ${status}`;
}

/** https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers */
function inHeader(text: string): string {
	const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith("=?");
	return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

async function* bytesOf({ body }: Response): AsyncGenerator<Uint8Array> {
	for await (const chunk of body ?? []) yield chunk;
}
