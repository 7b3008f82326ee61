// Buttons and select menus of messages.

import { type ButtonStyle, ComponentType } from "discord.js";

/** A button of a message. It has either a `custom_id` or a `url`. */
export interface Button {
	readonly type: ComponentType.Button;
	/** The button's component id, unique among the components of a message. */
	readonly id: number;
	readonly style: ButtonStyle;
	readonly label?: string;
	readonly emoji?: Readonly<Record<string, unknown>>;
	readonly custom_id?: string;
	readonly url?: string;
	readonly disabled?: boolean;
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
	readonly type: SelectType;
	/** The menu's component id, unique among the components of a message. */
	readonly id?: unknown;
	readonly custom_id?: unknown;
	readonly options?: unknown;
	readonly min_values?: unknown;
	readonly max_values?: unknown;
	readonly channel_types?: unknown;
	readonly disabled?: unknown;
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
	readonly type: unknown;
}

function componentsIn(components: readonly unknown[]): Component[] {
	return components.flatMap((one) => {
		if (typeof one !== "object" || one === null) return [];
		const { components, accessory } = one as Record<string, unknown>;
		const nested = [...(Array.isArray(components) ? components : []), accessory];
		return [one as Component, ...componentsIn(nested)];
	});
}
