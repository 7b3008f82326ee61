// MCP over HTTP, for all revisions: a POST has one message, and its response is an event stream.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
// access.ts has checked before whether the caller is allowed.

import type { Principal } from "../lib/principal.ts";
import { methodNotAllowed, readBody } from "../lib/program/listen.ts";
import { refuseWhileDraining } from "./draining.ts";
import { frame } from "./http-response.ts";
import { errorResponse } from "./json-rpc.ts";
import { createLegacyHandler, endSession } from "./legacy.ts";
import { createModernHandler, isModern, modernVersion } from "./modern.ts";
import { admit, type ReadOptions, Refusal, readMessage } from "./read-message.ts";
import type { Server } from "./server.ts";
import type { Sessions } from "./session.ts";

export interface EndpointOptions extends ReadOptions {
	server: Server;
	/**
	 * The sessions of the MCP server, or a constant session id that all clients get. With a constant id, the server sends
	 * no notifications before a response.
	 */
	sessions: Sessions | string;
	/** Whether the server is about to end, so that it refuses calls and new sessions. Default: never. */
	isDraining?(): boolean;
}

/**
 * Handles HTTP requests to an MCP endpoint. `principal` is the authenticated caller; undefined: a caller without limits.
 */
export type EndpointHandler = (
	request: Request,
	http: Bun.Server<undefined>,
	principal?: Principal,
) => Response | Promise<Response>;

/**
 * Returns the HTTP handler of an MCP endpoint. It accepts POST and, if the server has sessions, DELETE. Other HTTP
 * methods get 405.
 */
export function createEndpoint(options: EndpointOptions): EndpointHandler {
	const { server, sessions, maxBodyBytes, bodyTimeoutMs = 10_000 } = options;
	const { isDraining = () => false } = options;
	const hasSessions = typeof sessions !== "string";
	const legacy = createLegacyHandler(server, sessions);
	const modern = createModernHandler(server, { streams: hasSessions });

	const post: EndpointHandler = async (request, http, principal) => {
		const { headers } = request;
		const refused = admit(request, http);
		if (refused) return refuse(refused, headers);
		const body = await readBody(request, maxBodyBytes, bodyTimeoutMs);
		const message = readMessage(body, maxBodyBytes);
		if (message.kind === "refusal") return refuse(message, headers);
		if (message.kind === "request" && isDraining()) {
			const refused = refuseWhileDraining(message);
			if (refused) return refused;
		}
		if (message.kind !== "response" && isModern(headers, message)) return modern(request, message, principal);
		const answered = await legacy(request, message, principal);
		return answered instanceof Refusal ? refuse(answered, headers) : answered;
	};

	function refuse({ status, error }: Refusal, headers: Headers): Response {
		// Clients of the stateless revision get no session id.
		const sessionId = hasSessions || namesModern(headers) ? undefined : sessions;
		// The rest of the body may still arrive after a timeout.
		const more = status === 408 ? { Connection: "close" } : undefined;
		return frame(status, errorResponse(error.id, error), sessionId, more);
	}

	return (request, http, principal) => {
		if (request.method === "POST") return post(request, http, principal);
		if (!hasSessions || namesModern(request.headers)) return methodNotAllowed("POST");
		return request.method === "DELETE" ? endSession(request, sessions) : methodNotAllowed("POST, DELETE");
	};
}

function namesModern(headers: Headers): boolean {
	return headers.get("mcp-protocol-version") === modernVersion;
}
