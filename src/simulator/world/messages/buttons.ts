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

export const selectTypes = [
	ComponentType.StringSelect,
	ComponentType.UserSelect,
	ComponentType.RoleSelect,
	ComponentType.MentionableSelect,
	ComponentType.ChannelSelect,
] as const;

export type SelectType = (typeof selectTypes)[number];

export interface SelectMenu {
	type: SelectType;
	id: number;
	custom_id: string;
	options?: readonly { value: string }[];
	min_values?: number;
	max_values?: number;
	channel_types?: readonly number[];
	disabled?: boolean;
}

/** All buttons of a message, in the order in which they appear. */
export function buttonsIn(components: readonly unknown[]): Button[] {
	return componentsIn(components).filter((one) => one.type === ComponentType.Button);
}

/** All select menus of a message, in the order in which they appear. */
export function selectMenusIn(components: readonly unknown[]): SelectMenu[] {
	return componentsIn(components).filter((one) => one.type !== ComponentType.Button);
}

function componentsIn(rows: readonly unknown[]) {
	return (rows as readonly { components: readonly (Button | SelectMenu)[] }[]).flatMap(({ components }) => components);
}
