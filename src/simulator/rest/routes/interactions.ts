// Interactions: creating one as a person, the application's first response, and those after it.

import {
	InteractionResponseType,
	InteractionType,
	MessageFlags,
	ApplicationCommandOptionType as Option,
} from "discord.js";
import type { Interaction, Response, SentOption } from "../../interactions/interaction.ts";
import { isThread, type Message } from "../../world/state/entities.ts";
import { apiError, atKey, notSimulated } from "../errors.ts";
import { boolean, integer, notOneOf, object, required, unchecked } from "../fields/fields.ts";
import { choicesOf } from "../fields/option-fields.ts";
import { focusedIn } from "../interactions/command-options.ts";
import { checkInvocation, invocationFields } from "../interactions/invocation.ts";
import { modalData } from "../interactions/modals.ts";
import {
	type Content,
	contentFields,
	editedContent,
	newContent,
	requireContent,
	serializeMessage,
} from "../message-body.ts";
import { type Call, type ReadForm, route } from "../route.ts";

const {
	ApplicationCommandAutocompleteResult,
	ChannelMessageWithSource,
	DeferredChannelMessageWithSource,
	DeferredMessageUpdate,
	Modal,
	UpdateMessage,
} = InteractionResponseType;

const otherAnswers = new Set([10, 12]);

const messageAnswers = [ChannelMessageWithSource, DeferredChannelMessageWithSource];
const updates = [DeferredMessageUpdate, UpdateMessage];

/**
 * The types of the first response to an interaction. Of a response to a modal, only one that a button or select menu has
 * opened can update the message.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type
 */
function answersTo({ type, message }: Interaction): InteractionResponseType[] {
	switch (type) {
		case InteractionType.ApplicationCommandAutocomplete:
			return [ApplicationCommandAutocompleteResult];
		case InteractionType.ModalSubmit:
			return [...messageAnswers, ...(message ? updates : [])];
		case InteractionType.MessageComponent:
			return [...messageAnswers, ...updates, Modal];
		case InteractionType.ApplicationCommand:
			return [...messageAnswers, Modal];
	}
}

const messageData = object({ ...contentFields, tts: boolean });
const noData = required(messageData).read({});

const callback = { type: required(integer(0, 255)), data: unchecked };

type Callback = ReadForm<typeof callback>;

function answer(
	call: Call<":interaction_token", Callback>,
	interaction: Interaction,
	type: InteractionResponseType,
): Response {
	const { interactions } = call;
	const { channel, message } = interaction;
	if (type === ApplicationCommandAutocompleteResult) {
		const { options } = interaction.data as { options: readonly SentOption[] };
		const [focused] = focusedIn(options);
		const form = object({ choices: choicesOf(focused?.type ?? Option.String) });
		return { choices: required(form).read(call.body.data).choices ?? [] };
	}
	if (type === Modal) return { modal: modalData.read(call.body.data) };
	if (isThread(channel) && channel.archived && channel.locked) throw apiError("InvalidActionOnArchivedThread");
	const data = messageData.read(call.body.data) ?? noData;
	const ephemeral = (data.flags ?? 0) & MessageFlags.Ephemeral;
	if (type === DeferredChannelMessageWithSource) {
		const flags = MessageFlags.Loading | ephemeral;
		return { original: interactions.write(interaction, { content: "", flags }) };
	}
	if (type === ChannelMessageWithSource || !message) {
		requireContent(call, data);
		const content = newContent(call, channel, data);
		return { original: interactions.write(interaction, { ...content, flags: content.flags | ephemeral }) };
	}
	if (type === UpdateMessage) {
		if (!interactions.exists(message)) throw apiError("UnknownMessage");
		interactions.edit(interaction, message, editedContent(call, channel, message, data));
	}
	return { original: message };
}

