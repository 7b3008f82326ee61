// The section "Settings": the settings of a server, changed several at once. What was typed stays until it is saved or
// discarded, whatever fails.

import { byId, element } from "../dom.js";
import { messageOf, post } from "./api.js";
import { busy, fillSelect, labelled, named, say, shown, shownLines } from "./parts.js";
import { createRehearsal } from "./rehearsal.js";
import { createRoleMenu } from "./role-menu.js";
import { createSettingField, effective, isSame, valueText } from "./setting-fields.js";
import { createHistory } from "./settings-history.js";

/** @import { Change, Check, Form, Messages, Place, Sections, State } from "./types.ts" */

/** Milliseconds after the last change of a field before the bot checks what is entered. */
const checkMs = 400;

/** @param {() => Promise<State>} stateOf @param {string} who Whose typed values this shows. */
export function createSettings(stateOf, who) {
	const storageKey = (/** @type {string} */ server) => `typed ${who} ${server}`;
	/** @type {Map<string, ServerSettings>} With what was typed, by option of the menu. */
	const servers = new Map();
	const select = element("select", { id: "server", onchange: show });
	const place = element("div");
	const content = element("div", labelled("Server", select), place);

	async function show() {
		const [instance = "", guild_id = ""] = select.value.split(" ");
		if (!guild_id) return place.replaceChildren(element("p", "No bot of yours is in a server."));
		const server = servers.get(select.value) ?? new ServerSettings({ instance, guild_id }, storageKey(select.value));
		servers.set(select.value, server);
		place.replaceChildren(server.content);
		await server.load();
	}

	return {
		content,
		async open() {
			const { bots } = await stateOf();
			const items = bots.flatMap((bot) =>
				bot.guilds.map(({ id, name }) => ({
					id: `${bot.name} ${id}`,
					name: `${shown(name, 60)} – ${shown(bot.name, 64)}`,
				})),
			);
			fillSelect(select, items);
			const typed = servers.size === 0 && items.find(({ id }) => sessionStorage.getItem(storageKey(id)));
			if (typed) select.value = typed.id;
			await show();
		},
	};
}

