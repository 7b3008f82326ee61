// The section "Connect": a person chooses an MCP client and what it may do, and copies its configuration, with a new key in it.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import { clientsOf, placeholder } from "./clients.js";
import { actionButton, chip, copyButton, shown } from "./parts.js";

/** @typedef {import("./clients.js").Client} Client */

const levels = { read: "only read", write: "read and change, but not ban or delete", all: "everything" };

/**
 * @param {boolean} isRoot Whether this person can create keys; otherwise clients sign in with Discord.
 * @param {() => Promise<import("./api.js").State>} stateOf
 */
export function createConnect(isRoot, stateOf) {
	const content = element("div");
	let forget = () => {};
	return {
		content,
		async open() {
			if (content.hasChildNodes()) return;
			const [gateway, { bots }] = await Promise.all([get("/clients"), stateOf()]);
			const names = bots.map(({ name }) => name);
			const made = createPickers(gateway, isRoot, names);
			forget = made.forget;
			content.append(...made.content);
		},
		/** The key is shown only once. */
		close: () => forget(),
	};
}

/**
 * @param {{ endpoint: string, readOnlyEndpoint: string, discordSignIn: boolean }} gateway
 * @param {boolean} isRoot
 * @param {readonly string[]} bots
 */
function createPickers({ endpoint, readOnlyEndpoint, discordSignIn }, isRoot, bots) {
	let chosen = "Claude Code";
	let access = "read";
	let byDiscord = !isRoot;
	/** @type {Set<string>} */
	const instances = new Set();
	/** @type {undefined | { name: string, secret: string }} */
	let key;
	const panel = element("div.panel", { "aria-live": "polite" });
	const onBots = element(
		"fieldset.chips",
		element("legend", "On which bots (none chosen: all)"),
		...bots.map((name) =>
			chip(
				{
					type: "checkbox",
					value: name,
					onchange() {
						if (!instances.delete(name)) instances.add(name);
						change();
					},
				},
				name,
			),
		),
	);
	function show() {
		const isReadOnly = byDiscord && access === "read";
		const token = byDiscord ? undefined : (key?.secret ?? placeholder);
		const clients = clientsOf({ endpoint: isReadOnly ? readOnlyEndpoint : endpoint, token });
		const client = clients.find(({ name }) => name === chosen);
		onBots.hidden = byDiscord || bots.length < 2;
		if (client) panel.replaceChildren(...describe(client, !byDiscord && client.text ? keyLine() : undefined));
	}

	function keyLine() {
		if (key) return element("p", `It contains the new key ${shown(key.name, 64)}, which is shown only here and now.`);
		return actionButton("button.main", "Create a key and fill it in", async () => {
			const name = await freeName(chosen);
			const { secret } = await post("/keys", {
				name,
				access,
				...(instances.size > 0 && { instances: [...instances] }),
			});
			key = { name, secret };
			show();
			panel.querySelector("button")?.focus();
		});
	}

	/** Another client or other rights need another key. */
	function change() {
		key = undefined;
		show();
	}
	const names = clientsOf({ endpoint, token: undefined }).map(({ name }) => name);
	const pickers = [
		choice("Client", new Map(names.map((name) => [name, name])), (name) => {
			chosen = name;
			change();
		}),
		choice("It may", new Map(Object.entries(levels)), (level) => {
			access = level;
			change();
		}),
	];
	if (discordSignIn && isRoot)
		pickers.push(
			choice("It signs in with", new Map(Object.entries({ key: "a key", discord: "Discord" })), (way) => {
				byDiscord = way === "discord";
				change();
			}),
		);
	show();
	return { content: [element("div.pickers", ...pickers, onBots), panel], forget: change };
}

/** A name for a key that no key has. @param {string} client */
async function freeName(client) {
	const { keys } = await get("/keys");
	const used = new Set(keys?.map((/** @type {{ name: string }} */ { name }) => name));
	const base = client.toLowerCase().replaceAll(/[^a-z.]+/g, "-");
	let name = base;
	for (let number = 2; used.has(name); number++) name = `${base}-${number}`;
	return name;
}

/** @param {Client} client @param {HTMLElement | undefined} keyLine */
function describe({ name, where, text, install, steps = [] }, keyLine) {
	const code = element("code", text ?? "");
	const block = element("pre", { tabindex: 0, "aria-label": name }, code);
	return [
		element("h3", name),
		...(keyLine ? [keyLine] : []),
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
 * @param {ReadonlyMap<string, string>} values Their labels. The first is chosen.
 * @param {(value: string) => void} onChoice
 */
function choice(legend, values, onChoice) {
	const options = [...values].map(([value, label], index) =>
		chip({ type: "radio", name: legend, value, checked: index === 0, onchange: () => onChoice(value) }, label),
	);
	return element("fieldset.chips", element("legend", legend), ...options);
}
