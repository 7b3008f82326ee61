// The page on which people see what they have connected, and end it; and the pages before and after it.

import { type Language, render, sayIn } from "../../../texts/texts.ts";
import { timeText } from "../../store/command.ts";
import { redirectTarget } from "../clients/redirect-uris.ts";
import type { Grant } from "../grants/grants.ts";
import type { DiscordPerson } from "../people/discord.ts";
import { paths } from "../protocol/metadata.ts";
import { publisherOf, signedInAs } from "./consent-page.ts";
import { type Html, html, sayHtml, shown } from "./html.ts";
import { pageResponse } from "./page.ts";

interface ConnectionsPage {
	person: DiscordPerson;
	connections: readonly Grant[];
	/** Sent with each form of the page. */
	csrf: string;
	/** The page must confirm the end of a connection. */
	hasEnded: boolean;
}

export function connectionsPage(page: ConnectionsPage, language: Language = "en"): Response {
	const { person, connections, csrf, hasEnded } = page;
	const say = sayIn(language);
	const list =
		connections.length === 0
			? html`<p>${say("page.connections.none")}</p>`
			: html`<p>${say("page.connections.some")}</p>
<ul class="plain">${connections.map((grant) => connection(grant, csrf, language))}</ul>`;
	return pageResponse({
		language,
		title: say("page.connections"),
		body: html`${hasEnded ? html`<p role="status"><strong>${say("page.connections.ended")}</strong></p>` : undefined}
<p>${signedInAs(person, language)}</p>
${list}
${form(csrf, html`<button name="leave" value="1">${say("page.sign-out")}</button>`)}`,
		formAction: "'self'",
	});
}

function connection(grant: Grant, csrf: string, language: Language): Html {
	const { id, client, redirectUri, access, createdAt, usedAt } = grant;
	const say = sayIn(language);
	const end = sayHtml(language, "page.connections.end", { client: shown(client.name) });
	return html`<li class="item">
<h2>${shown(client.name)}</h2>
<dl>
<dt>${say("page.published-by")}</dt><dd>${publisherOf(client.id, language)}</dd>
<dt>${say("page.connections.to")}</dt><dd>${render(redirectTarget(redirectUri), language)}</dd>
<dt>${say("page.connections.may")}</dt><dd>${say(`page.access.${access}`)}</dd>
<dt>${say("page.connections.since")}</dt><dd>${time(createdAt)}</dd>
<dt>${say("page.connections.last-used")}</dt><dd>${usedAt === undefined ? say("page.connections.never") : time(usedAt)}</dd>
</dl>
${form(csrf, html`<button name="end" value="${id}">${end}</button>`)}
</li>
`;
}

function form(csrf: string, button: Html): Html {
	return html`<form class="buttons" method="post" action="${paths.connections}"><input type="hidden" name="csrf" value="${csrf}">${button}</form>`;
}

/** In UTC, because the person's time zone is unknown. */
function time(ms: number): Html {
	return html`<time datetime="${new Date(ms).toISOString()}">${timeText(ms)}</time>`;
}

/** `signInUrl` is the link that starts the sign-in. */
export function signInPage(signInUrl: string, language: Language = "en"): Response {
	const say = sayIn(language);
	return pageResponse({
		language,
		title: say("page.connections"),
		body: html`<p>${say("page.sign-in.why")}</p>
<p class="buttons"><a class="button main" href="${signInUrl}">${say("page.sign-in")}</a></p>`,
	});
}

export function signedOutPage(language: Language = "en"): Response {
	const say = sayIn(language);
	return pageResponse({
		language,
		title: say("page.signed-out"),
		body: html`<p>${say("page.signed-out.text")}</p>
<p class="buttons"><a class="button" href="${paths.connections}">${say("page.sign-in.again")}</a></p>`,
	});
}
