// The client's end of streamable HTTP: the gateway's backends and the tests use it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// It opens a session and sends requests in it. When to do so again is its user's decision.

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

/** The longest answer that is read, in characters. */
const maxAnswerLength = 16 * 1024 * 1024;
/** A longer answer is parsed only if it has no more than `maxValues`: see `hasMoreValues`. */
const freeAnswerLength = 1024 * 1024;
const maxValues = 500_000;
/** Of the answer to `initialize`, which is a few hundred bytes and instructions. */
const maxHandshakeBytes = 256 * 1024;
/** How much of an answer without a response in it is read for its words, in characters. */
const maxFaultLength = 64 * 1024;

const cancelTimeoutMs = 1_000;

/** The client's side of a session. A server without sessions gives no id, and a careless one no version. */
export interface ClientSession {
	id: string | undefined;
	protocolVersion: string | undefined;
	/** What the server says of its own version. */
	serverVersion?: string | undefined;
}

/** A response: a result or a JSON-RPC error, as parsed and as the text it came in. */
export interface ClientResponse {
	readonly text: string;
	readonly message: JsonObject & ({ result: unknown } | { error: unknown });
	/**
	 * The event that it came in, where that is of the plainest kind: then it was not parsed. With another id given to it,
	 * text and message are of no use.
	 */
	readonly event?: PlainEvent;
}

/**
 * A request that brought no response. `reached` says how far it got: "unsent" never left, "refused" was answered
 * with a status that says it was not carried out, and of "unknown" nothing can be said.
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
 * The server does not know the session (any more): the request was not carried out, and a new session is due.
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
	/** Carries requests to the MCP endpoint. */
	send: Send;
	token?: string;
	/** The Host header to send instead of the URL's. */
	host?: string;
	info: { name: string; version: string };
}

export interface RequestOptions {
	/** What we call the request in our log. */
	requestId?: string | undefined;
	/** Of the answer. A larger one is no answer. */
	maxBodyBytes?: number | undefined;
}

export interface Client {
	/** `initialize`, then `notifications/initialized`. Rejects as `request` does. */
	connect(signal: Signal): Promise<ClientSession>;
	/**
	 * Sends one request. `params` is JSON text. Rejects with a ClientError. The server is told when a `tools/call` is given up because the signal fires.
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

	/** Sends one request; `onHead` is told of its answer before that is read. */
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
				// The answer is complete; a stream that stays open is of no use.
				response.discard();
			}
		} catch (cause) {
			const error = toClientError(cause);
			const begun = signal.aborted && error.reached !== "unsent";
			if (session && begun && method === "tools/call") void cancel(session, id);
			throw error;
		}
	}

	/** Sends what is answered with a status alone. */
	async function tell(
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

	/** Tells the server that nobody waits for the answer any more. Whether that arrives makes no difference to us. */
	async function cancel(session: ClientSession, id: number): Promise<void> {
		const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
		const signal = AbortSignal.timeout(cancelTimeoutMs);
		await tell("POST", session, body, signal).catch(() => {});
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
			const status = await tell(
				"POST",
				session,
				'{"jsonrpc":"2.0","method":"notifications/initialized"}',
				signal,
			);
			if (status < 300) return session;
			// It was opened, and will not be used.
			const ending = AbortSignal.timeout(cancelTimeoutMs);
			tell("DELETE", session, undefined, ending).catch(() => {});
			throw new ClientError(
				`notifications/initialized was answered HTTP ${status}`,
				"refused",
			);
		},
		async disconnect(session, signal) {
			await tell("DELETE", session, undefined, signal);
		},
	};
}

/** A short word that can stand in a header and in a log; undefined for anything else. */
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
 * The response where it is one event with a tool's result in the form that nearly everyone writes. Then it is not parsed,
 * which is most of the cost of a long one. What is in any other form goes the long way.
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
			if (seen.length < maxFaultLength) seen += text;
			continue;
		}
		const repeated = repeatedKey(text);
		if (repeated)
			throw new ClientError(
				`the answer has the key "${repeated}" twice`,
				"unknown",
			);
		const found = { text, message };
		if (saysLostSession(message.error, response.status))
			throw new SessionNotFound(response.status, found);
		// A result under a status that says otherwise is not to be relied on.
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
	// 4xx says that the request was at fault and not carried out; 408 does not say how far it got.
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
	for await (const event of readEvents(body, maxAnswerLength)) yield event.data;
}

async function* bodyText(body: AsyncIterable<Uint8Array>) {
	const decoder = new TextDecoder();
	let text = "";
	for await (const chunk of body) {
		text += decoder.decode(chunk, { stream: true });
		if (text.length > maxAnswerLength)
			throw new RangeError(
				`the body is longer than ${maxAnswerLength} characters`,
			);
	}
	yield text + decoder.decode();
}

/**
 * The response with our id, or an error whose id could not be read; undefined for anything else, be it a notification
 * or no JSON at all.
 */
function parseResponse(
	text: string,
	id: number,
): ClientResponse["message"] | undefined {
	// What it says where it is no JSON is judged by the status.
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
function repeatedKey(text: string): string | undefined {
	const seen = new Set<string>();
	for (const { key } of readMembers(text)) {
		if (seen.has(key)) return key;
		if (decisiveKeys.has(key)) seen.add(key);
	}
	return undefined;
}

const lostSession = /session not found/i;

/**
 * Whether a JSON-RPC error is about the session. Under 4xx it was refused anyway; otherwise the words may come from a
 * tool that ran, and have to stand at the beginning, after nothing but a label such as "Bad Request: ".
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
