// The fields of select menus in messages and modals, checked by Discord's rules, and fields that other components share.
// https://docs.discord.com/developers/components/reference#string-select

import { ComponentType } from "discord.js";
import type { SelectType } from "../../world/messages/components.ts";
import { formError } from "../errors.ts";
import * as f from "./fields.ts";

/** A component's number, unique in its message or modal. */
export const componentId = f.integer(0, 2 ** 31 - 1);

export const customId = f.required(f.text(1, 100));

export const emoji = f.object({ id: f.snowflake, name: f.text(0, 100), animated: f.boolean });

const common = {
	id: componentId,
	custom_id: customId,
	placeholder: f.text(0, 150),
	min_values: f.integer(0, 25),
	max_values: f.integer(1, 25),
};

const option = f.object({
	label: f.required(f.text(1, 100)),
	value: f.required(f.text(1, 100)),
	description: f.text(0, 100),
	emoji,
	default: f.boolean,
});

const options = f.refine(f.list(option, 1, 25), (given) => {
	const values = given.map(({ value }) => value);
	const index = values.findIndex((value, at) => values.indexOf(value) < at);
	// https://github.com/Sayrix/Ticket-Bot/issues/346
	if (index >= 0)
		throw formError(
			"SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
			"The specified option value is already used",
			...[index, "value"],
		);
	return given;
});

const defaults = { default_values: f.unchecked };

export const selectFields: Readonly<Record<SelectType, f.Fields>> = {
	[ComponentType.StringSelect]: { ...common, options: f.required(options) },
	[ComponentType.UserSelect]: { ...common, ...defaults },
	[ComponentType.RoleSelect]: { ...common, ...defaults },
	[ComponentType.MentionableSelect]: { ...common, ...defaults },
	[ComponentType.ChannelSelect]: { ...common, ...defaults, channel_types: f.list(f.integer(0, 20), 0, 25) },
};

/** A guess (select-counts): the codes of these errors. */
export function checkCounts(menu: object): void {
	const {
		min_values,
		max_values,
		options: all,
	} = menu as { min_values?: number; max_values?: number; options?: readonly unknown[] };
	const max = max_values ?? 1;
	if ((min_values ?? 1) > max)
		throw formError("NUMBER_TYPE_MAX", `int value should be less than or equal to ${max}.`, "min_values");
	if (all && all.length < max)
		throw formError("BASE_TYPE_BAD_LENGTH", `Must be between ${max} and 25 in length.`, "options");
}

export function duplicateId(...path: readonly (string | number)[]) {
	return formError("COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated", ...path);
}

export function numbering() {
	let last = 0;
	return <T extends { id?: number }>(one: T): T & { id: number } => {
		last += 1;
		return { ...one, id: one.id || last };
	};
}
