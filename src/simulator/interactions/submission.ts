// Builds the request that a user's client sends when the user submits a modal.
// https://docs.discord.food/interactions/receiving-and-responding#sendable-modal-submit-data-structure

import { ComponentType } from "discord.js";
import { filledIn, inputsIn, type Modal, type ModalInput } from "../world/messages/modals.ts";

/** Returns the request data of a modal submitted with these values. Inputs without a value keep their initial value. */
export function submissionOf(modal: Modal, values: Readonly<Record<string, string | readonly string[]>>) {
	const known = inputsIn(modal).map(({ input }) => input.custom_id);
	for (const name of Object.keys(values))
		if (!known.includes(name)) throw new Error(`the modal has no input ${name}; its inputs are: ${known.join(", ")}`);
	const fill = (input: ModalInput) => {
		const { type, id, custom_id } = input;
		const given = values[custom_id];
		if (type === ComponentType.TextInput) return { type, id, custom_id, value: given ?? input.value ?? "" };
		return { type, id, custom_id, values: [given ?? []].flat() };
	};
	return filledIn(modal, fill);
}
