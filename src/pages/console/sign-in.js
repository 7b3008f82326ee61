// The sign-in form: with the token, which is sent once and not stored, or with Discord.

import { element } from "../dom.js";
import { messageOf, post, signIn } from "./api.js";
import { shown } from "./parts.js";

/** @typedef {import("./api.js").Session} Session */

/**
 * @param {null | string} discord The origin at which people sign in with Discord.
 * @param {string} problem Why the person has to sign in (again); may be "".
 * @param {(session: Session) => void} onSession
 */
export function createSignIn(discord, problem, onSession) {
	const wrong = element("p.problem", { id: "sign-in-problem", role: "alert" }, problem);
	/** @param {() => Promise<void>} act */
	async function attempt(act) {
		wrong.textContent = "";
		try {
			await act();
		} catch (error) {
			wrong.textContent = messageOf(error);
		}
	}
	const waysIn = [
		// On an insecure page, others on the network could read the token.
		isSecureContext
			? createTokenForm((token) => attempt(async () => onSession(await signIn({ token }))))
			: describeInsecure(),
		describeDiscord(discord, () =>
			attempt(async () => {
				const { url } = await post("/sign-in/discord");
				location.assign(url);
			}),
		),
	];
	return element(
		"section.panel.sign-in",
		{ "aria-labelledby": "title" },
		element("h2", { id: "title" }, "Sign in"),
		wrong,
		...waysIn,
	);
}

/** @param {(token: string) => void} onToken */
function createTokenForm(onToken) {
	const token = element("input", {
		id: "token",
		type: "password",
		autocomplete: "off",
		spellcheck: "false",
		required: true,
		"aria-describedby": "token-hint sign-in-problem",
	});
	/** @param {Event} event */
	function onsubmit(event) {
		event.preventDefault();
		const { value } = token;
		token.value = "";
		onToken(value.trim());
	}
	return element(
		"form",
		{ onsubmit },
		element("label", { for: token.id }, "Token"),
		token,
		element(
			"p.quiet",
			{ id: "token-hint" },
			"The gateway's MCP_AUTH_TOKEN. This page sends it once and does not keep it.",
		),
		element("p.buttons", element("button.main", "Sign in")),
	);
}

function describeInsecure() {
	return element(
		"p",
		"The token may be sent only over https, or from the gateway's own machine. Open this page with https, or through ",
		element("code", "ssh -L 9100:127.0.0.1:9100"),
		".",
	);
}

/** @param {null | string} origin @param {() => void} onclick */
function describeDiscord(origin, onclick) {
	if (origin === null) return undefined;
	const way =
		origin === location.origin
			? element("button", { onclick }, "Sign in with Discord")
			: element(
					"a.button",
					{ href: `${origin}/console`, rel: "noreferrer" },
					`Sign in with Discord at ${shown(origin)}`,
				);
	return element("p.buttons", way);
}
