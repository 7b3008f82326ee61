// Who may speak to an HTTP server of ours: the checks that come before anything is read.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning

import { hash, timingSafeEqual } from "node:crypto";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether a Host header names this machine's loopback; its port does not matter. */
export function isLoopbackHost(host: string | null): boolean {
	const name = hostName(host);
	return name !== undefined && loopbackNames.has(name);
}

/** The name in a Host header, in lower case; undefined for what is none, two of them in one included. */
function hostName(host: string | null): string | undefined {
	const match = host?.match(/^(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i);
	return match?.[1]?.toLowerCase();
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopbackAddress(address: string): boolean {
	return /^(localhost|::1|127(\.\d{1,3}){3})$/.test(address);
}

/** Names that a server of ours is called by; "any" where they cannot be known. */
export type AllowedHosts = readonly string[] | "any";

type Check = (request: Request) => Response | undefined;

/**
 * A check that answers 403 to a Host header that names neither this machine's loopback nor one of `allowed` (without
 * port, in lower case): a web page may have been tricked into calling us (DNS rebinding). One that is no name at all is
 * refused always.
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
 * A check that answers 403 to a page from another origin than this machine, unless its origin is one of `allowed`.
 * Programs send no Origin.
 */
export function createOriginCheck(allowed: readonly string[]): Check {
	return (request) => {
		const origin = request.headers.get("origin");
		if (origin === null || allowed.includes(origin.toLowerCase()))
			return undefined;
		const host = origin.match(/^https?:\/\/([^/]+)$/)?.[1];
		if (host && isLoopbackHost(host)) return undefined;
		return new Response("Origin is not allowed", { status: 403 });
	};
}

/**
 * A check that answers 401 to a request without `Authorization: Bearer <token>`. Digests are compared, in constant
 * time, so that neither the token's characters nor its length show in the time it takes.
 */
export function createBearerCheck(token: string): Check {
	const expected = digest(token);
	return (request) => {
		const header = request.headers.get("authorization") ?? "";
		const given = /^Bearer +(\S+)$/i.exec(header)?.[1];
		if (given && timingSafeEqual(digest(given), expected)) return undefined;
		return new Response("Unauthorized\n", {
			status: 401,
			headers: { "WWW-Authenticate": "Bearer" },
		});
	};
}

function digest(text: string): Buffer {
	return hash("sha256", text, "buffer");
}
