// The options of slash commands, checked by Discord's rules: each type has its own fields, and ignores those of others.
// https://docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-option-structure

import { Locale, ApplicationCommandOptionType as Option } from "discord.js";
import type { CommandOption } from "../../world/state/entities.ts";
import { formError, notSimulated } from "../errors.ts";
import * as f from "./fields.ts";

const maxOptions = 25;
const maxChoices = 25;
const maxInteger = Number.MAX_SAFE_INTEGER;

const namePattern = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

export const name = f.refine(f.text(1, 32), (given) => {
	if (namePattern.test(given) && given === given.toLowerCase()) return given;
	throw formError("APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
});

/** A name or description in other languages, by locale. The values follow the rules of the field itself. */
export const localizations = (field: f.Field<string | undefined>) =>
	f.refine(
		f.object(Object.fromEntries(Object.values(Locale).map((locale) => [locale, field]))),
		(given: object) => given as Readonly<Record<string, string>>,
	);

const description = f.text(1, 100);

const number = f.refine(f.unchecked, (given) => {
	if (typeof given === "number" && Number.isFinite(given)) return given;
	throw formError("NUMBER_TYPE_COERCE", "Value is not a number.");
});

const integer = f.integer(-maxInteger, maxInteger);

/** The choices of an option, or of the response to an autocomplete interaction. */
export function choicesOf(type: Option) {
	const values = { [Option.Integer]: integer, [Option.Number]: number };
	const choice = f.object({
		name: f.required(f.text(1, 100)),
		name_localizations: localizations(f.text(1, 100)),
		value: f.required<string | number>(values[type as keyof typeof values] ?? f.text(0, 100)),
	});
	return f.list(choice, 0, maxChoices);
}

const common = {
	name: f.required(name),
	name_localizations: localizations(name),
	description: f.required(description),
	description_localizations: localizations(description),
};
const value = { ...common, required: f.boolean };
const suggested = { ...value, autocomplete: f.boolean };

const valueFields: Readonly<Record<number, f.Fields>> = {
	[Option.String]: {
		...suggested,
		choices: choicesOf(Option.String),
		min_length: f.integer(0, 6000),
		max_length: f.integer(1, 6000),
	},
	[Option.Integer]: { ...suggested, choices: choicesOf(Option.Integer), min_value: integer, max_value: integer },
	[Option.Number]: { ...suggested, choices: choicesOf(Option.Number), min_value: number, max_value: number },
	[Option.Boolean]: value,
	[Option.User]: value,
	[Option.Role]: value,
	[Option.Mentionable]: value,
	[Option.Channel]: { ...value, channel_types: f.list(f.integer(0, 20), 0, 25) },
	[Option.Attachment]: {
		name: f.refine(f.unchecked, () => {
			throw notSimulated("options for files");
		}),
	},
};

function optionsOf(fields: Readonly<Record<number, f.Fields>>) {
	const option = f.byType<CommandOption>(fields, (_, types) => f.notOneOf(types, "type"));
	return f.refine(f.list(option, 0, maxOptions), (given) => {
		checkOrder(given);
		return given;
	});
}

// Subcommands are nested in groups one level deep.
const subcommand = { ...common, options: optionsOf(valueFields) };
const group = { ...common, options: optionsOf({ [Option.Subcommand]: subcommand }) };

export const options = f.refine(
	optionsOf({ ...valueFields, [Option.Subcommand]: subcommand, [Option.SubcommandGroup]: group }),
	(given) => {
		const nested = given.filter(isSubcommand).length;
		if (nested === 0 || nested === given.length) return given;
		throw formError(
			"APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
			"Sub-command and sub-command group option types are mutually exclusive to all other types",
		);
	},
);

export function isSubcommand({ type }: { type: Option }): boolean {
	return type === Option.Subcommand || type === Option.SubcommandGroup;
}

function checkOrder(given: readonly CommandOption[]): void {
	const index = given.findIndex((one, at) => one.required && given[at - 1]?.required !== true && at > 0);
	if (index >= 0)
		throw formError(
			"APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
			"Required options must be placed before non-required options",
			index,
		);
	// In each language, in which an option without a localized name has its own.
	// https://docs.discord.com/developers/interactions/application-commands#localization
	// A guess (localized-names): the code of this error.
	for (const locale of ["", ...Object.values(Locale)]) {
		const names = given.map(({ name, name_localizations }) => name_localizations?.[locale] ?? name);
		const repeated = names.findIndex((name, at) => names.indexOf(name) < at);
		if (repeated >= 0)
			throw formError("APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists", repeated);
	}
}
