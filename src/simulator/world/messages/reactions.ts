// Reactions: an emoji on a message, with the users who added it.
//
// A gap: Super (burst) reactions are not added over REST, which bots cannot (`world.reactions.add` can).

import type { Channel, Emoji, Message, Reaction, User } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import type { State } from "../state/state.ts";

export class Reactions {
	constructor(private readonly state: State) {}

	/** Normal, or super ("burst"). Does nothing if the user has already reacted with this emoji. */
	add(channel: Channel, message: Message, user: User, emoji: Emoji, burst = false): void {
		const known = reactionWith(message, emoji) ?? { emoji, userIds: [] };
		const ids = idsOf(known, burst);
		if (ids.includes(user.id)) return;
		this.#set(message, known, burst, [...ids, user.id]);
		const member = this.state.memberIn(channel, user.id);
		this.state.dispatchToChannel("MESSAGE_REACTION_ADD", channel, {
			...reactionEvent(message, user, emoji, burst),
			burst_colors: burst ? serialize.burstColors : undefined,
			message_author_id: message.author.id,
			member: member && serialize.member(member),
		});
	}

	remove(channel: Channel, message: Message, user: User, emoji: Emoji, burst = false): void {
		const known = reactionWith(message, emoji);
		const ids = known ? idsOf(known, burst) : [];
		if (!known || !ids.includes(user.id)) return;
		const others = ids.filter((id) => id !== user.id);
		this.#set(message, known, burst, others);
		this.state.dispatchToChannel("MESSAGE_REACTION_REMOVE", channel, reactionEvent(message, user, emoji, burst));
	}

	#set(message: Message, known: Reaction, burst: boolean, ids: readonly string[]): void {
		const changed = { ...known, [burst ? "burstUserIds" : "userIds"]: ids };
		const isEmpty = idsOf(changed).length + idsOf(changed, true).length === 0;
		const at = message.reactions.indexOf(known);
		message.reactions = message.reactions.toSpliced(
			at < 0 ? message.reactions.length : at,
			1,
			...(isEmpty ? [] : [changed]),
		);
	}

	clear(channel: Channel, message: Message, emoji?: Emoji): void {
		const removed = emoji && reactionWith(message, emoji);
		message.reactions = emoji ? message.reactions.filter((one) => one !== removed) : [];
		const where = { message_id: message.id };
		if (emoji) this.state.dispatchToChannel("MESSAGE_REACTION_REMOVE_EMOJI", channel, { ...where, emoji });
		else this.state.dispatchToChannel("MESSAGE_REACTION_REMOVE_ALL", channel, where);
	}
}

/** Those with a normal reaction; with `burst` those with a super reaction. */
export function idsOf({ userIds, burstUserIds = [] }: Reaction, burst = false): readonly string[] {
	return burst ? burstUserIds : userIds;
}

/** A message's reaction with this emoji, or undefined if there is none. Custom emoji are compared by id only. */
export function reactionWith({ reactions }: Message, { id, name }: Emoji): Reaction | undefined {
	return reactions.find(({ emoji }) => (id === null ? emoji.id === null && emoji.name === name : emoji.id === id));
}

function reactionEvent({ id }: Message, user: User, emoji: Emoji, burst: boolean) {
	return { user_id: user.id, message_id: id, emoji, burst, type: burst ? 1 : 0 };
}
