// The client side of streamable HTTP, for the gateway's backends and the tests.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// It opens a session and sends requests in it, and never repeats one.

import {
	HttpFailure,
	type HttpRequest,
	type HttpResponse,
	type Send,
} from "../lib/http.ts";
import { hasMoreValues, parseJson } from "../lib/json.ts";
import type { Signal } from "../lib/signal.ts";
import { HeaderCache } from "./fast/header-cache.ts";
import { PlainEvent } from "./fast/plain-event.ts";
import { fastPaths } from "./fast/switch.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";
import { findMember, readMembers, rewriteObject } from "./json-text.ts";
import { readEvents } from "./sse.ts";

/** The longest response that is read, in characters. */
const maxResponseLength = 16 * 1024 * 1024;
/** A longer answer is parsed only if it has no more than `maxValues`: see `hasMoreValues`. */
const freeAnswerLength = 1024 * 1024;
const maxValues = 500_000;
/** Limit of the response to `initialize`, which is a few hundred bytes and instructions. */
const maxHandshakeBytes = 256 * 1024;
/** How much of an HTTP response without a JSON-RPC response is searched for an error message, in characters. */
const maxErrorLength = 64 * 1024;

const cancelTimeoutMs = 1_000;

/** The client's side of a session. Servers without sessions give no id, and some no version. */
export interface ClientSession {
	id: string | undefined;
	protocolVersion: string | undefined;
	/** The server's own version. */
	serverVersion?: string | undefined;
}

/** A response: a result or a JSON-RPC error, as parsed and as the text it came in. */
export interface ClientResponse {
	readonly text: string;
	readonly message: JsonObject & ({ result: unknown } | { error: unknown });
	/**
	 * The event that it came in, if that has the usual form: then it was not parsed. After `event.withId`, text and
	 * message cannot be read.
	 */
	readonly event?: PlainEvent;
}

/**
 * A request without a response. `reached` says how far it got: "unsent" never left, "refused" got a status that says
 * that it was not carried out, "unknown" may or may not have been carried out.
 */
export class ClientError extends Error {
	override name = "ClientError";
	constructor(
		message: string,
		readonly reached: "unsent" | "refused" | "unknown",
		options?: ErrorOptions,
	) {
		super(message, options);
	}
}

/**
 * The server does not know the session (any more): the request was not carried out, and needs a new session.
 * `response` is the JSON-RPC error that said so, if one did.
 */
export class SessionNotFound extends ClientError {
	override name = "SessionNotFound";
	constructor(
		status: number,
		readonly response?: ClientResponse,
	) {
		super(`HTTP ${status}: the session is not known there`, "refused");
	}
}

export interface ClientOptions {
	/** Sends requests to the MCP endpoint. */
	send: Send;
	token?: string;
	/** The Host header to send instead of the URL's. */
	host?: string;
	info: { name: string; version: string };
}

export interface RequestOptions {
	/** Our id for the request, for logs. */
	requestId?: string | undefined;
	/** A larger response fails the request. */
	maxBodyBytes?: number | undefined;
}

export interface Client {
	/** `initialize`, then `notifications/initialized`. Rejects as `request` does. */
	connect(signal: Signal): Promise<ClientSession>;
	/**
	 * Sends one request. `params` is JSON text. Rejects with a ClientError. When the signal fires, a `tools/call` is
	 * cancelled at the server.
	 */
	request(
		session: ClientSession,
		method: string,
		params: string,
		signal: Signal,
		options?: RequestOptions,
	): Promise<ClientResponse>;
	/** Ends a session with DELETE. */
	disconnect(session: ClientSession, signal: Signal): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
	let lastId = 0;
	const common = {
		"Content-Type": "application/json",
		Accept: "application/json, text/event-stream",
		...(options.host && { Host: options.host }),
		...(options.token && { Authorization: `Bearer ${options.token}` }),
	};

	const cache = new HeaderCache<ClientSession, HttpRequest["headers"]>();
	const headersIn = (session: ClientSession) =>
		cache.get(session, () => ({
			...common,
			...(session.id && { "Mcp-Session-Id": session.id }),
			...(session.protocolVersion && {
				"MCP-Protocol-Version": session.protocolVersion,
			}),
		}));

