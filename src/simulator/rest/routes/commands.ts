// Slash commands and commands in context menus, global or of a guild.

import { type CommandDetails, isSame, type Scope } from "../../world/accounts/commands.ts";
import type { Command } from "../../world/state/entities.ts";
import { apiError, formError, found } from "../errors.ts";
import { checkSize, maxCommands, maxReplaced, type NewCommand, newCommand } from "../fields/command-fields.ts";
import { boolean, list, required } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const everywhere = "/applications/:application_id/commands";
const inGuild = "/applications/:application_id/guilds/:guild_id/commands";

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
		route(`DELETE ${path}/:command_id`, {
			run: (call) => {
				const { commands } = call.world;
				const command = commands.in(scopeOf(call)).find(({ id }) => id === call.params.command_id);
				commands.remove(found(command, "UnknownApplicationCommand"));
			},
		}),
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

function put(call: Call<typeof everywhere>, form: NewCommand) {
	const { commands } = call.world;
	const scope = scopeOf(call);
	checkSize(form);
	const registered = commands.in(scope);
	const known = registered.find((one) => isSame(one, form));
	const details = detailsOf(form, scope.guild_id);
	if (known) return { command: commands.edit(known, details), isNew: false };
	checkCounts([...registered, form]);
	return { command: commands.add(scope, details), isNew: true };
}

function checkCounts(commands: readonly Pick<Command, "type">[]): void {
	for (const [type, max] of Object.entries(maxCommands))
		if (commands.filter((one) => String(one.type) === type).length > max)
			throw apiError("MaximumNumberOfApplicationCommandsReached", {
				message: `Maximum number of application commands reached (${max})`,
			});
}

/** Those of the guild if the request path has a guild id, otherwise the global ones; of all types. */
function replaceAll(call: Call<typeof everywhere>, forms: readonly NewCommand[]): Command[] {
	const { commands } = call.world;
	const registered = commands.in(scopeOf(call));
	for (const [index, form] of forms.entries()) {
		if (forms.slice(0, index).some((one) => isSame(one, form)))
			throw formError("APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique", index);
		checkSize(form);
	}
	checkCounts(forms);
	for (const command of registered) if (!forms.some((form) => isSame(form, command))) commands.remove(command);
	return forms.map((form) => put(call, form).command);
}

function detailsOf(form: NewCommand, guildId?: string): CommandDetails {
	const { dm_permission = true, contexts = null, integration_types = [0], default_permission: _, ...rest } = form;
	return {
		name_localizations: null,
		description_localizations: null,
		options: [],
		nsfw: false,
		...rest,
		default_member_permissions: form.default_member_permissions?.toString() ?? null,
		// A guild's command has no contexts.
		...(guildId === undefined && { dm_permission, contexts, integration_types }),
	};
}

function serializeCommand({ options, ...command }: Command) {
	return { ...command, ...(options.length > 0 && { options }) };
}

function withoutLocalizations(command: Command): unknown {
	const isLocalized = (key: string) => key === "name_localizations" || key === "description_localizations";
	return JSON.parse(JSON.stringify(serializeCommand(command), (key, value) => (isLocalized(key) ? undefined : value)));
}
