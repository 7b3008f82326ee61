// Interactions: creating one as a person, and the application's first response.

import {
	RESTJSONErrorCodes as Code,
	InteractionResponseType,
	InteractionType,
	MessageFlags,
} from "discord.js";
import type { Interaction } from "../../interactions/interactions.ts";
import type { Message } from "../../world/state/entities.ts";
import { readerOf } from "../../world/state/serialize.ts";
import { apiError, atKey, formError, notSimulated } from "../errors.ts";
import * as f from "../fields.ts";
import { checkInvocation, invocationFields } from "../invocation.ts";
import {
	contentFields,
	editedContent,
	mentionsUsersOnly,
	newContent,
	requireContent,
} from "../message-body.ts";
import { type Call, interactionOf, type ReadForm, route } from "../route.ts";

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

/** Response types that are not simulated: autocomplete, modals, premium. */
const otherAnswers = new Set([8, 9, 10, 12]);

const answerType: f.Field<(typeof answers)[number] | undefined> = {
	read: (value) => {
		const type = f.integer(0, 255).read(value);
		if (type === undefined) return undefined;
		const known = answers.find((one) => one === type);
		if (known !== undefined) return known;
		if (otherAnswers.has(type))
			throw notSimulated(`answers to interactions of type ${type}`);
		throw formError(
			"BASE_TYPE_CHOICES",
			`Value must be one of {${answers.join(", ")}}.`,
		);
	},
};

const messageData = f.object({ ...contentFields, tts: f.boolean });
const noData = f.required(messageData).read({});

const callback = {
	type: f.required(answerType),
	data: f.nullable(messageData),
};

type Callback = ReadForm<typeof callback>;

export const interactionRoutes = [
	route({
		method: "POST",
		path: "/interactions",
		body: invocationFields,
		run: ({ world, interactions, actor, body }) => {
			if (actor.user.bot) throw apiError(Code.BotsCannotUseThisEndpoint);
			const { id } = interactions.begin(
				checkInvocation(world, actor.user, body, (message, user) =>
					interactions.ephemeral(message, user),
				),
			);
			return { id };
		},
	}),
	route({
		method: "POST",
		path: "/interactions/:interaction_id/:interaction_token/callback",
		byToken: true,
		body: callback,
		query: { with_response: f.boolean },
		run: (call) => {
			const interaction = interactionOf(call);
			const { type } = call.body;
			if (interaction.state === "failed")
				throw apiError(Code.UnknownInteraction);
			if (interaction.state === "acknowledged")
				throw apiError(Code.InteractionHasAlreadyBeenAcknowledged);
			const original = atKey("data", () => answer(call, interaction));
			call.interactions.acknowledge(interaction, type, original);
			return call.query.with_response
				? serializeCallback(call, interaction, original)
				: undefined;
		},
	}),
];

/** Executes a response. Returns its message. */
function answer(call: Call<Callback>, interaction: Interaction): Message {
	const { interactions } = call;
	const { channel, message } = interaction;
	const data = call.body.data ?? noData;
	const ephemeral = (data.flags ?? 0) & MessageFlags.Ephemeral;
	switch (call.body.type) {
		case ChannelMessageWithSource: {
			requireContent(call, data);
			const content = newContent(call, channel, data, {
				allowed: data.allowed_mentions ?? mentionsUsersOnly,
			});
			return interactions.write(interaction, {
				...content,
				flags: content.flags | ephemeral,
				tts: data.tts ?? false,
			});
		}
		case DeferredChannelMessageWithSource:
			return interactions.write(interaction, {
				content: "",
				flags: MessageFlags.Loading | ephemeral,
			});
		case DeferredMessageUpdate:
			if (message) return message;
			break;
		case UpdateMessage:
			if (!message) break;
			if (!interactions.exists(message)) throw apiError(Code.UnknownMessage);
			interactions.edit(
				interaction,
				message,
				editedContent(call, channel, message, data, {
					allowed: data.allowed_mentions ?? mentionsUsersOnly,
				}),
			);
			return message;
		case Pong:
	}
	throw formError(
		"INTERACTION_RESPONSE_TYPE_INVALID",
		`An interaction of type ${interaction.type} has no answer of type ${call.body.type}.`,
	);
}

function serializeCallback(
	call: Call<Callback>,
	{ id, type }: Interaction,
	message: Message,
) {
	const isUpdate = call.body.type === DeferredMessageUpdate;
	const hasMessage =
		call.body.type === ChannelMessageWithSource ||
		call.body.type === UpdateMessage;
	return {
		interaction: {
			id,
			type,
			...(isUpdate && type === InteractionType.MessageComponent
				? {}
				: {
						response_message_id: message.id,
						response_message_loading: hasFlag(message, MessageFlags.Loading),
						response_message_ephemeral: hasFlag(
							message,
							MessageFlags.Ephemeral,
						),
					}),
		},
		resource: {
			type: call.body.type,
			...(hasMessage
				? {
						message: call.world.messages.serialize(
							message,
							readerOf(call.actor),
						),
					}
				: {}),
		},
	};
}

function hasFlag({ flags }: Message, flag: MessageFlags): boolean {
	return (flags & flag) !== 0;
}
