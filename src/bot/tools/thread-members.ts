// Members of threads: listing, adding and removing them. A private thread is seen only by its members and MANAGE_THREADS.
// https://discord.com/developers/docs/resources/channel#list-thread-members

import {
	type AnyThreadChannel,
	type APIGuildMember,
	type APIThreadMember,
	ChannelType,
	type Guild,
	type GuildMember,
	makeURLSearchParams,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import {
	channelName,
	memberFields,
	personFields,
	time,
} from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { botMember, requirePermissions } from "../discord/permissions.ts";
import { fieldLine } from "../discord/text.ts";
import { found, guild_id, limit, list, snowflake } from "../tool/arguments.ts";
import { type Bulk, sample, writeEach } from "../tool/bulk.ts";
import { destructiveTool, editTool, readTool } from "../tool/define.ts";

export const listThreadMembers = readTool({
	name: "list_thread_members",
	toolset: "threads",
	title: "List thread members",
	description: "List the members of a thread or forum post, by id.",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		thread_id: found(find.thread, "thread or forum post"),
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last member")),
	}),
	async run({ limit, after }, { discord, guild, thread }) {
		const query = makeURLSearchParams({ with_member: true, limit, after });
		const members = (await discord.rest.get(Routes.threadMembers(thread.id), {
			query,
		})) as (APIThreadMember & { member: APIGuildMember })[];
		const where = channelName(thread);
		const last = members.at(-1)?.user_id;
		if (!last)
			return `No member of ${where}${after ? ` has an id above ${after}` : ""}.`;
		return [
			`${members.length} member(s) of ${where}, by id:`,
			...members.map(({ member, join_timestamp }) =>
				fieldLine(
					personFields(guild, member.user),
					`joined: ${time(new Date(join_timestamp))}`,
				),
			),
			...(members.length === limit ? [`next_after=${last}`] : []),
		];
	},
});

const onMembers = {
	guild_id,
	thread_id: found(find.currentThread, "thread or forum post"),
	user_ids: list(found(find.member, "member"), 1, 50, "The members."),
};

export const addThreadMembers = editTool({
	name: "add_thread_members",
	toolset: "threads",
	title: "Add members to a thread",
	description:
		"Add members to a thread or forum post. A private thread is visible only to its members and moderators.",
	lock: "thread_id",
	permissions: ["SendMessagesInThreads"],
	permissionsIn: "thread_id",
	input: v.strictObject(onMembers),
	run(_, { guild, thread, users }, call) {
		requireActive(thread);
		// https://discord.com/developers/docs/resources/channel#thread-metadata-object
		if (thread.type === ChannelType.PrivateThread && !thread.invitable)
			requireManageThreads(guild, thread);
		const { rest } = guild.client;
		return writeEach(
			{
				...membersOf(users),
				write: ({ id }) => rest.put(routeOf(thread, id)),
				done: (count, of) =>
					`Added ${count} of ${of} member(s) to ${channelName(thread)}:`,
			},
			call,
		);
	},
});

export const removeThreadMembers = destructiveTool({
	name: "remove_thread_members",
	toolset: "threads",
	title: "Remove members from a thread",
	description:
		"Remove members from a thread or forum post. They can rejoin, unless it is private.",
	lock: "thread_id",
	input: v.strictObject(onMembers),
	plan(_, { guild, thread, users }) {
		requireActive(thread);
		const isOwnPrivate =
			thread.type === ChannelType.PrivateThread &&
			thread.ownerId === botMember(guild).id;
		if (!isOwnPrivate) requireManageThreads(guild, thread);
		const where = channelName(thread);
		const { rest } = guild.client;
		return {
			preview: [
				`Would remove ${users.length} member(s) from ${where}:`,
				...sample(users, 5, memberFields),
			],
			act: (call) =>
				writeEach(
					{
						...membersOf(users),
						write: ({ id }) => rest.delete(routeOf(thread, id)),
						done: (count, of) =>
							`Removed ${count} of ${of} member(s) from ${where}:`,
					},
					call,
				),
		};
	},
});

function membersOf(items: GuildMember[]) {
	return {
		items,
		resumes: true,
		idOf: ({ id }) => id,
		describe: memberFields,
	} satisfies Omit<Bulk<GuildMember>, "write" | "done">;
}

/**
 * Returns the API route that adds or removes a member of a thread. For the bot itself, `@me` stands for its user id.
 */
function routeOf({ id, client }: AnyThreadChannel, userId: string) {
	return Routes.threadMembers(id, userId === client.user.id ? "@me" : userId);
}

/** Throws a ToolError if the thread is archived: the members of an archived thread cannot change. */
function requireActive(thread: AnyThreadChannel): void {
	if (!thread.archived) return;
	throw new ToolError(
		`${channelName(thread)} is archived: edit_thread with archived = false reopens it. Nothing was done.`,
	);
}

function requireManageThreads(guild: Guild, thread: AnyThreadChannel): void {
	requirePermissions(guild, thread, PermissionFlagsBits.ManageThreads);
}
