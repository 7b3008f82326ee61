// Interactions: someone uses a slash command or button, and the application responds. A response can be ephemeral: only
// that person sees it, and it is in no channel.
// https://discord.com/developers/docs/interactions/receiving-and-responding

import { randomBytes } from "node:crypto";
import {
	type APIAuthorizingIntegrationOwnersMap,
	type APIChatInputApplicationCommandInteractionData,
	type APIMessageButtonInteractionData,
	type APIMessageComponentInteraction,
	InteractionContextType,
	type InteractionResponseType,
	InteractionType,
	Locale,
	MessageFlags,
	MessageType,
} from "discord.js";
import {
	type MessageChanges,
	type NewMessage,
	newMessage,
	referenceTo,
} from "../world/messages/messages.ts";
import type { EventPayloads, Sent } from "../world/state/api-types.ts";
import type {
	Account,
	Channel,
	Command,
	Message,
	User,
} from "../world/state/entities.ts";
import { inGuild } from "../world/state/entities.ts";
import { timeOf } from "../world/state/snowflake.ts";
import { apply } from "../world/state/state.ts";
import type { World } from "../world/world.ts";

/** A valid use of a slash command or button, as the application (the bot) receives it in INTERACTION_CREATE. */
export type Invocation = Invoked & {
	readonly application: Account;
	readonly user: User;
	readonly channel: Channel;
	readonly place: InvocationPlace;
};

type Invoked =
	| {
			readonly type: InteractionType.ApplicationCommand;
			/** The slash command that was used, with the values of its options. */
			readonly data: Sent<APIChatInputApplicationCommandInteractionData>;
			readonly command: Command;
			readonly message?: never;
	  }
	| {
			readonly type: InteractionType.MessageComponent;
			readonly data: Sent<APIMessageButtonInteractionData>;
			/** The message whose button was pressed. */
			readonly message: Message;
			readonly command?: never;
	  };

/** The place and the user of a command or button: the channel, plus guild and member, or in DMs the user. */
export type InvocationPlace = Sent<
	Pick<
		APIMessageComponentInteraction,
		| "channel"
		| "channel_id"
		| "app_permissions"
		| "guild"
		| "guild_id"
		| "guild_locale"
		| "member"
		| "user"
	>
> & { readonly channel: { readonly permissions?: string } };

export interface InteractionTiming {
	/** Time within which an application must send its first response to a slash command or button, in milliseconds. */
	readonly acknowledgeMs: number;
	/**
	 * Time within which an application can edit its response to a slash command or button and send follow-up messages, in
	 * milliseconds.
	 */
	readonly interactionTokenMs: number;
}

export const discordInteractionTiming: InteractionTiming = {
	acknowledgeMs: 3000,
	interactionTokenMs: 15 * 60 * 1000,
};

/** A use of a slash command or button, with the application's responses so far. */
export type Interaction = Invocation & Progress;

interface Progress {
	readonly id: string;
	/** The secret token with which the application responds to this command or button. */
	readonly token: string;
	/**
	 * State of the response to a slash command or button: "waiting" until the application sends its first response, then
	 * "acknowledged"; "failed" if it sent none in time.
	 */
	readonly state: "waiting" | "failed" | "acknowledged";
	/** The type of the application's first response to a slash command or button; undefined before that response. */
	readonly answer: InteractionResponseType | undefined;
	/**
	 * The message that the application's first response to a slash command or button created, or the button's message if
	 * the response updated that one.
	 */
	readonly original: Message | undefined;
	readonly followUps: readonly Message[];
}

type Live = Invocation & { -readonly [K in keyof Progress]: Progress[K] } & {
	readonly followUps: Message[];
	readonly timer: Timer;
	/** Resolves when the application responds to the command or button, edits its response, or runs out of time. */
	changed: PromiseWithResolvers<void>;
};

const version: 1 = 1;

export class Interactions {
	/** All uses of commands and buttons by interaction id, oldest first. */
	readonly #all = new Map<string, Live>();
	/** Ephemeral messages by id, each with the id of the only user who sees it. */
	readonly #ephemeral = new Map<string, { message: Message; userId: string }>();
	/** The texts of the application's response messages after each edit, oldest first, by message id. */
	readonly #edits = new Map<string, readonly string[]>();

