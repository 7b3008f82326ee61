// The console's own origin, as the browser names it. Behind a TLS proxy the gateway sees plain HTTP, so it reads the
// scheme from the browser's header Origin, which scripts in a page cannot change.

import { isLoopbackHost } from "../../mcp/access.ts";

/** The console's origin, as a person's browser reaches it. */
export interface OwnOrigin {
	origin: string;
	/** Whether the requests cannot be read on the network: https, or plain http on this machine. */
	isPrivate: boolean;
	/** Whether the browser uses https, so that cookies can be "Secure". */
	isHttps: boolean;
}

/**
 * Returns the console's own origin if the request's header Origin names exactly it: `publicUrl`, or the host of the
 * request. Returns undefined for every other origin, and without the header.
 */
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

/**
 * Whether a page of another origin may have sent this request (GET or HEAD). Browsers name the origin of the page in
 * one of these headers. Other programs send neither.
 */
export function isForeign(request: Request, publicUrl: string | undefined): boolean {
	const site = request.headers.get("sec-fetch-site") ?? "none";
	if (site !== "same-origin" && site !== "none") return true;
	return request.headers.has("origin") && ownOrigin(request, publicUrl) === undefined;
}

/** Whether the host of a request is this machine itself, so that a session may use a cookie for plain http. */
export function isOnLoopback({ headers }: Request): boolean {
	return isLoopbackHost(headers.get("host"));
}

function originOf(protocol: string, headers: Headers): string | undefined {
	const host = headers.get("host");
	if (host === null || !/^https?:$/.test(protocol)) return undefined;
	return URL.parse(`${protocol}//${host}`)?.origin;
}
