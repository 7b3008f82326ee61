// Handles messages of the revisions with sessions, and of those before them.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http

import type { Principal } from "../lib/principal.ts";
import { readTrace } from "../lib/trace-context.ts";
import { ClientSignal } from "./client-signal.ts";
import { createEventResponder, frame, respond, sseHeaders } from "./http-response.ts";
import { errorCode, MalformedMessage, type RpcMessage, type RpcRequest } from "./json-rpc.ts";
import { clientName } from "./modern.ts";
import { streamResponse, wantsProgress } from "./progress-stream.ts";
import { Refusal, refusal, requestIdIn } from "./read-message.ts";
import { type Caller, protocolVersions, type RpcResponse, type Server } from "./server.ts";
import type { Session, Sessions } from "./session.ts";

/**
 * All MCP protocol versions before the stateless one (2026-07-28). A request with a version that our
 * servers do not offer is handled like one with the nearest offered version.
 */
const legacyVersions = new Set(["2024-11-05", "2025-03-26"]).union(new Set<string>(protocolVersions));

/**
 * Returns an HTTP handler for the MCP protocol versions before the stateless one (2026-07-28). `sessions` holds the
 * sessions of the server, or is a constant session id that all clients get.
 */
export function createLegacyHandler(
	server: Server,
	sessions: Sessions | string,
): (
	request: Request,
	message: RpcMessage,
	principal: Principal | undefined,
) => Promise<Response | Refusal> | Response | Refusal {
	const isConstant = typeof sessions === "string";
	const sharedId = isConstant ? sessions : undefined;
	const respondWith = createEventResponder(sharedId);

	function findSession(headers: Headers, id: string | undefined): Session | Refusal | undefined {
		const version = headers.get("mcp-protocol-version");
		if (version !== null && !legacyVersions.has(version))
			return refusal(400, "MCP-Protocol-Version is not a version of MCP", id);
		const sessionId = isConstant ? null : headers.get("mcp-session-id");
		if (isConstant || !sessionId) return undefined;
		const session = sessions.find(sessionId);
		if (!session) return new Refusal(404, new MalformedMessage(errorCode.sessionNotFound, "Session not found", id));
		if (contradicts(version, session))
			return refusal(400, `MCP-Protocol-Version is not ${session.protocolVersion}, the version of this session`, id);
		return session;
	}

	async function answer(
		request: RpcRequest,
		http: Request,
		session: Session | undefined,
		principal: Principal | undefined,
	): Promise<Response> {
		const { headers } = http;
		const flight = session?.begin(request.id);
		const caller: Caller = {
			modern: false,
			session,
			// Without a session, only closing the connection cancels: an id could be the one of another client's request.
			signal: flight?.signal ?? new ClientSignal(http),
			notify: undefined,
			principal,
			// A request to the client would need a stream. Behind the gateway, a client of the stateless revision can be asked.
			elicits: principal?.elicits ?? false,
			requestId: requestIdIn(headers),
			trace: readTrace(headers, request.params._meta),
		};
		if (!isConstant && wantsProgress(request))
			return streamResponse(
				async (notify) => expected(await server.handle(request, { ...caller, notify }), flight),
				(response) => finish(request, response, headers),
			);
		const response = await server.handle(request, caller);
		return finish(request, expected(response, flight), headers);
	}

	function finish({ params }: RpcRequest, response: RpcResponse | undefined, requestHeaders: Headers): Response {
		if (!response) return respond(200, "", sseHeaders);
		if (isConstant || response.kind !== "text" || !response.initialized) return respondWith(response, requestHeaders);
		const client = clientName(params.clientInfo) ?? "unknown";
		const opened = sessions.open(response.initialized, client);
		return frame(200, response.text, opened.id, response.headers);
	}

	return (request, message, principal) => {
		const id = message.kind === "request" ? message.id : undefined;
		const session = findSession(request.headers, id);
		if (session instanceof Refusal) return session;
		if (message.kind === "request") return answer(message, request, session, principal);
		// Request ids are unique only within their session.
		if (message.kind === "notification" && message.method === "notifications/cancelled")
			session?.cancel(message.params.requestId);
		return respond(202, null, sharedId ? { "Mcp-Session-Id": sharedId } : {});
	};
}

function expected(response: RpcResponse, flight: ReturnType<Session["begin"]> | undefined): RpcResponse | undefined {
	flight?.end();
	return flight?.signal.aborted ? undefined : response;
}

/** Handles an HTTP DELETE request, with which an MCP client ends its session. */
export function endSession({ headers }: Request, sessions: Sessions): Response {
	const id = headers.get("mcp-session-id");
	if (id === null) return new Response("Mcp-Session-Id is missing\n", { status: 400 });
	return sessions.end(id) ? new Response(null, { status: 204 }) : new Response("Session not found\n", { status: 404 });
}

/**
 * Whether the header MCP-Protocol-Version names a protocol version that the server offers, but not the one that the
 * client negotiated for its session.
 */
function contradicts(version: string | null, session: Session): boolean {
	const offered: readonly (string | null)[] = protocolVersions;
	return offered.includes(version) && version !== session.protocolVersion;
}
