// Reactions: an emoji on a message, with the users who added it.

import type {
	Channel,
	Emoji,
	Message,
	Reaction,
	User,
} from "../state/entities.ts";
import { inGuild } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import type { State } from "../state/state.ts";

export class Reactions {
	readonly #state: State;

	constructor(state: State) {
		this.#state = state;
	}

	/** Adds a user's reaction. Does nothing if it is there. */
	add(channel: Channel, message: Message, user: User, emoji: Emoji): void {
		const known = reactionWith(message, emoji);
		if (known?.userIds.includes(user.id)) return;
		const userIds = [...(known?.userIds ?? []), user.id];
		message.reactions = known
			? message.reactions.map((one) =>
					one === known ? { emoji: one.emoji, userIds } : one,
				)
			: [...message.reactions, { emoji, userIds }];
		const guild = inGuild(channel) ? this.#state.guildOf(channel) : undefined;
		const member = guild?.members.get(user.id);
		this.#state.dispatchToChannel("MESSAGE_REACTION_ADD", channel, () => ({
			...reactionEvent(message, user, emoji),
			message_author_id: message.author.id,
			...(member ? { member: serialize.member(member) } : {}),
		}));
	}

	remove(channel: Channel, message: Message, user: User, emoji: Emoji): void {
		const known = reactionWith(message, emoji);
		if (!known?.userIds.includes(user.id)) return;
		const userIds = known.userIds.filter((id) => id !== user.id);
		message.reactions = message.reactions.flatMap((one) => {
			if (one !== known) return [one];
			return userIds.length > 0 ? [{ emoji: one.emoji, userIds }] : [];
		});
		this.#state.dispatchToChannel("MESSAGE_REACTION_REMOVE", channel, () =>
			reactionEvent(message, user, emoji),
		);
	}

	/** Removes all reactions from a message, or all with one emoji. */
	clear(channel: Channel, message: Message, emoji?: Emoji): void {
		const removed = emoji && reactionWith(message, emoji);
		message.reactions = emoji
			? message.reactions.filter((one) => one !== removed)
			: [];
		this.#state.dispatchToChannel(
			emoji ? "MESSAGE_REACTION_REMOVE_EMOJI" : "MESSAGE_REACTION_REMOVE_ALL",
			channel,
			() => ({ message_id: message.id, ...(emoji ? { emoji } : {}) }),
		);
	}
}

/** The reaction with this emoji. Custom emoji are compared by id only. */
export function reactionWith(
	{ reactions }: Message,
	{ id, name }: Emoji,
): Reaction | undefined {
	return reactions.find(({ emoji }) =>
		id === null ? emoji.id === null && emoji.name === name : emoji.id === id,
	);
}

function reactionEvent(message: Message, user: User, emoji: Emoji) {
	return {
		user_id: user.id,
		message_id: message.id,
		emoji,
		burst: false,
		type: 0,
	};
}
