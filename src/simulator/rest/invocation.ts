// Checks the use of a command or button before the application receives it: the channel, the permissions, the options.

import {
	type APIApplicationCommandInteractionDataBasicOption,
	type APIInteractionDataResolved,
	RESTJSONErrorCodes as Code,
	InteractionType,
	ApplicationCommandOptionType as Option,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type {
	Invocation,
	InvocationPlace,
} from "../interactions/interactions.ts";
import { mayUse } from "../world/accounts/commands.ts";
import { buttonsIn } from "../world/messages/buttons.ts";
import type { Sent } from "../world/state/api-types.ts";
import {
	type Account,
	type Channel,
	type Command,
	type CommandOption,
	type Guild,
	inGuild,
	isText,
} from "../world/state/entities.ts";
import { has } from "../world/state/permissions.ts";
import * as serialize from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";
import { permissionsIn, permissionsOf } from "./access.ts";
import { apiError, formError, found, missingField } from "./errors.ts";
import * as f from "./fields/fields.ts";
import type { Call, ReadForm } from "./route.ts";

/**
 * The fields that the simulator reads when a user runs a slash command or presses a button. Discord's clients send
 * more.
 */
export const invocationFields = {
	type: f.required(
		f.integer(
			InteractionType.ApplicationCommand,
			InteractionType.MessageComponent,
		),
	),
	application_id: f.required(f.snowflake),
	guild_id: f.nullable(f.snowflake),
	channel_id: f.required(f.snowflake),
	message_id: f.nullable(f.snowflake),
	data: f.required(
		f.object({
			id: f.snowflake,
			name: f.text(1, 32),
			options: f.list(
				f.object({ name: f.required(f.text(1, 32)), value: f.unchecked }),
				0,
				25,
			),
			component_type: f.integer(2, 2),
			custom_id: f.text(1, 100),
		}),
	),
} as const;

type InvocationBody = ReadForm<typeof invocationFields>;

/** Checks whether the user may run this slash command or press this button. Throws Discord's error if not. */
export function checkInvocation(call: Call<"", InvocationBody>): Invocation {
	const { world, body } = call;
	const { user } = call.actor;
	const application = applicationOf(world, body.application_id);
	const channel = found(
		world.channels.get(body.channel_id),
		Code.UnknownChannel,
	);
	const permissions = permissionsIn(call, channel);
	if (!has(permissions, Permission.ViewChannel))
		throw apiError(Code.MissingAccess);
	const guild = inGuild(channel) ? world.guilds.of(channel) : undefined;
	if ((body.guild_id ?? undefined) !== guild?.id)
		throw apiError(Code.UnknownGuild);
	const isHere = inGuild(channel)
		? guild?.members.has(application.user.id)
		: channel.recipients.includes(application.user);
	if (!isHere) throw apiError(Code.UnknownApplication);
	const common = {
		application,
		user,
		channel,
		place: contextOf(call, channel, application),
	};

	if (body.type === InteractionType.ApplicationCommand) {
		const command = commandOf(world, guild, body);
		if (!mayUse(command, permissions)) throw apiError(Code.MissingPermissions);
		if (!isText(channel.type))
			throw apiError(Code.CannotExecuteActionOnThisChannelType);
		const { id, name, type, guild_id } = command;
		return {
			...common,
			type: InteractionType.ApplicationCommand,
			command,
			data: {
				id,
				name,
				type,
				...(guild_id === undefined ? {} : { guild_id }),
				...resolveOptions(call, channel, command, body.data.options ?? []),
			},
		};
	}

	const messageId = body.message_id ?? "";
	const message =
		call.interactions.ephemeral(messageId, user) ??
		world.messages.get(channel.id, messageId);
	if (!message || message.channel_id !== channel.id)
		throw apiError(Code.UnknownMessage);
	const wanted = body.data.custom_id;
	const button = buttonsIn(message.components).find(
		({ custom_id, disabled }) => custom_id === wanted && disabled !== true,
	);
	if (!button || wanted === undefined || message.author !== application.user)
		throw formError(
			"COMPONENT_VALIDATION_FAILED",
			"Component validation failed",
			"data",
		);
	return {
		...common,
		type: InteractionType.MessageComponent,
		message,
		data: { custom_id: wanted, component_type: button.type },
	};
}

function applicationOf(world: World, id: string): Account {
	for (const account of world.accounts.values())
		if (account.user.bot && account.user.id === id) return account;
	throw apiError(Code.UnknownApplication);
}

function commandOf(
	world: World,
	guild: Guild | undefined,
	{ application_id, data }: InvocationBody,
): Command {
	const command = world.commands
		.usable(application_id, guild)
		.find(({ id, name }) =>
			data.id === undefined ? name === data.name : id === data.id,
		);
	return found(command, Code.UnknownApplicationCommand);
}

/** Returns the place and the user of a command or button: the channel, plus guild and member, or in DMs the user. */
function contextOf(
	call: Call,
	channel: Channel,
	application: Account,
): InvocationPlace {
	const { world, actor } = call;
	const permissions = String(permissionsIn(call, channel));
	const granted = permissionsOf(world, channel, application.user);
	const shown = serialize.channel(channel, application);
	const common = {
		channel_id: channel.id,
		app_permissions: String(granted),
	};
	if (!inGuild(channel)) return { ...common, channel: shown, user: actor.user };
	const guild = world.guilds.of(channel);
	const { id, features, preferred_locale: locale } = guild;
	const member = found(guild.members.get(actor.user.id), Code.UnknownMember);
	return {
		...common,
		guild: { id, locale, features },
		guild_id: id,
		guild_locale: locale,
		channel: { ...shown, permissions },
		member: { ...serialize.member(member), permissions },
	};
}

// Options

type OptionValue = Sent<
	APIApplicationCommandInteractionDataBasicOption<InteractionType.ApplicationCommand>
>;

/**
 * The users, members, roles and channels to which the values of a command's options refer: for each of these kinds, an
 * object with ids as keys.
 */
type Resolved = {
	-readonly [K in keyof Sent<APIInteractionDataResolved>]: Record<
		string,
		Exclude<Sent<APIInteractionDataResolved>[K], undefined>[string]
	>;
};

/**
 * Checks the values of a slash command's options. Returns, in the form sent to the application, the values and the
 * users, roles and channels to which they refer. Throws Discord's error for invalid values.
 */
function resolveOptions(
	call: Call,
	channel: Channel,
	command: Command,
	given: readonly { name: string; value: unknown }[],
) {
	for (const [index, { name }] of given.entries())
		if (!command.options.some((option) => option.name === name))
			throw invalid(`The command has no option ${name}`, index);
	const options: OptionValue[] = [];
	const resolved: Resolved = {};
	for (const option of command.options) {
		const index = given.findIndex(({ name }) => name === option.name);
		const value = given[index]?.value;
		if (value === undefined || value === null) {
			if (option.required) throw missingField("data", "options", option.name);
			continue;
		}
		const read = readValue(option, value);
		if (!read) throw invalid(`${option.name} does not take this value`, index);
		if (!resolve(call, channel, read, resolved))
			throw invalid(`${option.name} names nothing here`, index);
		options.push(read);
	}
	return {
		...(options.length > 0 ? { options } : {}),
		...(Object.keys(resolved).length > 0 ? { resolved } : {}),
	};
}

function invalid(message: string, index: number) {
	const code = "APPLICATION_COMMAND_INVALID_OPTION_VALUE";
	return formError(code, message, "data", "options", index);
}

/** Returns an option of a slash command with its value; undefined if the option does not accept the value. */
function readValue(
	option: CommandOption,
	value: unknown,
): OptionValue | undefined {
	const { name, type } = option;
	if (option.choices && !option.choices.some((one) => one.value === value))
		return undefined;
	switch (type) {
		case Option.String:
			return typeof value === "string" &&
				value.length >= (option.min_length ?? 0) &&
				value.length <= (option.max_length ?? 6000)
				? { name, type, value }
				: undefined;
		case Option.Integer:
		case Option.Number:
			return typeof value === "number" &&
				(type === Option.Number || Number.isSafeInteger(value)) &&
				inRange(option, value)
				? { name, type, value }
				: undefined;
		case Option.Boolean:
			return typeof value === "boolean" ? { name, type, value } : undefined;
		case Option.User:
		case Option.Role:
		case Option.Channel:
		case Option.Mentionable:
			return typeof value === "string" ? { name, type, value } : undefined;
		default:
			return undefined;
	}
}

function inRange(option: CommandOption, value: number): boolean {
	const { min_value: min = -Infinity, max_value: max = Infinity } = option;
	return value >= min && value <= max;
}

/**
 * Adds the user, role or channel that is the value of a command's option to the interaction's resolved data. Returns
 * false if that object does not exist.
 */
function resolve(
	{ world, actor }: Call,
	place: Channel,
	{ type, value }: OptionValue,
	resolved: Resolved,
): boolean {
	const guild = inGuild(place) ? world.guilds.of(place) : undefined;
	switch (type) {
		case Option.User: {
			const user = world.users.get(value);
			if (!user) return false;
			resolved.users = { ...resolved.users, [value]: user };
			const member = guild?.members.get(value);
			if (!member) return true;
			const { deaf: _, mute: __, ...bare } = serialize.bareMember(member);
			const permissions = String(permissionsOf(world, place, user));
			const shown = { ...bare, permissions };
			resolved.members = { ...resolved.members, [value]: shown };
			return true;
		}
		case Option.Role: {
			const role = guild?.roles.get(value);
			if (!role) return false;
			resolved.roles = { ...resolved.roles, [value]: role };
			return true;
		}
		case Option.Channel: {
			const channel = guild?.channels.get(value);
			if (!channel) return false;
			const permissions = String(permissionsOf(world, channel, actor.user));
			const shown = { ...serialize.guildChannel(channel), permissions };
			resolved.channels = { ...resolved.channels, [value]: shown };
			return true;
		}
		default:
			return true;
	}
}
