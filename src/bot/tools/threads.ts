// Threads: creating, listing, editing, deleting. Forum posts are threads too; what only they have is in forums.ts.

import {
	type AnyThreadChannel,
	type APIMessage,
	type APIThreadChannel,
	ChannelType,
	type Guild,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { kindFields, kindName } from "../channels/channel-fields.ts";
import { requireTags } from "../channels/forum-tags.ts";
import { threadCursor, threadLines } from "../channels/thread-pages.ts";
import { channelName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { botMember, requirePermissions } from "../discord/permissions.ts";
import { toToolError } from "../discord/rest/errors.ts";
import {
	allowedMentions,
	content,
	mentions,
	pingsMany,
} from "../messages/message-arguments.ts";
import {
	flag,
	found,
	guild_id,
	limit,
	list,
	reason,
	snowflake,
	text,
} from "../tool/arguments.ts";
import {
	destructiveTool,
	editTool,
	readTool,
	writeTool,
} from "../tool/define.ts";
import { changesOf, sortedIds } from "../tool/diff.ts";

export const autoArchive = v.optional(
	v.pipe(
		v.picklist([60, 1440, 4320, 10_080]),
		v.description("Idle minutes until archived."),
	),
);

const invitable = v.optional(flag("Members may add others (private threads)."));

export const createThread = writeTool({
	name: "create_thread",
	toolset: "threads",
	title: "Create a thread",
	description:
		"Create a thread in a text or announcement channel, optionally from a message. For forums, use create_forum_post.",
	permissions: [
		{
			permission: "CreatePublicThreads",
			with: "private",
			when: ({ private: isPrivate }) => !isPrivate,
		},
		{ permission: "CreatePrivateThreads", with: "private" },
		{ permission: "SendMessagesInThreads", with: "content" },
		pingsMany,
	],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.threadableChannel, "channel"),
		name: text(1, 100, "Name of the thread."),
		message_id: v.optional(snowflake("message to start from")),
		private: v.optional(flag("Visible only to its members."), false),
		auto_archive_minutes: autoArchive,
		slowmode_seconds: kindFields.slowmode_seconds,
		invitable,
		content: v.optional(content),
		mentions,
		reason,
	}),
	async run(args, { discord, channel }) {
		const { name, message_id, content, private: isPrivate } = args;
		const inNews = channel.type === ChannelType.GuildAnnouncement;
		if (isPrivate && message_id !== undefined)
			throw invalidParameters([
				"private: a thread that starts from a message is visible to all who see the message; omit private or message_id",
			]);
		if (isPrivate && inNews)
			throw invalidParameters([
				"private: announcement channels have no private threads",
			]);
		if (!isPrivate && args.invitable !== undefined)
			throw invalidParameters([`invitable: ${onlyPrivate}`]);
		const type = isPrivate
			? ChannelType.PrivateThread
			: inNews
				? ChannelType.AnnouncementThread
				: ChannelType.PublicThread;
		const { id } = (await discord.rest.post(
			Routes.threads(channel.id, message_id),
			{
				body: {
					name,
					auto_archive_duration: args.auto_archive_minutes,
					rate_limit_per_user: args.slowmode_seconds,
					invitable: args.invitable,
					...(message_id === undefined && { type }),
				},
			},
		)) as APIThreadChannel;
		const kind = isPrivate ? "private thread" : "thread";
		const from = message_id ? ` from the message ${message_id}` : "";
		const made = `Created the ${kind} ${channelName({ name, id })} in ${channelName(channel)}${from}`;
		if (content === undefined) return `${made}.`;
		const body = { content, allowed_mentions: allowedMentions(args.mentions) };
		try {
			const first = await discord.rest.post(Routes.channelMessages(id), {
				body,
			});
			return `${made}, with the message ${(first as APIMessage).id}.`;
		} catch (error) {
			const failure = toToolError(error);
			if (!failure) throw error;
			throw new ToolError(
				`${made}. Its first message failed: ${failure.message} The thread exists: use send_message to write in it.`,
				{ cause: error },
			);
		}
	},
});

const onlyPrivate = "only private threads have this";

export const listThreads = readTool({
	name: "list_threads",
	toolset: "threads",
	title: "List threads",
	description:
		"List the active threads of a guild or a channel, and on request a channel's archived ones after them.",
	permissions: [{ permission: "ReadMessageHistory", with: "include_archived" }],
	input: v.strictObject({
		guild_id,
		channel_id: v.optional(
			found(find.threadedChannel, "channel; default: the whole guild"),
		),
		include_archived: v.optional(
			flag("Also archived ones; needs channel_id."),
			false,
		),
		limit: limit(100, 50),
		before: threadCursor,
	}),
	run({ include_archived, limit, before }, { guild, channel }) {
		if (include_archived && !channel)
			throw invalidParameters([
				"include_archived: expected only together with channel_id: Discord lists archived threads by channel",
			]);
		const query = { channel, archived: include_archived, limit, before };
		return threadLines(guild, "thread", query);
	},
});

const needsManageThreads = (argument: "locked" | "slowmode_seconds") =>
	({
		permission: "ManageThreads",
		with: argument,
		when: (args: { locked?: unknown; slowmode_seconds?: unknown }) =>
			args[argument] !== undefined,
	}) as const;

