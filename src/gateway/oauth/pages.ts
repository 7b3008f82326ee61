// The pages that people see when they sign in, as HTML.

import type { Access } from "../../lib/principal.ts";
import type { OAuthClient } from "./clients.ts";
import type { DiscordPerson } from "./discord.ts";
import type { PersonGuild } from "./rights.ts";

/** The style sheet of all pages. Its hash is in the Content-Security-Policy. */
export const styleSheet =
	"body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}";

/** A link from a page back to the client. */
export interface BackLink {
	/** Name of the client. */
	name: string;
	url: string;
}

export interface ConsentPage {
	client: Pick<OAuthClient, "id" | "name" | "uri">;
	/** Where the person is sent back to. */
	redirectUri: string;
	warning: string | undefined;
	person: DiscordPerson;
	/** The guilds in which the client can act as the person. */
	guilds: readonly Pick<PersonGuild, "id" | "name">[];
	/** The levels that the person can choose from, from little to much. */
	access: readonly Access[];
	/**
	 * The address to which the form is posted, with the fields `csrf`, `access` (one of the levels) and `decision`
	 * ("allow" or "deny").
	 */
	action: string;
	csrf: string;
}

export function consentPage(page: ConsentPage): string {
	const { client, redirectUri, warning, person, guilds, access } = page;
	const list = guilds.map(({ name }) => `<li>${Bun.escapeHTML(name)}</li>`);
	const choices = access.map(
		(level, index) =>
			`<label><input type="radio" name="access" value="${level}"${index === 0 ? " checked" : ""}> ${level}</label>`,
	);
	return render(
		`Connect ${client.name}`,
		`<p>${Bun.escapeHTML(person.name)}, you will be sent back to ${Bun.escapeHTML(redirectUri)}</p>
${warning ? `<p>${Bun.escapeHTML(warning)}</p>` : ""}
<ul>${list.join("")}</ul>
<form method="post" action="${Bun.escapeHTML(page.action)}">
<input type="hidden" name="csrf" value="${Bun.escapeHTML(page.csrf)}">
${choices.join("\n")}
<button name="decision" value="deny">Deny</button>
<button name="decision" value="allow">Allow</button>
</form>`,
	);
}

export interface ErrorPage {
	status: number;
	title: string;
	text: string;
	/** Only set for a client and redirect URI that belong together. */
	back?: BackLink | undefined;
}

export function errorPage({ title, text, back }: ErrorPage): string {
	const link = back
		? `<p><a rel="noreferrer" href="${Bun.escapeHTML(back.url)}">Back to ${Bun.escapeHTML(back.name)}</a></p>`
		: "";
	return render(title, `<p>${Bun.escapeHTML(text)}</p>${link}`);
}

/** Returns a page. `title` is text, `body` is HTML. */
function render(title: string, body: string): string {
	const name = Bun.escapeHTML(title);
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${name}</title>
<style>${styleSheet}</style>
<h1>${name}</h1>
${body}
</html>
`;
}
