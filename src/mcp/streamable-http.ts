// MCP over HTTP: a POST has one message, and its response is an event stream. access.ts has checked the caller before.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports

import { isObject } from "../lib/json.ts";
import type { Principal } from "../lib/principal.ts";
import { maxQuietSeconds, methodNotAllowed, readBody } from "../lib/program/listen.ts";
import { ClientSignal } from "../lib/signal.ts";
import { readTrace } from "../lib/trace-context.ts";
import { refuseWhileDraining } from "./draining.ts";
import { frame, json, respond, respondEvent, respondList, sseHeaders, streamResponse } from "./http-response.ts";
import {
	errorCode,
	errorResponse,
	invalidRequest,
	MalformedMessage,
	parseMessage,
	RpcError,
	type RpcMessage,
	type RpcNotification,
	type RpcRequest,
	type RpcResponse,
} from "./json-rpc.ts";
import { canElicit, checkModern, clientName, modernVersion, versionKey } from "./modern.ts";
import { type Caller, protocolVersions, type Server } from "./server.ts";
import { RequestsInFlight, type Session, type Sessions } from "./session.ts";

interface EndpointOptions {
	server: Server;
	/** Or a constant id for all clients. */
	sessions: Sessions | string;
	/** A longer body gets HTTP 413, even without Content-Length. */
	maxBodyBytes: number;
	/** For the whole body, in milliseconds. Default: 10,000. */
	bodyTimeoutMs?: number;
}

/** `principal` undefined: a caller without limits. */
export type EndpointHandler = (
	request: Request,
	http: Bun.Server<undefined>,
	principal?: Principal,
) => Response | Promise<Response>;

/** Clients that share a session may use the same ids: a late cancellation must not end another client's request. */
const doubtMs = 2_000;

/** A version that our servers do not offer counts as the nearest offered one. */
const legacyVersions = new Set(["2024-11-05", "2025-03-26"]).union(new Set<string>(protocolVersions));

/** POST, and DELETE if there are sessions; other HTTP methods get 405. */
export function createEndpoint(options: EndpointOptions): EndpointHandler {
	const { server, maxBodyBytes, bodyTimeoutMs = 10_000 } = options;
	const sharedId = typeof options.sessions === "string" ? options.sessions : undefined;
	const sessions = typeof options.sessions === "string" ? undefined : options.sessions;
	const shared = sharedId === undefined ? undefined : new RequestsInFlight(doubtMs);

	const post: EndpointHandler = async (request, http, principal) => {
		const { headers } = request;
		let id = "null";
		try {
			checkType(headers.get("content-type"));
			// Bun closes connections that are silent for 10 s, even during a slow tool. The new limit stays with the connection.
			// Without any, a connection whose client has vanished would stay open forever.
			http.timeout(request, maxQuietSeconds);
			const message = parseMessage(decodeBody(await readBody(request, maxBodyBytes, bodyTimeoutMs), maxBodyBytes));
			const refused = message.kind === "request" && server.isDraining && refuseWhileDraining(message);
			if (refused) return refused;
			if (message.kind === "request") id = message.id;
			const modern = isModern(headers, message);
			if (modern) checkModern(headers, message);
			const session = modern ? undefined : findSession(sessions, headers, message);
			if (message.kind === "request") return await answer(message, request, modern, session, principal);
			// Ids are unique only within a session. Without one, those of a caller count as long as no two requests share one.
			const requests = session?.requests ?? (modern ? undefined : shared);
			if (message.kind === "notification" && message.method === "notifications/cancelled")
				requests?.cancel(message.params.requestId, session ? "" : principal?.id);
			return respond(202, null, sharedId && !modern ? { "Mcp-Session-Id": sharedId } : {});
		} catch (error) {
			if (error instanceof MalformedMessage) return refuse(error, headers);
			if (!(error instanceof RpcError)) throw error;
			return json(400, errorResponse(id, error));
		}
	};

	async function answer(
		message: RpcRequest,
		request: Request,
		modern: boolean,
		session: Session | undefined,
		principal: Principal | undefined,
	): Promise<Response> {
		const { headers } = request;
		const client = new ClientSignal(request);
		const isShared = !modern && message.method === "tools/call";
		const flight =
			session?.requests.begin(message.id) ?? (isShared ? shared?.begin(message.id, principal?.id, client) : undefined);
		const caller: Caller = {
			modern,
			session,
			// In a session, closing the connection does not cancel.
			signal: flight?.signal ?? client,
			notify: undefined,
			principal,
			// With a session, a request to the client would need a stream. Behind the gateway, a client of the stateless revision
			// can be asked.
			elicits: modern ? canElicit(message) : (principal?.elicits ?? false),
			requestId: requestIdIn(headers),
			headers,
			trace: readTrace(headers, message.params._meta),
		};
		if (!wantsProgress(message))
			return finish(message, modern, expected(await server.handle(message, caller), flight), headers);
		return streamResponse(
			async (notify) => expected(await server.handle(message, { ...caller, notify }), flight),
			(response) => finish(message, modern, response, headers),
		);
	}

	function finish(
		{ method, params }: RpcRequest,
		modern: boolean,
		response: RpcResponse | undefined,
		requestHeaders: Headers,
	): Response {
		if (!response) return respond(200, "", sseHeaders);
		const shownId = modern ? undefined : sharedId;
		if (response.kind === "event") return respondEvent(response, shownId);
		if (response.kind === "list") return respondList(response.list, requestHeaders, shownId);
		const { text, headers, initialized, errorCode: code, challenge } = response;
		// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling
		if (challenge !== undefined) return json(403, text, { ...headers, "WWW-Authenticate": challenge });
		if (modern) {
			// 404 is for unknown methods. Clients would take it for an error of the transport and hide the error of an unknown tool.
			const isUnknown = code === errorCode.methodNotFound && method !== "tools/call";
			const isIncapable = code === errorCode.missingCapability;
			return isUnknown || isIncapable
				? json(isUnknown ? 404 : 400, text, headers)
				: frame(200, text, undefined, headers);
		}
		if (!sessions || !initialized) return frame(200, text, sharedId, headers);
		return frame(200, text, sessions.open(initialized, clientName(params.clientInfo) ?? "unknown").id, headers);
	}

	function refuse(error: MalformedMessage, headers: Headers): Response {
		// Clients of the stateless revision get no session id.
		const sessionId = namesModern(headers) ? undefined : sharedId;
		// The rest of the body may still arrive after a timeout.
		const more = error.status === 408 ? { Connection: "close" } : undefined;
		return frame(error.status, errorResponse(error.id, error), sessionId, more);
	}

	return (request, http, principal) => {
		if (request.method === "POST") return post(request, http, principal);
		if (!sessions || namesModern(request.headers)) return methodNotAllowed("POST");
		return request.method === "DELETE" ? endSession(request, sessions) : methodNotAllowed("POST, DELETE");
	};
}

