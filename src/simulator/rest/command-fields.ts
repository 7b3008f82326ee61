// The fields of slash commands, checked by Discord's rules.
// https://discord.com/developers/docs/interactions/application-commands

import { ApplicationCommandOptionType as Option } from "discord.js";
import type { CommandOption } from "../world/state/entities.ts";
import { formError, notSimulated } from "./errors.ts";
import * as f from "./fields.ts";

/** The limit of an application's commands, global and per guild. */
export const maxCommands = 100;
const maxOptions = 25;
const maxCharacters = 8000;

const namePattern = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

const name: f.Field<string | undefined> = {
	read: (value) => {
		const given = f.text(1, 32).read(value);
		if (given === undefined) return undefined;
		if (!namePattern.test(given) || given !== given.toLowerCase())
			throw formError(
				"APPLICATION_COMMAND_INVALID_NAME",
				"Command name is invalid",
			);
		return given;
	},
};

const description = f.text(1, 100);

const localizations: f.Field<Readonly<Record<string, string>> | undefined> = {
	read: (value) => {
		const read = f.object({}).read(value);
		return read && (value as Record<string, string>);
	},
};

const number: f.Field<number | undefined> = {
	read: (value) => {
		if (value === undefined) return undefined;
		if (typeof value === "number" && Number.isFinite(value)) return value;
		throw formError("NUMBER_TYPE_COERCE", "Value is not a number.");
	},
};

/** The option types that are simulated. */
const optionTypes = new Set<number>([
	Option.String,
	Option.Integer,
	Option.Boolean,
	Option.User,
	Option.Channel,
	Option.Role,
	Option.Number,
]);

const optionType: f.Field<Option | undefined> = {
	read: (value) => {
		const type = f.integer(1, 11).read(value);
		if (type === undefined) return undefined;
		if (!optionTypes.has(type)) throw notSimulated(`options of type ${type}`);
		return type;
	},
};

const choice: f.Field<{ name: string; value: string | number } | undefined> = {
	read: (value) =>
		f
			.object({
				name: f.required(f.text(1, 100)),
				value: f.required({
					read: (value) =>
						typeof value === "number"
							? number.read(value)
							: f.text(0, 100).read(value),
				}),
			})
			.read(value),
};

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
	autocomplete: f.nullable({
		read: (value) => {
			if (f.boolean.read(value) === true) throw notSimulated("autocompletion");
			return undefined;
		},
	}),
});

const options: f.Field<CommandOption[] | undefined> = {
	read: (value) => {
		const read = f.list(option, 0, maxOptions).read(value);
		if (!read) return undefined;
		let optional = false;
		const names = new Set<string>();
		for (const [index, one] of read.entries()) {
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
		return read.map(withoutEmpty);
	},
};

// Discord leaves out null, false and empty lists.
function withoutEmpty(given: f.Read<typeof option> & object): CommandOption {
	return Object.fromEntries(
		Object.entries(given).filter(
			([, value]) =>
				value !== undefined &&
				value !== null &&
				value !== false &&
				!(Array.isArray(value) && value.length === 0),
		),
	) as unknown as CommandOption;
}

const chatInput: f.Field<1 | undefined> = {
	read: (value) => {
		const type = f.integer(1, 4).read(value);
		if (type !== undefined && type !== 1)
			throw notSimulated(`commands of type ${type}`);
		return type;
	},
};

/** The fields when a command is edited. */
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

/** The fields when a command is created. */
export const newCommandFields = {
	...editCommandFields,
	type: chatInput,
	name: f.required(name),
	description: f.required(description),
} as const;

/** A checked body. */
export type CommandForm = {
	[K in keyof typeof editCommandFields]: f.Read<(typeof editCommandFields)[K]>;
};

/** Throws if names, descriptions and values together are too long. */
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
