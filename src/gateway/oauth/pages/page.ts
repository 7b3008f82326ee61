// Pages as HTTP responses: HTML that no other page can frame and no cache keeps, and redirects.

import { onOneLine } from "../../../lib/text.ts";
import { knownSchemes, schemeOf } from "../clients/redirect-uris.ts";
import { Html, html } from "./html.ts";
import { styleSheet } from "./style.ts";

const maxTitleLength = 120;
const styleHash = Bun.SHA256.hash(styleSheet, "base64");
const style = new Html(styleSheet);

const headers = {
	"Cache-Control": "no-store",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
	// There is no Cross-Origin-Opener-Policy: a client that opened the sign-in in a window of its own would lose it.
};

function policyOf(formAction: string): string {
	return [
		"default-src 'none'",
		`style-src 'sha256-${styleHash}'`,
		`form-action ${formAction}`,
		"frame-ancestors 'none'",
		"base-uri 'none'",
	].join("; ");
}

/**
 * Returns the sources of the Content-Security-Policy directive `form-action` for a page whose form is redirected to a
 * client. Browsers check all further redirects as well, and clients redirect to their own website or app, so the
 * sources allow these too.
 */
export function formActionOf(redirectUri: string): string {
	const schemes = ["https:", ...knownSchemes.map((name) => `${name}:`)];
	// A source cannot name [::1].
	return ["'self'", ...new Set([...schemes, schemeOf(redirectUri)])].join(" ");
}

export interface Page {
	status?: number | undefined;
	/** Title of the page, for the browser window or tab. By default also the heading of the page. */
	title: string;
	/** Heading of the page as HTML, if it differs from the title. */
	heading?: Html | undefined;
	body: Html;
	/** Sources to which the page's forms may be sent, for the Content-Security-Policy. Default: none. */
	formAction?: string | undefined;
}

export function pageResponse({
	status = 200,
	title,
	heading = html`${title}`,
	body,
	formAction = "'none'",
}: Page): Response {
	const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${onOneLine(title, maxTitleLength)} · Guildhall</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
${body}
</main>
</body>
</html>
`;
	return new Response(page.text, {
		status,
		headers: {
			...headers,
			"Content-Security-Policy": policyOf(formAction),
			"Content-Type": "text/html; charset=utf-8",
		},
	});
}

/**
 * Returns a redirect with HTTP status 303, so that the browser requests `location` with GET and does not send a
 * submitted form again.
 */
export function redirect(location: string, cookie?: string): Response {
	return new Response(null, {
		status: 303,
		headers: {
			...headers,
			"Content-Security-Policy": policyOf("'none'"),
			Location: location,
			...(cookie !== undefined && { "Set-Cookie": cookie }),
		},
	});
}
