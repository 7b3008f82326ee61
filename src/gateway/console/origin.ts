// The console's own origin, as the browser names it. Behind a TLS proxy the gateway sees plain HTTP, so it reads the
// scheme from the browser's header Origin, which scripts in a page cannot change.

import { isLoopbackHost } from "../../mcp/access.ts";

/** As a person's browser reaches it. */
export interface OwnOrigin {
	origin: string;
	/** Not readable on the network: https, or plain http on this machine. */
	isPrivate: boolean;
	/** Cookies can be "Secure". */
	isHttps: boolean;
}

/** If the header Origin is exactly `publicUrl` or the request's host; otherwise undefined. */
export function ownOrigin({ headers }: Request, publicUrl: string | undefined): OwnOrigin | undefined {
	const origin = headers.get("origin");
	if (origin === null) return undefined;
	const url = URL.parse(origin);
	if (!url) return undefined;
	const isHttps = url.protocol === "https:";
	const isOwn = origin === publicUrl || origin === originOf(url.protocol, headers);
	if (!isOwn) return undefined;
	return { origin, isHttps, isPrivate: isHttps || isLoopbackHost(url.host) };
}

/** A page of another origin may have sent this GET or HEAD. Browsers name its origin in one of these headers. */
export function isForeign(request: Request, publicUrl: string | undefined): boolean {
	const site = request.headers.get("sec-fetch-site") ?? "none";
	if (site !== "same-origin" && site !== "none") return true;
	return request.headers.has("origin") && ownOrigin(request, publicUrl) === undefined;
}

/** This machine itself: a session may use a cookie for plain http. */
export function isOnLoopback({ headers }: Request): boolean {
	return isLoopbackHost(headers.get("host"));
}

function originOf(protocol: string, headers: Headers): string | undefined {
	const host = headers.get("host");
	if (host === null || !/^https?:$/.test(protocol)) return undefined;
	return URL.parse(`${protocol}//${host}`)?.origin;
}
