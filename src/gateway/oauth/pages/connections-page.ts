// The page on which people see what they have connected, and end it; and the pages before and after it.

import { timeText } from "../../store/command.ts";
import { redirectTarget } from "../clients/redirect-uris.ts";
import type { Grant } from "../grants/grants.ts";
import type { DiscordPerson } from "../people/discord.ts";
import { paths } from "../protocol/metadata.ts";
import { accessTitle, publisherOf } from "./consent-page.ts";
import { type Html, html, shown } from "./html.ts";
import { pageResponse } from "./page.ts";

const title = "Your connections";

interface ConnectionsPage {
	person: DiscordPerson;
	connections: readonly Grant[];
	/** Sent with each form of the page. */
	csrf: string;
	/** The page must confirm the end of a connection. */
	hasEnded: boolean;
}

export function connectionsPage(page: ConnectionsPage): Response {
	const { person, connections, csrf, hasEnded } = page;
	const list =
		connections.length === 0
			? html`<p>No program is connected in your name.</p>`
			: html`<p>These programs act in your name on Discord. Ending a connection takes effect within a second.</p>
<ul class="plain">${connections.map((grant) => connection(grant, csrf))}</ul>`;
	return pageResponse({
		title,
		body: html`${hasEnded ? html`<p role="status"><strong>The connection has ended.</strong></p>` : undefined}
<p>Signed in with Discord as <strong>${shown(person.name)}</strong>.</p>
${list}
${form(csrf, html`<button name="leave" value="1">Sign out</button>`)}`,
		formAction: "'self'",
	});
}

function connection(grant: Grant, csrf: string): Html {
	const { id, client, redirectUri, access, createdAt, usedAt } = grant;
	return html`<li class="item">
<h2>${shown(client.name)}</h2>
<dl>
<dt>Published by</dt><dd>${publisherOf(client.id)}</dd>
<dt>Connected to</dt><dd>${redirectTarget(redirectUri)}</dd>
<dt>May do</dt><dd>${accessTitle(access)}</dd>
<dt>Since</dt><dd>${time(createdAt)}</dd>
<dt>Last used</dt><dd>${usedAt === undefined ? "never" : time(usedAt)}</dd>
</dl>
${form(csrf, html`<button name="end" value="${id}">End the connection with ${shown(client.name)}</button>`)}
</li>
`;
}

function form(csrf: string, button: Html): Html {
	return html`<form class="buttons" method="post" action="${paths.connections}"><input type="hidden" name="csrf" value="${csrf}">${button}</form>`;
}

/** In UTC, because the person's time zone is unknown. */
function time(ms: number): Html {
	const iso = new Date(ms).toISOString();
	return html`<time datetime="${iso}">${timeText(ms)}</time>`;
}

/** `signInUrl` is the link that starts the sign-in. */
export function signInPage(signInUrl: string): Response {
	return pageResponse({
		title,
		body: html`<p>Sign in with Discord to see which programs act in your name, and to end that.</p>
<p class="buttons"><a class="button main" href="${signInUrl}">Sign in with Discord</a></p>`,
	});
}

export function signedOutPage(): Response {
	return pageResponse({
		title: "Signed out",
		body: html`<p>This browser no longer shows your connections. The programs stay connected.</p>
<p class="buttons"><a class="button" href="${paths.connections}">Sign in again</a></p>`,
	});
}
