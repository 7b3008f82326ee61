// Modals: forms that an application opens as its response to a command, button or select menu.
// https://docs.discord.com/developers/components/using-modal-components

import type { ComponentType, TextInputStyle } from "discord.js";
import type { SelectMenu, SelectType } from "./buttons.ts";

export interface Modal {
	readonly custom_id: string;
	readonly title: string;
	readonly components: readonly ModalPart[];
}

/** A top-level component of a modal: a label with an input, a row with a text input, or a text. */
export type ModalPart =
	| {
			readonly type: ComponentType.Label;
			readonly id: number;
			readonly label: string;
			readonly description?: string | null | undefined;
			readonly component: ModalInput;
	  }
	| {
			readonly type: ComponentType.ActionRow;
			readonly id: number;
			readonly components: readonly ModalInput[];
	  }
	| {
			readonly type: ComponentType.TextDisplay;
			readonly id: number;
			readonly content: string;
	  };

/** A text input or select menu of a modal. */
export type ModalInput = TextInput | ModalMenu;

export interface TextInput {
	readonly type: ComponentType.TextInput;
	readonly id: number;
	readonly custom_id: string;
	readonly style: TextInputStyle;
	/** The label of a text input in a row; in a label component, that one has the text. */
	readonly label?: string | null | undefined;
	readonly value?: string | null | undefined;
	readonly placeholder?: string | null | undefined;
	readonly required?: boolean | null | undefined;
	readonly min_length?: number | null | undefined;
	readonly max_length?: number | null | undefined;
}

export interface ModalMenu extends SelectMenu {
	readonly type: SelectType;
	readonly id: number;
	readonly custom_id: string;
	readonly required?: boolean | null | undefined;
}

/** All inputs of a modal, in the order in which they appear, each with its label. */
export function inputsIn({ components }: Modal): { readonly label: string; readonly input: ModalInput }[] {
	return components.flatMap((part) => {
		if ("component" in part) return [{ label: part.label, input: part.component }];
		if (!("components" in part)) return [];
		return part.components.map((input) => ({
			label: ("label" in input && input.label) || "",
			input,
		}));
	});
}

/** Returns the data of a submitted modal: `fill` returns each input with its value. */
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
