// An MCP client over streamable HTTP, for the gateway's backends and the tests.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// It opens a session and sends requests in it. It sends none twice.

import { type Dispatch, HttpFailure, type HttpRequest, type HttpResponse, type ResponseHandler } from "../lib/http.ts";
import { hasMoreValues, isObject, type JsonObject, parseJson } from "../lib/json.ts";
import { encodePrincipal, type Principal } from "../lib/principal.ts";
import { type Signal, stopped } from "../lib/signal.ts";
import type { TraceContext } from "../lib/trace-context.ts";
import { drainingHeader } from "./draining.ts";
import { PlainEvent } from "./fast/plain-event.ts";
import { usesFastPath } from "./fast/switch.ts";
import { findMember, readMembers, rewriteObject } from "./json-text.ts";
import { readNotReady } from "./readiness.ts";
import { readEvents } from "./sse.ts";

const readsPlainEvents = usesFastPath("plain-event");

/** In characters. A longer response fails the request. */
const maxResponseLength = 16 * 1024 * 1024;
const uncountedLength = 1024 * 1024;
const maxValues = 500_000;
/** For the response to `initialize`. */
const maxHandshakeBytes = 256 * 1024;
const maxErrorLength = 64 * 1024;

const cancelTimeoutMs = 1_000;

/** `id` is undefined for servers without sessions, `protocolVersion` for servers that sent no version. */
export interface ClientSession {
	id: string | undefined;
	protocolVersion: string | undefined;
	serverVersion?: string | undefined;
	serverDescription?: string | undefined;
	hasPrompts?: boolean;
	hasResources?: boolean;
	experimental?: readonly string[];
}

/** `message` is the parsed response, or JSON-RPC error; `text` is the JSON text as received. */
export interface ClientResponse {
	readonly text: string;
	readonly message: JsonObject & ({ result: unknown } | { error: unknown });
	/** The response, if its JSON was not parsed, as for some results of tool calls. */
	readonly event?: PlainEvent;
	/** In the response to `initialize`, if there is one. */
	readonly sessionId?: string | undefined;
}

/** `reached`: "unsent": no byte was written; "refused": not carried out, by the HTTP status; "unknown": perhaps was. */
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

/** The request was not carried out and needs a new session. `response` is the JSON-RPC error, if there is one. */
export class SessionNotFound extends ClientError {
	override name = "SessionNotFound";
	constructor(
		status: number,
		readonly response?: ClientResponse,
	) {
		super(`HTTP ${status}: the server does not know the session`, "refused");
	}
}

/** A server about to end has refused the request, and not carried it out. */
export class ServerDraining extends ClientError {
	override name = "ServerDraining";
	constructor() {
		super("the server is stopping", "refused");
	}
}

export interface ClientOptions {
	/** Sends to the URL of the MCP server. */
	dispatch: Dispatch;
	token?: string;
	/** Sent instead of the host in the server's URL. */
	host?: string;
	info: { name: string; version: string };
}

