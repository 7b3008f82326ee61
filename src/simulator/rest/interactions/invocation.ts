// Checks the use of a command, button or select menu before the application receives it: the channel, the permissions, the
// values.

import {
	ApplicationCommandType as CommandKind,
	ComponentType,
	InteractionType,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { Invocation } from "../../interactions/interaction.ts";
import { mayUse } from "../../world/accounts/commands.ts";
import { buttonsIn, selectMenusIn, selectTypes } from "../../world/messages/components.ts";
import {
	type Account,
	type Channel,
	type Command,
	type Guild,
	inGuild,
	isText,
	isThread,
	type Message,
} from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn } from "../access.ts";
import { apiError, formError, found } from "../errors.ts";
import { choice, integer, list, object, required, snowflake, text } from "../fields/fields.ts";
import { applicationOf, type Call, type ReadForm } from "../route.ts";
import { givenOptions, resolveOptions } from "./command-options.ts";
import { submission, submitted } from "./modals.ts";
import { chosenIn, invalidComponent, type Resolved, resolve } from "./resolved.ts";

/** Clients send more: https://docs.discord.food/interactions/receiving-and-responding#create-interaction */
export const invocationFields = {
	type: required(integer(InteractionType.ApplicationCommand, InteractionType.ModalSubmit)),
	application_id: required(snowflake),
	guild_id: snowflake,
	channel_id: required(snowflake),
	message_id: snowflake,
	data: required(
		object({
			/** The id of the command; in the submission of a modal, that of the interaction which opened it. */
			id: snowflake,
			type: choice(CommandKind.ChatInput, CommandKind.User, CommandKind.Message),
			name: text(1, 32),
			options: givenOptions,
			target_id: snowflake,
			component_type: choice(ComponentType.Button, ...selectTypes),
			custom_id: text(1, 100),
			values: list(text(0, 100), 0, 25),
			components: submitted,
		}),
	),
} as const;
type InvocationCall = Call<"", ReadForm<typeof invocationFields>>;

export function checkInvocation(call: InvocationCall): Invocation {
	const { world, body } = call;
	const { user } = call.actor;
	const application = applicationOf(world, body.application_id);
	const channel = found(world.channels.get(body.channel_id), "UnknownChannel");
	if (!has(permissionsIn(call, channel), "ViewChannel")) throw apiError("MissingAccess");
	const guild = world.guilds.of(channel);
	if (body.guild_id !== guild?.id) throw apiError("UnknownGuild");
	const isHere = inGuild(channel)
		? guild?.members.has(application.user.id)
		: channel.recipients.includes(application.user);
	if (!isHere) throw apiError("UnknownApplication");
	const place = contextOf(call, channel, application);
	const common = { application, user, channel, place };

	switch (body.type) {
		case InteractionType.ApplicationCommand:
		case InteractionType.ApplicationCommandAutocomplete: {
			const command = commandOf(call, channel, guild);
			const { id, name, type, guild_id } = command;
			const data = { id, name, type, guild_id, ...commandData(call, channel, command) };
			return { ...common, type: body.type, command, data };
		}
		case InteractionType.MessageComponent: {
			const { message_id = "" } = body;
			const message = call.interactions.ephemeral(message_id, user) ?? world.messages.get(channel.id, message_id);
			if (message?.channel_id !== channel.id) throw apiError("UnknownMessage");
			if (message.author !== application.user) throw invalidComponent();
			return { ...common, type: body.type, message, data: componentData(call, channel, message) };
		}
		case InteractionType.ModalSubmit: {
			const trigger = call.interactions.get(body.data.id ?? "");
			const isOwn = trigger?.user === user && trigger.application === application && trigger.channel === channel;
			const modal = isOwn ? trigger.modal : undefined;
			if (!trigger || !modal || modal.custom_id !== body.data.custom_id) throw apiError("UnknownInteraction");
			return {
				...common,
				type: body.type,
				message: trigger.message,
				trigger,
				data: submission(call, { ...trigger, modal }, body.data.components),
			};
		}
		default:
			throw formError("BASE_TYPE_CHOICES", "Unknown type", "type");
	}
}

