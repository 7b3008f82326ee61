// Interaction responses after the first one: reading, editing, deleting, and follow-ups.

import {
	RESTJSONErrorCodes as Code,
	InteractionResponseType,
	MessageFlags,
} from "discord.js";
import type { Message } from "../../world/state/entities.ts";
import { readerOf } from "../../world/state/serialize.ts";
import { apiError } from "../errors.ts";
import { boolean } from "../fields.ts";
import {
	contentFields,
	editedContent,
	mentionsUsersOnly,
	newContent,
	requireContent,
} from "../message-body.ts";
import { type Call, interactionOf, type ReadForm, route } from "../route.ts";

const webhook = "/webhooks/:application_id/:interaction_token";

/** The path's message, if it belongs to the interaction and still exists. */
function answeredWith(call: Call): Message {
	const { original, followUps } = interactionOf(call);
	const id = call.params.message_id ?? original?.id;
	const message = [original, ...followUps].find((one) => one?.id === id);
	if (!message || !call.interactions.exists(message))
		throw apiError(Code.UnknownMessage);
	return message;
}

function serializeMessage({ world, actor }: Call, message: Message) {
	return world.messages.serialize(message, readerOf(actor));
}

function edit(call: Call<ReadForm<typeof contentFields>>, message: Message) {
	const interaction = interactionOf(call);
	call.interactions.edit(
		interaction,
		message,
		editedContent(call, interaction.channel, message, call.body, {
			allowed: call.body.allowed_mentions ?? mentionsUsersOnly,
		}),
	);
	return serializeMessage(call, message);
}

function routesOf(message: "@original" | ":message_id") {
	const path = `${webhook}/messages/${message}`;
	return [
		route({
			method: "GET",
			path,
			byToken: true,
			run: (call) => serializeMessage(call, answeredWith(call)),
		}),
		route({
			method: "PATCH",
			path,
			byToken: true,
			body: contentFields,
			run: (call) => edit(call, answeredWith(call)),
		}),
		route({
			method: "DELETE",
			path,
			byToken: true,
			run: (call) =>
				call.interactions.remove(interactionOf(call), answeredWith(call)),
		}),
	];
}

export const interactionMessageRoutes = [
	...routesOf("@original"),
	...routesOf(":message_id"),
	route({
		method: "POST",
		path: webhook,
		byToken: true,
		body: { ...contentFields, tts: boolean },
		run: (call) => {
			const { body } = call;
			const interaction = interactionOf(call);
			requireContent(call, body);
			// The first follow-up to a deferred response edits it.
			const { original } = interaction;
			const isLoading =
				interaction.answer ===
					InteractionResponseType.DeferredChannelMessageWithSource &&
				original !== undefined &&
				(original.flags & MessageFlags.Loading) !== 0 &&
				call.interactions.exists(original);
			if (isLoading) return edit(call, original);
			const content = newContent(call, interaction.channel, body, {
				allowed: body.allowed_mentions ?? mentionsUsersOnly,
			});
			const message = call.interactions.followUp(interaction, {
				...content,
				flags: content.flags | ((body.flags ?? 0) & MessageFlags.Ephemeral),
				tts: body.tts ?? false,
			});
			return serializeMessage(call, message);
		},
	}),
];
