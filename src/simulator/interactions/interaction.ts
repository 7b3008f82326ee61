// An interaction: the use of a command, button, select menu or modal, or the request for suggestions of an option's values.
// Its application, the bot, receives it in INTERACTION_CREATE.
// https://docs.discord.com/developers/interactions/receiving-and-responding

import {
	type APIAuthorizingIntegrationOwnersMap,
	type ApplicationCommandOptionType,
	ApplicationCommandType,
	InteractionContextType,
	type InteractionResponseType,
	InteractionType,
	Locale,
	MessageType,
} from "discord.js";
import type { Modal } from "../world/messages/components.ts";
import { referenceTo } from "../world/messages/messages.ts";
import type { EventPayloads, Sent } from "../world/state/api-types.ts";
import {
	type Account,
	type Channel,
	type Command,
	inGuild,
	type Message,
	type NewMessage,
	type User,
} from "../world/state/entities.ts";
import type { World } from "../world/world.ts";

export interface Invocation {
	type: Exclude<InteractionType, InteractionType.Ping>;
	application: Account;
	user: User;
	channel: Channel;
	/** The channel, with the guild and the member, or in DMs the user. */
	place: object;
	data: object;
	command?: Command;
	/** The message with the used component, also if that has opened the submitted modal. */
	message?: Message | undefined;
	/** The interaction whose response opened the submitted modal. */
	trigger?: Interaction;
}

/** An option as a user's client sends it and, with its type, as the application receives it. */
export interface SentOption {
	name: string;
	type?: ApplicationCommandOptionType;
	value?: unknown;
	focused?: boolean;
	options?: readonly SentOption[];
}

export interface Choice {
	name: string;
	value: string | number;
}

/** What an application's first response to an interaction created. */
export interface Response {
	/** The message that the response created, or the component's message if the response updates that one. */
	original?: Message | undefined;
	modal?: Modal | undefined;
	choices?: readonly Choice[] | undefined;
}

export interface Interaction extends Invocation, Response {
	id: string;
	token: string;
	/** "failed": no first response in time. */
	state: "waiting" | "failed" | "acknowledged";
	answer: InteractionResponseType | undefined;
	followUps: Message[];
	/** Until the application has to respond. */
	timer: Timer;
	/** Resolved, and replaced, at each change. */
	changed: PromiseWithResolvers<void>;
}

const version: 1 = 1;

export function eventOf(world: World, interaction: Interaction): EventPayloads["INTERACTION_CREATE"] {
	const { id, token, application, user, type, data, message } = interaction;
	const reader = { id: application.user.id, seesContent: true };
	const event = {
		id,
		token,
		application_id: application.user.id,
		version,
		...interaction.place,
		locale: world.users.locales.get(user.id) ?? Locale.EnglishUS,
		entitlements: [],
		authorizing_integration_owners: ownersOf(interaction),
		context: inGuild(interaction.channel) ? InteractionContextType.Guild : InteractionContextType.BotDM,
		attachment_size_limit: 10 * 1024 * 1024,
		type,
		data,
		message: message && world.messages.serialize(message, reader),
	};
	// The types of interactions differ in `data`, which the routes have built and checked.
	return event as unknown as EventPayloads["INTERACTION_CREATE"];
}

export function originOf(interaction: Interaction): Partial<NewMessage> {
	const { application, id, user, message, command } = interaction;
	const first = interaction.original;
	const { target_id } = interaction.data as { target_id: string };
	const target = command?.type === ApplicationCommandType.Message ? { id: target_id } : undefined;
	const answers = first ?? message ?? target;
	return {
		application_id: application.user.id,
		webhook_id: application.user.id,
		type: typeOf(interaction),
		...(answers && { message_reference: referenceTo(answers, interaction.channel) }),
		interaction_metadata: {
			...metadataOf(interaction),
			...(first && { original_response_message_id: first.id }),
		} as NonNullable<NewMessage["interaction_metadata"]>,
		...(command && {
			interaction: { id, type: InteractionType.ApplicationCommand, name: nameOf(command.name, interaction.data), user },
		}),
	};
}

function nameOf(name: string, data: object): string {
	const { options = [] } = data as { options?: readonly SentOption[] };
	const nested = options.find((one) => one.options);
	return nested ? `${name} ${nameOf(nested.name, nested)}` : name;
}

/** A guess (modal-response-type): a response to a modal that a command opened has the type of one to this command. */
function typeOf(interaction: Interaction): MessageType {
	if (interaction.original ?? interaction.message) return MessageType.Reply;
	const { command } = interaction.trigger ?? interaction;
	const isSlash = command === undefined || command.type === ApplicationCommandType.ChatInput;
	return isSlash ? MessageType.ChatInputCommand : MessageType.ContextMenuCommand;
}

// https://docs.discord.com/developers/resources/message#message-interaction-metadata-object
function metadataOf(interaction: Interaction): object {
	const { id, user, type, message, command, trigger } = interaction;
	const { target_id = "", resolved } = interaction.data as { target_id?: string; resolved?: { users?: Users } };
	return {
		id,
		type,
		user,
		authorizing_integration_owners: ownersOf(interaction),
		interacted_message_id: type === InteractionType.MessageComponent ? message?.id : undefined,
		target_user: command?.type === ApplicationCommandType.User ? resolved?.users?.[target_id] : undefined,
		target_message_id: command?.type === ApplicationCommandType.Message ? target_id : undefined,
		triggering_interaction_metadata: trigger && metadataOf(trigger),
	};
}

type Users = Readonly<Record<string, User>>;

function ownersOf({ channel }: { channel: Channel }): Sent<APIAuthorizingIntegrationOwnersMap> {
	return { "0": inGuild(channel) ? channel.guild_id : "0" };
}
