// Threads and forum posts, which are threads too: creating, listing, editing, deleting.

import {
	type AnyThreadChannel,
	type APIMessage,
	type APIThreadChannel,
	ChannelFlags,
	ChannelType,
	type Guild,
	type NewsChannel,
	PermissionFlagsBits,
	Routes,
	type TextChannel,
} from "discord.js";
import * as v from "valibot";
import { channelName } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { actingMembers, requireOf, requirePermissions } from "../../discord/permissions.ts";
import { inlineText, oneField } from "../../discord/text.ts";
import { threadCursor, threadLines } from "../../discord/thread-pages.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import { durationText } from "../../lib/times.ts";
import { type ArgumentsOf, invalidParameters } from "../../mcp/tool.ts";
import { type Said, said } from "../../texts/texts.ts";
import {
	allowedMentions,
	content,
	contentPermissions,
	mentions,
	pingsMany,
	slowMode,
} from "../messages/message-arguments.ts";
import { afterwards, linkTo, pingLines } from "../messages/sent-message.ts";
import { result, saidSlowMode, saidUnchanged } from "../results/result.ts";
import {
	changesOf,
	durationOf,
	flag,
	found,
	guild_id,
	limit,
	list,
	nameQuery,
	reason,
	snowflake,
	sortedIds,
	text,
} from "../tool/arguments/arguments.ts";
import { destructiveTool, editTool, readTool, writeTool } from "../tool/define.ts";
import { kindFields, kindName } from "./channels/channel-fields.ts";
import { requireTags, tagIdsOf } from "./channels/forum-tags.ts";

function isInForum({ channel_id }: { channel_id: string }, guild: Guild) {
	const channel = visibleChannel(guild, channel_id);
	return channel !== undefined && find.isForum(channel);
}

const tag = text(1, 20, "");

const createInput = {
	guild_id,
	channel_id: found(find.threadedChannel, "channel or forum"),
	name: text(1, 100, "Name, or title of the post."),
	message_id: v.optional(snowflake("message to start from")),
	content: v.optional(content),
	mentions,
	private: flag("Only its members see it.", false),
	tag_ids: v.optional(list(tag, 0, 5, "Its tags, ids or names.")),
	pin: flag("Pin the post.", false),
	reason,
};

type NewThread = ArgumentsOf<typeof createInput>;

export const createThread = writeTool({
	name: "create_thread",
	toolset: "threads",
	offered: "listed",
	title: "Create a thread or forum post",
	description: "Create a thread, on its own or from a message, or a forum post.",
	permissions: [
		{
			permission: "CreatePublicThreads",
			with: "private",
			when: (args, _, guild) => !(args.private || isInForum(args, guild)),
		},
		{ permission: "CreatePrivateThreads", with: "private" },
		{ permission: "SendMessages", with: "channel_id", when: (args, _, guild) => isInForum(args, guild) },
		{
			permission: "SendMessagesInThreads",
			with: "content",
			when: (args, _, guild) => args.content !== undefined && !isInForum(args, guild),
		},
		{ permission: "ManageThreads", with: "pin" },
		pingsMany,
	],
	person: { permissions: [slowMode("channel_id"), ...contentPermissions] },
	input: createInput,
	run: (args, { guild, channel }) =>
		find.isForum(channel) ? createPost(args, guild, channel.id) : startThread(args, guild, channel),
});

async function createPost(args: NewThread, guild: Guild, forumId: string): Promise<string[]> {
	const { name, content } = args;
	const issues = (["message_id", "private"] as const)
		.filter((key) => args[key])
		.map((key) => `${key}: forum posts do not have this`);
	if (content === undefined) issues.push("content: is required, because a post begins with a message");
	if (issues.length > 0) throw invalidParameters(issues);
	const forum = await find.currentForum(guild, forumId);
	const tagIds = tagIdsOf(forum, args.tag_ids ?? []);
	requireTags(guild, forum, tagIds);
	// https://discord.com/developers/docs/resources/channel#start-thread-in-forum-or-media-channel
	const { id, message } = (await guild.client.rest.post(Routes.threads(forum.id), {
		body: {
			name,
			auto_archive_duration: archivedAfter(forum),
			applied_tags: tagIds,
			message: { content, allowed_mentions: allowedMentions(args.mentions) },
		},
	})) as APIThreadChannel & { message?: APIMessage };
	const created = `Created the post ${channelName({ name, id })} in ${channelName(forum)}: ${linkTo({ id, guild })}`;
	const pinned = { body: { flags: ChannelFlags.Pinned } };
	if (args.pin)
		await afterwards(created, "it is not pinned", () => guild.client.rest.patch(Routes.channel(id), pinned));
	return [args.pin ? `${created}, pinned` : created, ...pingLines(guild, content, message ?? {})];
}

/** Discord leaves it to clients to send the channel's default. https://discord.com/developers/docs/resources/channel */
function archivedAfter(channel: Pick<TextChannel | find.Forum, "defaultAutoArchiveDuration">) {
	return channel.defaultAutoArchiveDuration ?? undefined;
}

