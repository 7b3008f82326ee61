// Threads and forum posts: creating, editing and deleting them, their members, and how messages affect them.
// https://discord.com/developers/docs/topics/threads
//
// A gap: Threads are not archived by inactivity, and new threads have no slow mode.

import { ChannelType, MessageFlags, MessageType } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import {
	type Channel,
	type Guild,
	type GuildChannel,
	holdsPosts,
	type Message,
	type NewMessage,
	type Thread,
	type ThreadType,
	type User,
} from "../state/entities.ts";
import type { EventType, WorldEvent } from "../state/events.ts";
import { channelPermissions, has } from "../state/permissions.ts";
import * as serialize from "../state/serialize.ts";
import { type Attribution, apply, type Changes, permittedIn, type State, viewersOf } from "../state/state.ts";

export type ThreadChanges = Changes<Omit<ReturnType<typeof auditFields>, "type">>;

export type NewThread = ThreadChanges & {
	name: string;
	/** Default: an announcement thread in an announcement channel, otherwise a public thread. */
	type?: ThreadType | undefined;
	/** The message from which the thread is started. The thread gets the message's id. */
	message?: Message | undefined;
	id?: string | undefined;
};

interface ThreadMessages {
	get(channelId: string, id: string): Message | undefined;
	add(channel: Channel, author: User, given: NewMessage): Message;
	dispatch(type: "MESSAGE_UPDATE", channel: Channel, message: Message): void;
	removeChannel(channelId: string): void;
}

export class Threads {
	constructor(
		private readonly state: State,
		private readonly messages: ThreadMessages,
	) {}