	constructor(
		private readonly world: World,
		private readonly timing: InteractionTiming,
	) {}

	/** Returns all uses of commands and buttons, oldest first. */
	list(): readonly Interaction[] {
		return [...this.#all.values()];
	}

	get(id: string): Interaction | undefined {
		return this.#all.get(id);
	}

	byToken(token: string): Interaction | undefined {
		const [, id = ""] = Buffer.from(token, "base64url").toString().split(":");
		const found = this.#all.get(id);
		return found?.token === token ? found : undefined;
	}

	/** Whether the token of the interaction has expired, so that the application cannot respond any more. */
	isOver({ id }: Interaction): boolean {
		return Date.now() - timeOf(id) > this.timing.interactionTokenMs;
	}

	/**
	 * Sends INTERACTION_CREATE about the use of a slash command or button to the application, and starts the timer for
	 * the application's first response.
	 */
	begin(invocation: Invocation): Interaction {
		const id = this.world.state.newId();
		const interaction: Live = {
			...invocation,
			id,
			token: newInteractionToken(id),
			state: "waiting",
			answer: undefined,
			original: undefined,
			followUps: [],
			changed: Promise.withResolvers(),
			timer: setTimeout(
				() => this.#fail(interaction),
				this.timing.acknowledgeMs,
			),
		};
		this.#all.set(id, interaction);
		const { application, channel } = interaction;
		const data = this.#event(interaction);
		this.world.state.dispatch({
			type: "INTERACTION_CREATE",
			...(inGuild(channel) ? { guildId: channel.guild_id } : {}),
			only: [application.user.id],
			always: application.user.id,
			data: () => data,
		});
		return interaction;
	}

	#fail(interaction: Live): void {
		interaction.state = "failed";
		notifyChange(interaction);
	}

	/**
	 * Records the application's first response to a slash command or button, and the message that the response created or
	 * updated.
	 */
	acknowledge(
		interaction: Interaction,
		answer: InteractionResponseType,
		original: Message | undefined,
	): void {
		const live = this.#live(interaction);
		clearTimeout(live.timer);
		Object.assign(live, { state: "acknowledged", answer, original });
		notifyChange(live);
	}

	/**
	 * Calls a function now and after each change of the interaction (response, edit, follow-up, timeout). Resolves with
	 * the function's first result that is not undefined.
	 */
	async until<T>(
		interaction: Interaction,
		look: () => T | undefined,
	): Promise<T> {
		const live = this.#live(interaction);
		for (;;) {
			const found = look();
			if (found !== undefined) return found;
			await live.changed.promise;
		}
	}

	// Messages

