// The rows of src/bot/tools/threads.ts and thread-members.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import type { NewThread } from "../../../src/simulator/world/messages/threads.ts";
import type { GuildChannel, Thread } from "../../../src/simulator/world/state/entities.ts";
import * as person from "./person.ts";
import {
	adaIn,
	anyId,
	channelId,
	foreignChannel,
	freshName,
	inChannel,
	memberId,
	messageId,
	newChannel,
	newMember,
	type Row,
	refusedByBot,
	type Scene,
	written,
} from "./scene.ts";

/** A thread that ada has started. */
function newThread({ world }: Scene, parent: GuildChannel, given: Partial<NewThread> = {}): Thread {
	const { threads } = world.simulator.world;
	return threads.add(parent, adaIn(world), { name: freshName(), ...given });
}

function newForum(scene: Scene): GuildChannel {
	const forum = newChannel(scene, ChannelType.GuildForum);
	forum.available_tags = [
		{ id: scene.world.simulator.world.state.newId(), name: "soup", moderated: false, emoji_id: null, emoji_name: "🍲" },
	];
	return forum;
}

const tagOf = ({ available_tags: [tag] }: GuildChannel) => String(tag?.id);

const threadId = refusedByBot("There is no channel", (scene) => newThread(scene, foreignChannel(scene)).id);
const before = anyId("it is a cursor");

export const threadsRows: Record<string, Row> = {
	create_thread: {
		ids: { channel_id: channelId, message_id: messageId },
		adds: true,
		person: person.inChannel(["CreatePublicThreads"]),
		act(scene) {
			const channel = newChannel(scene);
			const message = written(scene, channel);
			return {
				args: { channel_id: channel.id, message_id: message.id, name: "soup" },
				request: `POST /channels/${channel.id}/messages/${message.id}/threads`,
				done: () => scene.guild.threads.has(message.id),
			};
		},
		reason: AuditLogEvent.ThreadCreate,
		needs: inChannel("CreatePublicThreads"),
		refuses: [
			[{ private: true }, "visible to all who see the message"],
			[{ message_id: undefined, tag_ids: ["123456789012345678"] }, "tag_ids: only forum posts have tags"],
		],
	},
	list_threads: {
		ids: { channel_id: channelId, before },
		person: person.inChannel(["ReadMessageHistory"], {
			leavesOut({ world }, hidden) {
				const { threads } = world.simulator.world;
				const thread = threads.add(hidden, adaIn(world), { name: freshName() });
				return { args: {}, secrets: [thread.id, thread.name, hidden.id, hidden.name] };
			},
		}),
		ask(scene) {
			const forum = newForum(scene);
			const tag = tagOf(forum);
			const given = { applied_tags: [tag] };
			const active = newThread(scene, forum, given);
			const archived = newThread(scene, forum, given);
			newThread(scene, forum);
			scene.world.simulator.world.threads.edit(archived, { archived: true });
			return {
				args: { channel_id: forum.id, tag_ids: [tag], include_archived: true },
				request: `GET /guilds/${scene.guild.id}/threads/active`,
				answer: [
					`2 post(s) with the tag ${tag} in #${forum.name} (ID: ${forum.id}), the newest first`,
					`\n#${active.name} | ID: ${active.id} | 0 message(s), 1 member(s) | `,
					" | tags: soup",
					`\n#${archived.name} | ID: ${archived.id} | `,
					" | archived: ",
				],
			};
		},
		needs: inChannel("ReadMessageHistory"),
	},
	edit_thread: {
		ids: { thread_id: threadId },
		person: person.inChannel(["ManageThreads"], { argument: "thread_id" }),
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
		needs: inChannel("ManageThreads"),
	},
	delete_thread: {
		ids: { thread_id: threadId },
		person: person.inChannel(["ManageThreads"], { argument: "thread_id" }),
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
		needs: inChannel("ManageThreads"),
		dryRun: /^Would delete the thread #thing-\d+ \(ID: \d+\) of #thing-\d+ \(ID: \d+\) with its 0 message\(s\)\./m,
	},
	list_thread_members: {
		ids: { thread_id: threadId, after: before },
		person: person.anyMember({ argument: "thread_id" }),
		ask(scene) {
			const thread = newThread(scene, newChannel(scene));
			const { user } = newMember(scene, scene.guild);
			scene.world.simulator.world.threads.join(thread, user);
			return {
				args: { thread_id: thread.id },
				request: `GET /channels/${thread.id}/thread-members`,
				answer: [
					` member(s) of #${thread.name} (ID: ${thread.id}), by id:`,
					`@${user.username} | ID: ${user.id} | joined: `,
				],
				channel: thread.id,
			};
		},
		needs: "no permission",
	},
	edit_thread_members: {
		ids: { thread_id: threadId, add_user_ids: memberId, remove_user_ids: memberId },
		person: person.inChannel(["ManageThreads"], { argument: "thread_id" }),
		act(scene) {
			const thread = newThread(scene, newChannel(scene));
			const { user } = newMember(scene, scene.guild);
			scene.world.simulator.world.threads.join(thread, user);
			return {
				args: { thread_id: thread.id, remove_user_ids: [user.id] },
				request: `DELETE /channels/${thread.id}/thread-members/${user.id}`,
				done: () => !thread.members.has(user.id),
				channel: thread.id,
			};
		},
		needs: inChannel("ManageThreads"),
		dryRun: /^Would remove 1 member\(s\) from #thing-\d+ \(ID: \d+\):\n@thing-\d+ \| ID: \d+$/m,
	},
};
