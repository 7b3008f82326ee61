// Threads, and the posts of forums: how they begin, change and end, who is in them, and what messages do to them.
// https://discord.com/developers/docs/topics/threads

import {
	AuditLogEvent,
	ChannelType,
	MessageFlags,
	MessageType,
	PermissionFlagsBits,
} from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import {
	type Guild,
	type GuildChannel,
	holdsPosts,
	type Message,
	type Thread,
	type ThreadType,
	type User,
} from "../state/entities.ts";
import type { EventType, WorldEvent } from "../state/events.ts";
import { channelPermissions, has } from "../state/permissions.ts";
import * as serialize from "../state/serialize.ts";
import { compareIds } from "../state/snowflake.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";
import type { Messages } from "./messages.ts";
import { ThreadSync } from "./thread-sync.ts";

/** What may be changed of a thread. */
export type ThreadChanges = Changes<
	Pick<
		Thread,
		| "name"
		| "archived"
		| "locked"
		| "auto_archive_duration"
		| "rate_limit_per_user"
		| "invitable"
		| "applied_tags"
		| "flags"
	>
>;

/** What a new thread needs. */
export type NewThread = ThreadChanges & {
	name: string;
	/** A public one, or what its channel has instead, unless this says otherwise. */
	type?: ThreadType | undefined;
	/** The message that it starts from; both have the same id then. */
	message?: Message | undefined;
	/** Of a forum post, whose first message has the same id. */
	id?: string | undefined;
};

export class Threads {
	readonly #state: State;
	readonly #messages: Pick<
		Messages,
		"get" | "add" | "dispatch" | "removeChannel"
	>;

	constructor(state: State, messages: Messages) {
		this.#state = state;
		this.#messages = messages;
		new ThreadSync(state, this);
	}

	/** A new thread, with its owner as the only member. In the channel a message tells of a public one. */
	add(
		parent: GuildChannel,
		owner: User,
		given: NewThread,
		by?: Attribution,
	): Thread {
		const state = this.#state;
		const guild = state.guildOf(parent);
		const { message, type = publicTypeIn(parent), id, ...changes } = given;
		const now = new Date().toISOString();
		const isPost = holdsPosts(parent);
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
			auto_archive_duration: parent.default_auto_archive_duration ?? 4320,
			locked: false,
			invitable: true,
			...(isPost ? { applied_tags: [] } : {}),
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
		this.#dispatchMembers(thread, [owner.id], []);
		this.#announce(parent, thread, owner, message);
		state.audit(guild, by, AuditLogEvent.ThreadCreate, thread.id, {
			changes: changesBetween({}, logged(thread)),
		});
		return thread;
	}