export const editThread = editTool({
	name: "edit_thread",
	toolset: "threads",
	title: "Edit a thread",
	description:
		"Rename, archive, unarchive or lock a thread or forum post, or change its slow mode, auto-archive time or tags.",
	lock: "thread_id",
	permissions: [
		needsManageThreads("locked"),
		needsManageThreads("slowmode_seconds"),
	],
	permissionsIn: "thread_id",
	input: v.strictObject({
		guild_id,
		thread_id: found(find.currentThread, "thread or forum post"),
		name: v.optional(text(1, 100, "New name.")),
		archived: v.optional(flag("Archived; false unarchives.")),
		locked: v.optional(flag("Only moderators can write and unarchive.")),
		slowmode_seconds: kindFields.slowmode_seconds,
		auto_archive_minutes: autoArchive,
		invitable,
		applied_tag_ids: v.optional(
			list(snowflake("tag"), 0, 5, "All tags of a forum post."),
		),
		reason,
	}),
	async run(args, { guild, thread }) {
		const { invitable, applied_tag_ids: tagIds } = args;
		const isPrivate = thread.type === ChannelType.PrivateThread;
		if (!isPrivate && invitable !== undefined)
			throw invalidParameters([`invitable: ${onlyPrivate}`]);
		const applied_tag_ids = tagIds && sortedIds(tagIds);
		const requested = { ...args, applied_tag_ids };
		const before = fieldsOf(thread);
		const changes = changesOf(before, requested, channelName(thread));
		requireEditable(guild, thread, changes);
		if (tagIds) await requirePostTags(guild, thread, tagIds);
		await guild.client.rest.patch(Routes.channel(thread.id), {
			body: {
				name: changes.name,
				archived: changes.archived,
				locked: changes.locked,
				rate_limit_per_user: changes.slowmode_seconds,
				auto_archive_duration: changes.auto_archive_minutes,
				invitable: changes.invitable,
				...(changes.applied_tag_ids !== undefined && { applied_tags: tagIds }),
			},
		});
		const now = { name: changes.name ?? thread.name, id: thread.id };
		return `Changed ${Object.keys(changes).join(", ")} of ${channelName(now)}.`;
	},
});

/** Returns a thread's current fields, named and valued as in tool arguments. */
function fieldsOf(thread: AnyThreadChannel) {
	return {
		name: thread.name,
		archived: thread.archived ?? false,
		locked: thread.locked ?? false,
		slowmode_seconds: thread.rateLimitPerUser ?? 0,
		auto_archive_minutes: thread.autoArchiveDuration ?? 0,
		invitable: thread.invitable ?? false,
		applied_tag_ids: sortedIds(thread.appliedTags),
	};
}

/**
 * Throws a ToolError if the bot may not make these changes to a thread. Editing needs Manage Threads, except in
 * unlocked threads that the bot created; unarchiving alone needs only Send Messages in Threads, unless the thread is
 * locked.
 */
function requireEditable(
	guild: Guild,
	thread: AnyThreadChannel,
	changes: Partial<ReturnType<typeof fieldsOf>>,
): void {
	const { ManageThreads, SendMessagesInThreads } = PermissionFlagsBits;
	if (thread.archived && changes.archived !== false)
		throw new ToolError(
			`${channelName(thread)} is archived: pass archived = false to unarchive it with the same edit. Nothing was done.`,
		);
	const isUnarchived = changes.archived === false && !thread.locked;
	const others = Object.keys(changes).filter((key) => key !== "archived");
	const isOwn = thread.ownerId === botMember(guild).id && !thread.locked;
	if (isUnarchived && others.length === 0)
		requirePermissions(guild, thread, SendMessagesInThreads);
	else if (!isOwn) requirePermissions(guild, thread, ManageThreads);
}

async function requirePostTags(
	guild: Guild,
	thread: AnyThreadChannel,
	ids: readonly string[],
): Promise<void> {
	const { parent } = thread;
	if (!parent || !find.isForum(parent))
		throw invalidParameters(["applied_tag_ids: only forum posts have tags"]);
	const forum = await find.currentForum(guild, parent.id);
	const changed = [
		...ids.filter((id) => !thread.appliedTags.includes(id)),
		...thread.appliedTags.filter(
			(id) =>
				!ids.includes(id) && forum.availableTags.some((tag) => tag.id === id),
		),
	];
	requireTags(guild, forum, changed);
}

export const deleteThread = destructiveTool({
	name: "delete_thread",
	toolset: "threads",
	title: "Delete a thread",
	description: "Delete a thread or forum post with all messages in it.",
	permissions: ["ManageThreads"],
	permissionsIn: "thread_id",
	lock: "thread_id",
	input: v.strictObject({
		guild_id,
		thread_id: found(find.currentThread, "thread or forum post"),
		reason,
	}),
	plan(_, { guild, thread }) {
		const parent = thread.parent ? ` of ${channelName(thread.parent)}` : "";
		const target = `the ${kindName(thread)} ${channelName(thread)}${parent}`;
		const count = `${thread.messageCount ?? 0} message(s)`;
		return {
			preview: `Would delete ${target} with its ${count}. To archive it instead, use edit_thread with archived = true.`,
			write: () => guild.client.rest.delete(Routes.channel(thread.id)),
			result: `Deleted ${target} with its ${count}.`,
		};
	},
});
