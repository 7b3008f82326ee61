// MCP over HTTP, both eras: a POST carries one message and is answered on its own stream.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
// Who may speak to us is settled before (access.ts).

import { readBody } from "../lib/body.ts";
import { methodNotAllowed } from "../lib/listen.ts";
import {
	encoded,
	frame,
	inOnePiece,
	json,
	respond,
	sseHeaders,
} from "./http-response.ts";
import {
	errorCode,
	errorResponse,
	isObject,
	MalformedMessage,
	parseMessage,
	RpcError,
	type RpcMessage,
	type RpcNotification,
	type RpcRequest,
} from "./json-rpc.ts";
import { checkModern, isModern, modernVersion } from "./modern.ts";
import {
	type Answer,
	type Caller,
	clientName,
	protocolVersions,
	type Server,
} from "./server.ts";
import type { Session, Sessions } from "./session.ts";
import { encodeMessage } from "./sse.ts";

/** Every revision that had sessions or came before them. One that we do not offer is served like the nearest. */
const legacyVersions = new Set([
	"2024-11-05",
	"2025-03-26",
	"2025-06-18",
	"2025-11-25",
]);

/** How long a call may be quiet, and a connection without one: the longest that Bun knows, beside no end at all. */
export const maxQuietSeconds = 255;

export interface EndpointOptions {
	server: Server;
	/** The longest body that is read. A longer one is 413, whether or not it said so beforehand. */
	maxBodyBytes: number;
	/** How long a body may take to arrive; 10 s unless said otherwise. */
	bodyTimeoutMs?: number;
	/**
	 * A server with sessions, which may also send notifications ahead of a response; or the one session id that it shows
	 * to every client, with answers of exactly one frame.
	 */
	sessions: Sessions | string;
}

type HttpServer = Bun.Server<undefined>;

