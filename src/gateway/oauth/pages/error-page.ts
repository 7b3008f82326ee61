// The page that says why something did not work.

import { html, shown } from "./html.ts";
import { pageResponse } from "./page.ts";

/** A link from a page back to the client. */
export interface BackLink {
	/** Name of the client. */
	name: string;
	url: string;
}

export interface ErrorPage {
	status: number;
	title: string;
	text: string;
	/** Only set for a client and redirect URI that belong together. */
	back?: BackLink | undefined;
}

export function errorPage({ status, title, text, back }: ErrorPage): Response {
	const link =
		back &&
		html`<p class="buttons"><a class="button" rel="noreferrer" href="${back.url}">Back to ${shown(back.name)}</a></p>`;
	const body = html`<p>${text}</p>${link}`;
	return pageResponse({ status, title, body });
}
