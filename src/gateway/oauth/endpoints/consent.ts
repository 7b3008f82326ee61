import { said } from "../../../texts/texts.ts";
import { consentPage } from "../pages/consent-page.ts";
import { errorPage, redirect } from "../pages/page.ts";
import { formToken, isFormToken } from "../people/browser.ts";
import { levelsUpTo, mostAccess, paths } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { queryOf, readForm } from "../protocol/parameters.ts";
import { clientUrl, languageFor, type OAuthContext } from "./context.ts";

export function createConsent(context: OAuthContext) {
	const { attempts, browsers, grants, log, publicUrl } = context;
	const keyOf = (request: Request) => browsers.keyOf(request, queryOf(request).get("request"));

	async function show(request: Request): Promise<Response> {
		const key = keyOf(request);
		const signedIn = key && (await attempts.find(key));
		if (!key || !signedIn?.request) return expired(request);
		const { client, redirectUri, access, resource } = signedIn.request;
		const raised = await grants.raisedBy(signedIn.request, signedIn.person.id);
		const page = {
			client,
			redirectUri,
			person: signedIn.person,
			guilds: signedIn.guilds,
			access: levelsUpTo(mostAccess[resource]),
			raised: raised && { from: raised.access, to: access },
			action: `${paths.consent}?request=${key.state}`,
			csrf: formToken(key.browser, key.state),
		};
		return consentPage(page, languageFor(request));
	}

	async function decide(request: Request): Promise<Response> {
		const key = keyOf(request);
		const form = await readForm(request);
		const isOwn = key && browsers.isOwnPage(request) && isFormToken(form.get("csrf"), key.browser, key.state);
		// Without the form's token the attempt stays as it is: the person did not send this.
		if (!isOwn) return expired(request);
		const decision = form.require("decision");
		if (decision !== "allow" && decision !== "deny")
			throw new OAuthError("invalid_request", said("page.consent.unknown-decision"));
		const signedIn = decision === "deny" ? await attempts.finish(key) : await attempts.find(key);
		if (!signedIn?.request) return expired(request);
		const { request: wanted, person } = signedIn;
		if (decision === "deny") {
			const denied = { error: "access_denied", error_description: "The person denied the request." };
			return redirect(clientUrl(publicUrl, wanted, denied));
		}
		const chosen = form.require("access");
		const access = levelsUpTo(mostAccess[wanted.resource]).find((level) => level === chosen);
		if (access === undefined) throw new OAuthError("invalid_request", said("page.consent.not-offered"));
		const raised = await grants.raisedBy(wanted, person.id);
		// Once: a second press finds no attempt.
		if (!(await attempts.finish(key))) return expired(request);
		const code = await grants.issueCode({ request: wanted, person, access, replaces: raised?.id });
		log.info("person allowed a client to act for them", { person: person.id, client: wanted.client.name, access });
		return redirect(clientUrl(publicUrl, wanted, { code }));
	}

	return { show, decide };
}

function expired(request: Request): Response {
	const page = { status: 400, title: said("page.expired"), text: said("page.expired.consent") };
	return errorPage(page, languageFor(request));
}
