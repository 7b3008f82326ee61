import type { AttemptKey, SignedIn } from "../grants/attempts.ts";
import { consentPage } from "../pages/consent-page.ts";
import { errorPage, redirect } from "../pages/page.ts";
import { formToken, isFormToken } from "../people/browser.ts";
import { levelsUpTo, paths } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { queryOf, readForm } from "../protocol/parameters.ts";
import { asPage, clientUrl, type OAuthContext } from "./context.ts";

export function createConsent(context: OAuthContext): {
	show(request: Request): Promise<Response>;
	decide(request: Request): Promise<Response>;
} {
	const { attempts, browsers, grants, log, publicUrl } = context;

	function keyOf(request: Request): AttemptKey | undefined {
		const browser = browsers.secretOf(request);
		const state = queryOf(request).get("request");
		return browser && state ? { browser, state } : undefined;
	}

	async function show(request: Request): Promise<Response> {
		const key = keyOf(request);
		const signedIn = key && (await attempts.find(key));
		if (!key || !signedIn?.request) return expired();
		const { client, redirectUri, access } = signedIn.request;
		return consentPage({
			client,
			redirectUri,
			person: signedIn.person,
			guilds: signedIn.guilds,
			access: levelsUpTo(access),
			action: `${paths.consent}?request=${key.state}`,
			csrf: formToken(key.browser, key.state),
		});
	}

	async function decide(request: Request): Promise<Response> {
		const key = keyOf(request);
		const form = await readForm(request);
		const isOwn = key && browsers.isOwnPage(request) && isFormToken(form.get("csrf"), key.browser, key.state);
		// Without the form's token the attempt stays as it is: the person did not send this.
		if (!isOwn) return expired();
		const decision = form.require("decision");
		if (decision !== "allow" && decision !== "deny")
			throw new OAuthError("invalid_request", "The decision is unknown.");
		const signedIn = decision === "deny" ? await attempts.finish(key) : await attempts.find(key);
		if (!signedIn?.request) return expired();
		if (decision === "deny")
			return redirect(
				clientUrl(publicUrl, signedIn.request, {
					error: "access_denied",
					error_description: "The person denied the request.",
				}),
			);
		return allow(key, signedIn, form.require("access"));
	}

	async function allow(key: AttemptKey, { request, person }: SignedIn, chosen: string): Promise<Response> {
		const offered = request ? levelsUpTo(request.access) : [];
		const access = offered.find((level) => level === chosen);
		if (!request || access === undefined) throw new OAuthError("invalid_request", "This access was not offered.");
		// Once: a second press finds no attempt.
		if (!(await attempts.finish(key))) return expired();
		const code = await grants.issueCode({ request, person, access });
		log.info("person allowed a client to act for them", { person: person.id, client: request.client.name, access });
		return redirect(clientUrl(publicUrl, request, { code }));
	}

	return { show: (request) => asPage(() => show(request)), decide: (request) => asPage(() => decide(request)) };
}

function expired(): Response {
	return errorPage({
		status: 400,
		title: "This page has expired",
		text: "It was opened in another browser, has been answered, or is older than ten minutes. Go back to the program that you want to connect, and connect it again.",
	});
}
