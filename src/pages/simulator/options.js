// The inputs for the options of a slash command, with the bot's suggestions.

import { element } from "../dom.js";
import { channelOptions, memberOptions, roleOptions } from "./components.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

/**
 * The input of an option; `list` has the bot's suggestions.
 * @typedef {object} Input
 * @property {Json} option
 * @property {HTMLInputElement | HTMLSelectElement} control
 * @property {HTMLDataListElement | undefined} list
 */

const optionTypes = {
	string: 3,
	integer: 4,
	boolean: 5,
	user: 6,
	channel: 7,
	role: 8,
	mentionable: 9,
	number: 10,
	attachment: 11,
};

/**
 * Returns inputs for the options of a command. `suggest` is called with all values while the person types one that the
 * bot completes, and resolves with suggestions.
 * @param {World} world
 * @param {Json} command
 * @param {(options: Json[]) => Promise<Json[]>} suggest
 * @returns {Input[]}
 */
export function createInputs(world, command, suggest) {
	/** @type {Input[]} */
	const inputs = command.options.map((/** @type {Json} */ option) => ({
		option,
		control: controlFor(world, option),
		list: option.autocomplete ? element("datalist", { id: `suggested-${option.name}` }) : undefined,
	}));
	for (const { option, control, list } of inputs) {
		if (!list) continue;
		const fill = async () => {
			const value = control.value;
			const others = inputs.filter((one) => one.control !== control);
			const choices = await suggest([...valuesOf(others), { name: option.name, value, focused: true }]);
			// The person may have typed on.
			if (control.value !== value) return;
			list.replaceChildren(...choices.map(({ name, value }) => element("option", { value, label: name })));
		};
		control.addEventListener("focus", () => void fill());
		control.addEventListener("input", () => void fill());
	}
	return inputs;
}

/**
 * @param {World} world
 * @param {Json} option
 * @returns {HTMLInputElement | HTMLSelectElement}
 */
function controlFor(world, option) {
	const { type, name, required, choices } = option;
	const common = { id: `option-${name}`, required: required === true };
	const options = choices?.length
		? choices.map((/** @type {Json} */ one) => ({
				value: String(one.value),
				label: one.name,
			}))
		: entitiesFor(world, option);
	if (options)
		return element(
			"select",
			common,
			element("option", { value: "" }, required ? "Choose…" : "(none)"),
			...options.map((/** @type {Json} */ { value, label }) => element("option", { value }, label)),
		);
	if (type === optionTypes.integer || type === optionTypes.number)
		return element("input", {
			...common,
			type: "number",
			step: type === optionTypes.integer ? 1 : "any",
			min: option.min_value,
			max: option.max_value,
			list: option.autocomplete ? `suggested-${name}` : undefined,
		});
	// The page cannot upload files.
	const isFile = type === optionTypes.attachment;
	return element("input", {
		...common,
		disabled: isFile,
		placeholder: isFile ? "Files cannot be sent from this page" : undefined,
		autocomplete: "off",
		list: option.autocomplete ? `suggested-${name}` : undefined,
		minlength: option.min_length,
		maxlength: option.max_length,
	});
}

/**
 * @param {World} world
 * @param {Json} option
 * @returns {{ value: string, label: string }[] | undefined}
 */
function entitiesFor(world, { type, channel_types }) {
	switch (type) {
		case optionTypes.boolean:
			return [
				{ value: "true", label: "yes" },
				{ value: "false", label: "no" },
			];
		case optionTypes.user:
			return memberOptions(world);
		case optionTypes.role:
			return roleOptions(world);
		case optionTypes.channel:
			return channelOptions(world, channel_types);
		case optionTypes.mentionable:
			return [...memberOptions(world), ...roleOptions(world)];
		default:
			return undefined;
	}
}

/**
 * Returns the input of an option with its label and its suggestions.
 * @param {Input} input
 */
export function optionField({ option, control, list }) {
	const { name, description, required } = option;
	return element(
		"div",
		{ class: "field" },
		element("label", { for: control.id }, name, element("span", { class: "quiet" }, required ? " (required)" : "")),
		element("span", { class: "small quiet", dir: "auto" }, description),
		control,
		list,
	);
}

/**
 * Returns the values of the filled inputs, as a command has them.
 * @param {readonly Input[]} inputs
 * @returns {Json[]}
 */
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
