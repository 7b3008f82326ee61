// Shows the bot's response to an interaction as a user sees it: messages, their buttons and menus, and modals.

import { ComponentType, MessageFlags } from "discord.js";
import {
	type Button,
	buttonsIn,
	inputsIn,
	type ModalInput,
	type SelectMenu,
	selectMenusIn,
} from "../world/messages/components.ts";
import { newMessage } from "../world/messages/messages.ts";
import type { Message } from "../world/state/entities.ts";
import type { Interaction } from "./interaction.ts";
import type { Interactions } from "./interactions.ts";

export type MessageIds = Pick<Message, "id" | "channel_id">;
export type SentMessage = Readonly<MessageIds & Pick<Message, "content" | "attachments">>;

export type InteractionHandle = ReturnType<typeof createHandle>;

/** A message as the user sees it. Its properties always have the current values. */
export interface VisibleMessage extends SentMessage {
	/** Whether the message is ephemeral: only the user of the interaction sees it. */
	ephemeral: boolean;
	embeds: Message["embeds"];
	buttons: readonly Button[];
	menus: readonly SelectMenu[];
	deleted: boolean;
	/** Oldest first. Completing a deferred response does not count as an edit. */
	edits: readonly string[];
}

export interface Reply extends VisibleMessage {
	/** Whether the bot did not respond in time. Then `content` is the error text of Discord's client. */
	failed: boolean;
	followUps: readonly VisibleMessage[];
}

export interface VisibleModal {
	customId: string;
	title: string;
	texts: readonly string[];
	inputs: readonly VisibleInput[];
}

type VisibleInput = ModalInput & { label: string };

export function createHandle(interactions: Interactions, interaction: Interaction) {
	const seen = (message: Message, failed = false): Reply => ({
		id: message.id,
		failed,
		channel_id: message.channel_id,
		get content() {
			return message.content;
		},
		get ephemeral() {
			return (message.flags & MessageFlags.Ephemeral) !== 0;
		},
		get embeds() {
			return message.embeds;
		},
		get buttons() {
			return buttonsIn(message.components);
		},
		get menus() {
			return selectMenusIn(message.components);
		},
		get attachments() {
			return message.attachments;
		},
		get deleted() {
			return !interactions.exists(message);
		},
		get edits() {
			return interactions.editsOf(message);
		},
		get followUps() {
			return interaction.followUps.map((one) => seen(one));
		},
	});
	const isThinking = (message: Message) => (message.flags & MessageFlags.Loading) !== 0 && interactions.exists(message);
	const reply = (): Reply | undefined => {
		if (interaction.state === "failed") return seen(failureOf(interaction), true);
		if (interaction.modal) throw new Error("the response is a modal: wait for modal()");
		const { original } = interaction;
		if (!original || isThinking(original)) return undefined;
		return seen(original);
	};
	return {
		id: interaction.id,
		get state() {
			return interaction.state;
		},
		/** False if the bot neither responds nor defers its response in time. */
		acknowledged: () =>
			interactions.until(interaction, () =>
				interaction.state === "waiting" ? undefined : interaction.state !== "failed",
			),
		/** The final message of the response; after a timeout, what the client shows. Rejects if it is a modal. */
		reply: () => interactions.until(interaction, reply),
		/** Resolves with the modal that the bot opens. Rejects if the bot responds with something else, or not in time. */
		modal: () => interactions.until(interaction, () => modalOf(interaction)),
		/** Follow-up messages are numbered from 1. */
		followUp: (number = 1): Promise<VisibleMessage> =>
			interactions.until(interaction, () => {
				const message = interaction.followUps[number - 1];
				return message && seen(message);
			}),
	};
}

function modalOf({ state, modal }: Interaction): VisibleModal | undefined {
	if (state === "waiting") return undefined;
	if (!modal) throw new Error("the bot opened no modal");
	return {
		customId: modal.custom_id,
		title: modal.title,
		texts: modal.components.flatMap((one) => (one.type === ComponentType.TextDisplay ? one.content : [])),
		inputs: inputsIn(modal).map(({ label, input }) => ({ ...input, label })),
	};
}

function failureOf({ id, command, channel, application }: Interaction): Message {
	const content = command ? "The application did not respond" : "This interaction failed";
	return newMessage(id, channel.id, application.user, { content, flags: MessageFlags.Ephemeral });
}
