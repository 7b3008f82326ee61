// The fields of slash commands, checked by Discord's rules.
// https://discord.com/developers/docs/interactions/application-commands

import { ApplicationCommandOptionType as Option } from "discord.js";
import type { CommandOption } from "../../world/state/entities.ts";
import { formError, notSimulated } from "../errors.ts";
import * as f from "./fields.ts";

/** Maximum number of global commands of an application, and of its commands in each guild. */
export const maxCommands = 100;
const maxOptions = 25;
const maxCharacters = 8000;

const namePattern = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

const name = f.refine(f.text(1, 32), (given) => {
	if (namePattern.test(given) && given === given.toLowerCase()) return given;
	throw formError(
		"APPLICATION_COMMAND_INVALID_NAME",
		"Command name is invalid",
	);
});

const description = f.text(1, 100);

const localizations = f.refine(f.unchecked, (given) => {
	f.object({}).read(given);
	return given as Readonly<Record<string, string>>;
});

const number = f.refine(f.unchecked, (given) => {
	if (typeof given === "number" && Number.isFinite(given)) return given;
	throw formError("NUMBER_TYPE_COERCE", "Value is not a number.");
});

/** The types of slash command options that the simulator implements. */
const optionTypes = new Set<number>([
	Option.String,
	Option.Integer,
	Option.Boolean,
	Option.User,
	Option.Channel,
	Option.Role,
	Option.Number,
]);

const optionType = f.refine(f.integer(1, 11), (type): Option => {
	if (!optionTypes.has(type)) throw notSimulated(`options of type ${type}`);
	return type;
});

const choiceText = f.required(f.text(0, 100));
const choice = f.object({
	name: f.required(f.text(1, 100)),
	value: f.required(
		f.refine(f.unchecked, (given) =>
			typeof given === "number" ? given : choiceText.read(given),
		),
	),
});

const option = f.object({
	type: f.required(optionType),
	name: f.required(name),
	name_localizations: f.nullable(localizations),
	description: f.required(description),
	description_localizations: f.nullable(localizations),
	required: f.nullable(f.boolean),
	choices: f.nullable(f.list(choice, 0, 25)),
	channel_types: f.nullable(f.list(f.integer(0, 20), 0, 25)),
	min_value: f.nullable(number),
	max_value: f.nullable(number),
	min_length: f.nullable(f.integer(0, 6000)),
	max_length: f.nullable(f.integer(1, 6000)),
	autocomplete: f.nullable(
		f.refine(f.boolean, (given) => {
			if (given) throw notSimulated("autocompletion");
			return undefined;
		}),
	),
});

const options = f.refine(f.list(option, 0, maxOptions), (given) => {
	let optional = false;
	const names = new Set<string>();
	for (const [index, one] of given.entries()) {
		if (one.required && optional)
			throw formError(
				"APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
				"Required options must be placed before non-required options",
				index,
			);
		if (names.has(one.name))
			throw formError(
				"APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
				"Option name already exists",
				index,
			);
		optional ||= !one.required;
		names.add(one.name);
	}
	return given.map(withoutEmpty);
});

// Discord leaves out null, false and empty lists.
function withoutEmpty(given: f.Read<typeof option> & object): CommandOption {
	const isEmpty = (value: unknown) =>
		Array.isArray(value) && value.length === 0;
	return f.pickBy(
		given,
		(value) => (value ?? false) !== false && !isEmpty(value),
	) as unknown as CommandOption;
}

const chatInput = f.refine(f.integer(1, 4), (type): 1 => {
	if (type !== 1) throw notSimulated(`commands of type ${type}`);
	return type;
});

/** The fields of a request body that edits a slash command. */
export const editCommandFields = {
	name,
	name_localizations: f.nullable(localizations),
	description,
	description_localizations: f.nullable(localizations),
	options: f.nullable(options),
	default_member_permissions: f.nullable(f.permissionBits),
	nsfw: f.boolean,
	dm_permission: f.nullable(f.boolean),
	contexts: f.nullable(f.list(f.integer(0, 2), 0, 3)),
	integration_types: f.nullable(f.list(f.integer(0, 1), 0, 2)),
	default_permission: f.unchecked,
} as const;

/** The fields of a request body that creates a slash command. */
export const newCommandFields = {
	...editCommandFields,
	type: chatInput,
	name: f.required(name),
	description: f.required(description),
} as const;

/** The parsed body of a request that creates or edits a slash command. */
export type CommandForm = {
	[K in keyof typeof editCommandFields]: f.Read<(typeof editCommandFields)[K]>;
};

/** Throws if all names, descriptions and values of a slash command together have more than 8,000 characters. */
export function checkSize(form: object): void {
	const texts = (of: unknown): string[] => {
		if (typeof of === "string") return [of];
		if (Array.isArray(of)) return of.flatMap(texts);
		if (typeof of !== "object" || of === null) return [];
		const { name, description, value, options, choices } = of as Record<
			string,
			unknown
		>;
		return [name, description, value, options, choices].flatMap(texts);
	};
	if (texts(form).join("").length > maxCharacters)
		throw formError(
			"APPLICATION_COMMAND_TOO_LARGE",
			`Command exceeds maximum size (${maxCharacters})`,
		);
}
