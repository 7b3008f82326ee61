// Messages of all channels, in order of their ids: reading, writing, editing, deleting and pinning.
//
// A gap: Links have no embeds.

import { type APIMessage, MessageType } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { EventPayloads, Sent } from "../state/api-types.ts";
import {
	type Channel,
	type GuildPlace,
	inGuild,
	isText,
	isThread,
	type Message,
	type NewMessage,
	type Snapshot,
	type User,
} from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import { timeOf } from "../state/snowflake.ts";
import {
	type Attribution,
	type AuditAction,
	apply,
	type Changes,
	placeOf,
	type State,
	viewersOf,
} from "../state/state.ts";
import { isStart, Threads } from "./threads.ts";

/** With default values and the time in `id`. Adds it to no channel. */
export function newMessage(id: string, channelId: string, author: User, given: NewMessage): Message {
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

/** With `referenced_message`: https://discord.com/developers/docs/resources/message#message-object */
const withReferenced: readonly MessageType[] = [
	MessageType.Reply,
	MessageType.ThreadStarterMessage,
	MessageType.ContextMenuCommand,
];

/** Type 0 in a reply or system message, type 1 in a forward. */
export function referenceTo(message: Pick<Message, "id">, channel: Channel, type: 0 | 1 = 0) {
	return {
		type,
		message_id: message.id,
		channel_id: channel.id,
		...(inGuild(channel) && { guild_id: channel.guild_id }),
	};
}

/** `around` takes precedence over `before`, and `before` over `after`. */
export interface Page {
	limit: number;
	around?: string | undefined;
	before?: string | undefined;
	after?: string | undefined;
}

export type MessageChanges = Changes<
	Omit<Snapshot, "type" | "timestamp" | "edited_timestamp"> & Pick<Message, "mention_everyone">
>;

export class Messages {
	readonly threads: Threads;
	/** Message ids by "AUTHOR_ID CHANNEL_ID NONCE". Those of deleted messages stay. */
	readonly nonces = new Map<string, string>();
	readonly #byChannel = new Map<string, Message[]>();

	constructor(private readonly state: State) {
		this.threads = new Threads(state, this);
	}

	in(channelId: string): readonly Message[] {
		return this.#byChannel.get(channelId) ?? [];
	}

	get(channelId: string, id: string): Message | undefined {
		const messages = this.in(channelId);
		const found = messages[indexOf(messages, id)];
		return found?.id === id ? found : undefined;
	}

	#insert(message: Message): void {
		const messages = this.#byChannel.get(message.channel_id) ?? [];
		this.#byChannel.set(message.channel_id, messages);
		messages.splice(indexOf(messages, message.id), 0, message);
	}

	#delete(channel: Channel, message: Message): void {
		const messages = this.#byChannel.get(channel.id) ?? [];
		const index = messages.indexOf(message);
		if (index < 0) return;
		messages.splice(index, 1);
		if (isThread(channel) && !isStart(channel, message)) channel.message_count -= 1;
	}

	removeChannel(channelId: string): void {
		this.#byChannel.delete(channelId);
	}

	/** The pinned messages of a channel, last pinned first. */
	pinned(channelId: string): Message[] {
		const at = (message: Message) => Date.parse(message.pinned_at ?? "");
		return this.in(channelId)
			.filter(({ pinned_at }) => pinned_at !== null)
			.toSorted((a, b) => at(b) - at(a) || compareIds(b.id, a.id));
	}

	/** At most `limit`, newest first: those around, before or after an id, otherwise the latest. */
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

	add(channel: Channel, author: User, given: NewMessage): Message {
		const message = newMessage(given.id ?? this.state.newId(), channel.id, author, given);
		this.#insert(message);
		channel.last_message_id = this.in(channel.id).at(-1)?.id ?? null;
		this.dispatch("MESSAGE_CREATE", channel, message);
		if (isThread(channel)) this.threads.messageAdded(channel, message);
		return message;
	}

	edit(channel: Channel, message: Message, changes: MessageChanges): void {
		apply(message, changes);
		message.edited_timestamp = new Date().toISOString();
		this.dispatch("MESSAGE_UPDATE", channel, message);
	}

	remove(channel: Channel, message: Message, by?: Attribution): void {
		this.#delete(channel, message);
		const { id, author } = message;
		this.state.dispatchToChannel("MESSAGE_DELETE", channel, { id });
		// Discord does not log authors who delete their own messages, and bots that delete single messages.
		// https://github.com/discord/discord-api-docs/issues/7856
		const isBot = this.state.users.get(by?.actor ?? "")?.bot === true;
		if (!inGuild(channel) || isBot || by?.actor === author.id) return;
		this.state.auditCounted(this.state.guildOf(channel), by, "MessageDelete", author.id, channel.id);
	}

	removeMany(channel: GuildPlace, messages: readonly Message[], by?: Attribution): void {
		for (const message of messages) this.#delete(channel, message);
		const ids = messages.map(({ id }) => id);
		this.state.dispatchToChannel("MESSAGE_DELETE_BULK", channel, { ids });
		this.#audit(channel, by, "MessageBulkDelete", channel.id, { count: String(ids.length) });
	}

	pin(channel: Channel, message: Message, user: User, by?: Attribution): void {
		message.pinned_at = new Date().toISOString();
		this.#notePin(channel, message, "MessagePin", by);
		this.add(channel, user, {
			content: "",
			type: MessageType.ChannelPinnedMessage,
			message_reference: referenceTo(message, channel),
		});
	}

	unpin(channel: Channel, message: Message, by?: Attribution): void {
		message.pinned_at = null;
		this.#notePin(channel, message, "MessageUnpin", by);
	}

	#notePin(channel: Channel, message: Message, action: AuditAction, by: Attribution | undefined): void {
		this.dispatch("MESSAGE_UPDATE", channel, message);
		const [latest] = this.pinned(channel.id);
		this.state.dispatchToChannel("CHANNEL_PINS_UPDATE", channel, { last_pin_timestamp: latest?.pinned_at ?? null });
		this.#audit(channel, by, action, message.author.id, { channel_id: channel.id, message_id: message.id });
	}

	#audit(
		channel: Channel,
		by: Attribution | undefined,
		action: AuditAction,
		targetId: string,
		options: Record<string, string>,
	): void {
		if (inGuild(channel)) this.state.audit(this.state.guildOf(channel), by, action, targetId, { options });
	}

	startTyping(channel: Channel, user: User): void {
		const member = this.state.memberIn(channel, user.id);
		this.state.dispatchToChannel("TYPING_START", channel, {
			user_id: user.id,
			timestamp: Math.floor(Date.now() / 1000),
			member: member && serialize.member(member),
		});
	}

	/** With the thread that was started from the message and the message to which it replies. */
	serialize(message: Message, reader: serialize.MessageReader): Sent<APIMessage> {
		const channel = this.state.channels.get(message.channel_id);
		const guildId = channel && inGuild(channel) ? channel.guild_id : undefined;
		const reference = message.message_reference;
		const referenced =
			!withReferenced.includes(message.type) || reference?.message_id === undefined
				? undefined
				: (this.get(reference.channel_id, reference.message_id) ?? null);
		const thread = this.threads.startedFrom(message);
		return {
			...serialize.message(message, reader, guildId, referenced),
			thread: thread && serialize.thread(thread, reader.id),
		};
	}

	dispatch(type: "MESSAGE_CREATE" | "MESSAGE_UPDATE", channel: Channel, message: Message): void {
		const guild = inGuild(channel) ? this.state.guildOf(channel) : undefined;
		const member = guild?.members.get(message.author.id);
		const data = (reader: serialize.MessageReader): EventPayloads[typeof type] => ({
			...this.serialize(message, reader),
			...placeOf(channel),
			channel_type: isText(channel.type) ? channel.type : undefined,
			member: member && serialize.bareMember(member),
			mentions: message.mentions.map((user) => serialize.mention(user, guild)),
		});
		this.state.dispatch({ type, data, ...viewersOf(channel) });
	}
}

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
