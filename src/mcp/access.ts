// Access to our HTTP servers: the checks before a body is read, and the headers that let a web page from a listed origin
// call us (CORS).
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
// https://fetch.spec.whatwg.org/#http-cors-protocol

import { hash, timingSafeEqual } from "node:crypto";
import type { ListenOptions } from "../lib/listen.ts";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether a Host header names this machine's loopback, with any port. */
export function isLoopbackHost(host: string | null): boolean {
	const name = hostName(host);
	return name !== undefined && loopbackNames.has(name);
}

/** The name in a Host header, in lower case; undefined if it is invalid, such as two joined headers. */
function hostName(host: string | null): string | undefined {
	const match = host?.match(/^(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i);
	return match?.[1]?.toLowerCase();
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopbackAddress(address: string): boolean {
	return /^(localhost|::1|127(\.\d{1,3}){3})$/.test(address);
}

/** Host names that clients may use; "any" if they cannot be known. */
export type AllowedHosts = readonly string[] | "any";

type Check = (request: Request) => Response | undefined;

/**
 * A check that answers 403 to a Host header that names neither this machine's loopback nor one of `allowed` (without
 * port, in lower case), as DNS rebinding makes a browser send. An invalid header is always refused.
 */
export function createHostCheck(allowed: AllowedHosts): Check {
	return (request) => {
		const name = hostName(request.headers.get("host"));
		if (name !== undefined) {
			if (allowed === "any" || loopbackNames.has(name)) return undefined;
			if (allowed.includes(name)) return undefined;
		}
		return new Response("Host header is not allowed", { status: 403 });
	};
}

/**
 * A check that answers 403 to a page whose origin is not one of `allowed`, and 204 to the preflight of one that is: a
 * browser sends that without the token. `allowLoopback`: pages of this machine pass without being listed. Programs send
 * no Origin.
 */
export function createOriginCheck(
	allowed: readonly string[],
	{ allowLoopback = true } = {},
): Check {
	return (request) => {
		const origin = request.headers.get("origin");
		if (origin === null) return undefined;
		if (allowed.includes(origin.toLowerCase()))
			return isPreflight(request)
				? new Response(null, { status: 204, headers: preflightHeaders })
				: undefined;
		const host = origin.match(/^https?:\/\/([^/]+)$/)?.[1];
		if (allowLoopback && host && isLoopbackHost(host)) return undefined;
		return new Response("Origin is not allowed", { status: 403 });
	};
}

function isPreflight({ method, headers }: Request): boolean {
	return method === "OPTIONS" && headers.has("access-control-request-method");
}

const preflightHeaders = {
	"Access-Control-Allow-Methods": "GET, POST, DELETE",
	// Last-Event-ID and Mcp-Session-Id are of the revisions with sessions, Mcp-Method and Mcp-Name of the stateless one.
	"Access-Control-Allow-Headers":
		"Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, X-Request-Id",
	// Chromium's maximum.
	"Access-Control-Max-Age": "7200",
};

/**
 * `respond`, with the headers that let pages of the `allowed` origins read every response, refusals included. Responses
 * to anyone else have none of them.
 */
export function withCors(
	allowed: readonly string[],
	respond: ListenOptions["fetch"],
): ListenOptions["fetch"] {
	if (allowed.length === 0) return respond;
	return async (request, http) => {
		const response = await respond(request, http);
		const { headers } = response;
		// The same request from another origin gets another response.
		headers.append("Vary", "Origin");
		const origin = request.headers.get("origin");
		if (origin === null || !allowed.includes(origin.toLowerCase()))
			return response;
		headers.set("Access-Control-Allow-Origin", origin);
		headers.set(
			"Access-Control-Expose-Headers",
			"Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Mcp-Instance",
		);
		return response;
	};
}

/**
 * A check that answers 401 to a request without `Authorization: Bearer <token>`. The challenge names an error only if a
 * token was sent (RFC 6750, section 3.1). Digests are compared, in constant time, so that timing reveals neither the
 * token's characters nor its length.
 */
export function createBearerCheck(token: string): Check {
	const expected = digest(token);
	return (request) => {
		const header = request.headers.get("authorization") ?? "";
		const given = /^Bearer +(\S+)$/i.exec(header)?.[1];
		if (given && timingSafeEqual(digest(given), expected)) return undefined;
		const challenge = /^Bearer +\S/i.test(header)
			? 'Bearer error="invalid_token"'
			: "Bearer";
		return new Response("Unauthorized\n", {
			status: 401,
			headers: { "WWW-Authenticate": challenge },
		});
	};
}

function digest(text: string): Buffer {
	return hash("sha256", text, "buffer");
}
