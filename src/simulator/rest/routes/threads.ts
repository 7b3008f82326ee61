// Threads and their members: starting, listing, editing and deleting threads; joining, adding, leaving and removing.
// https://discord.com/developers/docs/resources/channel#start-thread-from-message

import { ChannelType, PermissionFlagsBits as Permission } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { NewThread, ThreadChanges } from "../../world/messages/threads.ts";
import { type GuildChannel, holdsPosts, type Thread, type User } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn, requireMembersIntent, requirePermissions } from "../access.ts";
import { apiError, found, missingField } from "../errors.ts";
import {
	boolean,
	choice,
	integer,
	nullable,
	object,
	pageById,
	type Read,
	required,
	snowflake,
	text,
	timestamp,
} from "../fields/fields.ts";
import { appliedTags, archiveDuration, checkedTags, slowMode } from "../fields/forum-fields.ts";
import { contentFields, newContent, requireContent, requireEmbedsAndFiles, serializeMessage } from "../message-body.ts";
import { type Call, guildChannelOf, type ReadForm, route, threadOf } from "../route.ts";

const activeLimit = 1000;

const startFields = {
	name: required(text(1, 100)),
	auto_archive_duration: archiveDuration,
	rate_limit_per_user: slowMode,
};

export const threadForm = required(
	object({
		name: text(1, 100),
		archived: boolean,
		auto_archive_duration: archiveDuration,
		locked: boolean,
		invitable: boolean,
		rate_limit_per_user: nullable(slowMode, 0),
		flags: integer(0, Number.MAX_SAFE_INTEGER),
		applied_tags: appliedTags,
	}),
);

function startOf(call: Call, parent: GuildChannel, body: ReadForm<typeof startFields>): NewThread {
	const active = [...call.world.guilds.of(parent).threads.values()].filter((one) => !one.archived);
	if (active.length >= activeLimit) throw apiError("MaximumActiveThreads");
	const { name, auto_archive_duration, rate_limit_per_user } = body;
	return { name, auto_archive_duration, rate_limit_per_user };
}

function requireThreadable({ type }: GuildChannel): void {
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (type !== GuildText && type !== GuildAnnouncement) throw apiError("CannotExecuteActionOnThisChannelType");
}

const post = object(contentFields);
const newThread = {
	...startFields,
	type: choice(ChannelType.AnnouncementThread, ChannelType.PublicThread, ChannelType.PrivateThread),
	invitable: boolean,
	message: post,
	applied_tags: appliedTags,
};
type Body = ReadForm<typeof newThread>;

function startAlone(call: Call<"", Body>, parent: GuildChannel) {
	requireThreadable(parent);
	const { body, world, actor, by } = call;
	// Discord's default.
	const type = body.type ?? ChannelType.PrivateThread;
	const inNews = parent.type === ChannelType.GuildAnnouncement;
	if (inNews !== (type === ChannelType.AnnouncementThread)) throw apiError("CannotExecuteActionOnThisChannelType");
	const hidden = type === ChannelType.PrivateThread;
	requirePermissions(call, parent, hidden ? Permission.CreatePrivateThreads : Permission.CreatePublicThreads);
	const given = { ...startOf(call, parent, body), type, invitable: hidden ? body.invitable : undefined };
	return serialize.thread(world.threads.add(parent, actor.user, given, by), actor.user.id);
}

function startPost(call: Call<"", Body>, forum: GuildChannel) {
	const { body, world, actor, by } = call;
	const { message } = body;
	if (!message) throw missingField("message");
	requirePermissions(call, forum, "SendMessages");
	requireContent(call, message);
	requireEmbedsAndFiles(call, forum, message);
	const start = startOf(call, forum, body);
	const applied_tags = checkedTags(call, forum, body.applied_tags ?? []);
	const content = newContent(call, forum, message);
	const id = world.state.newId();
	const thread = world.threads.add(forum, actor.user, { ...start, id, applied_tags }, by);
	const first = world.messages.add(thread, actor.user, { ...content, id });
	return { ...serialize.thread(thread, actor.user.id), message: serializeMessage(call, first) };
}

