// The page that says why something did not work.

import { html, shown } from "./html.ts";
import { pageResponse } from "./page.ts";

/** A link on an error page, by which the person gets back to the client or to another page. */
export interface BackLink {
	/** Text of the link: the name of the client or page. */
	name: string;
	url: string;
}

export interface ErrorPage {
	status: number;
	title: string;
	text: string;
	/**
	 * Link to the client or to a page of the gateway. Links to a client's redirect URI must be shown only if the URI was
	 * checked to be one of this client's.
	 */
	back?: BackLink | undefined;
}

export function errorPage({ status, title, text, back }: ErrorPage): Response {
	const link =
		back &&
		html`<p class="buttons"><a class="button" rel="noreferrer" href="${back.url}">Back to ${shown(back.name)}</a></p>`;
	const body = html`<p>${text}</p>${link}`;
	return pageResponse({ status, title, body });
}
