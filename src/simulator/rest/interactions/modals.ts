// Modals: what a bot may open as its response, and what a person may submit.
// https://docs.discord.com/developers/components/reference#label

import { ComponentType, TextInputStyle } from "discord.js";
import type { Interaction } from "../../interactions/interaction.ts";
import {
	filledIn,
	inputsIn,
	type Modal,
	type ModalInput,
	type ModalPart,
	type TextInput,
} from "../../world/messages/components.ts";
import { formError, missingField, notSimulated } from "../errors.ts";
import * as f from "../fields/fields.ts";
import {
	checkCounts,
	customId,
	duplicateId,
	componentId as id,
	numbering,
	selectFields,
} from "../fields/select-fields.ts";
import type { Call } from "../route.ts";
import { chosenIn, type Resolved } from "./resolved.ts";

const maxParts = 5;

const textInput = {
	id,
	custom_id: customId,
	style: f.required(f.choice(TextInputStyle.Short, TextInputStyle.Paragraph)),
	label: f.text(1, 45),
	value: f.text(0, 4000),
	placeholder: f.text(0, 100),
	required: f.boolean,
	min_length: f.integer(0, 4000),
	max_length: f.integer(1, 4000),
};

const inputFields: Readonly<Record<number, f.Fields>> = {
	[ComponentType.TextInput]: textInput,
	...Object.fromEntries(
		Object.entries(selectFields).map(([type, fields]) => [type, { ...fields, required: f.boolean }]),
	),
};
const otherInputs = [
	ComponentType.FileUpload,
	ComponentType.RadioGroup,
	ComponentType.CheckboxGroup,
	ComponentType.Checkbox,
];

function wrongType(type: number, types: readonly number[]) {
	if (otherInputs.includes(type)) return notSimulated(`components of type ${type} in modals`);
	return f.notOneOf(types, "type");
}

const label = f.required(f.text(1, 45));

const input = f.refine(f.byType<ModalInput>(inputFields, wrongType), (one) => {
	if (one.type !== ComponentType.TextInput) checkCounts(one);
	return one;
});

const rowInput = f.byType<TextInput>({ [ComponentType.TextInput]: { ...textInput, label } }, wrongType);

const part = f.byType<ModalPart>(
	{
		[ComponentType.ActionRow]: { id, components: f.required(f.list(rowInput, 1, 1)) },
		[ComponentType.Label]: { id, label, description: f.text(0, 100), component: f.required(input) },
		[ComponentType.TextDisplay]: { id, content: f.required(f.text(1, 4000)) },
	},
	wrongType,
);

export const modalData = f.required(
	f.refine(
		f.object({
			custom_id: customId,
			title: f.required(f.text(1, 45)),
			components: f.required(f.list(part, 1, maxParts)),
		}),
		(given): Modal => {
			const number = numbering();
			const components = given.components.map((one): ModalPart => {
				const outer = number(one);
				if ("component" in outer) return { ...outer, component: number(outer.component) };
				if ("components" in outer) return { ...outer, components: outer.components.map(number) };
				return outer;
			});
			const modal = { ...given, components };
			const ids = inputsIn(modal).map(({ input }) => input.custom_id);
			if (new Set(ids).size < ids.length) throw duplicateId("components");
			return modal;
		},
	),
);

const given = f.object({ custom_id: f.text(1, 100), value: f.text(0, 4000), values: f.list(f.text(0, 100), 0, 25) });
type Given = f.Read<typeof given> & object;

const submittedPart = f.object({ component: given, components: f.list(given, 0, 5) });

/** The components that a person submits: the inputs with their values, in labels or rows. */
export const submitted = f.list(submittedPart, 0, maxParts);

/** In the form sent to the application. Throws Discord's error if an input does not accept its value. */
export function submission(
	call: Call,
	{ channel, modal }: Interaction & { modal: Modal },
	parts: f.Read<typeof submitted>,
) {
	const given = (parts ?? []).flatMap((one) => [...(one.component ? [one.component] : []), ...(one.components ?? [])]);
	const resolved: Resolved = {};
	const fill = (input: ModalInput) => {
		const value = given.find((one) => one.custom_id === input.custom_id);
		const { type, id, custom_id } = input;
		const common = { type, id, custom_id };
		if (input.type === ComponentType.TextInput) return { ...common, value: textOf(input, value) };
		const chosen = value?.values ?? [];
		// A menu that is not required can stay empty.
		if (chosen.length === 0 && input.required === false) return { ...common, values: [] };
		return { ...common, values: chosenIn(call, channel, input, chosen, resolved).values };
	};
	return { ...filledIn(modal, fill), ...(Object.keys(resolved).length > 0 && { resolved }) };
}

function textOf(input: TextInput, given: Given | undefined): string {
	const value = given?.value ?? "";
	if (value === "") {
		if (input.required === false) return "";
		throw missingField("data", input.custom_id);
	}
	const max = input.max_length ?? 4000;
	const length = [...value].length;
	if (length < (input.min_length ?? 0) || length > max)
		throw formError(
			"BASE_TYPE_BAD_LENGTH",
			`Must be between ${input.min_length ?? 0} and ${max} in length.`,
			"data",
			input.custom_id,
		);
	return value;
}
