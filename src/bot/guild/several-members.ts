// Tools that act on one member by `user_id`, or on several by `user_ids`.

import { type Guild, type GuildMember, RESTJSONErrorCodes } from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { absentIf, type MemberState } from "../discord/find.ts";

/** The ids of the users that a call is about, so that calls about the same user run one after another. */
export function idsOf({
	user_id,
	user_ids = [],
}: {
	user_id?: string | undefined;
	user_ids?: readonly string[] | undefined;
}): readonly string[] {
	return [...new Set([user_id ?? [], user_ids].flat())];
}

/** A user's id, and the guild member with this id; undefined if the user is not a member. */
export interface MaybeMember {
	id: string;
	member: GuildMember | undefined;
}

/**
 * Looks up a guild member by user id: in the cache if it holds all members, otherwise on Discord. Unlike `member` it
 * does not throw if the user is not a member, because in a list others may be.
 */
export async function memberOrAbsent(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<MaybeMember> {
	const known = guild.members.cache.get(id);
	if (known || connection.hasAllMembers(guild)) return { id, member: known };
	const member = await absentIf([RESTJSONErrorCodes.UnknownMember], () =>
		guild.members.fetch(id),
	);
	return { id, member };
}

/**
 * Splits users into members, and a result line about the others, if there are any. `user` is the member of the argument
 * `user_id`, if given. Throws a ToolError if none of them is a member.
 */
export function membersAmong(
	guild: Guild,
	user: GuildMember | undefined,
	users: readonly MaybeMember[],
): { members: GuildMember[]; absent: string | false } {
	const members = [
		user ?? [],
		...users.flatMap(({ id, member }) =>
			member && id !== user?.id ? [member] : [],
		),
	].flat();
	const others = users.flatMap(({ id, member }) => (member ? [] : [id]));
	const ids = others.join(", ");
	if (members.length === 0)
		throw new ToolError(
			others.length === 1
				? `User ${ids} is not a member of the guild ${guild.id}. Nothing was done.`
				: `None of the users ${ids} is a member of the guild ${guild.id}. Nothing was done.`,
		);
	return {
		members,
		absent: others.length > 0 && `${others.length} not in the guild: ${ids}`,
	};
}
