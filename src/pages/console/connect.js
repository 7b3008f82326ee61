// The section "Connect": a person chooses an MCP client and what it may do, and copies its configuration, with a new key in it.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import { clientsOf, placeholder } from "./clients.js";
import { accessNames, chip, copyButton, createField, createForm, shown } from "./parts.js";

/** @param {boolean} isRoot Only then, keys can be made. @param {() => Promise<import("./types.ts").State>} stateOf */
export function createConnect(isRoot, stateOf) {
	const content = element("div");
	let forget = () => {};
	return {
		content,
		async open() {
			const [gateway, { bots }] = await Promise.all([get("/clients"), stateOf()]);
			if (content.hasChildNodes()) return;
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
	/** @type {undefined | { name: string, secret: string }} */
	let key;
	const panel = element("div.panel", { "aria-live": "polite" });
	const names = clientsOf({ endpoint, token: undefined }).map(({ name }) => name);
	const ways = { ...(isRoot && { key: "with a key" }), ...((discordSignIn || !isRoot) && { discord: "with Discord" }) };
	const onBots = element(
		"fieldset.chips",
		element("legend", "On which bots (none chosen: all)"),
		...bots.map((name) => chip({ type: "checkbox", name: "instances", value: name }, name)),
	);
	const limits = element("details", element("summary", "Name and more limits of the key"), limitFields());
	const form = createForm(
		"form.list",
		{ oninput: (/** @type {Event} */ { target }) => (Object(target).name === "client" ? show() : forget()) },
		{ label: "Create a key and fill it in", submit: create },
		element(
			"div.list",
			choice("Client", "client", Object.fromEntries(names.map((name) => [name, name]))),
			choice("What it may do", "access", accessNames),
			choice("How it signs in", "way", ways),
			onBots,
		),
		limits,
	);
	const button = form.querySelector("button");

	/** What is entered in a field. @param {string} name */
	const entered = (name) => String(new FormData(form).get(name) ?? "").trim();

	function show() {
		const byDiscord = entered("way") === "discord";
		const isReadOnly = byDiscord && entered("access") === "read";
		const token = byDiscord ? undefined : (key?.secret ?? placeholder);
		const clients = clientsOf({ endpoint: isReadOnly ? readOnlyEndpoint : endpoint, token });
		const client = clients.find(({ name }) => name === entered("client"));
		for (const one of [onBots, limits]) one.hidden = byDiscord || (one === onBots && bots.length < 2);
		if (button) button.hidden = byDiscord || !client?.text || key !== undefined;
		if (client) panel.replaceChildren(...describe(client, key?.name));
	}

	async function create() {
		const data = new FormData(form);
		const instances = data.getAll("instances");
		const guilds = entered("guilds").match(/[^\s,]+/g);
		key = await post("/keys", {
			name: entered("name") || (await freeName(entered("client"))),
			access: entered("access"),
			...(instances.length > 0 && { instances }),
			...(guilds && { guilds }),
			...(entered("person") && { person: entered("person") }),
			...(entered("days") && { days: Number(entered("days")) }),
		});
		show();
		panel.querySelector("button")?.focus();
	}

	/** Other rights need another key. */
	function forget() {
		key = undefined;
		show();
	}
	show();
	return { content: [form, panel], forget };
}

function limitFields() {
	/** @param {string} name @param {string} label @param {string} hint @param {Record<string, unknown>} [properties] */
	const field = (name, label, hint, properties) => {
		const input = element("input", { name, autocomplete: "off", spellcheck: "false", ...properties });
		return createField(`key-${name}`, label, hint, input).content;
	};
	const digits = { inputmode: "numeric" };
	return element(
		"div.fields",
		field("name", "Name", "Letters, digits, “_”, “.” and “-”. Empty: the client's.", { maxlength: 64 }),
		field("days", "Days until it expires", "Empty: the key does not expire.", digits),
		field("guilds", "Guilds", "Ids, separated by commas. Empty: all."),
		field("person", "Person", "Id of the person in whose name the key acts. Empty: nobody.", digits),
	);
}

/** A name for a key that no key has. @param {string} client */
async function freeName(client) {
	const { keys } = await get("/access");
	const used = new Set(keys.map((/** @type {{ name: string }} */ { name }) => name));
	const base = client.toLowerCase().replaceAll(/[^a-z.]+/g, "-");
	let name = base;
	for (let number = 2; used.has(name); number++) name = `${base}-${number}`;
	return name;
}

/** @param {import("./types.ts").Client} client @param {string} [key] The name of the key in its configuration. */
function describe({ name, where, text, install, steps = [] }, key) {
	const code = element("code", text ?? "");
	const block = element("pre", { tabindex: 0, "aria-label": name }, code);
	return [
		element("h3", name),
		key ? element("p", `It contains the new key ${shown(key, 64)}, which is shown only here and now.`) : "",
		element("p", where),
		text === undefined ? "" : block,
		element(
			"p.buttons",
			text !== undefined && copyButton(`configuration for ${name}`, text, code),
			install && element("a.button", { href: install.url, rel: "noreferrer" }, install.label),
		),
		element("ul", ...steps.map((step) => element("li", step))),
	];
}

/** Radio buttons, hidden if there is only one. @param {string} legend @param {string} name @param {Record<string, string>} labels */
function choice(legend, name, labels) {
	const options = Object.entries(labels).map(([value, label], index) =>
		chip({ type: "radio", name, value, checked: index === 0 }, label),
	);
	return element("fieldset.chips", { hidden: options.length < 2 }, element("legend", legend), ...options);
}
