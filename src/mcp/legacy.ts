// The revisions with sessions, and those before them: what becomes of one message of theirs.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http

import {
	createEventResponder,
	frame,
	respond,
	sseHeaders,
} from "./http-response.ts";
import {
	errorCode,
	RpcError,
	type RpcMessage,
	type RpcRequest,
} from "./json-rpc.ts";
import { streamResponse, wantsProgress } from "./progress-stream.ts";
import { invalidRequest, Refusal, requestIdIn } from "./read-message.ts";
import {
	type Caller,
	clientName,
	protocolVersions,
	type RpcResponse,
	type Server,
} from "./server.ts";
import type { Session, Sessions } from "./session.ts";

/** Every revision that had sessions or came before them. One that we do not offer is served like the nearest. */
const legacyVersions = new Set([
	"2024-11-05",
	"2025-03-26",
	"2025-06-18",
	"2025-11-25",
]);

/**
 * Answers messages of these revisions. `sessions`: the server's sessions, or the one session id that it shows to every
 * client.
 */
export function createLegacyHandler(
	server: Server,
	sessions: Sessions | string,
): (
	request: Request,
	message: RpcMessage,
) => Promise<Response | Refusal> | Response | Refusal {
	const isConstant = typeof sessions === "string";
	const sharedId = isConstant ? sessions : undefined;
	const respondWith = createEventResponder(sharedId);

	/** The session that a message belongs to, if it names one. */
	function findSession(
		headers: Headers,
		id: string | undefined,
	): Session | Refusal | undefined {
		const version = headers.get("mcp-protocol-version");
		if (version !== null && !legacyVersions.has(version))
			return new Refusal(
				400,
				invalidRequest("MCP-Protocol-Version names no version of MCP"),
				id,
			);
		const sessionId = isConstant ? null : headers.get("mcp-session-id");
		if (isConstant || !sessionId) return undefined;
		const session = sessions.find(sessionId);
		if (!session)
			return new Refusal(
				404,
				new RpcError(errorCode.sessionNotFound, "Session not found"),
				id,
			);
		if (contradicts(version, session))
			return new Refusal(
				400,
				invalidRequest(
					`MCP-Protocol-Version is not ${session.protocolVersion}, which this session agreed on`,
				),
				id,
			);
		return session;
	}

	async function answer(
		request: RpcRequest,
		{ headers, signal }: Request,
		session: Session | undefined,
	): Promise<Response> {
		const flight = session?.begin(request.id);
		const caller: Caller = {
			modern: false,
			session,
			// Without a session only hanging up cancels: an id alone could be another client's, and no response could be
			// fetched later.
			signal: flight?.signal ?? signal,
			notify: undefined,
			requestId: requestIdIn(headers),
		};
		const handle = async (caller: Caller) => {
			const response = await server.handle(request, caller);
			flight?.end();
			// A client that cancelled its request expects no response.
			return flight?.signal.aborted ? undefined : response;
		};
		const finish = (response: RpcResponse | undefined) => {
			if (!response) return respond(200, "", sseHeaders);
			if (isConstant || response.kind !== "text" || !response.initialized)
				return respondWith(response, headers);
			const opened = sessions.open(
				response.initialized,
				clientName(request.params),
			);
			return frame(200, response.text, opened.id, response.headers);
		};
		return !isConstant && wantsProgress(request)
			? streamResponse((notify) => handle({ ...caller, notify }), finish)
			: finish(await handle(caller));
	}

	return (request, message) => {
		const id = message.kind === "request" ? message.id : undefined;
		const session = findSession(request.headers, id);
		if (session instanceof Refusal) return session;
		if (message.kind === "request") return answer(message, request, session);
		// Ids mean something only within their session.
		if (
			message.kind === "notification" &&
			message.method === "notifications/cancelled"
		)
			session?.cancel(message.params.requestId);
		const headers: Record<string, string> = sharedId
			? { "Mcp-Session-Id": sharedId }
			: {};
		return respond(202, null, headers);
	};
}

/** DELETE: the client ends its session. */
export function endSession({ headers }: Request, sessions: Sessions): Response {
	const id = headers.get("mcp-session-id");
	if (id === null)
		return new Response("Mcp-Session-Id is missing\n", { status: 400 });
	return sessions.end(id)
		? new Response(null, { status: 204 })
		: new Response("Session not found\n", { status: 404 });
}

/** Whether an offered version is named in a session that agreed on another. Older ones pass: some clients always send them. */
function contradicts(version: string | null, session: Session): boolean {
	const offered: readonly (string | null)[] = protocolVersions;
	return offered.includes(version) && version !== session.protocolVersion;
}
