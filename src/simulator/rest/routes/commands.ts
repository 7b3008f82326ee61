// Slash commands, global or of a guild.

import { RESTJSONErrorCodes as Code } from "discord.js";
import type { CommandDetails, Scope } from "../../world/accounts/commands.ts";
import type { Command } from "../../world/state/entities.ts";
import { apiError, formError, found } from "../errors.ts";
import {
	type CommandForm,
	checkSize,
	editCommandFields,
	maxCommands,
	newCommandFields,
} from "../fields/command-fields.ts";
import { boolean, list, object, required } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const everywhere = "/applications/:application_id/commands";
const inGuild = "/applications/:application_id/guilds/:guild_id/commands";

const oneCommand = `${everywhere}/:command_id` as const;

const commands = required(list(object(newCommandFields), 0, maxCommands));

/**
 * Returns the REST routes with which an application manages its slash commands. All routes begin with `path`, which
 * decides whether they manage the application's global commands or its commands in a guild.
 */
function routesBelow(path: typeof everywhere | typeof inGuild) {
	return [
		route(`GET ${path}`, {
			query: { with_localizations: boolean },
			run: (call) =>
				call.world.commands
					.in(scopeOf(call))
					.map((command) =>
						call.query.with_localizations
							? serializeCommand(command)
							: withoutLocalizations(command),
					),
		}),
		route(`POST ${path}`, {
			body: newCommandFields,
			run: (call) => {
				const { command, isNew } = put(call, call.body);
				call.setStatus(isNew ? 201 : 200);
				return serializeCommand(command);
			},
		}),
		route(`PUT ${path}`, {
			body: commands,
			run: (call) => replaceAll(call, call.body).map(serializeCommand),
		}),
		route(`GET ${path}/:command_id`, {
			run: (call) => serializeCommand(commandOf(call)),
		}),
		route(`PATCH ${path}/:command_id`, {
			body: editCommandFields,
			run: (call) => serializeCommand(edit(call, call.body)),
		}),
		route(`DELETE ${path}/:command_id`, {
			run: (call) => call.world.commands.remove(commandOf(call)),
		}),
	];
}

export const commandRoutes = [
	...routesBelow(everywhere),
	...routesBelow(inGuild),
];

/**
 * Returns the application and guild whose slash commands a request is about. Throws if the request comes from another
 * application.
 */
function scopeOf({ world, actor, params }: Call<typeof everywhere>): Scope {
	if (!actor.user.bot) throw apiError(Code.OnlyBotsCanUseThisEndpoint);
	const { application_id, guild_id } = params;
	if (application_id !== actor.user.id)
		throw apiError(
			world.users.get(application_id)?.bot
				? Code.NotAuthorizedToPerformThisActionOnThisApplication
				: Code.UnknownApplication,
		);
	return { application_id, guild_id };
}

function commandOf(call: Call<typeof oneCommand>): Command {
	const commands = call.world.commands.in(scopeOf(call));
	const command = commands.find(({ id }) => id === call.params.command_id);
	return found(command, Code.UnknownApplicationCommand);
}

type NewCommand = CommandForm & { name: string; description: string };

/** Registers a slash command, or replaces the registered command with the same name. */
function put(
	call: Call<typeof everywhere>,
	form: NewCommand,
): { command: Command; isNew: boolean } {
	const { commands } = call.world;
	const scope = scopeOf(call);
	checkSize(form);
	const registered = commands.in(scope);
	const known = registered.find(({ name }) => name === form.name);
	const details = detailsOf(form, defaults, scope.guild_id);
	if (known) return { command: commands.edit(known, details), isNew: false };
	if (registered.length >= maxCommands)
		throw apiError(Code.MaximumNumberOfApplicationCommandsReached);
	return { command: commands.add(scope, details), isNew: true };
}

/**
 * Replaces the slash commands of an application by those in the request: its commands in the guild if the request path
 * has a guild id, otherwise its global commands.
 */
function replaceAll(
	call: Call<typeof everywhere>,
	forms: readonly NewCommand[],
): Command[] {
	const { commands } = call.world;
	const registered = commands.in(scopeOf(call));
	const names = new Set<string>();
	for (const [index, form] of forms.entries()) {
		if (names.has(form.name)) throw duplicateName(index);
		names.add(form.name);
		checkSize(form);
	}
	for (const command of registered)
		if (!names.has(command.name)) commands.remove(command);
	return forms.map((form) => put(call, form).command);
}

function edit(call: Call<typeof oneCommand>, form: CommandForm): Command {
	const command = commandOf(call);
	const { commands } = call.world;
	const taken = commands
		.in(command)
		.some((one) => one !== command && one.name === form.name);
	if (taken) throw duplicateName("name");
	const details = detailsOf(form, command, command.guild_id);
	checkSize({ ...command, ...details });
	return commands.edit(command, details);
}

function duplicateName(key: string | number) {
	return formError(
		"APPLICATION_COMMANDS_DUPLICATE_NAME",
		"Application command names must be unique",
		key,
	);
}

const defaults: CommandDetails = {
	name: "",
	name_localizations: null,
	description: "",
	description_localizations: null,
	options: [],
	default_member_permissions: null,
	nsfw: false,
	dm_permission: true,
	contexts: null,
	integration_types: [0],
};

/** Returns the properties of a slash command after an edit. Fields that the request leaves out do not change. */
function detailsOf(
	form: CommandForm,
	before: CommandDetails,
	guildId?: string,
): CommandDetails {
	const bits = form.default_member_permissions;
	const { name_localizations = before.name_localizations } = form;
	const { description_localizations = before.description_localizations } = form;
	const { options = before.options } = form;
	const { contexts = before.contexts ?? null } = form;
	return {
		name: form.name ?? before.name,
		name_localizations,
		description: form.description ?? before.description,
		description_localizations,
		options: options ?? [],
		default_member_permissions:
			bits === undefined
				? before.default_member_permissions
				: (bits?.toString() ?? null),
		nsfw: form.nsfw ?? before.nsfw,
		// A guild's command has no contexts.
		...(guildId === undefined && {
			dm_permission: form.dm_permission ?? before.dm_permission ?? true,
			contexts,
			integration_types: form.integration_types ??
				before.integration_types ?? [0],
		}),
	};
}

function serializeCommand({ options, ...command }: Command) {
	return { ...command, ...(options.length > 0 ? { options } : {}) };
}

function withoutLocalizations(command: Command) {
	const { name_localizations, description_localizations, ...rest } =
		serializeCommand(command);
	return rest;
}
