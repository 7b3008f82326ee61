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
	const origin = headers.get("origin") ?? "";
	const url = URL.parse(origin);
	if (!url || !/^https?:$/.test(url.protocol)) return undefined;
	const isHttps = url.protocol === "https:";
	const served = URL.parse(`${url.protocol}//${headers.get("host") ?? ""}`)?.origin;
	if (origin !== publicUrl && origin !== served) return undefined;
	return { origin, isHttps, isPrivate: isHttps || isLoopbackHost(url.host) };
}

/** A page of another origin may have sent this GET or HEAD. Browsers name its origin in one of these headers. */
export function isForeign(request: Request, publicUrl: string | undefined): boolean {
	const site = request.headers.get("sec-fetch-site") ?? "none";
	if (site !== "same-origin" && site !== "none") return true;
	return request.headers.has("origin") && ownOrigin(request, publicUrl) === undefined;
}