/** Answers POST and, with sessions, DELETE on the MCP endpoint; any other method is 405. */
export function createEndpoint(
	options: EndpointOptions,
): (request: Request, http: HttpServer) => Response | Promise<Response> {
	const { server, maxBodyBytes, bodyTimeoutMs = 10_000 } = options;
	const sessions =
		typeof options.sessions === "string" ? undefined : options.sessions;
	const constantSessionId =
		typeof options.sessions === "string" ? options.sessions : undefined;
	const allow = sessions ? "POST, DELETE" : "POST";
	/** By an answer's own headers, which for the same origin are the same object. */
	const madeHeaders = new WeakMap<object, Headers>();

	async function post(request: Request, http: HttpServer): Promise<Response> {
		const { headers } = request;
		const refuse = (status: number, error: RpcError, id = "null") =>
			frame(status, errorResponse(id, error), legacySessionId(headers));
		if (!isJson(headers.get("content-type")))
			return refuse(
				415,
				invalidRequest("Content-Type is not application/json"),
			);
		// Bun ends what is quiet for 10 s, also a tool that takes its time. This holds for the connection from now on, so
		// it has an end: one whose client has vanished would stay for ever.
		http.timeout(request, maxQuietSeconds);
		const body = await readBody(request, {
			maxBytes: maxBodyBytes,
			timeoutMs: bodyTimeoutMs,
		});
		if (body === "late") {
			// Whoever sends the rest after all sends it to nobody.
			const late = refuse(408, invalidRequest("the body came too slowly"));
			late.headers.set("Connection", "close");
			return late;
		}
		if (body === "too long")
			return refuse(
				413,
				invalidRequest(`the body is longer than ${maxBodyBytes} bytes`),
			);

		const message = parse(body);
		if (message instanceof MalformedMessage)
			return refuse(400, message, message.id);
		if (message.kind !== "response" && isModern(headers, message))
			return postModern(request, message);

		const id = message.kind === "request" ? message.id : "null";
		const version = headers.get("mcp-protocol-version");
		if (version !== null && !legacyVersions.has(version))
			return refuse(
				400,
				invalidRequest("MCP-Protocol-Version names no version of MCP"),
				id,
			);
		const sessionId = sessions && headers.get("mcp-session-id");
		const session = sessionId ? sessions.find(sessionId) : undefined;
		if (sessionId && !session)
			return refuse(
				404,
				new RpcError(errorCode.sessionNotFound, "Session not found"),
				id,
			);
		if (session && contradicts(version, session))
			return refuse(
				400,
				invalidRequest(
					`MCP-Protocol-Version is not ${session.protocolVersion}, which this session agreed on`,
				),
				id,
			);
		if (message.kind === "request") {
			const flight = session?.begin(message.id);
			const caller: Caller = {
				modern: false,
				session,
				// Without a session hanging up is the only way to cancel: an id alone could be another client's, and no answer
				// could be fetched later.
				signal: flight?.signal ?? request.signal,
				notify: undefined,
				requestId: requestIdIn(headers),
			};
			if (sessions && wantsProgress(message))
				return stream(
					async (notify) =>
						ended(await server.handle(message, { ...caller, notify }), flight),
					(answer) => finish(message, answer, headers),
				);
			const answer = await server.handle(message, caller);
			return finish(message, ended(answer, flight), headers);
		}
		if (message.kind === "notification") notified(message, session);
		return respond(
			202,
			null,
			constantSessionId ? { "Mcp-Session-Id": constantSessionId } : {},
		);
	}

	/** The headers of an event that is there already. Making them costs more than sending them. */
	function eventHeaders(more: Record<string, string> = sseHeaders): Headers {
		const known = madeHeaders.get(more);
		if (known) return known;
		const made = new Headers({
			...sseHeaders,
			...more,
			...(constantSessionId && { "Mcp-Session-Id": constantSessionId }),
		});
		madeHeaders.set(more, made);
		return made;
	}

	/** The session id on a refusal: clients of the stateless revision are shown none. */
	function legacySessionId(headers: Headers): string | undefined {
		return headers.get("mcp-protocol-version") === modernVersion
			? undefined
			: constantSessionId;
	}

	function notified(
		{ method, params }: RpcNotification,
		session: Session | undefined,
	): void {
		// Ids mean something only within their session.
		if (method === "notifications/cancelled") session?.cancel(params.requestId);
	}

	/** The response to a request of the revisions with sessions. */
	function finish(
		{ params }: RpcRequest,
		answer: Answer | undefined,
		requestHeaders: Headers,
	): Response {
		if (!answer) return respond(200, "", sseHeaders);
		const { text, event, prepared, initialized, headers } = answer;
		if (event) return respond(200, inOnePiece(event), eventHeaders(headers));
		if (prepared) {
			// Nothing was waited for: then Bun sends it in one piece by itself.
			const { bytes, headers } = encoded(prepared, requestHeaders);
			return respond(200, bytes, eventHeaders(headers));
		}
		if (initialized === undefined || !sessions)
			return frame(200, text, constantSessionId, headers);
		const opened = sessions.open(initialized, clientName(params));
		return frame(200, text, opened.id, headers);
	}

	/** A message of the stateless revision: no session, and refusals as plain JSON. */
	async function postModern(
		{ headers, signal }: Request,
		message: RpcRequest | RpcNotification,
	): Promise<Response> {
		const id = message.kind === "request" ? message.id : "null";
		try {
			checkModern(headers, message);
		} catch (error) {
			if (!(error instanceof RpcError)) throw error;
			return json(400, errorResponse(id, error));
		}
		if (message.kind === "notification") return respond(202, null, {});
		// Closing the stream cancels the call.
		const handle = (notify: Notify | undefined) =>
			server.handle(message, {
				modern: true,
				session: undefined,
				signal,
				notify,
				requestId: requestIdIn(headers),
			});
		const finish = ({
			text,
			prepared,
			errorCode: code,
			headers: own,
		}: Answer) => {
			// 404 is for unknown methods. Clients take it for a fault of the transport, and of an unknown tool they are
			// to see the error.
			if (code === errorCode.methodNotFound && message.method !== "tools/call")
				return json(404, text, own);
			if (!prepared) return frame(200, text, undefined, own);
			const { bytes, headers: more } = encoded(prepared, headers);
			return respond(200, bytes, { ...sseHeaders, ...more });
		};
		return sessions && wantsProgress(message)
			? stream(handle, finish)
			: finish(await handle(undefined));
	}

	function endSession(request: Request): Response {
		const id = request.headers.get("mcp-session-id");
		if (id === null)
			return new Response("Mcp-Session-Id is missing\n", { status: 400 });
		return sessions?.end(id)
			? new Response(null, { status: 204 })
			: new Response("Session not found\n", { status: 404 });
	}

	return (request, http) => {
		if (request.method === "POST") return post(request, http);
		const modern =
			request.headers.get("mcp-protocol-version") === modernVersion;
		if (modern) return methodNotAllowed("POST");
		if (request.method === "DELETE" && sessions) return endSession(request);
		return methodNotAllowed(allow);
	};
}

