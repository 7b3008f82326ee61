// Checks the use of a command or button before the application receives it: the channel, the permissions, the options.

import {
	ApplicationCommandOptionType,
	ChannelType,
	RESTJSONErrorCodes as Code,
	InteractionType,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { Invocation } from "../interactions/interactions.ts";
import { mayUse } from "../world/accounts/commands.ts";
import { buttonsIn } from "../world/messages/buttons.ts";
import {
	type Account,
	type Channel,
	type Command,
	type CommandOption,
	type Guild,
	holdsPosts,
	inGuild,
	type Message,
	type User,
} from "../world/state/entities.ts";
import {
	allPermissions,
	channelPermissions,
	has,
} from "../world/state/permissions.ts";
import * as serialize from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";
import { apiError, formError } from "./errors.ts";
import * as f from "./fields.ts";
import type { ReadForm } from "./route.ts";

/** The body that Discord's clients send, as far as it is used. */
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

/** Checks a request of `user`. `ephemeral` finds ephemeral messages. Throws Discord's error. */
export function checkInvocation(
	world: World,
	user: User,
	body: InvocationBody,
	ephemeral: (id: string, user: User) => Message | undefined,
): Invocation {
	const application = applicationOf(world, body.application_id);
	const channel = world.channels.get(body.channel_id);
	if (!channel) throw apiError(Code.UnknownChannel);
	const permissions = permissionsOf(world, channel, user);
	if (!has(permissions, Permission.ViewChannel))
		throw apiError(Code.MissingAccess);
	const guild = inGuild(channel) ? world.guilds.of(channel) : undefined;
	if ((body.guild_id ?? undefined) !== guild?.id)
		throw apiError(Code.UnknownGuild);
	if (!isIn(channel, guild, application.user))
		throw apiError(Code.UnknownApplication);
	const common = {
		application,
		user,
		channel,
		place: contextOf(world, channel, application, user),
	};

	if (body.type === InteractionType.ApplicationCommand) {
		const command = commandOf(world, guild, body);
		if (!mayUse(command, permissions)) throw apiError(Code.MissingPermissions);
		const isText =
			channel.type !== ChannelType.GuildCategory && !holdsPosts(channel);
		if (!isText) throw apiError(Code.CannotExecuteActionOnThisChannelType);
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
				...resolveOptions(world, guild, command, body.data.options ?? []),
			},
		};
	}

	const messageId = body.message_id ?? "";
	const message =
		ephemeral(messageId, user) ?? world.messages.get(channel.id, messageId);
	if (!message || message.channel_id !== channel.id)
		throw apiError(Code.UnknownMessage);
	const button = buttonsIn(message.components).find(
		({ custom_id, disabled }) =>
			custom_id !== undefined &&
			custom_id === body.data.custom_id &&
			disabled !== true,
	);
	if (!button || message.author !== application.user)
		throw formError(
			"COMPONENT_VALIDATION_FAILED",
			"Component validation failed",
			"data",
		);
	const { id, custom_id, type: component_type } = button;
	return {
		...common,
		type: InteractionType.MessageComponent,
		message,
		data: { id, custom_id, component_type },
	};
}

function isIn(
	channel: Channel,
	guild: Guild | undefined,
	{ id }: User,
): boolean {
	if (inGuild(channel)) return guild?.members.has(id) ?? false;
	return channel.recipients.some((user) => user.id === id);
}

function applicationOf(world: World, id: string): Account {
	for (const account of world.accounts.values())
		if (account.user.bot && account.user.id === id) return account;
	throw apiError(Code.UnknownApplication);
}

/** The permissions of a user in a channel: all in their DMs, none where they are not. */
function permissionsOf(world: World, channel: Channel, user: User): bigint {
	if (inGuild(channel))
		return channelPermissions(world.guilds.of(channel), channel, user.id);
	return channel.recipients.includes(user) ? allPermissions : 0n;
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
	if (!command) throw apiError(Code.UnknownApplicationCommand);
	return command;
}

