// Slash commands: an application registers them, in all guilds it is in or in one.

import { RESTJSONErrorCodes as Code } from "discord.js";
import type { Scope } from "../../world/accounts/commands.ts";
import type { Command } from "../../world/state/entities.ts";
import { commandChanges, maxCommands, newCommand } from "../command-fields.ts";
import { refusal } from "../errors.ts";
import { boolean, list, object, required } from "../fields.ts";
import { type Call, param, route } from "../route.ts";

const everywhere = "/applications/:application_id/commands";
const inGuild = "/applications/:application_id/guilds/:guild_id/commands";

const commands = required(list(object(newCommand), 0, maxCommands));

/** The same routes for the commands of all guilds and of one. */
function routesBelow(path: typeof everywhere | typeof inGuild) {
	return [
		route({
			method: "GET",
			path,
			query: { with_localizations: boolean },
			run: (call) =>
				call.world.commands
					.in(scopeOf(call))
					.map((command) =>
						call.query.with_localizations
							? shown(command)
							: withoutLocalizations(command),
					),
		}),
		route({
			method: "POST",
			path,
			body: newCommand,
			run: (call) => {
				const { world, body } = call;
				const { command, isNew } = world.commands.put(scopeOf(call), body);
				call.answerWith(isNew ? 201 : 200);
				return shown(command);
			},
		}),
		route({
			method: "PUT",
			path,
			body: commands,
			run: (call) =>
				call.world.commands.set(scopeOf(call), call.body).map(shown),
		}),
		route({
			method: "GET",
			path: `${path}/:command_id`,
			run: (call) => shown(commandOf(call)),
		}),
		route({
			method: "PATCH",
			path: `${path}/:command_id`,
			body: commandChanges,
			run: (call) =>
				shown(call.world.commands.edit(commandOf(call), call.body)),
		}),
		route({
			method: "DELETE",
			path: `${path}/:command_id`,
			run: (call) => call.world.commands.remove(commandOf(call)),
		}),
	];
}

export const commandRoutes = [
	...routesBelow(everywhere),
	...routesBelow(inGuild),
];

/** Which commands the path means; they must be the actor's own. */
function scopeOf(call: Call): Scope {
	const { world, actor, params } = call;
	if (!actor.user.bot) throw refusal(Code.OnlyBotsCanUseThisEndpoint);
	const application_id = param(call, "application_id");
	if (application_id !== actor.user.id)
		throw refusal(
			world.users.get(application_id)?.bot
				? Code.NotAuthorizedToPerformThisActionOnThisApplication
				: Code.UnknownApplication,
		);
	return { application_id, guild_id: params.guild_id };
}

function commandOf(call: Call): Command {
	const scope = scopeOf(call);
	return call.world.commands.get(scope, param(call, "command_id"));
}

function shown({ options, ...command }: Command): Record<string, unknown> {
	return { ...command, ...(options.length > 0 ? { options } : {}) };
}

function withoutLocalizations(command: Command): Record<string, unknown> {
	const {
		name_localizations: _,
		description_localizations: __,
		...rest
	} = shown(command);
	return rest;
}