type Edit = Read<typeof threadForm>;

export function editThread(call: Call, thread: Thread, body: Edit) {
	const { world, actor, by } = call;
	if (thread.archived && body.archived !== false) throw apiError("InvalidActionOnArchivedThread");
	requireEditor(call, thread, body);
	const { applied_tags: tags } = body;
	const forum = world.guilds.of(thread).channels.get(thread.parent_id);
	const changes: ThreadChanges = {
		...body,
		invitable: isPrivate(thread) ? body.invitable : undefined,
		applied_tags:
			tags && forum && thread.applied_tags ? checkedTags(call, forum, tags, thread.applied_tags) : undefined,
	};
	world.threads.edit(thread, changes, by);
	return serialize.thread(thread, actor.user.id);
}

function requireEditor(call: Call, thread: Thread, body: Edit): void {
	if (has(permissionsIn(call, thread), "ManageThreads")) return;
	const { locked, rate_limit_per_user, flags, archived, ...others } = body;
	const moderating = [locked, rate_limit_per_user, flags].some((value) => value !== undefined);
	const changing = archived === true || Object.keys(others).length > 0;
	const owns = thread.owner_id === call.actor.user.id;
	const reopens = archived === false;
	if (moderating || (changing && !owns) || (reopens && thread.locked)) throw apiError("MissingPermissions");
	if (reopens) requirePermissions(call, thread, "SendMessages");
}

export function deleteThread(call: Call, thread: Thread) {
	requirePermissions(call, thread, "ManageThreads");
	const answer = serialize.thread(thread, call.actor.user.id);
	call.world.threads.remove(thread, call.by);
	return answer;
}

function archivedIn(call: Call<":channel_id">, fits: (thread: Thread) => boolean): Thread[] {
	return call.world.threads.in(guildChannelOf(call)).filter((one) => one.archived && fits(one));
}

const byTime = {
	before: timestamp,
	// The range in Discord's OpenAPI document: list_public_archived_threads.
	limit: integer(2, 100),
};

function pageByTime(call: Call<"", unknown, ReadForm<typeof byTime>>, all: readonly Thread[]) {
	const { before, limit } = call.query;
	const rest = all
		.filter(({ archive_timestamp }) => !before || archive_timestamp < before)
		.toSorted((a, b) => b.archive_timestamp.localeCompare(a.archive_timestamp) || compareIds(b.id, a.id));
	return page(call, rest, limit);
}

function page(call: Call, threads: readonly Thread[], limit = 50) {
	const has_more = threads.length > limit;
	return { ...serialize.threads(threads.slice(0, limit), call.actor.user.id), has_more };
}

const isPrivate = ({ type }: Thread) => type === ChannelType.PrivateThread;

const membersPath = "/channels/:channel_id/thread-members";
const oneMember = `${membersPath}/:user_id` as const;

/** Error 30033: https://discord.com/developers/docs/topics/opcodes-and-status-codes */
const memberLimit = 1000;

function userOf(call: Call<typeof oneMember>): User {
	const { world, params } = call;
	found(world.users.get(params.user_id), "UnknownUser");
	return found(world.guilds.of(threadOf(call)).members.get(params.user_id), "UnknownMember").user;
}

function join(call: Call<":channel_id">, user: User): void {
	const thread = threadOf(call);
	const { members } = thread;
	if (members.size >= memberLimit && !members.has(user.id)) throw apiError("MaximumThreadParticipantsReached");
	if (!call.world.threads.join(thread, user, call.actor.user)) call.skipJournal();
}

function leave(call: Call<":channel_id">, user: User): void {
	if (!call.world.threads.leave(threadOf(call), user, call.actor.user)) call.skipJournal();
}