/** The guild, channel and member, or in DMs the user. */
function contextOf(
	world: World,
	channel: Channel,
	application: Account,
	user: User,
): Record<string, unknown> {
	const app_permissions = String(
		permissionsOf(world, channel, application.user),
	);
	const permissions = String(permissionsOf(world, channel, user));
	const serialized = serialize.channel(channel, application);
	if (!inGuild(channel))
		return {
			channel: serialized,
			channel_id: channel.id,
			user,
			app_permissions,
		};
	const guild = world.guilds.of(channel);
	const member = guild.members.get(user.id);
	return {
		guild: { id: guild.id, locale: "en-US", features: [] },
		guild_id: guild.id,
		guild_locale: "en-US",
		channel: { ...serialized, permissions },
		channel_id: channel.id,
		member: { ...(member && serialize.member(member)), permissions },
		app_permissions,
	};
}

// Options

/** The options with the resolved entities, as the application receives them. */
function resolveOptions(
	world: World,
	guild: Guild | undefined,
	command: Command,
	given: readonly { name: string; value: unknown }[],
): Record<string, unknown> {
	for (const [index, { name }] of given.entries())
		if (!command.options.some((option) => option.name === name))
			throw invalid(`The command has no option ${name}`, index);
	const options: { name: string; type: number; value: unknown }[] = [];
	const resolved: Record<string, Record<string, unknown>> = {};
	for (const option of command.options) {
		const index = given.findIndex(({ name }) => name === option.name);
		const value = given[index]?.value;
		if (value === undefined || value === null) {
			if (option.required)
				throw formError(
					"BASE_TYPE_REQUIRED",
					"This field is required",
					"data",
					"options",
					option.name,
				);
			continue;
		}
		if (!isValidValue(option, value))
			throw invalid(`${option.name} does not take this value`, index);
		const found = resolveOption(world, guild, option, String(value));
		if (!found) throw invalid(`${option.name} names nothing here`, index);
		for (const [kind, entity] of Object.entries(found))
			resolved[kind] = { ...resolved[kind], [String(value)]: entity };
		options.push({ name: option.name, type: option.type, value });
	}
	return {
		...(options.length > 0 ? { options } : {}),
		...(Object.keys(resolved).length > 0 ? { resolved } : {}),
	};
}

function invalid(message: string, index: number) {
	return formError(
		"APPLICATION_COMMAND_INVALID_OPTION_VALUE",
		message,
		"data",
		"options",
		index,
	);
}

function isValidValue(option: CommandOption, value: unknown): boolean {
	if (option.choices && !option.choices.some((one) => one.value === value))
		return false;
	switch (option.type) {
		case ApplicationCommandOptionType.String:
			return (
				typeof value === "string" &&
				value.length >= (option.min_length ?? 0) &&
				value.length <= (option.max_length ?? 6000)
			);
		case ApplicationCommandOptionType.Integer:
			return Number.isSafeInteger(value) && inRange(option, value as number);
		case ApplicationCommandOptionType.Number:
			return Number.isFinite(value) && inRange(option, value as number);
		case ApplicationCommandOptionType.Boolean:
			return typeof value === "boolean";
		default:
			return typeof value === "string";
	}
}

function inRange(option: CommandOption, value: number): boolean {
	const { min_value: min = -Infinity, max_value: max = Infinity } = option;
	return value >= min && value <= max;
}

/** The entities that an id refers to, by the keys of `resolved`. Undefined if there are none. */
function resolveOption(
	world: World,
	guild: Guild | undefined,
	{ type }: CommandOption,
	id: string,
): Record<string, unknown> | undefined {
	switch (type) {
		case ApplicationCommandOptionType.User: {
			const user = world.users.get(id);
			const member = guild?.members.get(id);
			if (!user) return undefined;
			if (!member) return { users: user };
			const { deaf: _, mute: __, ...bare } = serialize.bareMember(member);
			return { users: user, members: bare };
		}
		case ApplicationCommandOptionType.Role: {
			const role = guild?.roles.get(id);
			return role && { roles: role };
		}
		case ApplicationCommandOptionType.Channel: {
			const channel = guild?.channels.get(id);
			return channel && { channels: serialize.guildChannel(channel) };
		}
		default:
			return {};
	}
}
