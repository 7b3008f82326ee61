// Buttons and select menus of messages, and modals: forms that an application opens as its response to an interaction.
// https://docs.discord.com/developers/components/using-modal-components

import { type ButtonStyle, ComponentType, type TextInputStyle } from "discord.js";

export interface Button {
	type: ComponentType.Button;
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

export function buttonsIn(components: readonly unknown[]): Button[] {
	return componentsIn(components).filter((one) => one.type === ComponentType.Button);
}

export function selectMenusIn(components: readonly unknown[]): SelectMenu[] {
	return componentsIn(components).filter((one) => one.type !== ComponentType.Button);
}

function componentsIn(rows: readonly unknown[]) {
	return (rows as readonly { components: readonly (Button | SelectMenu)[] }[]).flatMap(({ components }) => components);
}

export interface Modal {
	custom_id: string;
	title: string;
	components: readonly ModalPart[];
}

/** A top-level component of a modal: a label with an input, a row with a text input, or a text. */
export type ModalPart =
	| {
			type: ComponentType.Label;
			id: number;
			label: string;
			description?: string | null | undefined;
			component: ModalInput;
	  }
	| { type: ComponentType.ActionRow; id: number; components: readonly ModalInput[] }
	| { type: ComponentType.TextDisplay; id: number; content: string };

export type ModalInput = TextInput | ModalMenu;

export interface TextInput {
	type: ComponentType.TextInput;
	id: number;
	custom_id: string;
	style: TextInputStyle;
	/** The label of a text input in a row; in a label component, that one has the text. */
	label?: string | null | undefined;
	value?: string | null | undefined;
	placeholder?: string | null | undefined;
	required?: boolean | null | undefined;
	min_length?: number | null | undefined;
	max_length?: number | null | undefined;
}

interface ModalMenu extends SelectMenu {
	required?: boolean | null | undefined;
}

export function inputsIn({ components }: Modal) {
	return components.flatMap((part) => {
		if ("component" in part) return [{ label: part.label, input: part.component }];
		if (!("components" in part)) return [];
		return part.components.map((input) => ({ label: ("label" in input && input.label) || "", input }));
	});
}

export function filledIn<T>({ custom_id, components }: Modal, fill: (input: ModalInput) => T) {
	return {
		custom_id,
		components: components.map((part) => {
			const { type, id } = part;
			if ("component" in part) return { type, id, component: fill(part.component) };
			if ("components" in part) return { type, id, components: part.components.map(fill) };
			return { type, id };
		}),
	};
}
