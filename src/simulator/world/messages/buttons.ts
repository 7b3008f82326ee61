// Buttons and select menus of messages.

import { type ButtonStyle, ComponentType } from "discord.js";

/** A button of a message. It has either a `custom_id` or a `url`. */
export interface Button {
	type: ComponentType.Button;
	/** The button's component id, unique among the components of a message. */
	id: number;
	style: ButtonStyle;
	label?: string;
	emoji?: Readonly<Record<string, unknown>>;
	custom_id?: string;
	url?: string;
	disabled?: boolean;
}

/** The types of select menus. */
export const selectTypes = [
	ComponentType.StringSelect,
	ComponentType.UserSelect,
	ComponentType.RoleSelect,
	ComponentType.MentionableSelect,
	ComponentType.ChannelSelect,
] as const;

export type SelectType = (typeof selectTypes)[number];

/** A select menu of a message. Only `type` is checked if the menu is inside a layout of IS_COMPONENTS_V2. */
export interface SelectMenu {
	type: SelectType;
	/** The menu's component id, unique among the components of a message. */
	id?: unknown;
	custom_id?: unknown;
	options?: unknown;
	min_values?: unknown;
	max_values?: unknown;
	channel_types?: unknown;
	disabled?: unknown;
}

/** All buttons in a message's components, at any depth of nesting, in the order in which they appear. */
export function buttonsIn(components: readonly unknown[]): Button[] {
	return componentsIn(components).filter((one): one is Button & Component => one.type === ComponentType.Button);
}

/** All select menus in a message's components, at any depth of nesting, in the order in which they appear. */
export function selectMenusIn(components: readonly unknown[]): SelectMenu[] {
	return componentsIn(components).filter((one): one is SelectMenu & Component =>
		selectTypes.some((type) => type === one.type),
	);
}

interface Component {
	type: unknown;
}

function componentsIn(components: readonly unknown[]): Component[] {
	return components.flatMap((one) => {
		if (typeof one !== "object" || one === null) return [];
		const { components, accessory } = one as Record<string, unknown>;
		const nested = [...(Array.isArray(components) ? components : []), accessory];
		return [one as Component, ...componentsIn(nested)];
	});
}
