// The consent page.

import type { Access } from "../../../lib/principal.ts";
import type { PersonGuild } from "../../../mcp/rights.ts";
import { type Language, render, type Say, said, sayIn } from "../../../texts/texts.ts";
import { isDocumentId, type OAuthClient } from "../clients/client-metadata.ts";
import { describeRedirect } from "../clients/redirect-uris.ts";
import type { DiscordPerson } from "../people/discord.ts";
import { paths } from "../protocol/metadata.ts";
import { type Html, html, sayHtml, shown } from "./html.ts";
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
	/** The client is connected with `from`, and asks for `to`, which is preselected. */
	raised?: { from: Access; to: Access } | undefined;
	/** Gets a form with `csrf`, `access` (an access level) and `decision` ("allow" or "deny"). */
	action: string;
	csrf: string;
}

const maxGuilds = 20;

/** For people: the host of the metadata document, or "unknown" for a registered client. */
function publisherOf(clientId: string, language: Language): Html {
	const host = URL.parse(clientId)?.host;
	return host === undefined
		? html`${sayIn(language)("page.publisher.unknown")}`
		: sayHtml(language, "page.publisher", { host: html`<strong>${host}</strong>` });
}

export function consentPage(page: ConsentPage, language: Language = "en"): Response {
	const { client, redirectUri, person, guilds, access, raised, action, csrf } = page;
	const preselected = raised?.to ?? access[0];
	const say = sayIn(language);
	const { target, warning } = describeRedirect(redirectUri);
	const unverified = isDocumentId(client.id) ? undefined : said("page.consent.unverified");
	const warnings = [unverified, warning].filter((text) => text !== undefined);
	const choices = access.map((level) => choice(level, level === preselected, say));
	const connected =
		raised &&
		say("page.consent.raised", { from: say(`page.access.${raised.from}`), to: say(`page.access.${raised.to}`) });
	const link = html`<a href="${paths.console}#access">${say("page.consent.end.link")}</a>`;
	const body = html`<p>${sayHtml(language, "page.signed-in", { name: html`<strong>${shown(person.name)}</strong>` })}</p>
${connected && html`<p><strong>${connected}</strong></p>`}
<dl>
<dt>${say("page.published-by")}</dt><dd>${publisherOf(client.id, language)}</dd>
<dt>${say("page.consent.back-to")}</dt><dd><strong>${render(target, language)}</strong></dd>
<dt>${say("page.consent.guilds")}</dt><dd><ul>${guildList(guilds, say)}</ul></dd>
</dl>
${warnings.map((text) => html`<p class="warning">${render(text, language)}</p>`)}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<fieldset>
<legend>${say("page.consent.what")}</legend>
${choices}
</fieldset>
<p class="quiet">${say("page.consent.limit")} ${sayHtml(language, "page.consent.end", { link })}</p>
<p class="buttons">
<button name="decision" value="deny">${say("page.consent.deny")}</button>
<button class="main delayed" name="decision" value="allow">${say("page.consent.allow")}</button>
</p>
</form>`;
	return pageResponse({
		language,
		title: say("page.consent.title", { client: client.name }),
		heading: sayHtml(language, "page.consent", { client: shown(client.name) }),
		body,
		formAction: formActionOf(redirectUri),
	});
}

function guildList(guilds: ConsentPage["guilds"], say: Say): Html[] {
	const names = guilds.slice(0, maxGuilds).map(({ name }) => shown(name));
	const more = guilds.length - names.length;
	const lines = more > 0 ? [...names, html`${say("page.consent.more-guilds", { more })}`] : names;
	return lines.map((line) => html`<li>${line}</li>`);
}

function choice(level: Access, isChecked: boolean, say: Say): Html {
	const checked = isChecked ? html` checked` : undefined;
	return html`<label class="choice"><input type="radio" name="access" value="${level}"${checked}><span><strong>${say(`page.access.${level}`)}</strong><span>${say(`page.access.${level}.text`)}</span></span></label>
`;
}
