// The messages of every channel, in order of their ids: looking one up, putting one in, taking out, and paging.

import type { Message, User } from "../state/entities.ts";
import { compareIds, timeOf } from "../state/snowflake.ts";

/** What a new message needs; the rest has defaults. `id` may be back-dated. */
export type NewMessage = Pick<Message, "content"> &
	Partial<Omit<Message, "channel_id" | "author" | "timestamp">>;

/** A message that is in no channel yet. */
export function newMessage(
	id: string,
	channelId: string,
	author: User,
	given: NewMessage,
): Message {
	return {
		type: 0,
		tts: false,
		mention_everyone: false,
		mentions: [],
		mention_roles: [],
		attachments: [],
		embeds: [],
		components: [],
		pinned_at: null,
		reactions: [],
		flags: 0,
		edited_timestamp: null,
		...given,
		id,
		channel_id: channelId,
		author,
		timestamp: new Date(timeOf(id)).toISOString(),
	};
}

/** Which part of a channel to read: at most one of the three borders counts, in this order. */
export interface Page {
	readonly limit: number;
	readonly around?: string | undefined;
	readonly before?: string | undefined;
	readonly after?: string | undefined;
}

export class MessageStore {
	readonly #channels = new Map<string, Message[]>();

	/** All messages of a channel, oldest first. */
	in(channelId: string): readonly Message[] {
		return this.#channels.get(channelId) ?? [];
	}

	get(channelId: string, id: string): Message | undefined {
		const messages = this.in(channelId);
		const found = messages[indexOf(messages, id)];
		return found?.id === id ? found : undefined;
	}

	/** Usually at the end; a back-dated message goes where its id belongs. */
	put(message: Message): void {
		const messages = this.#channels.get(message.channel_id) ?? [];
		this.#channels.set(message.channel_id, messages);
		messages.splice(indexOf(messages, message.id), 0, message);
	}

	remove(message: Message): void {
		const messages = this.#channels.get(message.channel_id) ?? [];
		const index = messages.indexOf(message);
		if (index >= 0) messages.splice(index, 1);
	}

	removeChannel(channelId: string): void {
		this.#channels.delete(channelId);
	}

	/** The pinned messages of a channel, the latest pin first. */
	pinned(channelId: string): Message[] {
		const at = (message: Message) => Date.parse(message.pinned_at ?? "");
		return this.in(channelId)
			.filter(({ pinned_at }) => pinned_at !== null)
			.toSorted((a, b) => at(b) - at(a) || compareIds(b.id, a.id));
	}

	/** A page of a channel, newest first, as Discord lists it. */
	page(channelId: string, { limit, around, before, after }: Page): Message[] {
		const messages = this.in(channelId);
		let end = messages.length;
		let start = end - limit;
		if (around !== undefined) {
			start = indexOf(messages, around) - Math.floor(limit / 2);
			end = start + limit;
		} else if (before !== undefined) {
			end = indexOf(messages, before);
			start = end - limit;
		} else if (after !== undefined) {
			const index = indexOf(messages, after);
			start = messages[index]?.id === after ? index + 1 : index;
			end = start + limit;
		}
		return messages.slice(Math.max(0, start), Math.max(0, end)).reverse();
	}
}

/** Where the message with this id is, or would be. */
function indexOf(messages: readonly Message[], id: string): number {
	let low = 0;
	let high = messages.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		const at = messages[middle];
		if (at && compareIds(at.id, id) < 0) low = middle + 1;
		else high = middle;
	}
	return low;
}
