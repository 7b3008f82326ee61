// The section "Keys": tokens with limits, for the holder of the gateway's token.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import {
	accessName,
	accessNames,
	actionButton,
	chip,
	copyButton,
	createField,
	createForm,
	labelled,
	named,
	say,
	shown,
	tableOr,
	timeOf,
} from "./parts.js";

const keyHeads = ["Name", "May do", "Where", "Created", "Expires", "Last used", "Action"];

/**
 * Creates the section with the keys, for the holder of the token.
 * @param {() => Promise<import("./api.js").State>} stateOf
 */
export function createKeys(stateOf) {
	const list = element("div");
	const secret = element("div", { role: "status" });
	const form = element("div");
	const content = element(
		"div",
		element("p.quiet", "A key is a token with limits. Give each client its own."),
		secret,
		list,
		form,
	);

	async function load() {
		const { keys, reason } = await get("/keys");
		if (keys === null) {
			list.replaceChildren(element("p", shown(reason ?? "", 300)));
			form.replaceChildren();
			return;
		}
		list.replaceChildren(tableOr("There are no keys yet.", "Keys", keyHeads, keys.map(describe)));
		if (form.hasChildNodes()) return;
		const { bots } = await stateOf();
		const names = bots.map(({ name }) => name);
		form.replaceChildren(createKeyForm(names, created));
	}

	/** @param {any} key */
	function describe({ name, access, instances, guilds, person, createdAt, expiresAt, lastUsedAt, expired }) {
		const bots = instances ? `bots: ${instances.join(", ")}` : "all bots";
		const where = guilds ? `${bots}; guilds: ${guilds.join(", ")}` : bots;
		const revoke = async () => {
			await post("/keys/revoke", { name });
			say(`Revoked: ${shown(name, 64)}`);
			await load();
		};
		const question = {
			what: `the key ${shown(name, 64)}`,
			text: "Clients that use the key are refused from now on. The key cannot be restored.",
		};
		return [
			named(name, 64),
			accessName(access) + (person ? ` as person ${shown(person, 20)}` : ""),
			named(where, 300),
			timeOf(createdAt),
			expired ? element("span.state.bad", "expired") : expiresAt ? timeOf(expiresAt) : "never",
			lastUsedAt ? timeOf(lastUsedAt) : "never",
			actionButton("button.small", "Revoke", revoke, question),
		];
	}

	/** @param {{ key: { name: string }, secret: string }} made */
	async function created(made) {
		const value = element("code", { id: "secret" }, made.secret);
		secret.replaceChildren(
			element(
				"div.panel.once",
				element("h3", "Key ", named(made.key.name, 64)),
				element("p", "Copy the token now. It is shown only once; the gateway keeps only its hash."),
				element("pre", value),
				element(
					"p.buttons",
					copyButton("the key", made.secret, value),
					element("button.small", { onclick: () => secret.replaceChildren() }, "Done"),
				),
			),
		);
		secret.querySelector("button")?.focus();
		await load();
	}

	return { content, open: load, close: () => secret.replaceChildren() };
}

/**
 * @param {readonly string[]} bots
 * @param {(made: { key: { name: string }, secret: string }) => Promise<void>} onCreated
 */
function createKeyForm(bots, onCreated) {
	/**
	 * @param {string} name
	 * @param {string} label
	 * @param {string} hint
	 * @param {Record<string, unknown>} [properties]
	 */
	const field = (name, label, hint, properties) =>
		createField(
			`key-${name}`,
			label,
			hint,
			element("input", { name, autocomplete: "off", spellcheck: "false", ...properties }),
		).content;
	const levels = Object.entries(accessNames).map(([value, text]) => element("option", { value }, text));
	async function submit() {
		const data = new FormData(form);
		/** @param {string} name */
		const text = (name) => String(data.get(name) ?? "").trim();
		const guilds = text("guilds")
			.split(/[\s,]+/)
			.filter(Boolean);
		const instances = data.getAll("instances");
		const made = await post("/keys", {
			name: text("name"),
			access: text("access"),
			...(instances.length > 0 && { instances }),
			...(guilds.length > 0 && { guilds }),
			...(text("person") && { person: text("person") }),
			...(text("days") && { days: Number(text("days")) }),
		});
		form.reset();
		await onCreated(made);
	}
	const form = createForm(
		"form.panel",
		{},
		{ label: "Create key", submit },
		element("h3", "New key"),
		element(
			"div.fields",
			field("name", "Name", "Letters, digits, “_”, “.” and “-”.", { required: true, maxlength: 64 }),
			labelled("May do", element("select", { name: "access" }, ...levels)),
			field("days", "Days until it expires", "Empty: the key does not expire.", {
				inputmode: "numeric",
				pattern: "[0-9]{1,5}",
			}),
			field("guilds", "Guilds", "Ids, separated by commas. Empty: all."),
			field("person", "Person", "Id of the person in whose name the key acts. Empty: nobody.", {
				inputmode: "numeric",
			}),
		),
		bots.length > 0 &&
			element(
				"fieldset.chips",
				element("legend", "Bots (none chosen: all)"),
				...bots.map((name) => chip({ type: "checkbox", name: "instances", value: name }, name)),
			),
	);
	return form;
}
