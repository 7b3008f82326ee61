// Interactions: someone runs a slash command or presses a button, the application is told and answers. An answer can be
// ephemeral: a message for that person alone, which is in no channel.
// https://discord.com/developers/docs/interactions/receiving-and-responding

import { randomBytes } from "node:crypto";
import {
	type InteractionResponseType,
	type InteractionType,
	MessageFlags,
	MessageType,
} from "discord.js";
import {
	type MessageChanges,
	type NewMessage,
	newMessage,
} from "../world/messages/messages.ts";
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

/** A command or button that someone may use, as the application receives it. */
export interface Invocation {
	readonly type:
		| InteractionType.ApplicationCommand
		| InteractionType.MessageComponent;
	readonly application: Account;
	readonly user: User;
	readonly channel: Channel;
	/** The command with its options, or the button. */
	readonly data: Readonly<Record<string, unknown>>;
	/** The guild, channel and member or user. */
	readonly place: Readonly<Record<string, unknown>>;
	readonly command?: Command;
	/** The message with the button. */
	readonly message?: Message;
}

export interface InteractionTiming {
	/** How long an application may take for its first answer. */
	readonly acknowledgeMs: number;
	/** How long it can edit its answer and add to it. */
	readonly interactionTokenMs: number;
}

export const discordInteractionTiming: InteractionTiming = {
	acknowledgeMs: 3000,
	interactionTokenMs: 15 * 60 * 1000,
};

/** One use of a command or a button, and what came of it. */
export interface Interaction extends Invocation {
	readonly id: string;
	/** Whoever has it may answer. */
	readonly token: string;
	/** "waiting" until the application answers; "failed" when it did not in time. */
	readonly state: "waiting" | "failed" | "acknowledged";
	/** How it was answered first. */
	readonly answer: InteractionResponseType | undefined;
	/** The first answer's message; for an update the message with the button. */
	readonly original: Message | undefined;
	readonly followUps: readonly Message[];
}

interface Live extends Interaction {
	state: Interaction["state"];
	answer: Interaction["answer"];
	original: Message | undefined;
	readonly followUps: Message[];
	timer: Timer;
	/** Resolves at the next change. */
	changed: PromiseWithResolvers<void>;
}

export class Interactions {
	readonly #world: World;
	readonly #timing: InteractionTiming;
	/** By id, oldest first. */
	readonly #all = new Map<string, Live>();
	/** Ephemeral messages by id, each with the one who sees it. */
	readonly #ephemeral = new Map<string, { message: Message; userId: string }>();

	/** By message id. */
	readonly #edits = new Map<string, readonly string[]>();

	constructor(world: World, timing: InteractionTiming) {
		this.#world = world;
		this.#timing = timing;
	}

	/** All there were, oldest first. */
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

	/** Whether its token is too old to be used. */
	isOver({ id }: Interaction): boolean {
		return ageMs(id) > this.#timing.interactionTokenMs;
	}