	/** What is written of a new thread: in its channel, or, when it starts from a message, in itself. */
	#announce(
		parent: GuildChannel,
		thread: Thread,
		owner: User,
		message: Message | undefined,
	): void {
		const { guild_id } = thread;
		if (message) {
			message.flags |= MessageFlags.HasThread;
			this.#messages.dispatch("MESSAGE_UPDATE", parent, message);
			this.#messages.add(thread, message.author, {
				content: "",
				type: MessageType.ThreadStarterMessage,
				message_reference: {
					type: 0,
					guild_id,
					channel_id: parent.id,
					message_id: message.id,
				},
			});
		} else if (thread.type !== ChannelType.PrivateThread && !holdsPosts(parent))
			this.#messages.add(parent, owner, {
				content: thread.name,
				type: MessageType.ThreadCreated,
				message_reference: { type: 0, guild_id, channel_id: thread.id },
			});
	}

	edit(thread: Thread, changes: ThreadChanges, by?: Attribution): void {
		const before = logged(thread);
		const { archived, auto_archive_duration } = changes;
		const active =
			(archived ?? thread.archived) !== thread.archived ||
			(auto_archive_duration ?? thread.auto_archive_duration) !==
				thread.auto_archive_duration;
		apply(thread, changes);
		if (active) thread.archive_timestamp = new Date().toISOString();
		this.#dispatch("THREAD_UPDATE", thread, (reader) =>
			serialize.thread(thread, reader.id),
		);
		this.#state.audit(
			this.#state.guildOf(thread),
			by,
			AuditLogEvent.ThreadUpdate,
			thread.id,
			{ changes: changesBetween(before, changes) },
		);
	}

	/** The message that it started from stays. */
	remove(thread: Thread, by?: Attribution): void {
		const state = this.#state;
		const { id, guild_id, parent_id, type } = thread;
		this.#dispatch("THREAD_DELETE", thread, () => ({
			id,
			guild_id,
			parent_id,
			type,
		}));
		this.#forget(thread);
		const parent = state.channels.get(parent_id);
		const start = this.#messages.get(parent_id, id);
		if (parent && start) {
			start.flags &= ~MessageFlags.HasThread;
			this.#messages.dispatch("MESSAGE_UPDATE", parent, start);
		}
		state.audit(
			state.guildOf(thread),
			by,
			AuditLogEvent.ThreadDelete,
			thread.id,
			{ changes: changesBetween(logged(thread), {}) },
		);
	}

	/** All threads of a channel go with it; that the channel goes is all that is told. */
	removeIn(parent: GuildChannel): void {
		for (const thread of this.in(parent)) this.#forget(thread);
	}

	#forget({ id, guild_id }: Thread): void {
		this.#state.guilds.get(guild_id)?.threads.delete(id);
		this.#state.channels.delete(id);
		this.#messages.removeChannel(id);
	}

	/** The threads of a channel. */
	in({ guild_id, id }: GuildChannel): Thread[] {
		const all = this.#state.guilds.get(guild_id)?.threads.values() ?? [];
		return [...all].filter(({ parent_id }) => parent_id === id);
	}

	/** The active threads that someone may see, the newest first. */
	active(guild: Guild, userId: string): Thread[] {
		return [...guild.threads.values()]
			.filter(({ archived }) => !archived)
			.filter((one) =>
				has(
					channelPermissions(guild, one, userId),
					PermissionFlagsBits.ViewChannel,
				),
			)
			.sort((a, b) => compareIds(b.id, a.id));
	}

	/** The thread that was started from a message. */
	startedFrom({ id, channel_id, flags }: Message): Thread | undefined {
		if ((flags & MessageFlags.HasThread) === 0) return undefined;
		for (const { threads } of this.#state.guilds.values()) {
			const thread = threads.get(id);
			if (thread?.parent_id === channel_id) return thread;
		}
		return undefined;
	}

	// Members

	/** Someone is in the thread from now on; whether they were not before. */
	join(thread: Thread, user: User): boolean {
		if (thread.members.has(user.id)) return false;
		thread.members.set(user.id, new Date().toISOString());
		// Whoever comes to it must know of it first.
		this.#dispatch(
			"THREAD_CREATE",
			thread,
			() => serialize.thread(thread, user.id),
			[user.id],
		);
		this.#dispatchMembers(thread, [user.id], []);
		return true;
	}

	/** Someone is no longer in the thread; whether they were before. */
	leave(thread: Thread, user: User): boolean {
		if (!thread.members.has(user.id)) return false;
		// While they may still see it.
		this.#dispatchMembers(thread, [], [user.id]);
		thread.members.delete(user.id);
		return true;
	}

	/** Who leaves the guild leaves its threads. */
	leaveAll(guild: Guild, user: User): void {
		for (const thread of guild.threads.values()) this.leave(thread, user);
	}

	#dispatchMembers(
		thread: Thread,
		added: readonly string[],
		removed: readonly string[],
	): void {
		const guild = this.#state.guildOf(thread);
		const count = thread.members.size - removed.length;
		const { id } = thread;
		for (const userId of [...added, ...removed])
			this.#state.dispatchToGuild(
				"THREAD_MEMBERS_UPDATE",
				guild,
				() => ({
					id,
					guild_id: guild.id,
					member_count: Math.min(50, count),
					added_members: added.flatMap((one) =>
						serialize.threadMemberWith(guild, thread, one),
					),
					removed_member_ids: removed,
				}),
				{ always: userId, permission: seenIn(thread) },
			);
	}

	// Messages

	/** A message has been written in the thread: it is active again, and the author is in it. */
	wrote(thread: Thread, { id, type, author }: Message): void {
		const isStart =
			id === thread.id || type === MessageType.ThreadStarterMessage;
		if (isStart) return;
		thread.message_count += 1;
		thread.total_message_sent += 1;
		if (thread.archived) this.edit(thread, { archived: false });
		const guild = this.#state.guildOf(thread);
		if (guild.members.has(author.id)) this.join(thread, author);
	}

	#dispatch(
		type: EventType,
		thread: Thread,
		data: WorldEvent["data"],
		only?: readonly string[],
	): void {
		this.#state.dispatchToGuild(type, this.#state.guildOf(thread), data, {
			permission: seenIn(thread),
			...(only ? { only } : {}),
		});
	}
}

/** Told to those who may see the thread. */
function seenIn({ id }: Thread): WorldEvent["permission"] & object {
	return { bits: PermissionFlagsBits.ViewChannel, channelId: id };
}

function publicTypeIn({ type }: GuildChannel): ThreadType {
	return type === ChannelType.GuildAnnouncement
		? ChannelType.AnnouncementThread
		: ChannelType.PublicThread;
}

/** What the audit log tells of a thread. */
function logged(thread: Thread) {
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
		...(type === ChannelType.PrivateThread ? { invitable } : {}),
		...(applied_tags ? { applied_tags } : {}),
	};
}