	/** The owner is the only member. A system message announces public threads. */
	add(parent: GuildChannel, owner: User, given: NewThread, by?: Attribution): Thread {
		const { state } = this;
		const guild = state.guildOf(parent);
		const { message, type = publicTypeIn(parent), id, ...changes } = given;
		const now = new Date().toISOString();
		const thread: Thread = {
			id: message?.id ?? id ?? state.newId(),
			guild_id: guild.id,
			parent_id: parent.id,
			type,
			owner_id: owner.id,
			create_timestamp: now,
			name: given.name,
			rate_limit_per_user: parent.default_thread_rate_limit_per_user,
			last_message_id: null,
			message_count: 0,
			total_message_sent: 0,
			archived: false,
			archive_timestamp: now,
			auto_archive_duration: 1440,
			locked: false,
			invitable: true,
			...(holdsPosts(parent) && { applied_tags: [] }),
			flags: 0,
			members: new Map([[owner.id, now]]),
		};
		apply(thread, changes);
		guild.threads.set(thread.id, thread);
		state.channels.set(thread.id, thread);
		this.#dispatch("THREAD_CREATE", thread, (reader) => ({
			...serialize.thread(thread, reader.id),
			newly_created: true,
		}));
		this.#dispatchMember(thread, owner.id, true);
		this.#announce(parent, thread, owner, message);
		state.audit(guild, by, "ThreadCreate", thread.id, { after: auditFields(thread) });
		return thread;
	}

	/** In the thread if a message started it, else in the parent channel. Not for private threads and forum posts. */
	#announce(parent: GuildChannel, thread: Thread, owner: User, message: Message | undefined): void {
		const { guild_id } = thread;
		if (message) {
			message.flags |= MessageFlags.HasThread;
			this.messages.dispatch("MESSAGE_UPDATE", parent, message);
			this.messages.add(thread, message.author, {
				content: "",
				type: MessageType.ThreadStarterMessage,
				message_reference: { type: 0, guild_id, channel_id: parent.id, message_id: message.id },
			});
		} else if (thread.type !== ChannelType.PrivateThread && !holdsPosts(parent))
			this.messages.add(parent, owner, {
				content: thread.name,
				type: MessageType.ThreadCreated,
				message_reference: { type: 0, guild_id, channel_id: thread.id },
			});
	}

	edit(thread: Thread, changes: ThreadChanges, by?: Attribution): void {
		const before = auditFields(thread);
		const active =
			(changes.archived ?? thread.archived) !== thread.archived ||
			(changes.auto_archive_duration ?? thread.auto_archive_duration) !== thread.auto_archive_duration;
		apply<Thread>(thread, changes);
		if (active) thread.archive_timestamp = new Date().toISOString();
		this.#dispatch("THREAD_UPDATE", thread, (reader) => serialize.thread(thread, reader.id));
		const guild = this.state.guildOf(thread);
		this.state.audit(guild, by, "ThreadUpdate", thread.id, { before, after: changes });
		const editor = guild.members.get(by?.actor ?? "")?.user;
		const { name: content } = thread;
		if (editor && content !== before.name)
			this.messages.add(thread, editor, { content, type: MessageType.ChannelNameChange });
	}

	remove(thread: Thread, by?: Attribution): void {
		const { state } = this;
		const { id, guild_id, parent_id, type } = thread;
		const removed = { id, guild_id, parent_id, type };
		this.#dispatch("THREAD_DELETE", thread, () => removed);
		this.forget(thread);
		const parent = state.channels.get(parent_id);
		const start = this.messages.get(parent_id, id);
		if (parent && start) {
			start.flags &= ~MessageFlags.HasThread;
			this.messages.dispatch("MESSAGE_UPDATE", parent, start);
		}
		state.audit(state.guildOf(thread), by, "ThreadDelete", id, { before: auditFields(thread) });
	}

	forget({ id, guild_id }: Thread): void {
		this.state.guilds.get(guild_id)?.threads.delete(id);
		this.state.channels.delete(id);
		this.messages.removeChannel(id);
	}

	in({ guild_id, id }: GuildChannel): Thread[] {
		const all = this.state.guilds.get(guild_id)?.threads.values() ?? [];
		return [...all].filter(({ parent_id }) => parent_id === id);
	}

	/** The threads of a guild that are not archived and that a user can view, newest first. */
	active(guild: Guild, userId: string): Thread[] {
		return [...guild.threads.values()]
			.filter(({ archived }) => !archived)
			.filter((one) => has(channelPermissions(guild, one, userId), "ViewChannel"))
			.sort((a, b) => compareIds(b.id, a.id));
	}

	startedFrom({ id, channel_id, flags }: Message): Thread | undefined {
		if ((flags & MessageFlags.HasThread) === 0) return undefined;
		for (const { threads } of this.state.guilds.values()) {
			const thread = threads.get(id);
			if (thread?.parent_id === channel_id) return thread;
		}
		return undefined;
	}

	// Members

	/** `by` is the user who added them. False if they were already a member. */
	join(thread: Thread, user: User, by = user): boolean {
		if (thread.members.has(user.id)) return false;
		thread.members.set(user.id, new Date().toISOString());
		// A new member receives the thread first.
		this.#dispatch("THREAD_CREATE", thread, () => serialize.thread(thread, user.id), [user.id]);
		this.#dispatchMember(thread, user.id, true);
		this.#notice(thread, MessageType.RecipientAdd, user, by);
		return true;
	}

	/** `by` is the user who removed them. False if they were not a member. */
	leave(thread: Thread, user: User, by = user): boolean {
		if (!thread.members.has(user.id)) return false;
		// Dispatched first: without membership a private thread is not visible.
		this.#dispatchMember(thread, user.id, false);
		this.#notice(thread, MessageType.RecipientRemove, user, by);
		thread.members.delete(user.id);
		return true;
	}

	#dispatchMember(thread: Thread, userId: string, isAdded: boolean): void {
		const guild = this.state.guildOf(thread);
		const member = serialize.threadMember(thread, userId, guild);
		const payload = {
			id: thread.id,
			guild_id: guild.id,
			member_count: Math.min(50, thread.members.size - (isAdded ? 0 : 1)),
			added_members: isAdded && member ? [member] : [],
			removed_member_ids: isAdded ? [] : [userId],
		};
		const to = { always: userId, ...permittedIn(thread, "ViewChannel") };
		this.state.dispatchToGuild("THREAD_MEMBERS_UPDATE", guild, payload, to);
	}

	// Messages

	#notice(thread: Thread, type: MessageType, user: User, by: User): void {
		if (by !== user) this.messages.add(thread, by, { content: "", type, mentions: [user] });
	}

	/** A guess (thread-notices): system messages about a name change or about members only increase the count. */
	messageAdded(thread: Thread, message: Message): void {
		if (isStart(thread, message)) return;
		const { author } = message;
		thread.message_count += 1;
		thread.total_message_sent += 1;
		const { ChannelNameChange, RecipientAdd, RecipientRemove } = MessageType;
		if ([ChannelNameChange, RecipientAdd, RecipientRemove].includes(message.type)) return;
		if (thread.archived) this.edit(thread, { archived: false });
		if (this.state.guildOf(thread).members.has(author.id)) this.join(thread, author);
	}

	#dispatch<T extends EventType>(type: T, thread: Thread, data: WorldEvent<T>["data"], only?: readonly string[]): void {
		this.state.dispatch<T>({ type, data, ...viewersOf(thread), ...(only && { only }) });
	}
}

/** Not counted: https://discord.com/developers/docs/resources/channel#channel-object-channel-structure */
export function isStart(thread: Thread, { id, type }: Message): boolean {
	return id === thread.id || type === MessageType.ThreadStarterMessage;
}

function publicTypeIn({ type }: GuildChannel): ThreadType {
	return type === ChannelType.GuildAnnouncement ? ChannelType.AnnouncementThread : ChannelType.PublicThread;
}

function auditFields(thread: Thread) {
	const { name, type, archived, locked, auto_archive_duration } = thread;
	const { rate_limit_per_user, invitable, applied_tags, flags } = thread;
	return {
		name,
		type,
		archived,
		locked,
		auto_archive_duration,
		rate_limit_per_user,
		flags,
		invitable: type === ChannelType.PrivateThread ? invitable : undefined,
		applied_tags,
	};
}
