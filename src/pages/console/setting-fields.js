// Fields of the section "Settings": one for each setting, as its bot describes it.

import { element } from "../dom.js";
import { chip, createField, fillSelect, named, shown } from "./parts.js";

/** @import { Description, Item, Lists } from "./types.ts" */
/** @typedef {{ content: HTMLElement, read: () => any, set: (value: any, lists: Lists) => void }} Control */
/** @typedef {(description: Description, attributes: Record<string, unknown>) => Control} CreateControl */

const maxName = 120;
/** Longer lists get a menu, so that the keyboard does not stop at each item. */
const maxChips = 12;

/** @param {unknown} a @param {unknown} b */
export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** What a value counts as. @param {Description} description @param {unknown} value */
export const effective = (description, value) => value ?? description.default ?? null;

/**
 * @param {Description | undefined} description Undefined for a setting that this bot no longer has.
 * @param {any} value
 * @param {Lists} lists
 * @param {any} [other] Of named texts, only those that differ from this value are shown.
 */
export function valueText(description, value, lists, other) {
	const now = description ? effective(description, value) : (value ?? null);
	if (now === null) return "not set";
	if (typeof now === "boolean") return now ? "on" : "off";
	const items = lists[description?.list ?? ""] ?? [];
	const texts = typeof now === "object" && !Array.isArray(now) && Object.entries(now);
	const names = texts
		? texts.flatMap(([name, text]) => (text === other?.[name] ? [] : `${name}: ${text}`))
		: [now].flat().map((one) => items.find(({ id }) => id === one)?.name ?? String(one));
	return names.length === 0 ? "none" : shown(names.join(", ").replaceAll("\n", " ↵ "), 300);
}

/** @param {Description} description @param {() => void} onChange */
export function createSettingField(description, onChange) {
	const { key, label, help, kind } = description;
	const id = `setting-${key}`;
	const control = (controls[kind] ?? createText)(description, { id, oninput: onChange });
	const preview = element("blockquote.preview", { "aria-label": `Preview of ${label}` });
	const standard = valueText(description, description.default, {});
	const hint = `${help}.${["not set", "none"].includes(standard) ? "" : ` Default: ${standard}.`}`;
	const isGroup = kind === "many" || kind === "named texts";
	const field = createField(id, named(label, maxName), hint, control.content, { isGroup });
	const { content, helpLine } = field;
	content.classList.toggle("wide", kind === "named texts");
	return {
		description,
		content,
		read: control.read,
		/** @param {unknown} value @param {Lists} lists */
		set: (value, lists) =>
			// In a field for text, the default is the placeholder.
			control.set(kind in controls ? effective(description, value) : value, lists),
		focus() {
			/** @type {HTMLElement | null} */ (content.querySelector("input, select, textarea"))?.focus();
		},
		/** @param {string[]} problems @param {string[]} warnings */
		complain(problems, warnings) {
			const all = [...problems, ...warnings.map((one) => `Note: ${one}`)];
			const text = all.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join(". ");
			field.complain(shown(text, 600), problems.length > 0);
		},
		/** @param {string} text */
		preview(text) {
			content.classList.add("wide");
			preview.textContent = text;
			if (!preview.isConnected) helpLine.before(preview);
		},
	};
}

/** @type {CreateControl} */
function createSwitch(_, attributes) {
	const input = element("input.switch", { ...attributes, type: "checkbox", role: "switch" });
	return {
		content: input,
		read: () => input.checked,
		set(value) {
			input.checked = Boolean(value);
		},
	};
}

/** @type {CreateControl} */
function createPicker({ list = "" }, { oninput, ...attributes }) {
	const select = element("select", { ...attributes, onchange: oninput });
	return {
		content: select,
		read: () => select.value || null,
		set(value, lists) {
			fillSelect(select, withUnknown(lists[list] ?? [], [value ?? []].flat()), "not set");
			select.value = value ?? "";
		},
	};
}

