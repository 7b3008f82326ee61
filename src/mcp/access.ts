// Who may speak to an HTTP server of ours: the checks that come before anything is read.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning

import { createHash, timingSafeEqual } from "node:crypto";

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether a Host header names this machine's loopback; its port does not matter. */
export function isLoopbackHost(host: string | null): boolean {
	const name = host?.match(/^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/)?.[1];
	return name !== undefined && loopbackNames.has(name.toLowerCase());
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopbackAddress(address: string): boolean {
	return /^(localhost|::1|127(\.\d{1,3}){3})$/.test(address);
}

/** 403 for a Host header that names another machine: a web page may have been tricked into calling us (DNS rebinding). */
export function refuseHost(request: Request): Response | undefined {
	if (isLoopbackHost(request.headers.get("host"))) return undefined;
	return new Response("Host header is not allowed", { status: 403 });
}

/** 403 for a page from another origin than this machine. Programs send no Origin. */
export function refuseOrigin(request: Request): Response | undefined {
	const origin = request.headers.get("origin");
	if (origin === null) return undefined;
	const host = origin.match(/^https?:\/\/([^/]+)$/)?.[1];
	if (host && isLoopbackHost(host)) return undefined;
	return new Response("Origin is not allowed", { status: 403 });
}

/**
 * A check that answers 401 to a request without `Authorization: Bearer <token>`. Digests are compared, in constant
 * time, so that neither the token's characters nor its length show in the time it takes.
 */
export function createBearerCheck(
	token: string,
): (request: Request) => Response | undefined {
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
	return createHash("sha256").update(text).digest();
}
