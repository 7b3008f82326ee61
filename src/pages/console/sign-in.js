// The sign-in form: with the token, which is sent once and not stored, or with Discord.

import { element } from "../dom.js";
import { post, signIn } from "./api.js";
import { actionButton, createField, createForm, shown } from "./parts.js";

/** @import { Session } from "./types.ts" */

/** @param {null | string} discord @param {string} problem Why to sign in again. @param {(session: Session) => void} onSession */
export function createSignIn(discord, problem, onSession) {
	return element(
		"section.panel.sign-in",
		{ "aria-labelledby": "title" },
		element("h2", { id: "title" }, "Sign in"),
		element("p.problem", { role: "alert" }, problem),
		// On an insecure page, others on the network could read the token.
		isSecureContext
			? createTokenForm(onSession)
			: element(
					"p",
					"The token may be sent only over https, or from the gateway's own machine. Open this page with https, or through ",
					element("code", "ssh -L 9100:127.0.0.1:9100"),
					".",
				),
		discord !== null && element("p.buttons", discordButton(discord)),
	);
}

/** @param {(session: Session) => void} onSession */
function createTokenForm(onSession) {
	const attributes = { type: "password", autocomplete: "off", spellcheck: "false", required: true };
	const token = element("input", attributes);
	const hint = "The gateway's MCP_AUTH_TOKEN. This page sends it once and does not keep it.";
	async function submit() {
		const { value } = token;
		token.value = "";
		onSession(await signIn({ token: value.trim() }));
	}
	return createForm("form", {}, { label: "Sign in", submit }, createField("token", "Token", hint, token).content);
}

/** @param {string} origin */
function discordButton(origin) {
	if (origin === location.origin)
		return actionButton("button", "Sign in with Discord", async () => {
			const { url } = await post("/sign-in/discord");
			sessionStorage.setItem("section", location.hash);
			location.assign(url);
		});
	const href = `${origin}/console`;
	return element("a.button", { href, rel: "noreferrer" }, `Sign in with Discord at ${shown(origin)}`);
}
