// The page /connections, on which people see which clients act in their name, and end that. They sign in with Discord
// first; a browser stays signed in until the sign-in attempt expires.

import { SlidingWindow } from "../../../lib/sliding-window.ts";
import {
	connectionsPage,
	signedOutPage,
	signInPage,
} from "../pages/connections-page.ts";
import { errorPage } from "../pages/error-page.ts";
import { redirect } from "../pages/page.ts";
import { formToken, isFormToken } from "../people/browser.ts";
import { paths } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { queryOf, readForm } from "../protocol/parameters.ts";
import { asPage, type OAuthContext } from "./context.ts";

/**
 * Maximum number of sign-ins to the page /connections that may start per minute. Anyone can start a sign-in without a
 * token, and each is stored in the database.
 */
const maxPerMinute = 60;
const windowMs = 60_000;

export function createConnections(context: OAuthContext): {
	show(request: Request): Promise<Response>;
	change(request: Request): Promise<Response>;
} {
	const { attempts, browsers, discord, grants, log } = context;
	const window = new SlidingWindow({
		max: maxPerMinute,
		windowMs,
		now: context.monotonicNow,
	});

	/**
	 * Redirects a browser to Discord, where the person signs in. Afterwards Discord sends the browser back to the gateway,
	 * which shows the page /connections.
	 */
	async function signIn(request: Request): Promise<Response> {
		if (!window.take())
			throw new OAuthError(
				"temporarily_unavailable",
				"Too many people are signing in. Try again in a minute.",
			);
		const browser = browsers.secretOf(request) ?? browsers.newSecret();
		const state = await attempts.start(browser, undefined);
		return redirect(discord.signInUrl(state), browsers.setCookie(browser));
	}

	async function show(request: Request): Promise<Response> {
		const query = queryOf(request);
		if (query.get("sign-in")) return signIn(request);
		const browser = browsers.secretOf(request);
		const person = browser && (await attempts.visitor(browser));
		if (!browser || !person)
			return signInPage(`${paths.connections}?sign-in=1`);
		return connectionsPage({
			person,
			connections: await grants.list(person.id),
			csrf: formToken(browser, paths.connections),
			hasEnded: query.get("ended") !== undefined,
		});
	}

	async function change(request: Request): Promise<Response> {
		const browser = browsers.secretOf(request);
		const form = await readForm(request);
		const isOwn =
			browser !== undefined &&
			browsers.isOwnPage(request) &&
			isFormToken(form.get("csrf"), browser, paths.connections);
		const person = isOwn && (await attempts.visitor(browser));
		if (!isOwn || !person)
			return errorPage({
				status: 400,
				title: "This page has expired",
				text: "It was opened in another browser, or more than ten minutes ago. Sign in again to see your connections.",
				back: { name: "your connections", url: paths.connections },
			});
		if (form.get("leave")) {
			await attempts.leave(browser);
			return signedOutPage();
		}
		const grant = form.require("end");
		if (!(await grants.end(grant, person.id)))
			return redirect(paths.connections);
		log.info("person ended a connection", { person: person.id, grant });
		return redirect(`${paths.connections}?ended=1`);
	}

	return {
		show: (request) => asPage(() => show(request)),
		change: (request) => asPage(() => change(request)),
	};
}
