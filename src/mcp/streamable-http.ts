// MCP over HTTP: a POST carries one message and is answered on its own stream, with exactly one frame.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// Who may speak to us is settled before (access.ts).

import {
	errorCode,
	errorResponse,
	MalformedMessage,
	parseMessage,
	type RpcMessage,
	type RpcRequest,
} from "./json-rpc.ts";
import { type Caller, clientName, type Server } from "./server.ts";
import type { Sessions } from "./session.ts";
import { encodeMessage } from "./sse.ts";

/** Every revision that had sessions or came before them. One that we do not offer is served like the nearest. */
const knownVersions = new Set([
	"2024-11-05",
	"2025-03-26",
	"2025-06-18",
	"2025-11-25",
]);

export interface EndpointOptions {
	server: Server;
	/** The longest body that is read. A longer one is 413, whether or not it said so beforehand. */
	maxBodyBytes: number;
	/** A server with sessions, or the one session id that it shows to every client. */
	sessions: Sessions | string;
}

type HttpServer = Bun.Server<undefined>;

/** Answers POST and, with sessions, DELETE on the MCP endpoint; any other method is 405. */
export function createEndpoint(
	options: EndpointOptions,
): (request: Request, http: HttpServer) => Promise<Response> {
	const { server, maxBodyBytes } = options;
	const sessions =
		typeof options.sessions === "string" ? undefined : options.sessions;
	const constantSessionId =
		typeof options.sessions === "string" ? options.sessions : undefined;
	const allow = sessions ? "POST, DELETE" : "POST";

	function frame(status: number, text: string, sessionId?: string): Response {
		const headers: Record<string, string> = {
			"Content-Type": "text/event-stream",
			"Cache-Control": "no-cache",
			"X-Accel-Buffering": "no",
		};
		return respond(status, encodeMessage(text), headers, sessionId);
	}
	function respond(
		status: number,
		body: string | null,
		headers: Record<string, string>,
		sessionId = constantSessionId,
	): Response {
		if (sessionId) headers["Mcp-Session-Id"] = sessionId;
		return new Response(body, { status, headers });
	}
	function refuse(status: number, code: number, message: string, id = "null") {
		return frame(status, errorResponse(id, code, message));
	}

	async function post(request: Request, http: HttpServer): Promise<Response> {
		if (!isJson(request.headers.get("content-type")))
			return refuse(
				415,
				errorCode.invalidRequest,
				"Invalid request: Content-Type is not application/json",
			);
		const body = await readBody(request, maxBodyBytes);
		if (body === undefined)
			return refuse(
				413,
				errorCode.invalidRequest,
				`Invalid request: the body is longer than ${maxBodyBytes} bytes`,
			);
		// Bun ends a quiet response after 10 s; a tool may be quiet for longer.
		http.timeout(request, 0);

		const message = parse(body);
		if (message instanceof MalformedMessage)
			return refuse(400, message.code, message.message, message.id);
		const id = message.kind === "request" ? message.id : "null";

		const version = request.headers.get("mcp-protocol-version");
		if (version !== null && !knownVersions.has(version))
			return refuse(
				400,
				errorCode.invalidRequest,
				"Invalid request: MCP-Protocol-Version names no version that is spoken here",
				id,
			);
		const caller = findCaller(request);
		if (!caller)
			return refuse(404, errorCode.sessionNotFound, "Session not found", id);
		if (message.kind !== "request") return respond(202, null, {});
		return answer(message, caller);
	}

	/** The caller; undefined when it names a session that there is not. Without a session it is served as well. */
	function findCaller(request: Request): Caller | undefined {
		const id = request.headers.get("mcp-session-id");
		if (!sessions || id === null) return { session: undefined };
		const session = sessions.find(id);
		return session && { session };
	}

	async function answer(
		message: RpcRequest,
		caller: Caller,
	): Promise<Response> {
		const { text, initialized } = await server.handle(message, caller);
		if (initialized === undefined || !sessions) return frame(200, text);
		const session = sessions.open(initialized, clientName(message.params));
		return frame(200, text, session.id);
	}

	function endSession(request: Request): Response {
		const id = request.headers.get("mcp-session-id");
		if (id === null)
			return new Response("Mcp-Session-Id is missing\n", { status: 400 });
		return sessions?.end(id)
			? new Response(null, { status: 204 })
			: new Response("Session not found\n", { status: 404 });
	}

	return async (request, http) => {
		if (request.method === "POST") return post(request, http);
		if (request.method === "DELETE" && sessions) return endSession(request);
		return methodNotAllowed(allow);
	};
}

/** 405, naming what is allowed. */
export function methodNotAllowed(allow: string): Response {
	return new Response("Method Not Allowed\n", {
		status: 405,
		headers: { Allow: allow },
	});
}

function parse(body: Uint8Array): RpcMessage | MalformedMessage {
	try {
		return parseMessage(new TextDecoder("utf-8", { fatal: true }).decode(body));
	} catch (error) {
		if (error instanceof MalformedMessage) return error;
		if (error instanceof TypeError)
			return new MalformedMessage(errorCode.parse, "Parse error");
		throw error;
	}
}

/** A body of at most `maxBytes`, counted while it is read; undefined when there is more. */
async function readBody(
	request: Request,
	maxBytes: number,
): Promise<Uint8Array | undefined> {
	const announced = request.headers.get("content-length");
	if (announced !== null)
		return Number(announced) > maxBytes ? undefined : request.bytes();
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body) {
		length += chunk.length;
		if (length > maxBytes) return undefined;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

/** A missing type counts as JSON: the plainest of clients sends none. */
function isJson(contentType: string | null): boolean {
	if (contentType === null) return true;
	const mediaType = contentType.split(";", 1)[0] ?? "";
	return mediaType.trim().toLowerCase() === "application/json";
}