	/** Sends one request. `onHead` is called with the HTTP response before its body is read. */
	async function exchange(
		session: ClientSession | undefined,
		method: string,
		params: string,
		signal: Signal,
		{ requestId, maxBodyBytes }: RequestOptions = {},
		onHead?: (response: HttpResponse) => void,
	): Promise<ClientResponse> {
		const id = ++lastId;
		const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
		try {
			const response = await options.send(
				{
					method: "POST",
					headers: session ? headersIn(session) : common,
					requestId,
					body,
					maxBodyBytes,
				},
				signal,
			);
			onHead?.(response);
			const whole = response.whole?.();
			if (whole) {
				const bytes = whole instanceof Promise ? await whole : whole;
				const plain = readPlain(bytes, response, id);
				if (plain) return plain;
				const { status, headers } = response;
				const body = oneChunk(bytes);
				return await readResponse({ status, headers, body }, id);
			}
			try {
				return await readResponse(response, id);
			} finally {
				// The response is complete; the server may keep the stream open.
				response.discard();
			}
		} catch (cause) {
			const error = toClientError(cause);
			const begun = signal.aborted && error.reached !== "unsent";
			if (session && begun && method === "tools/call") void cancel(session, id);
			throw error;
		}
	}

	/** Sends what is answered with only a status. */
	async function notify(
		method: "POST" | "DELETE",
		session: ClientSession,
		body: string | undefined,
		signal: Signal,
	): Promise<number> {
		try {
			const headers = headersIn(session);
			const response = await options.send({ method, headers, body }, signal);
			response.discard();
			return response.status;
		} catch (cause) {
			throw toClientError(cause);
		}
	}

	/** Tells the server that nobody waits for the response any more. It makes no difference to us whether that arrives. */
	async function cancel(session: ClientSession, id: number): Promise<void> {
		const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
		const signal = AbortSignal.timeout(cancelTimeoutMs);
		await notify("POST", session, body, signal).catch(() => {});
	}

	return {
		request: (session, method, params, signal, options) =>
			exchange(session, method, params, signal, options),
		async connect(signal) {
			const params = JSON.stringify({
				protocolVersion: "2025-11-25",
				capabilities: {},
				clientInfo: options.info,
			});
			let id: string | undefined;
			const { message } = await exchange(
				undefined,
				"initialize",
				params,
				signal,
				{ maxBodyBytes: maxHandshakeBytes },
				({ headers }) => {
					id = headers.get("mcp-session-id") ?? undefined;
				},
			);
			if (!isObject(message.result))
				throw new ClientError(
					`initialize was answered with an error: ${JSON.stringify(message.error)}`,
					"refused",
				);
			const { protocolVersion, serverInfo } = message.result;
			const session = {
				id,
				protocolVersion: visibleAscii(protocolVersion),
				serverVersion: isObject(serverInfo)
					? visibleAscii(serverInfo.version)
					: undefined,
			};
			const status = await notify(
				"POST",
				session,
				'{"jsonrpc":"2.0","method":"notifications/initialized"}',
				signal,
			);
			if (status < 300) return session;
			// The session was opened, and will not be used.
			const ending = AbortSignal.timeout(cancelTimeoutMs);
			notify("DELETE", session, undefined, ending).catch(() => {});
			throw new ClientError(
				`notifications/initialized was answered HTTP ${status}`,
				"refused",
			);
		},
		async disconnect(session, signal) {
			await notify("DELETE", session, undefined, signal);
		},
	};
}

/** The value, if it can stand in a header and in a log. */
function visibleAscii(value: unknown): string | undefined {
	return typeof value === "string" && /^[\x21-\x7e]{1,64}$/.test(value)
		? value
		: undefined;
}

/** A response's text under another id, given as JSON text; every other byte stays. */
export function withId(text: string, id: string): string {
	const members = readMembers(text);
	const old = findMember(members, "id");
	if (!old) return rewriteObject(text, members, () => false, [`"id":${id}`]);
	return text.slice(0, old.start) + id + text.slice(old.end);
}

/**
 * The response, if it is one event with a tool's result in the form that nearly every server writes. It is not parsed,
 * which would be most of the cost of a long one. Any other form is read by readResponse.
 */
function readPlain(
	bytes: Uint8Array,
	{ status, headers }: HttpResponse,
	id: number,
): ClientResponse | undefined {
	const isStream = headers.get("content-type") === "text/event-stream";
	if (!fastPaths || status !== 200 || !isStream) return undefined;
	const event = PlainEvent.read(bytes, id);
	return event && new PlainResponse(event);
}

async function* oneChunk(bytes: Uint8Array) {
	yield bytes;
}