function commandData(call: InvocationCall, channel: Channel, command: Command): object {
	const { options = [], target_id = "" } = call.body.data;
	const partial = call.body.type === InteractionType.ApplicationCommandAutocomplete;
	if (partial || command.type === CommandKind.ChatInput)
		return resolveOptions(command, options, { call, place: channel, partial });
	return { target_id, resolved: resolveTarget(call, channel, command, target_id) };
}

function resolveTarget(call: InvocationCall, channel: Channel, { type }: Command, id: string): object {
	if (type === CommandKind.User) {
		const resolved: Resolved = {};
		if (resolve(call, channel, ["user"], id, resolved)) return resolved;
		throw apiError("UnknownUser");
	}
	const message = found(call.world.messages.get(channel.id, id), "UnknownMessage");
	// Bots without the intent MessageContent see the content of such messages, too.
	// https://docs.discord.com/developers/events/gateway#message-content-intent
	const reader = { id: call.body.application_id, seesContent: true };
	return { messages: { [id]: call.world.messages.serialize(message, reader) } };
}

function componentData(call: InvocationCall, channel: Channel, { components }: Message): object {
	const { custom_id, component_type: type, values = [] } = call.body.data;
	if (custom_id === undefined) throw invalidComponent();
	if (type !== undefined && type !== ComponentType.Button) {
		const menu = selectMenusIn(components).find((one) => one.type === type && one.custom_id === custom_id);
		if (!menu || menu.disabled === true) throw invalidComponent();
		return { id: menu.id, custom_id, ...chosenIn(call, channel, menu, values) };
	}
	const button = buttonsIn(components).find((one) => one.custom_id === custom_id && one.disabled !== true);
	if (!button) throw invalidComponent();
	// By the examples, the data of a used component has its id.
	// https://docs.discord.com/developers/components/reference#button-examples
	const { id, type: component_type } = button;
	return { id, custom_id, component_type };
}

function commandOf(call: InvocationCall, channel: Channel, guild: Guild | undefined): Command {
	const { application_id, data } = call.body;
	const { type = CommandKind.ChatInput } = data;
	const command = found(
		call.world.commands
			.usable(application_id, guild)
			.find((one) => (data.id === undefined ? one.name === data.name && one.type === type : one.id === data.id)),
		"UnknownApplicationCommand",
	);
	const permissions = permissionsIn(call, channel);
	if (guild && !mayUse(command, permissions)) throw apiError("MissingPermissions");
	// https://docs.discord.com/developers/interactions/application-commands#user-commands
	const isUser = command.type === CommandKind.User;
	const send = isThread(channel) ? Permission.SendMessagesInThreads : Permission.SendMessages;
	if (isUser && !has(permissions, send)) throw apiError("MissingPermissions");
	// https://docs.discord.com/developers/topics/threads#active-archived-threads
	if (isThread(channel) && channel.archived) throw apiError("InvalidActionOnArchivedThread");
	if (!isText(channel.type)) throw apiError("CannotExecuteActionOnThisChannelType");
	return command;
}

function contextOf(call: Call, channel: Channel, application: Account): object {
	const { world, actor } = call;
	const permissions = String(permissionsIn(call, channel));
	const granted = world.channels.permissionsOf(channel, application.user);
	const shown = serialize.channel(channel, application);
	const common = { channel_id: channel.id, app_permissions: String(granted) };
	if (!inGuild(channel)) return { ...common, channel: shown, user: actor.user };
	const guild = world.guilds.of(channel);
	const { id, features, preferred_locale: locale } = guild;
	return {
		...common,
		guild: { id, locale, features },
		guild_id: id,
		guild_locale: locale,
		channel: { ...shown, permissions },
		member: { ...serialize.member(found(guild.members.get(actor.user.id), "UnknownMember")), permissions },
	};
}
