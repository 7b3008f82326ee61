// HTTP responses for people: HTML pages that no other page can frame, and redirects. Neither is cached.

import { hash } from "node:crypto";
import { type ErrorPage, errorPage, styleSheet } from "./pages.ts";

const styleHash = hash("sha256", styleSheet, "base64");

const headers = {
	"Cache-Control": "no-store",
	// Without form-action: Chromium applies it to the redirects that follow a form, to the client and from there on.
	"Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};

export function pageResponse(html: string, status = 200): Response {
	return new Response(html, {
		status,
		headers: { ...headers, "Content-Type": "text/html; charset=utf-8" },
	});
}

export function errorPageResponse(page: ErrorPage): Response {
	return pageResponse(errorPage(page), page.status);
}

/** Redirects with 303, so that the browser sends a GET request without the form's body. */
export function redirect(location: string, cookie?: string): Response {
	return new Response(null, {
		status: 303,
		headers: {
			...headers,
			Location: location,
			...(cookie !== undefined && { "Set-Cookie": cookie }),
		},
	});
}
