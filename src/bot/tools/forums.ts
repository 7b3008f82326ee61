// Forums: posts, which are threads, and tags.

import {
	type APIGuildForumChannel,
	type APIThreadChannel,
	ChannelFlags,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import {
	currentTags,
	requireTags,
	type Tag,
	tagChanges,
	tagLine,
	tagOf,
} from "../channels/forum-tags.ts";
import {
	activeThreads,
	threadCursor,
	threadLines,
} from "../channels/thread-pages.ts";
import { channelName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { emoji } from "../messages/emoji.ts";
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
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";
import { autoArchive } from "./threads.ts";

const inForum = { guild_id, channel_id: found(find.currentForum, "forum") };

export const createForumPost = writeTool({
	name: "create_forum_post",
	toolset: "threads",
	title: "Create a forum post",
	description:
		"Create a post in a forum: a thread with its first message. Reply in it with send_message.",
	permissions: ["SendMessages", pingsMany],
	input: v.strictObject({
		...inForum,
		title: text(1, 100, "Title of the post."),
		content,
		tag_ids: v.optional(list(snowflake("tag"), 0, 5, "Its tags."), []),
		mentions,
		auto_archive_minutes: autoArchive,
		reason,
	}),
	async run(args, { discord, guild, channel }) {
		const { title, content, tag_ids } = args;
		requireTags(guild, channel, tag_ids);
		const { id } = (await discord.rest.post(Routes.threads(channel.id), {
			body: {
				name: title,
				auto_archive_duration: args.auto_archive_minutes,
				applied_tags: tag_ids,
				message: { content, allowed_mentions: allowedMentions(args.mentions) },
			},
		})) as APIThreadChannel;
		return `Created the post ${channelName({ name: title, id })} in ${channelName(channel)}.`;
	},
});

export const listForumPosts = readTool({
	name: "list_forum_posts",
	toolset: "threads",
	title: "List forum posts",
	description:
		"List a forum's active posts, optionally with a tag, and on request the archived ones after them.",
	permissions: [{ permission: "ReadMessageHistory", with: "include_archived" }],
	input: v.strictObject({
		...inForum,
		tag_id: v.optional(snowflake("tag to filter by")),
		include_archived: v.optional(flag("Also archived ones."), false),
		limit: limit(100, 50),
		before: threadCursor,
	}),
	run({ tag_id, include_archived, limit, before }, { guild, channel }) {
		const tagId = tag_id && tagOf(channel, tag_id).id;
		const query = { channel, archived: include_archived, limit, before, tagId };
		return threadLines(guild, "post", query);
	},
});

export const listForumTags = readTool({
	name: "list_forum_tags",
	toolset: "threads",
	title: "List forum tags",
	description: "List a forum's tags.",
	input: v.strictObject(inForum),
	run(_, { channel }) {
		const where = channelName(channel);
		const tags = currentTags(channel);
		if (tags.length === 0)
			return `${where} has no tags. set_forum_tags creates some.`;
		const needed = channel.flags.has(ChannelFlags.RequireTag)
			? "; every post needs at least one"
			: "";
		return [
			`${tags.length} tag(s) of ${where}${needed}:`,
			...tags.map(tagLine),
		];
	},
});

export const setForumTags = destructiveTool({
	name: "set_forum_tags",
	toolset: "threads",
	title: "Set forum tags",
	description:
		"Replace a forum's list of tags, in this order. Existing tags are matched by id, or else by name; those not listed are deleted.",
	permissions: ["ManageChannels"],
	lock: "channel_id",
	input: v.strictObject({
		...inForum,
		tags: v.pipe(
			v.array(
				v.strictObject({
					id: v.optional(snowflake("tag, to rename it")),
					name: text(1, 20, "Name of the tag."),
					moderated: v.optional(flag("Only moderators can apply it.")),
					emoji: v.optional(emoji),
				}),
			),
			v.maxLength(20, "expected at most 20"),
			v.description("The complete list."),
		),
		reason,
	}),
	async plan({ tags }, { discord, guild, channel }) {
		const where = channelName(channel);
		const changes = await tagChanges(guild, channel, tags);
		const { after, added, changed, gone, moved } = changes;
		if (added.length + changed.length + gone.length === 0 && !moved)
			throw new ToolError(
				`Nothing would change: ${where} already has these tags. Nothing was done.`,
			);
		const posts =
			gone.length > 0 ? await activeThreads(guild, { channel }) : [];
		const postsWith = ({ id = "" }: Tag) =>
			posts.filter(({ applied_tags }) => applied_tags?.includes(id)).length;
		const lost = gone.map(
			(tag) => `deleted: ${tagLine(tag)} | on ${postsWith(tag)} active post(s)`,
		);
		const count = `${after.length} tag(s) of ${where}: ${added.length} new, ${changed.length} changed, ${gone.length} deleted.`;
		return {
			preview: [
				`Would set the ${count}`,
				...lost,
				...changed.map((tag) => `changed: ${tagLine(tag)}`),
				...added.map((tag) => `new: ${tagLine(tag)}`),
			],
			async act() {
				const { available_tags = [] } = (await discord.rest.patch(
					Routes.channel(channel.id),
					{ body: { available_tags: after } },
				)) as APIGuildForumChannel;
				return [`Set the ${count}`, ...lost, ...available_tags.map(tagLine)];
			},
		};
	},
});