	/** Tells the application; from now on the time for its answer runs. */
	begin(invocation: Invocation): Interaction {
		const id = this.#world.state.newId();
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
				this.#timing.acknowledgeMs,
			),
		};
		this.#all.set(id, interaction);
		const { application, channel } = interaction;
		const data = this.#event(interaction);
		this.#world.state.dispatch({
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
		tellChange(interaction);
	}

	/** The first answer. `original` is its message, or for an update the one with the button. */
	acknowledge(
		interaction: Interaction,
		answer: InteractionResponseType,
		original: Message | undefined,
	): void {
		const live = this.#live(interaction);
		clearTimeout(live.timer);
		Object.assign(live, { state: "acknowledged", answer, original });
		tellChange(live);
	}

	/** Resolves with the first value of `look` that is not undefined, looked for at each change. */
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

	/** A message in answer, in the channel or for that person alone. */
	write(interaction: Interaction, given: NewMessage): Message {
		const { application, channel, user } = interaction;
		const whole = { ...given, ...this.#origin(interaction) };
		const ephemeral = ((given.flags ?? 0) & MessageFlags.Ephemeral) !== 0;
		if (!ephemeral)
			return this.#world.messages.add(channel, application.user, whole);
		const id = this.#world.state.newId();
		const message = newMessage(id, channel.id, application.user, whole);
		this.#ephemeral.set(id, { message, userId: user.id });
		return message;
	}

	/** A message after the first answer. */
	followUp(interaction: Interaction, given: NewMessage): Message {
		const message = this.write(interaction, given);
		const live = this.#live(interaction);
		live.followUps.push(message);
		tellChange(live);
		return message;
	}

	/** Changes a message of the answer; one that was being thought about is there then. */
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
		} else this.#world.messages.edit(interaction.channel, message, whole);
		if (!thinking)
			this.#edits.set(message.id, [...this.editsOf(message), message.content]);
		tellChange(live);
	}

	remove(interaction: Interaction, message: Message): void {
		if (!this.#ephemeral.delete(message.id))
			this.#world.messages.remove(interaction.channel, message, {
				actor: interaction.application.user.id,
			});
		tellChange(this.#live(interaction));
	}

	/** Whether a message is still there. */
	exists({ id, channel_id }: Message): boolean {
		return (
			this.#ephemeral.has(id) ||
			this.#world.messages.get(channel_id, id) !== undefined
		);
	}

	/** The contents that answers to interactions gave to a message by editing it, in order. */
	editsOf({ id }: Message): readonly string[] {
		return this.#edits.get(id) ?? [];
	}

	/** An ephemeral message, for the one who sees it. */
	ephemeral(id: string, user: User): Message | undefined {
		const found = this.#ephemeral.get(id);
		return found?.userId === user.id ? found.message : undefined;
	}

	/** Who waits for an answer waits no longer. */
	close(): void {
		for (const live of this.#all.values()) {
			clearTimeout(live.timer);
			if (live.state === "waiting") this.#fail(live);
		}
	}

	#live({ id }: Interaction): Live {
		const live = this.#all.get(id);
		if (!live) throw new Error(`interaction ${id} is not one of ours`);
		return live;
	}

	/** What a message says of the interaction it comes from, and which message it answers. */
	#origin(interaction: Interaction): Partial<NewMessage> {
		const { application, type, id, user, message, command } = interaction;
		const first = interaction.original;
		const answers = first ?? message;
		return {
			application_id: application.user.id,
			webhook_id: application.user.id,
			type: answers ? MessageType.Reply : MessageType.ChatInputCommand,
			...(answers
				? { message_reference: referenceTo(answers, interaction.channel) }
				: {}),
			interaction_metadata: {
				id,
				type,
				user,
				authorizing_integration_owners: ownersOf(interaction),
				...(command ? { name: command.name } : {}),
				...(message ? { interacted_message_id: message.id } : {}),
				...(first ? { original_response_message_id: first.id } : {}),
			},
			...(command
				? { interaction: { id, type, name: command.name, user } }
				: {}),
		};
	}

	#event(interaction: Interaction): Record<string, unknown> {
		const { id, token, application, type, data, message } = interaction;
		return {
			id,
			token,
			type,
			data,
			application_id: application.user.id,
			version: 1,
			...interaction.place,
			...(message
				? {
						message: this.#world.messages.serialize(message, {
							id: application.user.id,
							seesContent: true,
						}),
					}
				: {}),
			locale: "en-US",
			entitlements: [],
			entitlement_sku_ids: [],
			authorizing_integration_owners: ownersOf(interaction),
			context: inGuild(interaction.channel) ? 0 : 1,
			attachment_size_limit: 10 * 1024 * 1024,
		};
	}
}

function tellChange(live: Live): void {
	const { changed } = live;
	live.changed = Promise.withResolvers();
	changed.resolve();
}

/** To whom the application was added: the guild, or the person in a direct channel. */
function ownersOf({ channel }: { channel: Channel }): Record<string, string> {
	return { "0": inGuild(channel) ? channel.guild_id : "0" };
}

function referenceTo(message: Message, channel: Channel) {
	return {
		type: 0,
		message_id: message.id,
		channel_id: channel.id,
		...(inGuild(channel) ? { guild_id: channel.guild_id } : {}),
	} as const;
}

/** As Discord's: it names its interaction, and the rest is random. */
function newInteractionToken(id: string): string {
	const random = randomBytes(48).toString("base64url");
	return Buffer.from(`interaction:${id}:${random}`).toString("base64url");
}

function ageMs(id: string): number {
	return Date.now() - timeOf(id);
}
