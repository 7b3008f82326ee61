// The values of a command's options, and the objects to which they refer.

import { ApplicationCommandOptionType as Option } from "discord.js";
import type { SentOption } from "../../interactions/interaction.ts";
import type { Channel, Command, CommandOption } from "../../world/state/entities.ts";
import { formError, missingField } from "../errors.ts";
import { boolean, list, object, required, text, unchecked } from "../fields/fields.ts";
import { isSubcommand } from "../fields/option-fields.ts";
import type { Call } from "../route.ts";
import { type Kind, type Resolved, resolve } from "./resolved.ts";

const givenFields = { name: required(text(1, 32)), value: unchecked, focused: boolean };
const inGroup = list(object({ ...givenFields, options: list(object(givenFields), 0, 25) }), 0, 25);

/** The options of a command that a person uses, with subcommands and groups. */
export const givenOptions = list(object({ ...givenFields, options: inGroup }), 0, 25);

interface Reading {
	call: Call;
	place: Channel;
	resolved: Resolved;
	/** Whether the person is still typing, so that options can be missing, and texts too short. */
	partial: boolean;
}

/** As the application gets them. Throws if invalid, and if `partial` unless exactly one option is `focused`. */
export function resolveOptions(
	{ options }: Pick<Command, "options">,
	given: readonly SentOption[],
	reading: Omit<Reading, "resolved">,
) {
	const resolved: Resolved = {};
	const path = ["data", "options"];
	const read = readOptions({ ...reading, resolved }, options, given, path);
	if (!reading.partial)
		return { ...(read.length > 0 && { options: read }), ...(Object.keys(resolved).length > 0 && { resolved }) };
	if (focusedIn(read).length !== 1) throw invalid("Exactly one option is focused", ...path);
	return { options: read };
}

export function focusedIn(options: readonly SentOption[]): SentOption[] {
	return options.flatMap((one) => (one.options ? focusedIn(one.options) : one.focused ? [one] : []));
}

function readOptions(
	reading: Reading,
	options: readonly CommandOption[],
	given: readonly SentOption[],
	path: readonly (string | number)[],
): SentOption[] {
	for (const [index, { name }] of given.entries())
		if (!options.some((option) => option.name === name))
			throw invalid(`The command has no option ${name}`, ...path, index);
	if (options.some(isSubcommand)) {
		const [first] = given;
		const option = options.find(({ name }) => name === first?.name);
		if (!first || !option || given.length > 1) throw invalid("Exactly one subcommand is used", ...path);
		const { name, type } = option;
		const inner = [...path, 0, "options"];
		return [{ name, type, options: readOptions(reading, option.options ?? [], first.options ?? [], inner) }];
	}
	return options.flatMap((option) => {
		const index = given.findIndex(({ name }) => name === option.name);
		const one = given[index];
		if (one?.value === undefined || one.value === null) {
			if (option.required && !reading.partial) throw missingField(...path, option.name);
			return [];
		}
		return [readOption(reading, option, one, [...path, index])];
	});
}

function readOption(
	{ call, place, resolved, partial }: Reading,
	option: CommandOption,
	{ value, focused }: SentOption,
	path: readonly (string | number)[],
): SentOption {
	const { name, type } = option;
	if (partial && focused) {
		if (!option.autocomplete) throw invalid(`${name} has no autocompletion`, ...path);
		// The focused option has a text, even if it is a number.
		// https://docs.discord.food/interactions/receiving-and-responding#application-command-data-option-structure
		return { name, type, value: String(value), focused: true };
	}
	if (!takes(option, value, partial)) throw invalid(`${name} does not take this value`, ...path);
	const kinds = referredKinds[type];
	if (kinds && !resolve(call, place, kinds, String(value), resolved, option.channel_types))
		throw invalid(`${name} names nothing here`, ...path);
	return { name, type, value };
}

function invalid(message: string, ...path: readonly (string | number)[]) {
	return formError("APPLICATION_COMMAND_INVALID_OPTION_VALUE", message, ...path);
}

const referredKinds: Partial<Record<Option, readonly Kind[]>> = {
	[Option.User]: ["user"],
	[Option.Role]: ["role"],
	[Option.Channel]: ["channel"],
	[Option.Mentionable]: ["role", "user"],
};

function takes(option: CommandOption, value: unknown, partial: boolean): boolean {
	if (option.choices && !option.choices.some((one) => one.value === value)) return false;
	const { min_length = 0, max_length = 6000, min_value = -(2 ** 53), max_value = 2 ** 53 } = option;
	switch (option.type) {
		case Option.Integer:
		case Option.Number:
			return (
				typeof value === "number" &&
				(option.type === Option.Number || Number.isSafeInteger(value)) &&
				value >= min_value &&
				value <= max_value
			);
		case Option.Boolean:
			return typeof value === "boolean";
		case Option.String:
			return typeof value === "string" && (partial || value.length >= min_length) && value.length <= max_length;
		default:
			return typeof value === "string";
	}
}