export interface RequestOptions {
	/** For log lines; sent as X-Request-Id. */
	requestId?: string | undefined;
	/** Undefined: no principal is sent. */
	principal?: Principal | undefined;
	trace?: TraceContext | undefined;
	maxBodyBytes?: number | undefined;
	/** Gets the JSON text of what comes before the response. */
	onNotification?: ((text: string) => void) | undefined;
}

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
	const { dispatch } = options;
	let lastId = 0;
	const known = {
		...(options.host && { Host: options.host }),
		...(options.token && { Authorization: `Bearer ${options.token}` }),
	};
	const common = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...known };

	/** Since the HTTP client encodes each object once. */
	const sessionHeaders = new WeakMap<ClientSession, HttpRequest["headers"]>();

	function headersIn(session: ClientSession): HttpRequest["headers"] {
		const known = sessionHeaders.get(session);
		if (known) return known;
		const { id, protocolVersion } = session;
		const headers = {
			...common,
			...(id && { "Mcp-Session-Id": id }),
			...(protocolVersion && { "MCP-Protocol-Version": protocolVersion }),
		};
		sessionHeaders.set(session, headers);
		return headers;
	}

	function exchange(
		session: ClientSession | undefined,
		method: string,
		params: string,
		signal: Signal,
		{ requestId, principal, trace, maxBodyBytes, onNotification }: RequestOptions = {},
	): Promise<ClientResponse> {
		const id = ++lastId;
		const onAbort = session && method === "tools/call" ? cancel : undefined;
		const pending = new PendingRequest(id, session, signal, onAbort, onNotification);
		dispatch(
			{
				method: "POST",
				headers: session ? headersIn(session) : common,
				requestId,
				caller: principal && encodePrincipal(principal),
				trace,
				body: `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`,
				maxBodyBytes,
			},
			signal,
			pending,
		);
		return pending.response;
	}

	async function send(request: HttpRequest, signal: Signal): Promise<HttpResponse> {
		try {
			const response = await new Promise<HttpResponse>((responded, failed) =>
				dispatch(request, signal, { responded, failed }),
			);
			response.discard();
			return response;
		} catch (cause) {
			throw toClientError(cause);
		}
	}

	const notify = (method: "POST" | "DELETE", session: ClientSession, body: string | undefined, signal: Signal) =>
		send({ method, headers: headersIn(session), body }, signal);

	function cancel({ id, session, signal }: PendingRequest): void {
		// A program that stops has not been told to cancel: a restart of the gateway must not end jobs.
		if (!session || signal.reason === stopped) return;
		const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
		notify("POST", session, body, AbortSignal.timeout(cancelTimeoutMs)).catch(() => {});
	}

	return {
		/** `params` is JSON text. Rejects with a ClientError. An abort of a `tools/call` cancels it at the server, too. */
		request: exchange,
		/** Sends `initialize`, then `notifications/initialized`. Rejects with a ClientError. */
		async connect(signal: Signal): Promise<ClientSession> {
			const params = JSON.stringify({ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: options.info });
			const limits = { maxBodyBytes: maxHandshakeBytes };
			const session = readSession(await exchange(undefined, "initialize", params, signal, limits));
			const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
			const { status } = await notify("POST", session, note, signal);
			if (status < 300) return session;
			// The session is open at the server but will not be used.
			notify("DELETE", session, undefined, AbortSignal.timeout(cancelTimeoutMs)).catch(() => {});
			throw new ClientError(`the MCP server answered notifications/initialized with HTTP ${status}`, "refused");
		},
		/** Resolves with why the server is not ready, after any answer to a plain GET. Rejects with a ClientError. */
		async notReady(signal: Signal): Promise<string | undefined> {
			return readNotReady((await send({ method: "GET", headers: known, body: undefined }, signal)).headers);
		},
		async disconnect(session: ClientSession, signal: Signal): Promise<void> {
			await notify("DELETE", session, undefined, signal);
		},
	};
}

function readSession({ message: { result, error }, sessionId }: ClientResponse): ClientSession {
	if (!isObject(result))
		throw new ClientError(`the MCP server answered initialize with an error: ${JSON.stringify(error)}`, "refused");
	const { prompts, resources, experimental } = Object(result.capabilities);
	const { version, description } = Object(result.serverInfo);
	return {
		id: sessionId,
		protocolVersion: visibleAscii(result.protocolVersion),
		serverVersion: visibleAscii(version),
		serverDescription: typeof description === "string" ? description : undefined,
		...(isObject(prompts) && { hasPrompts: true }),
		...(isObject(resources) && { hasResources: true }),
		...(isObject(experimental) && { experimental: Object.keys(experimental) }),
	};
}

class PendingRequest implements ResponseHandler {
	readonly #settle = Promise.withResolvers<ClientResponse>();

	constructor(
		readonly id: number,
		readonly session: ClientSession | undefined,
		readonly signal: Signal,
		readonly onAbort: ((request: PendingRequest) => void) | undefined,
		readonly onNotification: RequestOptions["onNotification"],
	) {}

	get response(): Promise<ClientResponse> {
		return this.#settle.promise;
	}

	responded(http: HttpResponse): void {
		const whole = http.whole();
		const plain = whole instanceof Uint8Array ? readPlain(whole, http, this.id) : undefined;
		this.#settle.resolve(plain ?? this.#read(http, whole));
	}

	failed(cause: unknown): void {
		this.#settle.reject(this.#errorOf(cause));
	}

	async #read(http: HttpResponse, whole: Uint8Array | Promise<Uint8Array> | undefined): Promise<ClientResponse> {
		const { id, onNotification } = this;
		try {
			if (!whole) return await readResponse(http, id, onNotification);
			const bytes = await whole;
			const plain = readPlain(bytes, http, id);
			if (plain) return plain;
			const { status, headers } = http;
			return await readResponse({ status, headers, body: oneChunk(bytes) }, id, onNotification);
		} catch (cause) {
			throw this.#errorOf(cause);
		} finally {
			if (!whole) http.discard();
		}
	}

	#errorOf(cause: unknown): ClientError {
		const error = toClientError(cause);
		if (this.signal.aborted && error.reached !== "unsent") this.onAbort?.(this);
		return error;
	}
}

function visibleAscii(value: unknown): string | undefined {
	return typeof value === "string" && /^[\x21-\x7e]{1,64}$/.test(value) ? value : undefined;
}

