// Access to our HTTP servers: checks before a body is read, and headers for web pages of listed origins (CORS).
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
// https://fetch.spec.whatwg.org/#http-cors-protocol

import type { ListenOptions } from "../lib/program/listen.ts";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Takes a Host header with or without a port: localhost, 127.0.0.1 or [::1]. */
export function isLoopbackHost(host: string | null): boolean {
	return loopbackNames.has(hostName(host) ?? "");
}

function hostName(host: string | null): string | undefined {
	return host?.match(/^(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i)?.[1]?.toLowerCase();
}

export function isLoopbackAddress(address: string): boolean {
	return /^(localhost|::1|127(\.\d{1,3}){3})$/.test(address);
}

/** "any" if the names cannot be known in advance. */
type AllowedHosts = readonly string[] | "any";

type Check = (request: Request) => Response | undefined;

/** Responds 403 to another Host than loopback or one of `allowed` (no port, lower case), against DNS rebinding. */
export function createHostCheck(allowed: AllowedHosts): Check {
	return (request) => {
		const name = hostName(request.headers.get("host"));
		if (name && (allowed === "any" || loopbackNames.has(name) || allowed.includes(name))) return undefined;
		return new Response("Host header is not allowed", { status: 403 });
	};
}

/** 403 to pages of other origins, 204 to preflights of allowed ones. `allowLoopback`: pages of this machine, too. */
export function createOriginCheck(allowed: readonly string[], { allowLoopback = true } = {}): Check {
	return (request) => {
		const origin = request.headers.get("origin");
		if (origin === null) return undefined;
		if (allowed.includes(origin.toLowerCase()))
			return isPreflight(request) ? new Response(null, { status: 204, headers: preflightHeaders }) : undefined;
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
	// The revisions with sessions use Last-Event-ID and Mcp-Session-Id, the stateless one Mcp-Method and Mcp-Name. Clients
	// of the gateway restrict themselves with X-Mcp-Readonly and X-Mcp-Toolsets.
	"Access-Control-Allow-Headers":
		"Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Traceparent, Tracestate, X-Mcp-Readonly, X-Mcp-Toolsets, X-Request-Id",
	// The longest time that Chromium accepts, in seconds.
	"Access-Control-Max-Age": "7200",
};

/** Adds CORS headers, so that web pages of the `allowed` origins can read all responses. */
export function withCors(allowed: readonly string[], respond: ListenOptions["fetch"]): ListenOptions["fetch"] {
	if (allowed.length === 0) return respond;
	return async (request, http) => {
		const response = await respond(request, http);
		const { headers } = response;
		// For caches: a request from another origin gets another response.
		headers.append("Vary", "Origin");
		const origin = request.headers.get("origin");
		if (origin === null || !allowed.includes(origin.toLowerCase())) return response;
		headers.set("Access-Control-Allow-Origin", origin);
		headers.set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Mcp-Instance");
		return response;
	};
}

/** Responds 401 without `Authorization: Bearer <token>`; compares in constant time. */
export function createBearerCheck(token: string): Check {
	const matches = createTokenMatch(token);
	return (request) => {
		const given = bearerToken(request);
		return given && matches(given) ? undefined : unauthorized(request);
	};
}

export function bearerToken({ headers }: Request): string | undefined {
	return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** Compares in constant time. */
export function createTokenMatch(token: string): (given: string) => boolean {
	const expected = digest(token);
	return (given) => crypto.timingSafeEqual(digest(given), expected);
}

/** 401; `parameters` are added to the header WWW-Authenticate, such as `scope="read"`. */
export function unauthorized({ headers }: Request, parameters?: string): Response {
	const isWrong = /^Bearer +\S/i.test(headers.get("authorization") ?? "");
	const all = [isWrong ? 'error="invalid_token"' : undefined, parameters];
	const given = all.filter((one) => one !== undefined).join(", ");
	return new Response("Unauthorized\n", { status: 401, headers: { "WWW-Authenticate": `Bearer ${given}`.trim() } });
}

function digest(text: string) {
	return Bun.SHA256.hash(text);
}
