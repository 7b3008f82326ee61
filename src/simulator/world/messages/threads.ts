// Threads and forum posts: creating, editing and deleting them, their members, and how messages affect them.
// https://discord.com/developers/docs/topics/threads

import {
	AuditLogEvent,
	ChannelType,
	MessageFlags,
	MessageType,
	PermissionFlagsBits as Permission,
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

/** The fields of a thread that can be edited. */
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

export type NewThread = ThreadChanges & {
	name: string;
	/** By default the channel's public kind. */
	type?: ThreadType | undefined;
	/** The starter message, which has the same id. */
	message?: Message | undefined;
	/** The id of a forum post, which is also that of its first message. */
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

	/** Adds a thread with its owner as the only member. A system message announces public ones. */
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
			changes: changesBetween({}, auditFields(thread)),
		});
		return thread;
	}

	/** Adds the system message: to the channel, or to a thread that was started from a message. */
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
		const before = auditFields(thread);
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

	/** Removes a thread. Its starter message stays. */
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
			{ changes: changesBetween(auditFields(thread), {}) },
		);
	}

	/** Removes all threads of a channel that is removed, without events. */
	removeIn(parent: GuildChannel): void {
		for (const thread of this.in(parent)) this.#forget(thread);
	}

	#forget({ id, guild_id }: Thread): void {
		this.#state.guilds.get(guild_id)?.threads.delete(id);
		this.#state.channels.delete(id);
		this.#messages.removeChannel(id);
	}

	in({ guild_id, id }: GuildChannel): Thread[] {
		const all = this.#state.guilds.get(guild_id)?.threads.values() ?? [];
		return [...all].filter(({ parent_id }) => parent_id === id);
	}

	/** The active threads that a user can view, newest first. */
	active(guild: Guild, userId: string): Thread[] {
		return [...guild.threads.values()]
			.filter(({ archived }) => !archived)
			.filter((one) =>
				has(channelPermissions(guild, one, userId), Permission.ViewChannel),
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

	/** Adds a member. Returns false if they already were one. */
	join(thread: Thread, user: User): boolean {
		if (thread.members.has(user.id)) return false;
		thread.members.set(user.id, new Date().toISOString());
		// A new member receives the thread first.
		this.#dispatch(
			"THREAD_CREATE",
			thread,
			() => serialize.thread(thread, user.id),
			[user.id],
		);
		this.#dispatchMembers(thread, [user.id], []);
		return true;
	}

	/** Removes a member. Returns false if they were none. */
	leave(thread: Thread, user: User): boolean {
		if (!thread.members.has(user.id)) return false;
		// Dispatched first: without membership a private thread is not visible.
		this.#dispatchMembers(thread, [], [user.id]);
		thread.members.delete(user.id);
		return true;
	}

	/** Removes a user who leaves the guild from its threads. */
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

	/** Handles a new message in a thread: it is unarchived and the author joins. */
	messageAdded(thread: Thread, { id, type, author }: Message): void {
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

/** Restricts an event to those who can view the thread. */
function seenIn({ id }: Thread): WorldEvent["permission"] & object {
	return { bits: Permission.ViewChannel, channelId: id };
}

function publicTypeIn({ type }: GuildChannel): ThreadType {
	return type === ChannelType.GuildAnnouncement
		? ChannelType.AnnouncementThread
		: ChannelType.PublicThread;
}

/** The fields of a thread in the audit log. */
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
		...(type === ChannelType.PrivateThread ? { invitable } : {}),
		...(applied_tags ? { applied_tags } : {}),
	};
}