/** `id` is JSON text. All other bytes stay the same. */
export function withId(text: string, id: string): string {
	const members = readMembers(text);
	const old = findMember(members, "id");
	if (!old) return rewriteObject(text, members, () => false, [`"id":${id}`]);
	return text.slice(0, old.start) + id + text.slice(old.end);
}

function readPlain(bytes: Uint8Array, { status, headers }: HttpResponse, id: number): ClientResponse | undefined {
	const isStream = headers.get("content-type") === "text/event-stream";
	if (!readsPlainEvents || status !== 200 || !isStream) return undefined;
	return PlainEvent.read(bytes, id);
}

async function* oneChunk(bytes: Uint8Array) {
	yield bytes;
}

async function readResponse(
	response: Pick<HttpResponse, "status" | "headers" | "body">,
	id: number,
	onNotification?: RequestOptions["onNotification"],
): Promise<ClientResponse> {
	if (response.status === 404) throw new SessionNotFound(404);
	if (response.status === 503 && response.headers.get(drainingHeader) !== null) throw new ServerDraining();
	const type = response.headers.get("content-type") ?? "";
	const texts = /^text\/event-stream\b/i.test(type) ? eventTexts(response.body) : bodyText(response.body);
	let seen = "";
	for await (const text of texts) {
		if (text.length > uncountedLength && hasMoreValues(text, maxValues))
			throw unreadable(`the MCP server's response has more than ${maxValues} JSON values`);
		const message = parseResponse(text, id);
		if (!message) {
			onNotification?.(text);
			if (seen.length < maxErrorLength) seen += text;
			continue;
		}
		const duplicate = duplicateKey(text);
		if (duplicate) throw unreadable(`the MCP server's response has a duplicate key: "${duplicate}"`);
		const found = { text, message, sessionId: response.headers.get("mcp-session-id") ?? undefined };
		if (saysLostSession(message.error, response.status)) throw new SessionNotFound(response.status, found);
		// A result with an error status is not trusted.
		if (!isObject(message.error) && response.status >= 400) break;
		return found;
	}
	if (response.status < 400)
		throw unreadable(`the MCP server answered HTTP ${response.status} without a JSON-RPC response`);
	const refusal = response.status < 500;
	if (refusal && lostSession.test(seen)) throw new SessionNotFound(response.status);
	// 4xx means that the request was refused and not carried out; 408 does not say how far it got.
	const refused = refusal && response.status !== 408;
	const tokenHint = response.status === 401 ? ": it expects another token" : "";
	throw new ClientError(`the MCP server answered HTTP ${response.status}${tokenHint}`, refused ? "refused" : "unknown");
}

function unreadable(message: string): ClientError {
	return new ClientError(message, "unknown");
}

async function* eventTexts(body: AsyncIterable<Uint8Array>) {
	for await (const event of readEvents(body, maxResponseLength)) yield event.data;
}

async function* bodyText(body: AsyncIterable<Uint8Array>) {
	const decoder = new TextDecoder();
	let text = "";
	for await (const chunk of body) {
		text += decoder.decode(chunk, { stream: true });
		if (text.length > maxResponseLength)
			throw new RangeError(`the MCP server's response is longer than ${maxResponseLength} characters`);
	}
	yield text + decoder.decode();
}

function parseResponse(text: string, id: number): ClientResponse["message"] | undefined {
	// Invalid JSON is undefined: then the HTTP status decides what to report.
	const message = parseJson(text);
	if (!isObject(message)) return undefined;
	const answers = isObject(message.result) || isObject(message.error);
	const ours = message.id === id ? answers : (message.id ?? null) === null && isObject(message.error);
	return ours ? (message as ClientResponse["message"]) : undefined;
}

const decisiveKeys = new Set(["id", "result", "error"]);

function duplicateKey(text: string): string | undefined {
	const seen = new Set<string>();
	for (const { key } of readMembers(text)) {
		if (seen.has(key)) return key;
		if (decisiveKeys.has(key)) seen.add(key);
	}
	return undefined;
}

const lostSession = /session not found/i;

function saysLostSession(error: unknown, status: number): boolean {
	const message = isObject(error) ? error.message : undefined;
	if (typeof message !== "string" || status >= 500) return false;
	return status >= 400 ? lostSession.test(message) : /^([\w -]{1,30}: ?)?session not found\b/i.test(message);
}

function toClientError(cause: unknown): ClientError {
	if (cause instanceof ClientError) return cause;
	const unsent = cause instanceof HttpFailure && cause.progress === "unsent";
	const message = cause instanceof Error ? cause.message : String(cause);
	return new ClientError(message, unsent ? "unsent" : "unknown", { cause });
}
