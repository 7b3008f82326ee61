// Modals: the dialog in which a person fills in what a bot asks for.

import { byId, element } from "../dom.js";
import { chosenIn, componentTypes, field, selectMenu } from "./components.js";
import { renderMarkdown } from "./markdown.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

const paragraph = 2;

/**
 * Shows the modal of an interaction. `submit` gets the modal's components with the values, and resolves with whether the
 * submission was accepted; if it was not, the dialog stays open.
 * @param {World} world
 * @param {Json} modal
 * @param {(components: Json[]) => Promise<boolean>} submit
 */
export function openModal(world, modal, submit) {
	const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
	const parts = /** @type {Json[]} */ (modal.components).map((part) => createPart(world, part));
	dialog.replaceChildren(
		element(
			"form.fields-form",
			{
				onsubmit: async (/** @type {Event} */ event) => {
					event.preventDefault();
					if (await submit(parts.map(({ filled }) => filled()))) dialog.close("");
				},
			},
			element("h2", { id: "dialog-title", dir: "auto" }, modal.title),
			...parts.map(({ shown }) => shown),
			element(
				"div.row",
				element("button.main", "Submit"),
				element("button", { onclick: () => dialog.close("") }, "Cancel"),
			),
		),
	);
	dialog.returnValue = "";
	if (!dialog.open) dialog.showModal();
}

/**
 * Returns a top-level component of a modal, and a function that returns it with its values.
 * @param {World} world
 * @param {Json} part
 */
function createPart(world, part) {
	const { type, id, content, label, description, component, components } = part;
	if (type === componentTypes.text)
		return {
			shown: element("div", { dir: "auto" }, renderMarkdown(String(content), world.names)),
			filled: () => ({ type, id }),
		};
	if (component) {
		const { shown, filled } = createInput(world, component, label, description);
		return { shown, filled: () => ({ type, id, component: filled() }) };
	}
	const inner = /** @type {Json[]} */ (components).map((one) => createInput(world, one, one.label));
	return {
		shown: element("div", ...inner.map(({ shown }) => shown)),
		filled: () => ({ type, id, components: inner.map(({ filled }) => filled()) }),
	};
}

/**
 * @param {World} world
 * @param {Json} input
 * @param {string} label
 * @param {string} [description]
 */
function createInput(world, input, label, description) {
	const { type, id, custom_id, required = true } = input;
	const control = type === componentTypes.textInput ? textControl(input) : selectMenu(world, input);
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
