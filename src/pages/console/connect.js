// The section "Connect": a person chooses an MCP client and copies its configuration.

import { element } from "../dom.js";
import { get } from "./api.js";
import { clientsOf } from "./clients.js";
import { chip, copyButton } from "./parts.js";

/** @typedef {import("./clients.js").Client} Client */

/**
 * @param {boolean} ownsToken Whether this person has a token or can create keys; otherwise clients sign in with Discord.
 */
export function createConnect(ownsToken) {
	const content = element("div");
	return {
		content,
		async open() {
			if (!content.hasChildNodes()) content.append(...createPickers(await get("/clients"), ownsToken));
		},
	};
}

/**
 * @param {{ endpoint: string, readOnlyEndpoint: string, discordSignIn: boolean }} gateway
 * @param {boolean} ownsToken
 */
function createPickers({ endpoint, readOnlyEndpoint, discordSignIn }, ownsToken) {
	const connection = { endpoint, byToken: ownsToken };
	let chosen = "Claude Code";
	const panel = element("div.panel", { "aria-live": "polite" });
	function show() {
		const client = clientsOf(connection).find(({ name }) => name === chosen);
		if (client) panel.replaceChildren(...describe(client));
	}
	const names = clientsOf(connection).map(({ name }) => name);
	const pickers = [
		choice("Client", names, (name) => {
			chosen = name;
			show();
		}),
	];
	if (discordSignIn && ownsToken)
		pickers.push(
			choice("It signs in with", ["a token or key", "Discord"], (way) => {
				connection.byToken = way !== "Discord";
				show();
			}),
		);
	pickers.push(
		choice("It may", ["do all that the token allows", "only read"], (limit) => {
			connection.endpoint = limit === "only read" ? readOnlyEndpoint : endpoint;
			show();
		}),
	);
	show();
	return [element("div.pickers", ...pickers), panel];
}

/** @param {Client} client */
function describe({ name, where, text, install, steps = [] }) {
	const code = element("code", text ?? "");
	const block = element("pre", { tabindex: 0, "aria-label": name }, code);
	return [
		element("h3", name),
		element("p", where),
		...(text === undefined ? [] : [block]),
		element(
			"p.buttons",
			text !== undefined && copyButton(`configuration for ${name}`, text, code),
			install && element("a.button", { href: install.url, rel: "noreferrer" }, install.label),
		),
		element("ul", ...steps.map((step) => element("li", step))),
	];
}

/**
 * @param {string} legend
 * @param {readonly string[]} values The first is chosen.
 * @param {(value: string) => void} onChoice
 */
function choice(legend, values, onChoice) {
	const options = values.map((value, index) =>
		chip({ type: "radio", name: legend, value, checked: index === 0, onchange: () => onChoice(value) }, value),
	);
	return element("fieldset.chips", element("legend", legend), ...options);
}