function serializeCallback(call: Call<"", Callback>, { id, type, answer }: Interaction, message: Message | undefined) {
	const isAnnounced =
		message !== undefined && (answer !== DeferredMessageUpdate || type !== InteractionType.MessageComponent);
	const hasMessage = answer === ChannelMessageWithSource || answer === UpdateMessage;
	const has = (flag: MessageFlags) => ((message?.flags ?? 0) & flag) !== 0;
	return {
		interaction: {
			id,
			type,
			...(isAnnounced && {
				response_message_id: message.id,
				response_message_loading: has(MessageFlags.Loading),
				response_message_ephemeral: has(MessageFlags.Ephemeral),
			}),
		},
		// By the OpenAPI document, only responses with a message have a resource.
		...(hasMessage && message && { resource: { type: answer, message: serializeMessage(call, message) } }),
	};
}

const webhook = "/webhooks/:application_id/:interaction_token";

type TokenCall<Body = unknown> = Call<typeof webhook, Body>;

function answeredWith(call: TokenCall): Message {
	const { original, followUps } = call.interaction;
	const id = call.params.message_id ?? original?.id;
	const message = [original, ...followUps].find((one) => one?.id === id);
	if (!message || !call.interactions.exists(message)) throw apiError("UnknownMessage");
	return message;
}

function edit(call: TokenCall<Content>, message: Message) {
	const { interactions, interaction } = call;
	interactions.edit(interaction, message, editedContent(call, interaction.channel, message, call.body));
	return serializeMessage(call, message);
}

function routesOf(message: "@original" | ":message_id") {
	const path = `${webhook}/messages/${message}` as const;
	return [
		route(`GET ${path}`, (call) => serializeMessage(call, answeredWith(call))),
		route(`PATCH ${path}`, { body: contentFields, run: (call) => edit(call, answeredWith(call)) }),
		route(`DELETE ${path}`, (call) => call.interactions.remove(call.interaction, answeredWith(call))),
	];
}

export const interactionRoutes = [
	route("POST /interactions", {
		body: invocationFields,
		run: (call) => {
			if (call.actor.user.bot) throw apiError("BotsCannotUseThisEndpoint");
			const { id, type } = call.interactions.begin(checkInvocation(call));
			// Typing changes nothing.
			if (type === InteractionType.ApplicationCommandAutocomplete) call.skipJournal();
			return { id };
		},
	}),
	route("POST /interactions/:interaction_id/:interaction_token/callback", {
		body: callback,
		query: { with_response: boolean },
		run: (call) => {
			const { interaction } = call;
			if (interaction.state === "failed") throw apiError("UnknownInteraction");
			if (interaction.state === "acknowledged") throw apiError("InteractionHasAlreadyBeenAcknowledged");
			const { type } = call.body;
			if (otherAnswers.has(type)) throw notSimulated(`responses to interactions of type ${type}`);
			const known = answersTo(interaction);
			if (!known.includes(type)) throw notOneOf(known, "type");
			const response = atKey("data", () => answer(call, interaction, type));
			call.interactions.acknowledge(interaction, type, response);
			return call.query.with_response ? serializeCallback(call, interaction, response.original) : undefined;
		},
	}),
	...routesOf("@original"),
	...routesOf(":message_id"),
	route(`POST ${webhook}`, {
		body: { ...contentFields, tts: boolean },
		run: (call) => {
			const { body, interaction } = call;
			requireContent(call, body);
			// The first follow-up to a deferred response edits it.
			const { original } = interaction;
			const isLoading =
				interaction.answer === InteractionResponseType.DeferredChannelMessageWithSource &&
				original !== undefined &&
				(original.flags & MessageFlags.Loading) !== 0 &&
				call.interactions.exists(original);
			if (isLoading) return edit(call, original);
			const content = newContent(call, interaction.channel, body);
			const message = call.interactions.followUp(interaction, {
				...content,
				flags: content.flags | ((body.flags ?? 0) & MessageFlags.Ephemeral),
			});
			return serializeMessage(call, message);
		},
	}),
];
