// The client's end of streamable HTTP: the gateway's backends and the tests use it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// It opens a session and sends requests in it. When to do so again is its user's decision.

import { isObject, type JsonObject } from "./json-rpc.ts";
import { findMember, readMembers, rewriteObject } from "./json-text.ts";
import { readEvents } from "./sse.ts";

/** The longest answer that is read, in characters. */
const maxAnswerLength = 16 * 1024 * 1024;
/** How much of an answer without a response in it is read for its words, in characters. */
const maxFaultLength = 64 * 1024;

const cancelTimeoutMs = 1_000;

/** The client's side of a session. A server without sessions gives no id, and a careless one no version. */
export interface ClientSession {
	id: string | undefined;
	protocolVersion: string | undefined;
}

/** A response: a result or a JSON-RPC error, as parsed and as the text it came in. */
export interface ClientResponse {
	text: string;
	message: JsonObject & ({ result: unknown } | { error: unknown });
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
		super(
			`HTTP ${status}: the session is not known there`,
			status < 500 ? "refused" : "unknown",
		);
	}
}

export interface ClientOptions {
	/** The MCP endpoint, path included. */
	url: string;
	token?: string;
	/** The Host header to send instead of the URL's. */
	host?: string;
	info: { name: string; version: string };
}

export interface Client {
	/** `initialize`, then `notifications/initialized`. */
	connect(signal: AbortSignal): Promise<ClientSession>;
	/**
	 * Sends one request. `params` is JSON text. Rejects with a ClientError, or with the signal's reason; if that is no
	 * time-out but an AbortError, the server is told.
	 */
	request(
		session: ClientSession,
		method: string,
		params: string,
		signal: AbortSignal,
	): Promise<ClientResponse>;
	/** Ends a session with DELETE. */
	disconnect(session: ClientSession, signal: AbortSignal): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
	let lastId = 0;

	function headers(session: ClientSession | undefined): Headers {
		const set = new Headers({
			"Content-Type": "application/json",
			Accept: "application/json, text/event-stream",
		});
		if (options.host) set.set("Host", options.host);
		if (options.token) set.set("Authorization", `Bearer ${options.token}`);
		if (session?.id) set.set("Mcp-Session-Id", session.id);
		if (session?.protocolVersion)
			set.set("MCP-Protocol-Version", session.protocolVersion);
		return set;
	}

	async function send(
		method: "POST" | "DELETE",
		session: ClientSession | undefined,
		body: string | null,
		signal: AbortSignal,
	): Promise<Response> {
		const sent = headers(session);
		try {
			return await fetch(options.url, {
				method,
				headers: sent,
				body,
				signal,
				// A redirect would carry the token to another place.
				redirect: "manual",
				// A kept connection that was closed meanwhile looks like an answer that was lost.
				keepalive: false,
			});
		} catch (cause) {
			signal.throwIfAborted();
			throw lost(cause);
		}
	}

	async function request(
		session: ClientSession | undefined,
		method: string,
		params: string,
		signal: AbortSignal,
	): Promise<ClientResponse & { response: Response }> {
		const id = ++lastId;
		const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
		try {
			const response = await send("POST", session, body, signal);
			try {
				return { ...(await readResponse(response, id)), response };
			} finally {
				// The answer is complete; a stream that stays open is of no use.
				if (!response.bodyUsed) await response.body?.cancel();
			}
		} catch (cause) {
			if (session && wasAborted(signal)) void cancel(session, id);
			signal.throwIfAborted();
			throw cause instanceof ClientError ? cause : lost(cause);
		}
	}

	/** Tells the server that nobody waits for the answer any more. Whether that arrives makes no difference to us. */
	async function cancel(session: ClientSession, id: number): Promise<void> {
		const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
		const signal = AbortSignal.timeout(cancelTimeoutMs);
		const response = await send("POST", session, body, signal).catch(() => {});
		await response?.body?.cancel();
	}

