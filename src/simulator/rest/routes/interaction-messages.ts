// Interaction responses after the first one: reading, editing, deleting, and follow-ups.

import { InteractionResponseType, MessageFlags } from "discord.js";
import type { Message } from "../../world/state/entities.ts";
import { apiError } from "../errors.ts";
import { boolean } from "../fields/fields.ts";
import {
	type Content,
	contentFields,
	editedContent,
	newContent,
	requireContent,
	serializeMessage,
} from "../message-body.ts";
import { type Call, route } from "../route.ts";

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
	const { channel } = interaction;
	const changes = editedContent(call, channel, message, call.body);
	interactions.edit(interaction, message, changes);
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

export const interactionMessageRoutes = [
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
