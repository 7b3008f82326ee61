// Builds what the client of a user sends: command options, files, and submitted modals.

import { type ApplicationCommandOptionType, ComponentType } from "discord.js";
import { filledIn, inputsIn, type Modal, type ModalInput } from "../world/messages/components.ts";

export interface Upload {
	filename: string;
	content: string | Uint8Array;
	content_type?: string;
}

export type OptionValues = Readonly<Record<string, string | number | boolean>>;

/** An option as a user's client sends it and, with its type, as the application receives it. */
export interface SentOption {
	name: string;
	type?: ApplicationCommandOptionType;
	value?: unknown;
	focused?: boolean;
	options?: readonly SentOption[];
}

/** The options of a subcommand are nested in it. `focused` is the option whose value the user is typing. */
export function optionsOf(
	subcommands: readonly string[],
	values: OptionValues,
	focused?: string,
): readonly SentOption[] {
	const options = Object.entries(values).map(
		([name, value]): SentOption => ({ name, value, ...(name === focused && { focused: true }) }),
	);
	return subcommands.reduceRight<readonly SentOption[]>((inner, name) => [{ name, options: inner }], options);
}

export function bodyWith(json: unknown, files: readonly Upload[]) {
	if (files.length === 0) return JSON.stringify(json);
	const form = new FormData();
	form.append("payload_json", JSON.stringify(json));
	for (const [index, { filename, content, content_type }] of files.entries()) {
		const type = content_type ?? "application/octet-stream";
		// A Uint8Array can be a view of a shared buffer, which a File does not take.
		const bytes = typeof content === "string" ? content : Buffer.from(content);
		form.append(`files[${index}]`, new File([bytes], filename, { type }));
	}
	return form;
}

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