class PlainResponse implements ClientResponse {
	constructor(readonly event: PlainEvent) {}

	get text(): string {
		return this.event.text;
	}

	get message(): ClientResponse["message"] {
		return JSON.parse(this.text) as ClientResponse["message"];
	}
}

async function readResponse(
	response: Pick<HttpResponse, "status" | "headers" | "body">,
	id: number,
): Promise<ClientResponse> {
	if (response.status === 404) throw new SessionNotFound(404);
	const type = response.headers.get("content-type") ?? "";
	const texts = /^text\/event-stream\b/i.test(type)
		? eventTexts(response.body)
		: bodyText(response.body);
	let seen = "";
	for await (const text of texts) {
		if (text.length > freeAnswerLength && hasMoreValues(text, maxValues))
			throw new ClientError(
				`the answer has more than ${maxValues} values`,
				"unknown",
			);
		const message = parseResponse(text, id);
		if (!message) {
			if (seen.length < maxErrorLength) seen += text;
			continue;
		}
		const duplicate = duplicateKey(text);
		if (duplicate)
			throw new ClientError(
				`duplicate key "${duplicate}" in the response`,
				"unknown",
			);
		const found = { text, message };
		if (saysLostSession(message.error, response.status))
			throw new SessionNotFound(response.status, found);
		// A result with an error status is not reliable.
		if (!isObject(message.error) && response.status >= 400) break;
		return found;
	}
	if (response.status < 400)
		throw new ClientError(
			`HTTP ${response.status} without a response in it`,
			"unknown",
		);
	const refusal = response.status < 500;
	if (refusal && lostSession.test(seen))
		throw new SessionNotFound(response.status);
	// 4xx means that the request was refused and not carried out; 408 does not say how far it got.
	const refused = refusal && response.status !== 408;
	throw new ClientError(
		describeStatus(response.status),
		refused ? "refused" : "unknown",
	);
}

function describeStatus(status: number): string {
	return status === 401
		? "HTTP 401: it expects another token"
		: `HTTP ${status}`;
}

async function* eventTexts(body: AsyncIterable<Uint8Array>) {
	for await (const event of readEvents(body, maxResponseLength))
		yield event.data;
}

async function* bodyText(body: AsyncIterable<Uint8Array>) {
	const decoder = new TextDecoder();
	let text = "";
	for await (const chunk of body) {
		text += decoder.decode(chunk, { stream: true });
		if (text.length > maxResponseLength)
			throw new RangeError(
				`the body is longer than ${maxResponseLength} characters`,
			);
	}
	yield text + decoder.decode();
}

/**
 * The response with our id, or an error whose id could not be read; undefined for anything else, such as a notification
 * or invalid JSON.
 */
function parseResponse(
	text: string,
	id: number,
): ClientResponse["message"] | undefined {
	// undefined for invalid JSON: then the HTTP status decides.
	const message = parseJson(text);
	if (!isObject(message)) return undefined;
	const answers = isObject(message.result) || isObject(message.error);
	const ours =
		message.id === id
			? answers
			: (message.id ?? null) === null && isObject(message.error);
	return ours ? (message as ClientResponse["message"]) : undefined;
}

const decisiveKeys = new Set(["id", "result", "error"]);

/** A duplicate key of a response among `id`, `result` and `error`: clients differ in which of the two they read. */
function duplicateKey(text: string): string | undefined {
	const seen = new Set<string>();
	for (const { key } of readMembers(text)) {
		if (seen.has(key)) return key;
		if (decisiveKeys.has(key)) seen.add(key);
	}
	return undefined;
}

const lostSession = /session not found/i;

/**
 * Whether a JSON-RPC error says that the session is lost. With 4xx the request was refused anyway; otherwise the text may
 * come from a tool that ran, and has to begin with it, except for a label such as "Bad Request: ".
 */
function saysLostSession(error: unknown, status: number): boolean {
	const message = isObject(error) ? error.message : undefined;
	if (typeof message !== "string" || status >= 500) return false;
	return status >= 400
		? lostSession.test(message)
		: /^([\w -]{1,30}: ?)?session not found\b/i.test(message);
}

function toClientError(cause: unknown): ClientError {
	if (cause instanceof ClientError) return cause;
	const unsent = cause instanceof HttpFailure && cause.progress === "unsent";
	const message = cause instanceof Error ? cause.message : String(cause);
	return new ClientError(message, unsent ? "unsent" : "unknown", { cause });
}
