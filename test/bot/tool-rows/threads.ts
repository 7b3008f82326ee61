// The rows of src/bot/tools/threads.ts and forums.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import type { NewThread } from "../../../src/simulator/world/messages/threads.ts";
import type {
	GuildChannel,
	Thread,
} from "../../../src/simulator/world/state/entities.ts";
import {
	anyId,
	channelId,
	foreignChannel,
	freshName,
	looked,
	messageId,
	newChannel,
	type Row,
	type Scene,
	written,
} from "./scene.ts";

/** A thread that ada has started. */
function newThread(
	{ world }: Scene,
	parent: GuildChannel,
	given: Partial<NewThread> = {},
): Thread {
	const { simulator } = world;
	const ada = simulator.world.users.get(simulator.user("ada").id);
	if (!ada) throw new Error("ada has an account");
	const name = freshName();
	return simulator.world.threads.add(parent, ada, { name, ...given });
}

function newForum(scene: Scene): GuildChannel {
	const forum = newChannel(scene, ChannelType.GuildForum);
	forum.available_tags = [
		{
			...{ id: scene.world.simulator.world.state.newId(), name: "soup" },
			...{ moderated: false, emoji_id: null, emoji_name: "🍲" },
		},
	];
	return forum;
}

const tagOf = ({ available_tags: [tag] }: GuildChannel) => String(tag?.id);

const threadId = looked(
	"There is no channel",
	(scene) => newThread(scene, foreignChannel(scene)).id,
);
const forumId = looked(
	"There is no channel",
	(scene) => newForum({ ...scene, guild: scene.other }).id,
);
const before = anyId("it is where a page goes on");
const tagId = looked("has no tag", (scene) =>
	tagOf(newForum({ ...scene, guild: scene.other })),
);

export const threadsRows: Record<string, Row> = {
	create_thread: {
		effect: "writes",
		ids: { channel_id: channelId, message_id: messageId },
		act(scene) {
			const channel = newChannel(scene);
			const message = written(scene, channel);
			return {
				args: {
					...{ channel_id: channel.id, message_id: message.id },
					name: "soup",
				},
				request: `POST /channels/${channel.id}/messages/${message.id}/threads`,
				done: () => scene.guild.threads.has(message.id),
			};
		},
		reason: AuditLogEvent.ThreadCreate,
		needs: {
			permission: "CreatePublicThreads",
			name: "CREATE_PUBLIC_THREADS",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	list_threads: {
		effect: "asks",
		ids: { channel_id: channelId, before },
		ask(scene) {
			const channel = newChannel(scene);
			const active = newThread(scene, channel);
			const archived = newThread(scene, channel);
			scene.world.simulator.world.threads.edit(archived, { archived: true });
			return {
				args: { channel_id: channel.id, include_archived: true },
				request: `GET /guilds/${scene.guild.id}/threads/active`,
				answer: [
					`2 thread(s) in #${channel.name} (ID: ${channel.id}), the newest first`,
					`\n#${active.name} | ID: ${active.id} | 0 message(s), 1 member(s) | `,
					`\n#${archived.name} | ID: ${archived.id} | `,
					" | archived: ",
				],
			};
		},
		needs: {
			permission: "ReadMessageHistory",
			name: "READ_MESSAGE_HISTORY",
			in: "the channel",
		},
	},
	edit_thread: {
		effect: "writes",
		ids: {
			thread_id: threadId,
			applied_tag_ids: anyId("the thread of this row is in no forum"),
		},
		act(scene) {
			const thread = newThread(scene, newChannel(scene));
			return {
				args: { thread_id: thread.id, locked: true },
				request: `PATCH /channels/${thread.id}`,
				done: () => thread.locked,
				channel: thread.id,
			};
		},
		reason: AuditLogEvent.ThreadUpdate,
		needs: {
			permission: "ManageThreads",
			name: "MANAGE_THREADS",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	delete_thread: {
		effect: "writes",
		ids: { thread_id: threadId },
		act(scene) {
			const { id } = newThread(scene, newChannel(scene));
			return {
				args: { thread_id: id },
				request: `DELETE /channels/${id}`,
				done: () => !scene.guild.threads.has(id),
				channel: id,
			};
		},
		reason: AuditLogEvent.ThreadDelete,
		needs: {
			permission: "ManageThreads",
			name: "MANAGE_THREADS",
			in: "the channel",
		},
		dryRun:
			/^Would delete the thread #thing-\d+ \(ID: \d+\) of #thing-\d+ \(ID: \d+\) with its 0 message\(s\)\./m,
	},
	create_forum_post: {
		effect: "writes",
		ids: { channel_id: forumId, tag_ids: tagId },
		act(scene) {
			const forum = newForum(scene);
			const title = freshName();
			return {
				args: {
					...{ channel_id: forum.id, title, content: "Take a leek." },
					tag_ids: [tagOf(forum)],
				},
				request: `POST /channels/${forum.id}/threads`,
				done: () =>
					[...scene.guild.threads.values()].some(({ name }) => name === title),
			};
		},
		reason: AuditLogEvent.ThreadCreate,
		needs: {
			permission: "SendMessages",
			name: "SEND_MESSAGES",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	list_forum_posts: {
		effect: "asks",
		ids: { channel_id: forumId, tag_id: tagId, before },
		ask(scene) {
			const forum = newForum(scene);
			const tag = tagOf(forum);
			const post = newThread(scene, forum, { applied_tags: [tag] });
			return {
				args: { channel_id: forum.id, tag_id: tag, include_archived: true },
				request: `GET /guilds/${scene.guild.id}/threads/active`,
				answer: [
					`1 post(s) with the tag ${tag} in #${forum.name} (ID: ${forum.id})`,
					`\n#${post.name} | ID: ${post.id} | `,
					" | tags: soup",
				],
			};
		},
		needs: {
			permission: "ReadMessageHistory",
			name: "READ_MESSAGE_HISTORY",
			in: "the channel",
		},
	},
	list_forum_tags: {
		effect: "asks",
		ids: { channel_id: forumId },
		ask(scene) {
			const forum = newForum(scene);
			return {
				args: { channel_id: forum.id },
				request: `GET /channels/${forum.id}`,
				answer: [
					`1 tag(s) of #${forum.name} (ID: ${forum.id}):`,
					`\nsoup | ID: ${tagOf(forum)} | emoji: 🍲`,
				],
			};
		},
		needs: {
			permission: "ViewChannel",
			name: "VIEW_CHANNEL",
			in: "the channel",
		},
	},
	set_forum_tags: {
		effect: "writes",
		ids: { channel_id: forumId },
		act(scene) {
			const forum = newForum(scene);
			return {
				args: { channel_id: forum.id, tags: [{ name: "stew" }] },
				request: `PATCH /channels/${forum.id}`,
				done: () => forum.available_tags[0]?.name === "stew",
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the channel",
		},
		dryRun:
			/^Would set the 1 tag\(s\) of #thing-\d+ \(ID: \d+\): 1 new, 0 changed, 1 deleted\.$/m,
	},
};
