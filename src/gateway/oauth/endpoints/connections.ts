// The page /connections, on which people see which clients act in their name, and end that. They sign in with Discord
// first; a browser stays signed in until the sign-in attempt expires.

import { said } from "../../../texts/texts.ts";
import { connectionsPage, signedOutPage, signInPage } from "../pages/connections-page.ts";
import { errorPage, redirect } from "../pages/page.ts";
import { formToken, isFormToken } from "../people/browser.ts";
import { paths } from "../protocol/metadata.ts";
import { queryOf, readForm } from "../protocol/parameters.ts";
import { beginSignIn, languageFor, type OAuthContext } from "./context.ts";

export function createConnections(context: OAuthContext) {
	const { attempts, browsers, grants, log } = context;

	async function show(request: Request, address: () => string): Promise<Response> {
		const query = queryOf(request);
		if (query.get("sign-in")) {
			// Discord sends the browser back to see this page.
			const { url, cookie } = await beginSignIn(context, request, address());
			return redirect(url, cookie);
		}
		const browser = browsers.secretOf(request);
		const person = browser && (await attempts.visitor(browser));
		if (!browser || !person) return signInPage(`${paths.connections}?sign-in=1`, languageFor(request));
		const page = {
			person,
			connections: await grants.list(person.id),
			csrf: formToken(browser, paths.connections),
			hasEnded: query.get("ended") !== undefined,
		};
		return connectionsPage(page, languageFor(request));
	}

	async function change(request: Request): Promise<Response> {
		const browser = browsers.secretOf(request);
		const form = await readForm(request);
		const isOwn =
			browser !== undefined && browsers.isOwnPage(request) && isFormToken(form.get("csrf"), browser, paths.connections);
		const person = isOwn && (await attempts.visitor(browser));
		if (!isOwn || !person) {
			const back = { name: said("page.back.connections"), url: paths.connections };
			const page = { status: 400, title: said("page.expired"), text: said("page.expired.connections"), back };
			return errorPage(page, languageFor(request));
		}
		if (form.get("leave")) {
			await attempts.leave(browser);
			return signedOutPage(languageFor(request));
		}
		const grant = form.require("end");
		if (!(await grants.end(grant, person.id))) return redirect(paths.connections);
		log.info("person ended a connection", { person: person.id, grant });
		return redirect(`${paths.connections}?ended=1`);
	}

	return { show, change };
}