async function startThread(args: NewThread, guild: Guild, channel: TextChannel | NewsChannel): Promise<string[]> {
	const { name, message_id, content, private: isPrivate } = args;
	const { rest } = guild.client;
	const inNews = channel.type === ChannelType.GuildAnnouncement;
	if (isPrivate && message_id !== undefined)
		throw invalidParameters([
			"private: a thread that starts from a message is visible to all who see the message; omit private or message_id",
		]);
	if (isPrivate && inNews) throw invalidParameters(["private: announcement channels have no private threads"]);
	if (args.pin) throw invalidParameters(["pin: only forum posts are pinned as a whole"]);
	if (args.tag_ids?.length) throw invalidParameters([`tag_ids: ${onlyPosts}`]);
	const type = isPrivate
		? ChannelType.PrivateThread
		: inNews
			? ChannelType.AnnouncementThread
			: ChannelType.PublicThread;
	const { id } = (await rest.post(Routes.threads(channel.id, message_id), {
		body: { name, auto_archive_duration: archivedAfter(channel), ...(message_id === undefined && { type }) },
	})) as APIThreadChannel;
	const kind = isPrivate ? "private thread" : "thread";
	const from = message_id ? ` from the message ${message_id}` : "";
	const createdThread = `Created the ${kind} ${channelName({ name, id })} in ${channelName(channel)}${from}`;
	const thread = { id, guild };
	if (content === undefined) return [`${createdThread}: ${linkTo(thread)}`];
	const body = { content, allowed_mentions: allowedMentions(args.mentions) };
	const send = async () => (await rest.post(Routes.channelMessages(id), { body })) as APIMessage;
	const first = await afterwards(createdThread, "its first message was not sent", send);
	return [
		`${createdThread}, with the message ${first.id}: ${linkTo(thread, first.id)}`,
		...pingLines(guild, content, first),
	];
}

const onlyPosts = "only forum posts have tags";

export const listThreads = readTool({
	name: "list_threads",
	toolset: "threads",
	offered: "listed",
	title: "List threads and forum posts",
	description: "List active threads or forum posts, on request a channel's archived ones after them.",
	permissions: [{ permission: "ReadMessageHistory", with: "include_archived" }],
	input: {
		guild_id,
		channel_id: v.optional(found(find.threadedChannel, "channel or forum; default: all")),
		include_archived: flag("Needs channel_id.", false),
		query: v.optional(nameQuery("Parts of names.")),
		tag_ids: v.optional(list(tag, 1, 20, "With one of these tags, by id or name.")),
		limit: limit(100, 50),
		before: threadCursor,
	},
	async run(args, { guild, channel }) {
		const { include_archived: archived, tag_ids } = args;
		let tagIds: string[] | undefined;
		if (archived && !channel)
			throw invalidParameters([
				"include_archived: expected only together with channel_id: Discord lists archived threads by channel",
			]);
		if (tag_ids) {
			if (!channel || !find.isForum(channel))
				throw invalidParameters(["tag_ids: expected only together with the channel_id of a forum"]);
			tagIds = tagIdsOf(await find.currentForum(guild, channel.id), tag_ids);
		}
		const { limit, before, query } = args;
		return threadLines(guild, { channel, archived, limit, before, names: query, tagIds });
	},
});

const needsManageThreads = (argument: "locked" | "slowmode") =>
	({
		permission: "ManageThreads",
		with: argument,
		when: (args: { locked?: unknown; slowmode?: unknown }) => args[argument] !== undefined,
	}) as const;

export const editThread = editTool({
	name: "edit_thread",
	toolset: "threads",
	title: "Edit a thread",
	description: "Edit a thread or forum post: also archive, reopen, lock or tag it.",
	lock: "thread_id",
	permissions: [needsManageThreads("locked"), needsManageThreads("slowmode")],
	permissionsIn: "thread_id",
	input: {
		guild_id,
		thread_id: found(find.currentThread, "thread or forum post"),
		name: v.optional(text(1, 100, "New name.")),
		archived: flag("False reopens it."),
		locked: flag("Only moderators can write or reopen."),
		slowmode: kindFields.slowmode,
		auto_archive: v.optional(durationOf(["1h", "1d", "3d", "7d"], "Idle time until archived: 1h, 1d, 3d, 7d.")),
		invitable: flag("Members may invite."),
		applied_tag_ids: v.optional(list(tag, 0, 5, "All tags of the post, by id or name.")),
		reason,
	},
	async run(args, { guild, thread }) {
		const { invitable, applied_tag_ids: tags } = args;
		const isPrivate = thread.type === ChannelType.PrivateThread;
		if (!isPrivate && invitable !== undefined) throw invalidParameters(["invitable: only private threads have this"]);
		const forum = tags && (await forumOf(guild, thread));
		const tagIds = forum && tagIdsOf(forum, tags);
		const applied_tag_ids = tagIds && sortedIds(tagIds);
		const requested = { ...args, applied_tag_ids };
		const before = fieldsOf(thread);
		const same = saidUnchanged(`<#${thread.id}>`, args.slowmode);
		const changes = changesOf(before, requested, channelName(thread), same);
		requireEditable(guild, thread, changes);
		if (tagIds) {
			const changed = new Set(thread.appliedTags).symmetricDifference(new Set(tagIds));
			// A deleted tag may still be on the post.
			const known = forum.availableTags.map(({ id }) => id);
			requireTags(
				guild,
				forum,
				known.filter((id) => changed.has(id)),
			);
		}
		await guild.client.rest.patch(Routes.channel(thread.id), {
			body: {
				name: changes.name,
				archived: changes.archived,
				locked: changes.locked,
				rate_limit_per_user: changes.slowmode,
				auto_archive_duration: changes.auto_archive && changes.auto_archive / 60,
				invitable: changes.invitable,
				...(changes.applied_tag_ids !== undefined && { applied_tags: tagIds }),
			},
		});
		const now = { name: changes.name ?? thread.name, id: thread.id };
		const models = `Changed ${Object.keys(changes).join(", ")} of ${channelName(now)}: ${changeList(thread, before, changes)}.`;
		return result(models, ...saidOf(now, changes));
	},
});

