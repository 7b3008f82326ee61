// The inputs for the options of a slash command, with the bot's suggestions.

import { element } from "../dom.js";
import { componentTypes, field, selectMenu } from "./components.js";

/** @typedef {import("./server.js").Json} Json */

/**
 * The input of an option; `list` has the bot's suggestions.
 * @typedef {object} Input
 * @property {Json} option
 * @property {HTMLInputElement | HTMLSelectElement} control
 * @property {HTMLDataListElement | undefined} list
 */

const optionTypes = { integer: 4, boolean: 5, number: 10 };

/** The select menu that has the values of an option of this type. @type {Record<number, number>} */
const menus = {
	6: componentTypes.userSelect,
	7: componentTypes.channelSelect,
	8: componentTypes.roleSelect,
	9: componentTypes.mentionableSelect,
};

const yesOrNo = [
	{ value: "true", name: "yes" },
	{ value: "false", name: "no" },
];

/**
 * Returns inputs for the options of a command. `suggest` is called with all values while the person types one that the
 * bot completes.
 * @param {Json} command
 * @param {(options: Json[]) => Promise<void>} suggest
 * @returns {Input[]}
 */
export function createInputs(command, suggest) {
	/** @type {Input[]} */
	const inputs = command.options.map((/** @type {Json} */ option) => ({
		option,
		control: controlFor(option),
		list: option.autocomplete ? element("datalist", { id: `suggested-${option.name}` }) : undefined,
	}));
	for (const { option, control, list } of inputs) {
		if (!list) continue;
		const ask = () => {
			const others = inputs.filter((one) => one.control !== control);
			void suggest([...valuesOf(others), { name: option.name, value: control.value, focused: true }]);
		};
		control.addEventListener("focus", ask);
		control.addEventListener("input", ask);
	}
	return inputs;
}

/** @param {readonly Input[]} inputs @param {Json} interaction */
export function showChoices(inputs, { data, choices }) {
	const asked = focusedOf(data.options);
	const input = inputs.find(({ option, control }) => option.name === asked?.name && control.value === asked?.value);
	if (!choices) return;
	input?.list?.replaceChildren(
		...choices.map((/** @type {Json} */ { name, value }) => element("option", { value, label: name })),
	);
}

/** @param {Json[]} options @returns {Json | undefined} */
function focusedOf(options = []) {
	return options.flatMap((one) => focusedOf(one.options) ?? (one.focused ? one : []))[0];
}

/** @param {Json} option @returns {HTMLInputElement | HTMLSelectElement} */
function controlFor(option) {
	const { type, name, required, channel_types } = option;
	const isNumber = type === optionTypes.integer || type === optionTypes.number;
	const choices = option.choices?.length ? option.choices : type === optionTypes.boolean ? yesOrNo : undefined;
	const menu = choices ? componentTypes.stringSelect : menus[type];
	const common = { id: `option-${name}`, required: required === true };
	if (menu) {
		const options = choices?.map((/** @type {Json} */ one) => ({ value: one.value, label: one.name }));
		return selectMenu({ type: menu, options, channel_types, placeholder: required ? "" : "(none)" }, common);
	}
	return element("input", {
		...common,
		type: isNumber ? "number" : "text",
		step: isNumber ? (type === optionTypes.integer ? 1 : "any") : undefined,
		min: option.min_value,
		max: option.max_value,
		autocomplete: "off",
		list: option.autocomplete ? `suggested-${name}` : undefined,
		minlength: option.min_length,
		maxlength: option.max_length,
	});
}

/** @param {Input} input */
export function optionField({ option: { label, description, required }, control, list }) {
	return field(control, label, { description, required, list });
}

/** @param {readonly Input[]} inputs @returns {Json[]} */
export function valuesOf(inputs) {
	return inputs
		.filter(({ control }) => control.value !== "")
		.map(({ option, control: { value } }) => {
			const { name, type } = option;
			if (type === optionTypes.integer || type === optionTypes.number) return { name, value: Number(value) };
			if (type === optionTypes.boolean) return { name, value: value === "true" };
			return { name, value };
		});
}
