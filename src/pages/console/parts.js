// Shared parts of the console's sections: times, tables, copy buttons, dialogs and messages.

import { byId, element } from "../dom.js";
import { named, shown, shownLines } from "../untrusted.js";
import { ApiError } from "./api.js";

export { named, preformatted, shown, shownLines } from "../untrusted.js";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The time of day, after the date if it is not today. @param {number} ms Since 1970. */
export function timeOf(ms) {
	const date = new Date(ms);
	if (Number.isNaN(date.getTime())) return element("span", "unknown");
	const isToday = date.toDateString() === new Date().toDateString();
	return element(
		"time",
		{ datetime: date.toISOString(), title: calendar.format(date) },
		(isToday ? clock : calendar).format(date),
	);
}

/** Milliseconds after which a message that requires no action disappears. */
const messageMs = 8_000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let messageTimer;

/**
 * Shows a message at the bottom of the page. An error stays until the next message, or until another section is shown.
 * @param {string} text @param {"good" | "bad"} [kind]
 */
export function say(text, kind = "good") {
	const message = byId("message");
	message.className = kind;
	message.textContent = shown(text, 400);
	message.hidden = text === "";
	clearTimeout(messageTimer);
	if (kind === "good" && text !== "") messageTimer = setTimeout(() => say(""), messageMs);
}

/**
 * A table, on narrow screens a list of cards. Its ARIA roles keep it a table for screen readers. `kind`: a class.
 * @param {string} caption @param {readonly string[]} heads @param {readonly Element[]} rows @param {string} [kind]
 */
export function table(caption, heads, rows = [], kind = "") {
	const columns = heads.map((head) => element("th", { scope: "col", role: "columnheader" }, head));
	const body = element("tbody", { role: "rowgroup" }, ...rows);
	const made = element(
		"table",
		{ class: `cards ${kind}`, role: "table" },
		element("caption.visually-hidden", caption),
		element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns)),
		body,
	);
	return { table: made, body };
}

/** @param {string} none @param {string} caption @param {readonly string[]} heads @param {readonly Parameters<typeof row>[1][]} rows */
export function tableOr(none, caption, heads, rows) {
	if (rows.length === 0) return element("p", none);
	const made = rows.map((cells) => row(heads, cells));
	return table(caption, heads, made).table;
}

/** @param {string} label @param {HTMLElement} control @param {...import("../dom.js").Child} more */
export const labelled = (label, control, ...more) => element("label.field", element("span", label), control, ...more);

/**
 * @param {string} id @param {string | Node} label @param {string} help @param {HTMLElement} control
 * @param {{ isGroup?: boolean, more?: import("../dom.js").Child }} [options]
 */
export function createField(id, label, help, control, { isGroup = false, more } = {}) {
	const helpLine = element("span.quiet", { id: `${id}-help` }, named(help, 600));
	const problem = element("span.problem", { id: `${id}-problem`, "aria-live": "polite" });
	const head = isGroup ? element("legend", label) : element("label", { for: id }, label);
	const content = element(isGroup ? "fieldset.field" : "div.field", head, control, more, helpLine, problem);
	if (!isGroup) control.id = id;
	(isGroup ? content : control).setAttribute("aria-describedby", `${helpLine.id} ${problem.id}`);
	return {
		content,
		helpLine,
		/** @param {string} text "" for nothing. */
		complain(text, isWrong = text !== "") {
			problem.textContent = text;
			problem.classList.toggle("note", !isWrong);
			for (const one of content.querySelectorAll("input, select, textarea")) one.ariaInvalid = isWrong ? "true" : null;
		},
	};
}

/** @param {Record<string, unknown>} attributes @param {string} label */
export const chip = (attributes, label) => element("label.chip", element("input", attributes), named(label));

/**
 * Replaces the options of a menu; what is chosen stays if it can. Without an id, the name is one. `none`: the option for none.
 * @param {HTMLSelectElement} select @param {readonly { id?: string | number, name: string }[]} items @param {string} [none]
 */
export function fillSelect(select, items, none) {
	const { value, options } = select;
	const all = none === undefined ? items : [{ id: "", name: none }, ...items];
	const made = all.map(({ name, id = name }) => element("option", { value: id }, shown(name)));
	// So that an open menu stays open.
	if (made.length === options.length && made.every((one, at) => options[at]?.isEqualNode(one))) return;
	select.replaceChildren(...made);
	if (made.some((one) => one.value === value)) select.value = value;
}

