// MCP over HTTP, both eras: a POST carries one message and is answered on its own stream.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
// access.ts checks before whether the caller is allowed.

import { methodNotAllowed } from "../lib/listen.ts";
import { frame } from "./http-response.ts";
import { errorResponse } from "./json-rpc.ts";
import { createLegacyHandler, endSession } from "./legacy.ts";
import { createModernHandler, isModern, modernVersion } from "./modern.ts";
import { type ReadOptions, Refusal, readMessage } from "./read-message.ts";
import type { Server } from "./server.ts";
import type { Sessions } from "./session.ts";

export interface EndpointOptions extends ReadOptions {
	server: Server;
	/**
	 * A server with sessions, which may also send notifications ahead of a response; or the one session id that it shows
	 * to every client, with responses of exactly one event.
	 */
	sessions: Sessions | string;
}

type HttpServer = Bun.Server<undefined>;

/** Answers POST and, with sessions, DELETE on the MCP endpoint; any other method is 405. */
export function createEndpoint(
	options: EndpointOptions,
): (request: Request, http: HttpServer) => Response | Promise<Response> {
	const { server, sessions } = options;
	const hasSessions = typeof sessions !== "string";
	const legacy = createLegacyHandler(server, sessions);
	const modern = createModernHandler(server, { streams: hasSessions });

	async function post(request: Request, http: HttpServer): Promise<Response> {
		const { headers } = request;
		const message = await readMessage(request, http, options);
		if (message.kind === "refusal") return refuse(message, headers);
		if (message.kind !== "response" && isModern(headers, message))
			return modern(request, message);
		const answered = await legacy(request, message);
		return answered instanceof Refusal ? refuse(answered, headers) : answered;
	}

	function refuse(
		{ status, error, id, closesConnection }: Refusal,
		headers: Headers,
	): Response {
		// Clients of the stateless revision are shown no session id.
		const sessionId =
			hasSessions || namesModern(headers) ? undefined : sessions;
		const more = closesConnection ? { Connection: "close" } : undefined;
		return frame(status, errorResponse(id, error), sessionId, more);
	}

	return (request, http) => {
		if (request.method === "POST") return post(request, http);
		if (namesModern(request.headers)) return methodNotAllowed("POST");
		if (!hasSessions) return methodNotAllowed("POST");
		return request.method === "DELETE"
			? endSession(request, sessions)
			: methodNotAllowed("POST, DELETE");
	};
}

function namesModern(headers: Headers): boolean {
	return headers.get("mcp-protocol-version") === modernVersion;
}