/** Undefined if the headers name none. Throws if it or the version is wrong. */
function findSession(sessions: Sessions | undefined, headers: Headers, message: RpcMessage): Session | undefined {
	const id = message.kind === "request" ? message.id : undefined;
	const version = headers.get("mcp-protocol-version");
	if (version !== null && !legacyVersions.has(version))
		throw invalidRequest("MCP-Protocol-Version is not a version of MCP", id);
	const sessionId = sessions ? headers.get("mcp-session-id") : null;
	if (!sessions || !sessionId) return undefined;
	const session = sessions.find(sessionId);
	if (!session) throw new MalformedMessage(errorCode.sessionNotFound, "Session not found", id, 404);
	// An offered version, but not the one that the client negotiated.
	const { protocolVersion } = session;
	if (version !== protocolVersion && protocolVersions.some((offered) => offered === version))
		throw invalidRequest(`MCP-Protocol-Version is not ${protocolVersion}, the version of this session`, id);
	return session;
}

function isModern(headers: Headers, message: RpcMessage): message is RpcRequest | RpcNotification {
	if (message.kind === "response") return false;
	const { _meta } = message.params;
	return namesModern(headers) || (isObject(_meta) && versionKey in _meta);
}

function namesModern(headers: Headers): boolean {
	return headers.get("mcp-protocol-version") === modernVersion;
}

/** Undefined if the client cancelled, and so expects no response. */
function expected(
	response: RpcResponse,
	flight: ReturnType<RequestsInFlight["begin"]> | undefined,
): RpcResponse | undefined {
	flight?.end();
	return flight?.signal.aborted ? undefined : response;
}

function wantsProgress({ method, params }: RpcRequest): boolean {
	return method === "tools/call" && isObject(params._meta) && params._meta.progressToken !== undefined;
}

function endSession({ headers }: Request, sessions: Sessions): Response {
	const id = headers.get("mcp-session-id");
	if (id === null) return new Response("Mcp-Session-Id is missing\n", { status: 400 });
	return sessions.end(id) ? new Response(null, { status: 204 }) : new Response("Session not found\n", { status: 404 });
}

function requestIdIn(headers: Headers): string | undefined {
	const id = headers.get("x-request-id");
	return id !== null && /^[\w.:-]{1,64}$/.test(id) ? id : undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeBody(body: Uint8Array | "late" | "too long", maxBodyBytes: number): string {
	if (body === "late") throw invalidRequest("the request body did not arrive in time", undefined, 408);
	if (body === "too long")
		throw invalidRequest(`the request body is longer than ${maxBodyBytes} bytes`, undefined, 413);
	try {
		return utf8.decode(body);
	} catch {
		// The error of the decoder has no more details.
		throw new MalformedMessage(errorCode.parse, "Parse error");
	}
}

const jsonType = "application/json";

/** A missing header counts as JSON. */
function checkType(contentType: string | null): void {
	if (contentType === null || contentType === jsonType) return;
	const mediaType = contentType.split(";", 1)[0] ?? "";
	if (mediaType.trim().toLowerCase() !== jsonType)
		throw invalidRequest("Content-Type is not application/json", undefined, 415);
}