class ServerSettings {
	#place;
	/** What was typed is in sessionStorage too, because signing in may leave the page. */
	#storageKey;
	/** The last one that was loaded; -1 before. */
	#version = -1;
	/** @type {Map<string, ReturnType<typeof createSettingField>>} */
	#fields = new Map();
	/** @type {Form["lists"]} */
	#lists = {};
	#checked = Promise.resolve(false);
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	#timer;
	#failure = element("p.problem", { role: "alert" });
	#contents = element("div.buttons.contents", { role: "navigation", "aria-label": "Settings" });
	#sections = element("div.list");
	#count = element("strong", { role: "status" });
	#list = element("ul.changes");
	#conflict = element("div.conflict", { role: "alert" });
	#problem = element("p.problem", { role: "alert" });
	/** @param {string} text */
	#complain = (text) => {
		this.#problem.textContent = shownLines(text, 2_000);
	};
	#save = element(
		"button.main.small",
		{ onclick: () => busy(this.#save, () => this.#submit(), this.#complain) },
		"Save",
	);
	#bar = element(
		"section.panel.save-bar",
		{ hidden: true, "aria-label": "Changes" },
		element(
			"div.bar",
			this.#count,
			element("p.buttons", element("button.small", { onclick: () => this.#discard() }, "Discard"), this.#save),
		),
		this.#problem,
		this.#conflict,
		this.#list,
	);
	#history;
	#menu;
	#more;
	content;

	/** @param {Place} place @param {string} storageKey */
	constructor(place, storageKey) {
		this.#place = place;
		this.#storageKey = storageKey;
		this.#history = createHistory(place, this.#change, (values) => this.#enter(values));
		this.#menu = createRoleMenu(place, () => this.#lists);
		this.#menu.content.hidden = true;
		const rehearsal = createRehearsal(place, {
			lists: () => this.#lists,
			entered: () => this.#entered(),
			enter: (values) => this.#enter(new Map(Object.entries({ ...this.#entered(), ...values }))),
		});
		this.#more = [this.#history.content, this.#menu.content, rehearsal];
		this.content = element("div.list", this.#failure, this.#contents, this.#sections, ...this.#more, this.#bar);
	}

	/** Shows the present values; what was typed stays. Never rejects. */
	async load() {
		try {
			const form = await post("/settings", this.#place);
			this.#failure.textContent = "";
			this.#menu.content.hidden = !form.calls.menu;
			this.#show(form);
			this.#menu.fill();
			await this.#history.load();
		} catch (error) {
			this.#failure.textContent = messageOf(error);
		}
	}

	/** @param {Form} form */
	#show({ version, sections, lists, ...rest }) {
		const typed = new Map(this.#changed().map((field) => [field.description.key, field.read()]));
		const descriptions = sections.flatMap(({ fields }) => fields);
		if (descriptions.map(({ key }) => key).join() !== [...this.#fields.keys()].join()) this.#create(sections);
		const kept = this.#version === -1 && sessionStorage.getItem(this.#storageKey);
		for (const { key, before, after } of JSON.parse(kept || "[]")) {
			const field = this.#fields.get(key);
			if (!field) continue;
			field.description.value = before;
			typed.set(key, after);
		}
		this.#lists = lists;
		/** @type {Change[]} */
		const theirs = [];
		for (const { key, value } of descriptions) {
			const field = this.#fields.get(key);
			if (!field) continue;
			const before = field.description.value;
			if (!isSame(before, value)) theirs.push({ key, before, after: value });
			field.description.value = value;
			field.set(typed.has(key) ? typed.get(key) : value, lists);
		}
		if (theirs.length > 0 && typed.size > 0)
			this.#conflict.replaceChildren(
				element(
					"p",
					"Somebody else has changed settings meanwhile. What you entered is kept: check it, then save again.",
				),
				element("ul.changes", ...theirs.map(this.#change)),
			);
		this.#version = version;
		this.#mark(rest);
		this.#onInput(typed.size > 0);
	}

	/** @param {Sections} sections */
	#create(sections) {
		const all = sections.flatMap(({ title, fields }) =>
			fields.map((one) => ({ ...one, name: `${title} · ${one.label}` })),
		);
		this.#fields = new Map(all.map((one) => [one.key, createSettingField(one, () => this.#onTyped())]));
		const panels = sections.map(({ title, note, fields }) =>
			element(
				"section.panel",
				{ "aria-label": shown(title, 80) },
				element("h3", { tabindex: -1 }, named(title, 80)),
				note && element("p.quiet", shown(note, 200)),
				element("div.fields", ...fields.map(({ key }) => this.#fields.get(key)?.content)),
			),
		);
		this.#sections.replaceChildren(...panels);
		const targets = [...panels, ...this.#more].filter(({ hidden }) => !hidden);
		this.#contents.replaceChildren(
			...targets.map((target) => {
				/** @type {HTMLElement | null} */
				const head = target.querySelector("h3, summary");
				const name = head?.textContent ?? "";
				const onclick = () => {
					if (target instanceof HTMLDetailsElement) target.open = true;
					head?.focus();
					target.scrollIntoView();
				};
				return element("button.small", { "aria-label": `Go to ${name}`, onclick }, name);
			}),
		);
	}

	#changed() {
		return [...this.#fields.values()].filter(
			({ description, read }) => !isSame(effective(description, read()), effective(description, description.value)),
		);
	}

	#entered() {
		return Object.fromEntries(this.#changed().map(({ description, read }) => [description.key, read()]));
	}

	#onTyped() {
		this.#complain("");
		this.#onInput();
	}

	#onInput(checks = true) {
		const changed = this.#changed();
		const count = changed.length;
		this.#bar.hidden = count === 0;
		const title = `${count} unsaved ${count === 1 ? "change" : "changes"}`;
		if (this.#count.textContent !== title) this.#count.textContent = title;
		const changes = changed.map(({ description: { key, value }, read }) => ({ key, before: value, after: read() }));
		this.#list.replaceChildren(...changes.map(this.#change));
		if (count === 0) {
			this.#conflict.replaceChildren();
			sessionStorage.removeItem(this.#storageKey);
			// After a sign-out, late responses store nothing.
		} else if (this.content.isConnected) sessionStorage.setItem(this.#storageKey, JSON.stringify(changes));
		clearTimeout(this.#timer);
		if (checks)
			this.#timer = setTimeout(() => this.#check().catch((error) => this.#complain(messageOf(error))), checkMs);
	}

	/** @param {Change} change */
	#change = ({ key, before, after }) => {
		const description = this.#fields.get(key)?.description;
		const text = (/** @type {unknown} */ value, /** @type {unknown} */ other) =>
			element("bdi", valueText(description, value, this.#lists, other));
		const name = element("strong", named(description?.name ?? key, 200));
		return element("li", name, ": ", text(before, after), " → ", text(after, before));
	};

	/** Has the bot check what is entered. Returns whether it can be saved. If a later check begins meanwhile, that one decides. */
	#check() {
		const answer = post("/settings", { ...this.#place, values: this.#entered() });
		/** @type {Promise<boolean>} */
		const checked = answer.then(async (/** @type {Check & { version: number }} */ form) => {
			if (checked !== this.#checked) return this.#checked;
			const isCurrent = form.version === this.#version;
			await (isCurrent ? this.#mark(form) : this.load());
			return isCurrent && form.problems.length === 0;
		});
		this.#checked = checked;
		return checked;
	}

	/** @param {Check} form */
	#mark({ problems, warnings, previews }) {
		const of = (/** @type {Messages} */ all, /** @type {string} */ name) =>
			all.flatMap(({ key, message }) => (key === name ? message : []));
		for (const [key, field] of this.#fields) {
			field.complain(of(problems, key), of(warnings, key));
			if (previews[key] !== undefined && of(problems, key).length === 0) field.preview(previews[key]);
		}
	}

	async #submit() {
		this.#complain("");
		if (!(await this.#check())) {
			const wrong = [...this.#fields.values()].find(({ content }) => content.querySelector("[aria-invalid]"));
			wrong?.focus();
			const why = wrong ? "Correct what is marked first." : "The settings have changed meanwhile: save again.";
			return this.#complain(this.#conflict.hasChildNodes() && !wrong ? "" : why);
		}
		const changed = this.#changed();
		const given = { settings: this.#entered(), if_version: this.#version };
		this.#count.textContent = "Saving…";
		const body = { ...this.#place, call: "change", arguments: given };
		const { isError, isWaiting, text } = await post("/settings/submit", body).finally(() => this.#onInput());
		if (isError) {
			await this.load();
			return this.#complain(text);
		}
		if (isWaiting) this.#discard();
		// What was typed meanwhile stays.
		else for (const { description } of changed) description.value = given.settings[description.key];
		await this.load();
		say(isWaiting ? "Sent. It takes effect once somebody has approved it." : "Saved.");
		byId("title").focus();
	}

	/** @param {Map<string, unknown>} values By key; others get what is stored. */
	#enter(values) {
		for (const [key, { description, set }] of this.#fields)
			set(values.has(key) ? (values.get(key) ?? null) : description.value, this.#lists);
		this.#onInput();
		this.#save.focus();
	}

	#discard() {
		for (const field of this.#changed()) field.set(field.description.value, this.#lists);
		this.#onTyped();
	}
}
