// Interactions: creating one as a person, and the application's first response.

import {
	RESTJSONErrorCodes as Code,
	InteractionResponseType,
	InteractionType,
	MessageFlags,
} from "discord.js";
import type { Interaction } from "../../interactions/interactions.ts";
import type { Message } from "../../world/state/entities.ts";
import { apiError, atKey, formError, notSimulated } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { checkInvocation, invocationFields } from "../invocation.ts";
import {
	contentFields,
	editedContent,
	newContent,
	requireContent,
	serializeMessage,
} from "../message-body.ts";
import { type Call, type ReadForm, route } from "../route.ts";

const {
	Pong,
	ChannelMessageWithSource,
	DeferredChannelMessageWithSource,
	DeferredMessageUpdate,
	UpdateMessage,
} = InteractionResponseType;

const answers = [
	Pong,
	ChannelMessageWithSource,
	DeferredChannelMessageWithSource,
	DeferredMessageUpdate,
	UpdateMessage,
] as const;
const knownAnswer = f.required(f.choice(...answers));

/**
 * Types of interaction responses that the simulator does not implement: autocomplete, modals, premium, activities.
 */
const otherAnswers = new Set([8, 9, 10, 12]);

const answerType = f.refine(f.integer(0, 255), (type) => {
	if (otherAnswers.has(type))
		throw notSimulated(`responses to interactions of type ${type}`);
	return knownAnswer.read(type);
});

const messageData = f.object({ ...contentFields, tts: f.boolean });
const noData = f.required(messageData).read({});

const callback = {
	type: f.required(answerType),
	data: f.nullable(messageData),
};

type Callback = ReadForm<typeof callback>;

export const interactionRoutes = [
	route("POST /interactions", {
		body: invocationFields,
		run: (call) => {
			if (call.actor.user.bot) throw apiError(Code.BotsCannotUseThisEndpoint);
			const { id } = call.interactions.begin(checkInvocation(call));
			return { id };
		},
	}),
	route("POST /interactions/:interaction_id/:interaction_token/callback", {
		body: callback,
		query: { with_response: f.boolean },
		run: (call) => {
			const { interaction } = call;
			if (interaction.state === "failed")
				throw apiError(Code.UnknownInteraction);
			if (interaction.state === "acknowledged")
				throw apiError(Code.InteractionHasAlreadyBeenAcknowledged);
			const original = atKey("data", () => answer(call, interaction));
			call.interactions.acknowledge(interaction, call.body.type, original);
			return call.query.with_response
				? serializeCallback(call, interaction, original)
				: undefined;
		},
	}),
];

/**
 * Executes an application's response to a command or button. Returns the message that the response creates or updates.
 * Throws if a response of this type is not allowed.
 */
function answer(
	call: Call<":interaction_token", Callback>,
	interaction: Interaction,
): Message {
	const { interactions } = call;
	const { channel, message } = interaction;
	const data = call.body.data ?? noData;
	const ephemeral = (data.flags ?? 0) & MessageFlags.Ephemeral;
	switch (call.body.type) {
		case ChannelMessageWithSource: {
			requireContent(call, data);
			const content = newContent(call, channel, data);
			const flags = content.flags | ephemeral;
			return interactions.write(interaction, { ...content, flags });
		}
		case DeferredChannelMessageWithSource:
			return interactions.write(interaction, {
				content: "",
				flags: MessageFlags.Loading | ephemeral,
			});
		case DeferredMessageUpdate:
			if (message) return message;
			break;
		case UpdateMessage: {
			if (!message) break;
			if (!interactions.exists(message)) throw apiError(Code.UnknownMessage);
			const changes = editedContent(call, channel, message, data);
			interactions.edit(interaction, message, changes);
			return message;
		}
		case Pong:
	}
	throw formError(
		"INTERACTION_RESPONSE_TYPE_INVALID",
		`An interaction of type ${interaction.type} has no response of type ${call.body.type}.`,
	);
}

function serializeCallback(
	call: Call<"", Callback>,
	{ id, type }: Interaction,
	message: Message,
) {
	const { type: answered } = call.body;
	const isAnnounced =
		answered !== DeferredMessageUpdate ||
		type !== InteractionType.MessageComponent;
	const hasMessage =
		answered === ChannelMessageWithSource || answered === UpdateMessage;
	const has = (flag: MessageFlags) => (message.flags & flag) !== 0;
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
		...(hasMessage && {
			resource: { type: answered, message: serializeMessage(call, message) },
		}),
	};
}