/** The answer to a request that is no longer in flight. Who cancelled it expects no response. */
function ended(
	answer: Answer,
	flight: ReturnType<Session["begin"]> | undefined,
): Answer | undefined {
	flight?.end();
	return flight?.signal.aborted ? undefined : answer;
}

type Notify = (notification: string) => void;

/**
 * What `finish` makes of the answer; where notifications come before it, a stream that begins with the first of them
 * and ends with the answer, if there is one.
 */
function stream<Outcome extends Answer | undefined>(
	work: (notify: Notify) => Promise<Outcome>,
	finish: (outcome: Outcome) => Response,
): Promise<Response> {
	const { promise, resolve, reject } = Promise.withResolvers<Response>();
	const encoder = new TextEncoder();
	let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
	let open = true;
	const send = (text: string) => {
		if (open) controller?.enqueue(encoder.encode(encodeMessage(text)));
	};
	const begin = () => {
		const body = new ReadableStream<Uint8Array>({
			start(given) {
				controller = given;
			},
			cancel() {
				open = false;
			},
		});
		resolve(new Response(body, { headers: sseHeaders }));
	};
	work((notification) => {
		if (!controller) begin();
		send(notification);
	}).then((outcome) => {
		if (!controller) return resolve(finish(outcome));
		if (outcome) send(outcome.text);
		if (!open) return;
		// A tool that was given up may still report its progress.
		open = false;
		controller.close();
	}, reject);
	return promise;
}

function wantsProgress({ method, params }: RpcRequest): boolean {
	return (
		method === "tools/call" &&
		isObject(params._meta) &&
		params._meta.progressToken !== undefined
	);
}

/** Whether a version that we offer is named in a session that agreed on another. Older ones pass: their clients do not always know better. */
function contradicts(version: string | null, session: Session): boolean {
	const offered: readonly (string | null)[] = protocolVersions;
	return offered.includes(version) && version !== session.protocolVersion;
}

function invalidRequest(fault: string): RpcError {
	return new RpcError(errorCode.invalidRequest, `Invalid request: ${fault}`);
}

function parse(body: Uint8Array): RpcMessage | MalformedMessage {
	try {
		return parseMessage(decodeUtf8(body));
	} catch (error) {
		if (error instanceof MalformedMessage) return error;
		throw error;
	}
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(body: Uint8Array): string {
	try {
		return utf8.decode(body);
	} catch {
		// Its own words say no more than this.
		throw new MalformedMessage(errorCode.parse, "Parse error");
	}
}

/** What the caller calls this request, if it is a name that can stand in a log. */
function requestIdIn(headers: Headers): string | undefined {
	const id = headers.get("x-request-id");
	return id !== null && /^[\w.:-]{1,64}$/.test(id) ? id : undefined;
}

/** A missing type counts as JSON: the plainest of clients sends none. */
function isJson(contentType: string | null): boolean {
	if (contentType === null) return true;
	const mediaType = contentType.split(";", 1)[0] ?? "";
	return mediaType.trim().toLowerCase() === "application/json";
}