/**
 * A form that submits once at a time, and shows why the gateway refused it.
 * @param {string} selector @param {Record<string, unknown>} attributes
 * @param {{ label: string, submit: () => Promise<string | void> }} action `submit` may resolve with what is wrong.
 * @param {...import("../dom.js").Child} content
 */
export function createForm(selector, attributes, { label, submit }, ...content) {
	const problem = element("p.problem", { role: "alert" });
	const button = element("button.main", label);
	/** @param {string} message */
	function complain(message) {
		problem.textContent = shownLines(message, 2_000);
	}
	/** @param {Event} event */
	function onsubmit(event) {
		event.preventDefault();
		complain("");
		void busy(button, async () => complain((await submit()) ?? ""), complain);
	}
	const all = [...content, problem, element("p.buttons", button)];
	return element(/** @type {`form.${string}`} */ (selector), { ...attributes, onsubmit }, ...all);
}

/**
 * @param {readonly string[]} heads @param {readonly (Node | string | number)[]} cells
 * @param {Record<string, unknown>} [properties]
 */
export function row(heads, cells, properties = {}) {
	const made = cells.map((cell, index) => element("td", { role: "cell", "data-head": heads[index] }, cell));
	return element("tr", { role: "row", ...properties }, ...made);
}

/** @param {readonly (readonly [string, Node | string | number] | undefined | false)[]} entries */
export function facts(entries) {
	const list = element("dl.facts");
	for (const entry of entries) if (entry) list.append(element("div", element("dt", entry[0]), element("dd", entry[1])));
	return list;
}

/**
 * A button that copies `text`; on insecure pages, where browsers do not allow this, it selects the text of `source`.
 * @param {string} name What is copied. @param {string} text @param {Element} source
 */
export function copyButton(name, text, source) {
	async function onclick() {
		try {
			await navigator.clipboard.writeText(text);
			say(`Copied: ${name}`);
		} catch {
			getSelection()?.selectAllChildren(source);
			say("Selected. Copy it with Ctrl+C or Cmd+C.");
		}
	}
	return element("button.small", { "aria-label": `Copy: ${name}`, onclick }, "Copy");
}

/**
 * Resolves with the value of the button that closes it.
 * @param {"dialog" | "dialog.wide"} selector @param {string} title
 * @param {HTMLElement} content @param {...import("../dom.js").Child} buttons
 */
export function showDialog(selector, title, content, ...buttons) {
	const { promise, resolve } = Promise.withResolvers();
	function onclose() {
		dialog.remove();
		resolve(dialog.returnValue);
	}
	const heading = element("h2", { id: "dialog" }, title);
	const form = element("form", { method: "dialog" }, heading, content, element("p.buttons", ...buttons));
	const dialog = element(selector, { "aria-labelledby": "dialog", onclose }, form);
	document.body.append(dialog);
	dialog.showModal();
	return promise;
}

/** @typedef {{ what: string, text: string | Node }} Question `what`: the object of the button's verb, such as "the key ci". */

/** @param {string} verb @param {Question} question */
async function ask(verb, { what, text }) {
	const cancel = element("button", { value: "no", autofocus: true }, "Cancel");
	const go = element(verb === "Approve" ? "button.main" : "button.danger", { value: "yes" }, verb);
	return (await showDialog("dialog", `${verb} ${what}?`, element("p", text), cancel, go)) === "yes";
}

export const accessNames = { read: "only read", write: "read and change, but not ban or delete", all: "everything" };
/** @param {string} access */
export const accessName = (access) => /** @type {Record<string, string>} */ (accessNames)[access] ?? shown(access, 20);

/** @param {HTMLButtonElement} button @param {() => Promise<void>} act @param {(message: string) => void} complain */
export async function busy(button, act, complain) {
	button.disabled = true;
	try {
		await act();
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		complain(error.message);
	} finally {
		button.disabled = false;
	}
}

/**
 * A button that runs an action, after the question if there is one, and shows its error.
 * @param {string} selector @param {string} label @param {() => Promise<void>} act @param {Question} [question]
 */
export function actionButton(selector, label, act, question) {
	const name = question && `${label} ${question.what}`;
	const button = element(/** @type {`button.${string}`} */ (selector), { "aria-label": name, onclick }, label);
	async function onclick() {
		if (question && !(await ask(label, question))) return;
		await busy(button, act, (message) => say(message, "bad"));
		// If the button was removed, the focus would otherwise return to the top of the page.
		if (document.activeElement === document.body) byId("title").focus();
	}
	return button;
}