/** @type {CreateControl} */
function createChoices({ list = "", label }, { id, oninput }) {
	const chips = element("div.chips.choices");
	const add = element("select", { "aria-label": `Add to ${shown(label, maxName)}`, onchange: addChosen });
	const content = element("div", chips, add);
	/** @param {Item} item @param {boolean} checked */
	const choice = ({ id: value, name }, checked) => chip({ type: "checkbox", name: id, value, checked, oninput }, name);

	function addChosen() {
		const [option] = add.selectedOptions;
		if (!option) return;
		chips.append(choice({ id: option.value, name: option.text }, true));
		option.remove();
		add.value = "";
		if (typeof oninput === "function") oninput();
	}

	return {
		content,
		read: () => [...chips.querySelectorAll("input")].flatMap(({ checked, value }) => (checked ? value : [])),
		set(value, lists) {
			/** @type {string[]} */
			const ids = value ?? [];
			const items = withUnknown(lists[list] ?? [], ids);
			// In their order, so that what is read equals what was set.
			const chosen = ids.flatMap((one) => items.find((item) => item.id === one) ?? []);
			const others = items.filter((item) => !ids.includes(item.id));
			const isLong = items.length > maxChips;
			chips.replaceChildren(
				...chosen.map((item) => choice(item, true)),
				...(isLong ? [] : others.map((item) => choice(item, false))),
			);
			add.hidden = !isLong;
			fillSelect(add, others, "Add…");
		},
	};
}

/** @type {CreateControl} */
function createNamedTexts({ label }, { oninput }) {
	const rows = element("div.list", { oninput });
	const add = element("button.small", { onclick: () => append(["", ""]).focus() }, `Add to ${shown(label, maxName)}`);

	/** @param {[name: string, text: any]} entry */
	function append([name, text]) {
		const input = element("input", { "aria-label": "Name", placeholder: "Name", value: name });
		const area = element("textarea", { "aria-label": `Text of ${name || "the new one"}`, rows: 1 }, text);
		const remove = () => {
			row.remove();
			add.focus();
			rows.dispatchEvent(new Event("input"));
		};
		const button = element("button.small", { onclick: remove, "aria-label": `Remove ${name}` }, "Remove");
		const row = element("div.named-text", input, area, button);
		rows.append(row);
		return input;
	}

	return {
		content: element("div.list", rows, element("p", add)),
		read() {
			/** @type {Record<string, string>} */
			const texts = {};
			for (const row of rows.children) {
				/** @type {NodeListOf<HTMLInputElement>} */
				const inputs = row.querySelectorAll("input, textarea");
				const [name = "", text = ""] = [...inputs].map(({ value }) => value.trim());
				// The bot refuses such a name.
				if (name || text) texts[Object.hasOwn(texts, name) ? `${name} (again)` : name] = text;
			}
			return Object.keys(texts).length > 0 ? texts : null;
		},
		set(value) {
			rows.replaceChildren();
			for (const entry of Object.entries(value ?? {})) append(entry);
		},
	};
}

/** @param {readonly Item[]} items @param {readonly string[]} ids */
function withUnknown(items, ids) {
	const unknown = ids.filter((id) => !items.some((one) => one.id === id));
	return [...items, ...unknown.map((id) => ({ id, name: `unknown (${id})` }))];
}

/** @type {CreateControl} */
function createText({ kind, default: standard }, attributes) {
	const placeholder = standard === null ? undefined : [standard].flat().join(" ") || undefined;
	const common = { ...attributes, placeholder, autocomplete: "off", spellcheck: "false" };
	const control =
		kind === "number"
			? element("input", { ...common, inputmode: "numeric" })
			: element("textarea", { ...common, rows: kind === "lines" ? 3 : 1 });
	return {
		content: control,
		read() {
			const text = control.value.trim();
			if (text === "") return null;
			// The bot says what is wrong with a text that is no number.
			if (kind === "number") return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
			return kind === "lines" ? text.split(/\s*\n\s*/) : text;
		},
		set(value) {
			control.value = [value ?? []].flat().join("\n");
		},
	};
}

/** Of the other kinds, values are typed. */
/** @type {Record<string, CreateControl>} */
const controls = { flag: createSwitch, one: createPicker, many: createChoices, "named texts": createNamedTexts };
