// Modals: the dialog in which a person fills in what a bot asks for.

import { element } from "../dom.js";
import { attempt, interact } from "./actions.js";
import { chosenIn, componentTypes, field, selectMenu } from "./components.js";
import { renderMarkdown } from "./markdown.js";
import { showDialog } from "./notices.js";

/** @typedef {import("./server.js").Json} Json */

const paragraph = 2;

/** Shows the modal of an interaction. If the bot's modal is not accepted, the dialog stays open. @param {Json} interaction */
export function openModal({ id, application_id, modal }) {
	const parts = /** @type {Json[]} */ (modal.components).map(createPart);
	function submit() {
		const data = { id, custom_id: modal.custom_id, components: parts.map(({ filled }) => filled()) };
		return attempt(() => interact({ type: 5, application_id, data }));
	}
	showDialog(modal.title, "Submit", submit, ...parts.map(({ shown }) => shown));
}

/** Returns a top-level component of a modal, and a function that returns it with its values. @param {Json} part */
function createPart({ type, id, content, label, description, component, components }) {
	if (type === componentTypes.text)
		return { shown: element("div", { dir: "auto" }, renderMarkdown(String(content))), filled: () => ({ type, id }) };
	if (component) {
		const { shown, filled } = createInput(component, label, description);
		return { shown, filled: () => ({ type, id, component: filled() }) };
	}
	const inner = /** @type {Json[]} */ (components).map((one) => createInput(one, one.label));
	return {
		shown: element("div", ...inner.map(({ shown }) => shown)),
		filled: () => ({ type, id, components: inner.map(({ filled }) => filled()) }),
	};
}

/** @param {Json} input @param {string} label @param {string} [description] */
function createInput(input, label, description) {
	const { type, id, custom_id, required = true } = input;
	const control = type === componentTypes.textInput ? textControl(input) : selectMenu(input);
	control.id = `modal-${id}`;
	control.required = required;
	return {
		shown: field(control, label, { description, required }),
		filled: () =>
			control instanceof HTMLSelectElement
				? { type, id, custom_id, values: chosenIn(control) }
				: { type, id, custom_id, value: control.value },
	};
}

/** @param {Json} input */
function textControl({ style, value, placeholder, min_length, max_length }) {
	const common = { placeholder, minlength: min_length, maxlength: max_length ?? 4000, autocomplete: "off" };
	const control = style === paragraph ? element("textarea", { ...common, rows: 4 }) : element("input", common);
	control.value = value ?? "";
	return control;
}
