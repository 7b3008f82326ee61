// Serves the files of a page. Their texts are compiled into the program.

import { methodNotAllowed } from "../lib/program/listen.ts";

const mediaTypes: Record<string, string> = {
	html: "text/html; charset=utf-8",
	css: "text/css; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	svg: "image/svg+xml",
};

/**
 * The pages load scripts, styles and pictures only from their own origin, and cannot be framed. Scripts cannot turn
 * text into markup:
 * https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy/require-trusted-types-for
 */
const contentSecurityPolicy = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' data:",
	"connect-src 'self'",
	"form-action 'self'",
	"frame-ancestors 'none'",
	"base-uri 'none'",
	"require-trusted-types-for 'script'",
].join("; ");

/** Headers of every response with a page or one of its files. */
export const securityHeaders = {
	"Content-Security-Policy": contentSecurityPolicy,
	"Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};

/**
 * Returns a handler for GET and HEAD requests. `files`: texts by their paths below the URL path `below`, except the page itself,
 * which is at `home`. The extension decides the media type. The handler returns undefined for other paths.
 */
export function serveFiles(
	files: Readonly<Record<string, string>>,
	home: string,
	below: string,
): (request: Request, path: string) => Response | undefined {
	const served = new Map(
		Object.entries(files).map(([name, text]) => {
			const type = mediaTypes[name.split(".").at(-1) ?? ""];
			if (!type) throw new Error(`the file ${name} has no known media type`);
			const headers = {
				...securityHeaders,
				"Content-Type": type,
				// The browser revalidates each file, so that the page and its scripts have the same version.
				"Cache-Control": "no-cache",
				ETag: `"${Bun.SHA256.hash(text, "base64url").slice(0, 22)}"`,
			};
			return [name.endsWith(".html") ? home : `${below}/${name}`, { text, headers }] as const;
		}),
	);
	return (request, path) => {
		const file = served.get(path);
		if (!file) return undefined;
		const { text, headers } = file;
		const { method } = request;
		if (method !== "GET" && method !== "HEAD") return methodNotAllowed("GET, HEAD");
		if (request.headers.get("if-none-match") === headers.ETag) return new Response(null, { status: 304, headers });
		return new Response(text, { headers });
	};
}
