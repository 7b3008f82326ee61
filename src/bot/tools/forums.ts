// Forums: posts, which are threads, and tags.

import { type APIThreadChannel, Routes } from "discord.js";
import * as v from "valibot";
import { requireTags, tagOf } from "../channels/forum-tags.ts";
import { threadCursor, threadLines } from "../channels/thread-pages.ts";
import { channelName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
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
import { readTool, writeTool } from "../tool/define.ts";
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