function memberOf(call: Call<":channel_id", unknown, { with_member?: boolean }>, userId: string) {
	const thread = threadOf(call);
	const guild = call.query.with_member ? call.world.guilds.of(thread) : undefined;
	return serialize.threadMember(thread, userId, guild);
}

export const threadRoutes = [
	route("POST /channels/:channel_id/messages/:message_id/threads", {
		needs: "CreatePublicThreads",
		status: 201,
		body: startFields,
		run: (call) => {
			const parent = guildChannelOf(call);
			requireThreadable(parent);
			const { message, world, actor, by } = call;
			if (world.guilds.of(parent).threads.has(message.id)) throw apiError("ThreadAlreadyCreatedForMessage");
			const given = { ...startOf(call, parent, call.body), message };
			return serialize.thread(world.threads.add(parent, actor.user, given, by), actor.user.id);
		},
	}),
	route("POST /channels/:channel_id/threads", {
		status: 201,
		body: newThread,
		run: (call) => {
			const parent = guildChannelOf(call);
			return holdsPosts(parent) ? startPost(call, parent) : startAlone(call, parent);
		},
	}),
	route("GET /guilds/:guild_id/threads/active", (call) => {
		const { id } = call.actor.user;
		const threads = call.world.threads.active(call.guild, id);
		// Not on the documentation page; the OpenAPI document requires it.
		return { ...serialize.threads(threads, id), has_more: false };
	}),
	route("GET /channels/:channel_id/threads/archived/public", {
		needs: "ReadMessageHistory",
		query: byTime,
		run: (call) => {
			const threads = archivedIn(call, (one) => !isPrivate(one));
			return pageByTime(call, threads);
		},
	}),
	route("GET /channels/:channel_id/threads/archived/private", {
		needs: ["ReadMessageHistory", "ManageThreads"],
		query: byTime,
		run: (call) => pageByTime(call, archivedIn(call, isPrivate)),
	}),
	route("GET /channels/:channel_id/users/@me/threads/archived/private", {
		needs: "ReadMessageHistory",
		query: { before: snowflake, limit: integer(2, 100) },
		run: (call) => {
			const { before, limit } = call.query;
			const joined = archivedIn(
				call,
				(one) => isPrivate(one) && one.members.has(call.actor.user.id) && (!before || compareIds(one.id, before) < 0),
			);
			joined.sort((a, b) => compareIds(b.id, a.id));
			return page(call, joined, limit);
		},
	}),
	route(`PUT ${membersPath}/@me`, (call) => join(call, call.actor.user)),
	route(`PUT ${oneMember}`, {
		needs: "SendMessages",
		run: (call) => {
			const thread = threadOf(call);
			if (thread.type === ChannelType.PrivateThread && !thread.invitable)
				requirePermissions(call, thread, "ManageThreads");
			join(call, userOf(call));
		},
	}),
	route(`DELETE ${membersPath}/@me`, (call) => leave(call, call.actor.user)),
	route(`DELETE ${oneMember}`, (call) => {
		const thread = threadOf(call);
		const owns = thread.type === ChannelType.PrivateThread && thread.owner_id === call.actor.user.id;
		if (!owns) requirePermissions(call, thread, "ManageThreads");
		leave(call, userOf(call));
	}),
	route(`GET ${oneMember}`, {
		query: { with_member: boolean },
		run: (call) => found(memberOf(call, call.params.user_id), "UnknownMember"),
	}),
	route(`GET ${membersPath}`, {
		query: { with_member: boolean, after: snowflake, limit: integer(1, 100) },
		run: (call) => {
			requireMembersIntent(call);
			const thread = threadOf(call);
			const { with_member, after, limit = 100 } = call.query;
			// Only the list with members is paginated.
			const page = { after, limit: with_member ? limit : thread.members.size };
			return pageById(thread.members.keys(), (id) => id, page, 100).flatMap((id) => memberOf(call, id) ?? []);
		},
	}),
];
