// Thread members: joining, adding, leaving and removing.
// https://discord.com/developers/docs/resources/channel#join-thread

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { Thread, User } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { compareIds } from "../../world/state/snowflake.ts";
import { apiError } from "../errors.ts";
import { boolean, integer, snowflake } from "../fields.ts";
import { permissionsIn, requirePermissions } from "../message-body.ts";
import { type Call, param, route, threadOf } from "../route.ts";

const all = "/channels/:channel_id/thread-members";

/** The guild member of the path's user. */
function userOf(call: Call): User {
	const id = param(call, "user_id");
	if (!call.world.users.get(id)) throw apiError(Code.UnknownUser);
	const member = call.world.guilds.of(threadOf(call)).members.get(id);
	if (!member) throw apiError(Code.UnknownMember);
	return member.user;
}

function serializeMember(
	call: Call,
	thread: Thread,
	userId: string,
	whole: boolean,
) {
	const guild = call.world.guilds.of(thread);
	return whole
		? serialize.threadMemberWith(guild, thread, userId)
		: [serialize.threadMember(thread, userId)].filter(
				(one) => one !== undefined,
			);
}

export const threadMemberRoutes = [
	route({
		method: "PUT",
		path: `${all}/@me`,
		run: (call) => {
			if (!call.world.threads.join(threadOf(call), call.actor.user))
				call.skipJournal();
		},
	}),
	route({
		method: "PUT",
		path: `${all}/:user_id`,
		needs: Permission.SendMessages,
		run: (call) => {
			const thread = threadOf(call);
			if (thread.type === ChannelType.PrivateThread && !thread.invitable)
				requirePermissions(call, thread, Permission.ManageThreads);
			if (!call.world.threads.join(thread, userOf(call))) call.skipJournal();
		},
	}),
	route({
		method: "DELETE",
		path: `${all}/@me`,
		run: (call) => {
			if (!call.world.threads.leave(threadOf(call), call.actor.user))
				call.skipJournal();
		},
	}),
	route({
		method: "DELETE",
		path: `${all}/:user_id`,
		run: (call) => {
			const thread = threadOf(call);
			const owns =
				thread.type === ChannelType.PrivateThread &&
				thread.owner_id === call.actor.user.id;
			if (!owns && !has(permissionsIn(call, thread), Permission.ManageThreads))
				throw apiError(Code.MissingPermissions);
			if (!call.world.threads.leave(thread, userOf(call))) call.skipJournal();
		},
	}),
	route({
		method: "GET",
		path: `${all}/:user_id`,
		query: { with_member: boolean },
		run: (call) => {
			const thread = threadOf(call);
			const id = param(call, "user_id");
			const { with_member = false } = call.query;
			const [found] = serializeMember(call, thread, id, with_member);
			if (!found) throw apiError(Code.UnknownMember);
			return found;
		},
	}),
	route({
		method: "GET",
		path: all,
		query: { with_member: boolean, after: snowflake, limit: integer(1, 100) },
		run: (call) => {
			const { user, privilegedIntents } = call.actor;
			if (user.bot && !privilegedIntents.includes("GuildMembers"))
				throw apiError(Code.MissingAccess);
			const thread = threadOf(call);
			const { with_member = false, after = "0", limit = 100 } = call.query;
			const ids = [...thread.members.keys()]
				.sort(compareIds)
				.filter((id) => compareIds(id, after) > 0);
			// Only the list with members is paginated.
			return (with_member ? ids.slice(0, limit) : ids).flatMap((id) =>
				serializeMember(call, thread, id, with_member),
			);
		},
	}),
];
