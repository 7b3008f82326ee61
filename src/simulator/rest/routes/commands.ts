// Slash commands and commands in context menus, global or of a guild.

import { type CommandDetails, isSame, type Scope } from "../../world/accounts/commands.ts";
import type { Command } from "../../world/state/entities.ts";
import { apiError, formError, found } from "../errors.ts";
import {
	type CommandForm,
	checkSize,
	maxCommands,
	maxReplaced,
	type NewCommand,
	newCommand,
	readChanges,
} from "../fields/command-fields.ts";
import { boolean, list, required, unchecked } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const everywhere = "/applications/:application_id/commands";
const inGuild = "/applications/:application_id/guilds/:guild_id/commands";

const oneCommand = `${everywhere}/:command_id` as const;

const oneForm = required(newCommand);
const allForms = required(list(newCommand, 0, maxReplaced));

function routesBelow(path: typeof everywhere | typeof inGuild) {
	return [
		route(`GET ${path}`, {
			query: { with_localizations: boolean },
			run: (call) =>
				call.world.commands
					.in(scopeOf(call))
					.map((command) =>
						call.query.with_localizations ? serializeCommand(command) : withoutLocalizations(command),
					),
		}),
		route(`POST ${path}`, {
			body: oneForm,
			run: (call) => {
				const { command, isNew } = put(call, call.body);
				call.setStatus(isNew ? 201 : 200);
				return serializeCommand(command);
			},
		}),
		route(`PUT ${path}`, { body: allForms, run: (call) => replaceAll(call, call.body).map(serializeCommand) }),
		route(`GET ${path}/:command_id`, { run: (call) => serializeCommand(commandOf(call)) }),
		route(`PATCH ${path}/:command_id`, { body: unchecked, run: (call) => serializeCommand(edit(call)) }),
		route(`DELETE ${path}/:command_id`, { run: (call) => call.world.commands.remove(commandOf(call)) }),
	];
}

export const commandRoutes = [...routesBelow(everywhere), ...routesBelow(inGuild)];

function scopeOf({ world, actor, params }: Call<typeof everywhere>): Scope {
	if (!actor.user.bot) throw apiError("OnlyBotsCanUseThisEndpoint");
	const { application_id, guild_id } = params;
	if (application_id !== actor.user.id)
		throw apiError(
			world.users.get(application_id)?.bot ? "NotAuthorizedToPerformThisActionOnThisApplication" : "UnknownApplication",
		);
	return { application_id, guild_id };
}

function commandOf(call: Call<typeof oneCommand>): Command {
	const commands = call.world.commands.in(scopeOf(call));
	const command = commands.find(({ id }) => id === call.params.command_id);
	return found(command, "UnknownApplicationCommand");
}

function put(call: Call<typeof everywhere>, form: NewCommand): { command: Command; isNew: boolean } {
	const { commands } = call.world;
	const scope = scopeOf(call);
	checkSize(form);
	const registered = commands.in(scope);
	const known = registered.find((one) => isSame(one, form));
	const details = detailsOf(form, defaultsOf(form), scope.guild_id);
	if (known) return { command: commands.edit(known, details), isNew: false };
	checkCounts([...registered, form]);
	checkCreates(call, 1);
	return { command: commands.add(scope, details), isNew: true };
}

/** Throws if an application would have too many commands of a type. */
function checkCounts(commands: readonly Pick<Command, "type">[]): void {
	for (const [type, max] of Object.entries(maxCommands))
		if (commands.filter((one) => String(one.type) === type).length > max)
			throw apiError("MaximumNumberOfApplicationCommandsReached", {
				message: `Maximum number of application commands reached (${max})`,
			});
}

function checkCreates(call: Call<typeof everywhere>, count: number): void {
	if (!call.world.commands.mayCreate(scopeOf(call), count))
		throw apiError("MaximumDailyApplicationCommandCreatesReached");
}

/** Those of the guild if the request path has a guild id, otherwise the global ones; of all types. */
function replaceAll(call: Call<typeof everywhere>, forms: readonly NewCommand[]): Command[] {
	const { commands } = call.world;
	const registered = commands.in(scopeOf(call));
	for (const [index, form] of forms.entries()) {
		if (forms.slice(0, index).some((one) => isSame(one, form))) throw duplicateName(index);
		checkSize(form);
	}
	checkCounts(forms);
	const isKnown = (form: NewCommand) => registered.some((one) => isSame(one, form));
	checkCreates(call, forms.filter((form) => !isKnown(form)).length);
	for (const command of registered) if (!forms.some((form) => isSame(form, command))) commands.remove(command);
	return forms.map((form) => put(call, form).command);
}

function edit(call: Call<typeof oneCommand>): Command {
	const command = commandOf(call);
	const form = readChanges(command.type, call.body);
	const { commands } = call.world;
	const { type } = command;
	const { name = command.name } = form;
	const taken = commands.in(command).some((one) => one !== command && isSame(one, { name, type }));
	if (taken) throw duplicateName("name");
	const details = detailsOf(form, command, command.guild_id);
	checkSize({ ...command, ...details });
	return commands.edit(command, details);
}

function duplicateName(key: string | number) {
	return formError("APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique", key);
}

function defaultsOf({ type }: NewCommand): CommandDetails {
	return {
		type,
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
}

function detailsOf(form: CommandForm, before: CommandDetails, guildId?: string): CommandDetails {
	const bits = form.default_member_permissions;
	const { name_localizations = before.name_localizations } = form;
	const { description_localizations = before.description_localizations } = form;
	const { options = before.options } = form;
	const { contexts = before.contexts ?? null } = form;
	return {
		type: before.type,
		name: form.name ?? before.name,
		name_localizations,
		description: form.description ?? before.description,
		description_localizations,
		options: options ?? [],
		default_member_permissions: bits === undefined ? before.default_member_permissions : (bits?.toString() ?? null),
		nsfw: form.nsfw ?? before.nsfw,
		// A guild's command has no contexts.
		...(guildId === undefined && {
			dm_permission: form.dm_permission ?? before.dm_permission ?? true,
			contexts,
			integration_types: form.integration_types ?? before.integration_types ?? [0],
		}),
	};
}

function serializeCommand({ options, ...command }: Command) {
	return { ...command, ...(options.length > 0 && { options }) };
}

function withoutLocalizations(command: Command): unknown {
	const isLocalized = (key: string) => key === "name_localizations" || key === "description_localizations";
	return JSON.parse(JSON.stringify(serializeCommand(command), (key, value) => (isLocalized(key) ? undefined : value)));
}