	return {
		request,
		async connect(signal) {
			const params = JSON.stringify({
				protocolVersion: "2025-11-25",
				capabilities: {},
				clientInfo: options.info,
			});
			const { message, response } = await request(
				undefined,
				"initialize",
				params,
				signal,
			);
			if (!isObject(message.result))
				throw new ClientError(
					`initialize was answered with an error: ${JSON.stringify(message.error)}`,
					"refused",
				);
			const version = message.result.protocolVersion;
			const protocolVersion =
				typeof version === "string" && /^[\x21-\x7e]{1,64}$/.test(version)
					? version
					: undefined;
			const id = response.headers.get("mcp-session-id") ?? undefined;
			const session = { id, protocolVersion };
			const initialized = await send(
				"POST",
				session,
				'{"jsonrpc":"2.0","method":"notifications/initialized"}',
				signal,
			);
			await initialized.body?.cancel();
			if (!initialized.ok)
				throw new ClientError(
					`notifications/initialized was answered HTTP ${initialized.status}`,
					"refused",
				);
			return session;
		},
		async disconnect(session, signal) {
			const response = await send("DELETE", session, null, signal);
			await response.body?.cancel();
		},
	};
}

/** A response's text under another id, given as JSON text; every other byte stays. */
export function withId(text: string, id: string): string {
	const members = readMembers(text);
	const old = findMember(members, "id");
	if (!old) return rewriteObject(text, members, () => false, [`"id":${id}`]);
	return text.slice(0, old.start) + id + text.slice(old.end);
}

async function readResponse(
	response: Response,
	id: number,
): Promise<ClientResponse> {
	if (response.status === 404) throw new SessionNotFound(404);
	const type = response.headers.get("content-type") ?? "";
	const texts =
		response.body && /^text\/event-stream\b/i.test(type)
			? eventTexts(response.body)
			: bodyText(response);
	let seen = "";
	for await (const text of texts) {
		const message = parseResponse(text, id);
		if (!message) {
			if (seen.length < maxFaultLength) seen += text;
			continue;
		}
		const found = { text, message };
		if (mentionsLostSession(message.error))
			throw new SessionNotFound(response.status, found);
		return found;
	}
	if (response.status < 400)
		throw new ClientError(
			`HTTP ${response.status} without a response in it`,
			"unknown",
		);
	if (mentionsLostSession(seen)) throw new SessionNotFound(response.status);
	// 4xx says that the request was at fault and not carried out; 408 does not say how far it got.
	const refused = response.status < 500 && response.status !== 408;
	throw new ClientError(
		`HTTP ${response.status}`,
		refused ? "refused" : "unknown",
	);
}

async function* eventTexts(body: ReadableStream<Uint8Array>) {
	for await (const event of readEvents(body, maxAnswerLength)) yield event.data;
}

async function* bodyText({ body }: Response) {
	if (!body) return;
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
	let message: unknown;
	try {
		message = JSON.parse(text);
	} catch {
		return undefined; // What it says instead is judged by the status.
	}
	if (!isObject(message)) return undefined;
	const ours =
		message.id === id
			? "result" in message || "error" in message
			: (message.id ?? null) === null && "error" in message;
	return ours ? (message as ClientResponse["message"]) : undefined;
}

function mentionsLostSession(fault: unknown): boolean {
	const text = typeof fault === "string" ? fault : JSON.stringify(fault);
	return text !== undefined && /session not found/i.test(text);
}

function wasAborted({ aborted, reason }: AbortSignal): boolean {
	return aborted && reason instanceof Error && reason.name === "AbortError";
}

/** What happened to a connection, in words of ours: Bun's are for programmers. */
function describeLoss(cause: unknown, code: unknown, syscall: unknown): string {
	if (syscall === "getaddrinfo") return "the host name is not known";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED")
		return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed")
		return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}

function lost(cause: unknown): ClientError {
	const { code, syscall } = isObject(cause) ? cause : {};
	const unsent =
		code === "ConnectionRefused" ||
		code === "ECONNREFUSED" ||
		// A name that stands for no address, such as a stopped container's.
		syscall === "getaddrinfo";
	return new ClientError(
		describeLoss(cause, code, syscall),
		unsent ? "unsent" : "unknown",
		{ cause },
	);
}
