// The consent page.

import type { Access } from "../../../lib/principal.ts";
import type { PersonGuild } from "../../../mcp/rights.ts";
import { isDocumentId } from "../clients/client-document.ts";
import type { OAuthClient } from "../clients/client-metadata.ts";
import { redirectTarget, redirectWarning } from "../clients/redirect-uris.ts";
import type { DiscordPerson } from "../people/discord.ts";
import { paths } from "../protocol/metadata.ts";
import { type Html, html, shown } from "./html.ts";
import { formActionOf, pageResponse } from "./page.ts";

export interface ConsentPage {
	client: Pick<OAuthClient, "id" | "name">;
	/** Where the person goes after the decision. */
	redirectUri: string;
	person: DiscordPerson;
	/** In which the client will be able to act. */
	guilds: readonly Pick<PersonGuild, "id" | "name">[];
	/** To choose from, lowest first; the first is preselected. */
	access: readonly Access[];
	/** Gets a form with `csrf`, `access` (an access level) and `decision` ("allow" or "deny"). */
	action: string;
	csrf: string;
}

const unverifiedName =
	"Anyone can register a program under this name. Allow it only if you have just started this sign-in yourself.";

const maxGuilds = 20;

const levels: Record<Access, { title: string; text: string }> = {
	read: {
		title: "Read",
		text: "It sees channels, messages, members and settings that you can see. It changes nothing.",
	},
	write: {
		title: "Read and write",
		text: "It also sends messages, locks single channels, and creates and changes what can be changed back. It deletes nothing, rewrites no message, times out, kicks and bans nobody, gives nobody power over others or access to private channels, and does not silence the whole server.",
	},
	all: {
		title: "Everything",
		text: "It also deletes, rewrites, kicks, bans, gives roles and powerful permissions, and does all else that you may do.",
	},
};

export function accessTitle(access: Access): string {
	return levels[access].title;
}

/** For people: the host of the metadata document, or "unknown" for a registered client. */
export function publisherOf(clientId: string): Html {
	const host = URL.parse(clientId)?.host;
	return host === undefined
		? html`unknown: it registered itself, and its name is not verified`
		: html`<strong>${host}</strong>, which states this name`;
}

export function consentPage(page: ConsentPage): Response {
	const { client, redirectUri, person, guilds, access, action, csrf } = page;
	const name = shown(client.name);
	const warnings = [isDocumentId(client.id) ? undefined : unverifiedName, redirectWarning(redirectUri)].filter(
		(text) => text !== undefined,
	);
	const choices = access.map((level, index) => choice(level, index === 0));
	const body = html`<p>Signed in with Discord as <strong>${shown(person.name)}</strong>.</p>
<dl>
<dt>Published by</dt><dd>${publisherOf(client.id)}</dd>
<dt>Sends you back to</dt><dd><strong>${redirectTarget(redirectUri)}</strong></dd>
<dt>Can act in your name in</dt><dd><ul>${guildList(guilds)}</ul></dd>
</dl>
${warnings.map((text) => html`<p class="warning">${text}</p>`)}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<fieldset>
<legend>What may it do?</legend>
${choices}
</fieldset>
<p class="quiet">Whatever you choose: it never does what you may not do on Discord yourself. You can end this at <a href="${paths.connections}">your connections</a>.</p>
<p class="buttons">
<button name="decision" value="deny">Deny</button>
<button class="main delayed" name="decision" value="allow">Allow</button>
</p>
</form>`;
	return pageResponse({
		title: `Connect ${client.name}`,
		heading: html`Connect ${name}?`,
		body,
		formAction: formActionOf(redirectUri),
	});
}

function guildList(guilds: ConsentPage["guilds"]): Html[] {
	const names = guilds.slice(0, maxGuilds).map(({ name }) => shown(name));
	const more = guilds.length - names.length;
	const lines = more > 0 ? [...names, html`and ${more} more`] : names;
	return lines.map((line) => html`<li>${line}</li>`);
}

function choice(level: Access, isFirst: boolean): Html {
	const { title, text } = levels[level];
	const checked = isFirst ? html` checked` : undefined;
	return html`<label class="choice"><input type="radio" name="access" value="${level}"${checked}><span><strong>${title}</strong><span>${text}</span></span></label>
`;
}
