// The fields of slash commands and of commands in context menus, checked by Discord's rules.
// https://docs.discord.com/developers/interactions/application-commands

import { ApplicationCommandType as Type } from "discord.js";
import type { CommandType } from "../../world/state/entities.ts";
import { formError, notSimulated } from "../errors.ts";
import * as f from "./fields.ts";
import { localizations, name, options } from "./option-fields.ts";

export const maxCommands: Readonly<Record<CommandType, number>> = {
	[Type.ChatInput]: 100,
	[Type.User]: 15,
	[Type.Message]: 15,
};
/** Of a request that replaces all commands: https://github.com/chenhg5/cc-connect/issues/504 */
export const maxReplaced = 130;
const maxCharacters = 8000;

const commandType = f.refine(f.integer(1, 4), (type): CommandType => {
	if (type === Type.PrimaryEntryPoint) throw notSimulated("entry point commands");
	return type;
});

const description = f.text(1, 100);

const otherFields = {
	description_localizations: localizations(description),
	default_member_permissions: f.permissionBits,
	nsfw: f.boolean,
	dm_permission: f.boolean,
	contexts: f.list(f.integer(0, 2), 0, 3),
	integration_types: f.list(f.integer(0, 1), 0, 2),
	default_permission: f.unchecked,
} as const;

const slashFields = {
	...otherFields,
	name: f.required(name),
	name_localizations: localizations(name),
	description: f.required(description),
	options: options,
} as const;

export type NewCommand = f.ReadFields<typeof slashFields> & { type: CommandType };

/**
 * A command in a context menu has no description and no options. Sources of the errors:
 * https://github.com/discord/discord-api-docs/issues/5836 and https://github.com/discord/discord-api-docs/issues/8574
 */
const menuFields = {
	...otherFields,
	name: f.required(f.text(1, 32)),
	name_localizations: localizations(f.text(1, 32)),
	description: f.refine(f.unchecked, (given): "" => {
		if (given === "" || given === null) return "";
		throw formError(
			"APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID",
			"Context menu commands cannot have description",
		);
	}),
	options: f.refine(f.unchecked, (given): [] => {
		if (given === null || (Array.isArray(given) && given.length === 0)) return [];
		throw formError("APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_INVALID", "Context menu commands cannot have options");
	}),
} as const;

const typed = f.required(f.object({ type: commandType }));
const newSlash = f.required(f.object(slashFields));
const newInMenu = f.required(f.object(menuFields));

/** A request body that creates a command. Its type decides which fields it has. */
export const newCommand = f.refine(f.unchecked, (given): NewCommand => {
	const type = typed.read(given).type ?? Type.ChatInput;
	if (type === Type.ChatInput) return { ...newSlash.read(given), type };
	return { ...newInMenu.read(given), type, description: "" };
});

export function checkSize(form: object): void {
	if (sizeOf(form) > maxCharacters)
		throw formError("APPLICATION_COMMAND_TOO_LARGE", `Command exceeds maximum size (${maxCharacters})`);
}

function sizeOf(form: object): number {
	const given = form as Readonly<Record<string, unknown>>;
	const longest = (key: string) =>
		Math.max(lengthOf(given[key]), ...Object.values(given[`${key}_localizations`] ?? {}).map(lengthOf));
	const nested = [given.options, given.choices].flatMap((list) => (Array.isArray(list) ? (list as object[]) : []));
	return nested.reduce(
		(sum, one) => sum + sizeOf(one),
		longest("name") + longest("description") + lengthOf(given.value),
	);
}

function lengthOf(value: unknown): number {
	return typeof value === "string" ? value.length : 0;
}
