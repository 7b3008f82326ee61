// Thread members: joining, adding, leaving and removing.
// https://discord.com/developers/docs/resources/channel#join-thread

import { ChannelType } from "discord.js";
import type { Thread, User } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { requireMembersIntent, requirePermissions } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { boolean, integer, snowflake } from "../fields/fields.ts";
import { pageById } from "../pages.ts";
import { type Call, route, threadOf } from "../route.ts";

const all = "/channels/:channel_id/thread-members";
const one = `${all}/:user_id` as const;

/**
 * Discord's maximum number of members of a thread.
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes, error 30033
 */
const memberLimit = 1000;

function userOf(call: Call<typeof one>): User {
	const { world, params } = call;
	found(world.users.get(params.user_id), "UnknownUser");
	const { members } = world.guilds.of(threadOf(call));
	return found(members.get(params.user_id), "UnknownMember").user;
}

function join(call: Call<":channel_id">, user: User): void {
	const { world, actor } = call;
	const thread = threadOf(call);
	const { members } = thread;
	if (members.size >= memberLimit && !members.has(user.id)) throw apiError("MaximumThreadParticipantsReached");
	if (!world.threads.join(thread, user, actor.user)) call.skipJournal();
}

function leave(call: Call<":channel_id">, user: User): void {
	const { world, actor } = call;
	if (!world.threads.leave(threadOf(call), user, actor.user)) call.skipJournal();
}

function serializeMember({ world }: Call, thread: Thread, userId: string, withMember = false) {
	if (withMember) return serialize.threadMemberWith(world.guilds.of(thread), thread, userId);
	const member = serialize.threadMember(thread, userId);
	return member ? [member] : [];
}

export const threadMemberRoutes = [
	route(`PUT ${all}/@me`, (call) => join(call, call.actor.user)),
	route(`PUT ${one}`, {
		needs: "SendMessages",
		run: (call) => {
			const thread = threadOf(call);
			if (thread.type === ChannelType.PrivateThread && !thread.invitable)
				requirePermissions(call, thread, "ManageThreads");
			join(call, userOf(call));
		},
	}),
	route(`DELETE ${all}/@me`, (call) => leave(call, call.actor.user)),
	route(`DELETE ${one}`, (call) => {
		const thread = threadOf(call);
		const owns = thread.type === ChannelType.PrivateThread && thread.owner_id === call.actor.user.id;
		if (!owns) requirePermissions(call, thread, "ManageThreads");
		leave(call, userOf(call));
	}),
	route(`GET ${one}`, {
		query: { with_member: boolean },
		run: (call) => {
			const { user_id } = call.params;
			const { with_member } = call.query;
			const known = serializeMember(call, threadOf(call), user_id, with_member);
			return found(known[0], "UnknownMember");
		},
	}),
	route(`GET ${all}`, {
		query: { with_member: boolean, after: snowflake, limit: integer(1, 100) },
		run: (call) => {
			requireMembersIntent(call);
			const thread = threadOf(call);
			const { with_member, after, limit = 100 } = call.query;
			// Only the list with members is paginated.
			const page = { after, limit: with_member ? limit : thread.members.size };
			return pageById(thread.members.keys(), (id) => id, page, 100).flatMap((id) =>
				serializeMember(call, thread, id, with_member),
			);
		},
	}),
];
