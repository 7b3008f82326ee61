// Pages as HTTP responses: HTML that no other page can frame and no cache keeps, and redirects.

import { onOneLine } from "../../../lib/text.ts";
import common from "../../../pages/style.css" with { type: "text" };
import { type Language, render, type Said } from "../../../texts/texts.ts";
import { knownSchemes, schemeOf } from "../clients/redirect-uris.ts";
import { Html, html, sayHtml, shown } from "./html.ts";

const maxTitleLength = 120;

/** Without fonts, pictures or scripts. */
const styleSheet = `${common}
body { padding: 1rem; }
main {
	max-width: 34rem; margin: 0 auto; padding: 1.25rem; background: var(--card);
	border: 1px solid var(--line); border-radius: .75rem;
}
@media (min-width: 30rem) { body { padding: 3rem 1rem; } main { padding: 2rem; } }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
p, dl, ul, fieldset { margin: 0 0 1rem; }
dt { color: var(--quiet); font-size: .875rem; }
dd { margin: 0 0 .5rem; }
dd ul { padding: 0; list-style: none; }
.warning {
	padding: .75rem 1rem; border-left: .25rem solid currentColor; border-radius: .25rem;
	background: var(--warn-back); color: var(--warn-text);
}
fieldset { padding: 0; border: 0; }
legend { margin: 0 0 .5rem; padding: 0; font-weight: 600; }
.choice {
	display: flex; gap: .75rem; align-items: start; margin: 0 0 .5rem; padding: .75rem;
	border: 1px solid var(--line); border-radius: .5rem; cursor: pointer;
}
.choice input {
	flex: none; width: 1.25rem; height: 1.25rem; min-height: 0; margin: .125rem 0 0; padding: 0; border: 0;
	accent-color: var(--accent);
}
.choice:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.choice strong, .choice span { display: block; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0; }
button, a.button { flex: 1 1 8rem; text-align: center; text-decoration: none; }
.delayed { animation: delay 1s; }
@keyframes delay { from, to { pointer-events: none; } }
`;

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

/** Browsers check all further redirects as well, so the client's own website or app is allowed, too. */
export function formActionOf(redirectUri: string): string {
	const schemes = ["https:", ...knownSchemes.map((name) => `${name}:`)];
	// A source cannot name [::1].
	return ["'self'", ...new Set([...schemes, schemeOf(redirectUri)])].join(" ");
}

export interface Page {
	language: Language;
	status?: number | undefined;
	/** Also the heading by default. */
	title: string;
	/** If it differs from the title. */
	heading?: Html | undefined;
	body: Html;
	/** For the Content-Security-Policy. Default: none. */
	formAction?: string | undefined;
}

export function pageResponse({
	language,
	status = 200,
	title,
	heading = html`${title}`,
	body,
	formAction = "'none'",
}: Page): Response {
	const page = html`<!doctype html>
<html lang="${language}">
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

/** 303: the browser requests `location` with GET and does not send a form again. */
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

/** Back to the client. */
export interface BackLink {
	name: string;
	url: string;
}

export interface ErrorPage {
	status: number;
	title: Said;
	/** In English if it is no message: for who wrote the program. */
	text: Said | string;
	/** A client's redirect URI only if it was checked to be one of this client's. */
	back?: BackLink | undefined;
}

export function errorPage({ status, title, text, back }: ErrorPage, language: Language): Response {
	const label = back && sayHtml(language, "page.back", { name: shown(back.name) });
	const link = back && html`<p class="buttons"><a class="button" rel="noreferrer" href="${back.url}">${label}</a></p>`;
	const body = html`<p>${typeof text === "string" ? text : render(text, language)}</p>${link}`;
	return pageResponse({ language, status, title: render(title, language), body });
}