function saidOf({ id }: { id: string }, changes: Partial<ThreadFields>): Said[] {
	const { locked, archived, slowmode: seconds } = changes;
	const where = `<#${id}>`;
	const lines = [
		locked !== undefined && said(locked ? "result.thread.locked" : "result.unlock", { where }),
		archived !== undefined && said(archived ? "result.thread.archived" : "result.thread.reopened", { where }),
		seconds !== undefined && saidSlowMode(where, seconds),
	].filter((line) => line !== false);
	return lines.length > 0 ? lines : [said("result.channel", { where })];
}

function changeList({ parent }: AnyThreadChannel, before: ThreadFields, changes: Partial<ThreadFields>): string {
	const tags = new Map((parent && find.isForum(parent) ? parent.availableTags : []).map(({ id, name }) => [id, name]));
	const format = (value: unknown, isTags: boolean) =>
		isTags
			? String(value)
					.split(" ")
					.map((id) => oneField(tags.get(id) ?? id))
					.join(" + ") || "none"
			: typeof value === "number"
				? durationText(value)
				: oneField(String(value));
	return Object.entries(changes)
		.map(([field, value]) => {
			const isTags = field === "applied_tag_ids";
			const old = before[field as keyof ThreadFields];
			return `${field}: ${format(old, isTags)} → ${format(value, isTags)}`;
		})
		.join(", ");
}

type ThreadFields = ReturnType<typeof fieldsOf>;

function fieldsOf(thread: AnyThreadChannel) {
	return {
		name: thread.name,
		archived: thread.archived ?? false,
		locked: thread.locked ?? false,
		slowmode: thread.rateLimitPerUser ?? 0,
		auto_archive: (thread.autoArchiveDuration ?? 0) * 60,
		invitable: thread.invitable ?? false,
		applied_tag_ids: sortedIds(thread.appliedTags),
	};
}

function requireEditable(guild: Guild, thread: AnyThreadChannel, changes: Partial<ThreadFields>): void {
	const { ManageThreads, SendMessagesInThreads } = PermissionFlagsBits;
	const isUnarchived = changes.archived === false && !thread.locked;
	const others = Object.keys(changes).filter((key) => key !== "archived");
	if (isUnarchived && others.length === 0) {
		requirePermissions(guild, thread, SendMessagesInThreads);
		return;
	}
	for (const member of actingMembers(guild))
		if (thread.ownerId !== member.id || thread.locked) requireOf(member, thread, ManageThreads);
}

async function forumOf(guild: Guild, { parent }: AnyThreadChannel): Promise<find.Forum> {
	if (!parent || !find.isForum(parent)) throw invalidParameters([`applied_tag_ids: ${onlyPosts}`]);
	return find.currentForum(guild, parent.id);
}

export const deleteThread = destructiveTool({
	name: "delete_thread",
	toolset: "threads",
	title: "Delete a thread",
	description: "Delete a thread or forum post with all messages in it.",
	permissions: ["ManageThreads"],
	permissionsIn: "thread_id",
	lock: "thread_id",
	input: { guild_id, thread_id: found(find.currentThread, "thread or forum post"), reason },
	plan(_, { guild, thread }) {
		const parent = thread.parent ? ` of ${channelName(thread.parent)}` : "";
		const target = `the ${kindName(thread)} ${channelName(thread)}${parent}`;
		const count = `${thread.messageCount ?? 0} message(s)`;
		return {
			preview: result(
				`Would delete ${target} with its ${count}. To archive it instead, use edit_thread with archived = true.`,
				said("preview.delete_thread", { where: inlineText(thread.name, 200) }),
			),
			write: () => guild.client.rest.delete(Routes.channel(thread.id)),
			result: `Deleted ${target} with its ${count}.`,
		};
	},
});
