// Renders the buttons and select menus of messages, and context menus. https://discord.com/developers/docs/components/reference

import { element } from "../dom.js";
import { use, useInMenu } from "./actions.js";
import { linkTo } from "./markdown.js";
import { shownName, world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

export const componentTypes = {
	row: 1,
	button: 2,
	stringSelect: 3,
	textInput: 4,
	userSelect: 5,
	roleSelect: 6,
	mentionableSelect: 7,
	channelSelect: 8,
	text: 10,
};

const buttonStyles = ["", "primary", "secondary", "success", "danger", "link"];

/** Returns the rows of a message's components as elements. @param {Json} message */
export function renderComponents(message) {
	const render = (/** @type {Json} */ one) =>
		one.type === componentTypes.button ? button(message, one) : select(message, one);
	return message.components.map((/** @type {Json} */ { components }) => element("div.row", ...components.map(render)));
}

/** @param {Json} message @param {Json} component */
function button(message, component) {
	const { style, label, emoji, custom_id, url, disabled } = component;
	const text = [emoji?.id ? "" : (emoji?.name ?? ""), label ?? ""].join(" ").trim();
	const shown = text || `:${emoji?.name ?? "button"}:`;
	if (url) return linkTo(url, shown);
	return element(
		"button",
		{
			class: `component ${buttonStyles[style] ?? ""}`,
			"data-key": `press-${message.id}-${custom_id}`,
			disabled: disabled === true,
			onclick: () => use(message, component),
		},
		element("bdi", shown),
	);
}

/** @param {Json} message @param {Json} component */
function select(message, component) {
	const { custom_id, placeholder, disabled, min_values: min = 1, max_values: max = 1 } = component;
	const menu = selectMenu(component, {
		"aria-label": placeholder || "Choose",
		"data-key": `choose-${message.id}-${custom_id}`,
		// Its id counts the components before it.
		"data-component": JSON.stringify({ ...component, id: undefined }),
		disabled: disabled === true,
	});
	return element(
		"form.row",
		{
			onsubmit: (/** @type {Event} */ event) => {
				event.preventDefault();
				const given = chosenIn(menu);
				if (given.length >= min && given.length <= max) use(message, component, given);
				else menu.focus();
			},
		},
		menu,
		element("button", { "data-key": `chosen-${message.id}-${custom_id}`, disabled: disabled === true }, "Choose"),
	);
}

/** @param {Json} component @param {Record<string, string | boolean>} [attributes] */
export function selectMenu(component, attributes = {}) {
	const { placeholder, default_values = [], max_values: max = 1 } = component;
	const options = optionsOf(component).map((/** @type {Option} */ { value, label, description, selected }) =>
		element("option", { value, selected }, description ? `${label}: ${description}` : label),
	);
	const defaults = new Set(default_values.map((/** @type {Json} */ { id }) => id));
	for (const option of options) if (defaults.has(option.value)) option.defaultSelected = true;
	return element(
		"select",
		{ ...attributes, multiple: max > 1, size: max > 1 ? Math.min(6, Math.max(2, options.length)) : undefined },
		max <= 1 && element("option", { value: "" }, placeholder || "Choose…"),
		...options,
	);
}

/** @param {HTMLSelectElement} menu */
export function chosenIn(menu) {
	return Array.from(menu.selectedOptions, ({ value }) => value).filter((value) => value !== "");
}

/** @typedef {{ value: string, label: string, description?: string, selected?: boolean }} Option */

/**
 * @param {HTMLElement} control
 * @param {string} label
 * @param {{ description?: string | undefined, required?: boolean, list?: HTMLElement | undefined }} more
 */
export function field(control, label, { description, required, list }) {
	return element(
		"div.field",
		element("label", { for: control.id, dir: "auto" }, label, element("span.quiet", required ? " (required)" : "")),
		description && element("span.small.quiet", { dir: "auto" }, description),
		control,
		list,
	);
}

/** @param {Json} component */
function optionsOf({ type, options, channel_types }) {
	if (type === componentTypes.stringSelect)
		return (Array.isArray(options) ? options : []).map((one) => ({
			value: String(one.value),
			label: String(one.label),
			description: one.description,
			selected: one.default === true,
		}));
	const { view, bots, people } = world;
	if (type === componentTypes.channelSelect) {
		const channels = /** @type {Json[]} */ (view?.channels ?? []);
		return channels
			.filter((channel) => !channel_types?.length || channel_types.includes(channel.type))
			.map(({ id, name }) => ({ value: id, label: `#${name}` }));
	}
	const users = /** @type {Json[]} */ (view?.members ?? [...people, ...bots].map((user) => ({ user })));
	const members = users.map(({ user, nick }) => ({ value: user.id, label: nick ?? shownName(user) }));
	if (type === componentTypes.userSelect) return members;
	const guildRoles = /** @type {Json[]} */ (view?.guild.roles ?? []);
	const roles = guildRoles.map(({ id, name }) => ({ value: id, label: `@${name.replace(/^@/, "")}` }));
	return type === componentTypes.roleSelect ? roles : [...members, ...roles];
}

/** The types of commands in the context menus of users and messages. */
export const userMenu = 2;
export const messageMenu = 3;

/** @param {number} type @param {string} targetId @param {string} target */
export function renderMenu(type, targetId, target) {
	const commands = world.menuCommands.filter((one) => one.type === type);
	if (commands.length === 0) return undefined;
	return element(
		"details",
		{ "data-key": `menu-${targetId}` },
		element("summary", { "data-key": `apps-${targetId}`, "aria-label": `Apps for ${target}` }, "Apps"),
		element(
			"div.command-choice",
			...commands.map((command) =>
				element("button", { onclick: () => useInMenu(command, targetId) }, element("bdi", command.name)),
			),
		),
	);
}