	/**
	 * Creates a message with which the application responds to an interaction. If the message is ephemeral, only the user
	 * who used the command or button sees it.
	 */
	write(interaction: Interaction, given: NewMessage): Message {
		const { application, channel, user } = interaction;
		const whole = { ...given, ...this.#origin(interaction) };
		const ephemeral = ((given.flags ?? 0) & MessageFlags.Ephemeral) !== 0;
		if (!ephemeral)
			return this.world.messages.add(channel, application.user, whole);
		const id = this.world.state.newId();
		const message = newMessage(id, channel.id, application.user, whole);
		this.#ephemeral.set(id, { message, userId: user.id });
		return message;
	}

	/** Adds a follow-up message of the application to an interaction. */
	followUp(interaction: Interaction, given: NewMessage): Message {
		const message = this.write(interaction, given);
		const live = this.#live(interaction);
		live.followUps.push(message);
		notifyChange(live);
		return message;
	}

	/** Edits a response message of the application. Editing a deferred response ("thinking…") completes the response. */
	edit(
		interaction: Interaction,
		message: Message,
		changes: MessageChanges,
	): void {
		const live = this.#live(interaction);
		const thinking = (message.flags & MessageFlags.Loading) !== 0;
		const flags = (changes.flags ?? message.flags) & ~MessageFlags.Loading;
		const whole = { ...changes, flags };
		if (this.#ephemeral.has(message.id)) {
			apply(message, whole);
			message.edited_timestamp = new Date().toISOString();
		} else this.world.messages.edit(interaction.channel, message, whole);
		if (!thinking)
			this.#edits.set(message.id, [...this.editsOf(message), message.content]);
		notifyChange(live);
	}

	remove(interaction: Interaction, message: Message): void {
		if (!this.#ephemeral.delete(message.id))
			this.world.messages.remove(interaction.channel, message, {
				actor: interaction.application.user.id,
			});
		notifyChange(this.#live(interaction));
	}

	/** Whether a message still exists, in its channel or as an ephemeral message. */
	exists({ id, channel_id }: Message): boolean {
		return (
			this.#ephemeral.has(id) ||
			this.world.messages.get(channel_id, id) !== undefined
		);
	}

	/** Returns the text of a response message after each of its edits, oldest first. */
	editsOf({ id }: Message): readonly string[] {
		return this.#edits.get(id) ?? [];
	}

	/** Returns the ephemeral message with this id; undefined if there is none or `user` cannot see it. */
	ephemeral(id: string, user: User): Message | undefined {
		const found = this.#ephemeral.get(id);
		return found?.userId === user.id ? found.message : undefined;
	}

	/** Changes the state of all interactions that still wait for a response to "failed". */
	close(): void {
		for (const live of this.#all.values()) {
			clearTimeout(live.timer);
			if (live.state === "waiting") this.#fail(live);
		}
	}

	#live({ id }: Interaction): Live {
		const live = this.#all.get(id);
		if (!live) throw new Error(`unknown interaction ${id}`);
		return live;
	}

	/** The fields of a response message that say to which interaction and to which message it responds. */
	#origin(interaction: Interaction): Partial<NewMessage> {
		const { application, id, user, message, command } = interaction;
		const first = interaction.original;
		const answers = first ?? message;
		return {
			application_id: application.user.id,
			webhook_id: application.user.id,
			type: answers ? MessageType.Reply : MessageType.ChatInputCommand,
			...(answers && {
				message_reference: referenceTo(answers, interaction.channel),
			}),
			interaction_metadata: {
				id,
				user,
				authorizing_integration_owners: ownersOf(interaction),
				...(first && { original_response_message_id: first.id }),
				...(message
					? {
							type: InteractionType.MessageComponent,
							interacted_message_id: message.id,
						}
					: { type: InteractionType.ApplicationCommand }),
			},
			...(command && {
				interaction: { id, type: interaction.type, name: command.name, user },
			}),
		};
	}

	#event(interaction: Interaction): EventPayloads["INTERACTION_CREATE"] {
		const { id, token, application, type, data, message } = interaction;
		const reader = { id: application.user.id, seesContent: true };
		const common = {
			id,
			token,
			application_id: application.user.id,
			version,
			...interaction.place,
			locale: Locale.EnglishUS,
			entitlements: [],
			authorizing_integration_owners: ownersOf(interaction),
			context: inGuild(interaction.channel)
				? InteractionContextType.Guild
				: InteractionContextType.BotDM,
			attachment_size_limit: 10 * 1024 * 1024,
		};
		if (type === InteractionType.ApplicationCommand)
			return { ...common, type, data };
		const shown = this.world.messages.serialize(message, reader);
		return { ...common, type, data, message: shown };
	}
}

function notifyChange(live: Live): void {
	const { changed } = live;
	live.changed = Promise.withResolvers();
	changed.resolve();
}

/**
 * Returns the API field `authorizing_integration_owners`: the guild in which the application is installed, or "0" in
 * DMs.
 */
function ownersOf({
	channel,
}: {
	channel: Channel;
}): Sent<APIAuthorizingIntegrationOwnersMap> {
	return { "0": inGuild(channel) ? channel.guild_id : "0" };
}

/** Creates an interaction token in Discord's format: the interaction id, then random characters, in base64url. */
function newInteractionToken(id: string): string {
	const random = randomBytes(48).toString("base64url");
	return Buffer.from(`interaction:${id}:${random}`).toString("base64url");
}
