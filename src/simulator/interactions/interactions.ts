// Interactions: someone uses a command, button, select menu or modal, and the application responds. A response can be ephemeral: only
// that person sees it, and it is in no channel.
// https://discord.com/developers/docs/interactions/receiving-and-responding

import { randomBytes } from "node:crypto";
import { type InteractionResponseType, MessageFlags } from "discord.js";
import { type MessageChanges, newMessage } from "../world/messages/messages.ts";
import { inGuild, type Message, type NewMessage, type User } from "../world/state/entities.ts";
import { Subscribers } from "../world/state/events.ts";
import { timeOf } from "../world/state/snowflake.ts";
import { apply } from "../world/state/state.ts";
import type { World } from "../world/world.ts";
import { eventOf, type Interaction, type Invocation, originOf, type Response } from "./interaction.ts";

export interface InteractionTiming {
	/** Time within which an application must send its first response to a slash command or button, in milliseconds. */
	acknowledgeMs: number;
	/** In which the application can edit its response and send follow-up messages, in milliseconds. */
	interactionTokenMs: number;
}

export const discordInteractionTiming: InteractionTiming = { acknowledgeMs: 3000, interactionTokenMs: 15 * 60 * 1000 };

export class Interactions {
	readonly #all = new Map<string, Interaction>();
	readonly #ephemeral = new Map<string, { message: Message; userId: string }>();
	readonly #edits = new Map<string, readonly string[]>();
	/** Notified of every new interaction, and again after the application's response or a timeout has changed it. */
	readonly changed = new Subscribers<Interaction>();

	constructor(
		private readonly world: World,
		private readonly timing: InteractionTiming,
	) {}

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

	isOver({ id }: Interaction): boolean {
		return Date.now() - timeOf(id) > this.timing.interactionTokenMs;
	}

	begin(invocation: Invocation): Interaction {
		const id = this.world.state.newId();
		const secret = randomBytes(48).toString("base64url");
		const interaction: Interaction = {
			...invocation,
			id,
			token: Buffer.from(`interaction:${id}:${secret}`).toString("base64url"),
			state: "waiting",
			answer: undefined,
			followUps: [],
			changed: Promise.withResolvers(),
			timer: setTimeout(() => this.#fail(interaction), this.timing.acknowledgeMs),
		};
		this.#all.set(id, interaction);
		this.changed.notify(interaction);
		const { application, channel } = interaction;
		const data = eventOf(this.world, interaction);
		this.world.state.dispatch({
			type: "INTERACTION_CREATE",
			...(inGuild(channel) && { guildId: channel.guild_id }),
			only: [application.user.id],
			always: application.user.id,
			data: () => data,
		});
		return interaction;
	}

	#fail(interaction: Interaction): void {
		interaction.state = "failed";
		this.#notify(interaction);
	}

	acknowledge(interaction: Interaction, answer: InteractionResponseType, response: Response): void {
		clearTimeout(interaction.timer);
		Object.assign(interaction, { state: "acknowledged", answer, ...response });
		this.#notify(interaction);
	}

	/** Resolves with the first result of `look`, called now and after each change, that is not undefined. */
	async until<T>(interaction: Interaction, look: () => T | undefined): Promise<T> {
		for (;;) {
			const found = look();
			if (found !== undefined) return found;
			await interaction.changed.promise;
		}
	}

	// Messages

	/** A message of the application. If it is ephemeral, only the user of the interaction sees it. */
	write(interaction: Interaction, given: NewMessage): Message {
		const { application, channel, user } = interaction;
		const whole = { ...given, ...originOf(interaction) };
		const ephemeral = ((given.flags ?? 0) & MessageFlags.Ephemeral) !== 0;
		if (!ephemeral) return this.world.messages.add(channel, application.user, whole);
		const id = this.world.state.newId();
		const message = newMessage(id, channel.id, application.user, whole);
		this.#ephemeral.set(id, { message, userId: user.id });
		return message;
	}

	followUp(interaction: Interaction, given: NewMessage): Message {
		const message = this.write(interaction, given);
		interaction.followUps.push(message);
		this.#notify(interaction);
		return message;
	}

	/** Edits a response message of the application. Editing a deferred response ("thinking…") completes the response. */
	edit(interaction: Interaction, message: Message, changes: MessageChanges): void {
		const thinking = (message.flags & MessageFlags.Loading) !== 0;
		const whole = { ...changes, flags: (changes.flags ?? message.flags) & ~MessageFlags.Loading };
		if (this.#ephemeral.has(message.id)) {
			apply(message, whole);
			message.edited_timestamp = new Date().toISOString();
		} else this.world.messages.edit(interaction.channel, message, whole);
		if (!thinking) this.#edits.set(message.id, [...this.editsOf(message), message.content]);
		this.#notify(interaction);
	}

	remove(interaction: Interaction, message: Message): void {
		if (!this.#ephemeral.delete(message.id))
			this.world.messages.remove(interaction.channel, message, { actor: interaction.application.user.id });
		this.#notify(interaction);
	}

	exists({ id, channel_id }: Message): boolean {
		return this.#ephemeral.has(id) || this.world.messages.get(channel_id, id) !== undefined;
	}

	editsOf({ id }: Message): readonly string[] {
		return this.#edits.get(id) ?? [];
	}

	/** Returns the ephemeral message with this id; undefined if there is none or `user` cannot see it. */
	ephemeral(id: string, user: User): Message | undefined {
		const found = this.#ephemeral.get(id);
		return found?.userId === user.id ? found.message : undefined;
	}

	close(): void {
		for (const live of this.#all.values()) {
			clearTimeout(live.timer);
			if (live.state === "waiting") this.#fail(live);
		}
	}

	#notify(interaction: Interaction): void {
		const { changed } = interaction;
		interaction.changed = Promise.withResolvers();
		changed.resolve();
		this.changed.notify(interaction);
	}
}
