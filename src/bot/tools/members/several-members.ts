// Tools that act on one or several users, by `user_ids`.

import type { Guild, GuildMember } from "discord.js";
import { actingPerson } from "../../../discord/acting-person.ts";
import { memberFields } from "../../../discord/describe.ts";
import { type MemberState, memberOrNone } from "../../../discord/find.ts";
import { requireMembersBelow } from "../../../discord/role-hierarchy.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import { mentions, type Result, result } from "../../results/result.ts";
import { found, list } from "../../tool/arguments/arguments.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import type { Chosen } from "../../tool/context.ts";

export type MaybeMember = ReturnType<typeof cachedMember>;

/** From the cache if it has all members, otherwise from Discord. */
export async function memberOrAbsent(guild: Guild, id: string, connection: MemberState): Promise<MaybeMember> {
	return { id, member: await memberOrNone(guild, id, connection) };
}

export const user_ids = list(found(memberOrAbsent, "member"), 1, 200, "Members.");

export function cachedMember(guild: Guild, id: string) {
	return { id, member: guild.members.cache.get(id) };
}

/** `absent`: a line about the others. Throws if no user is a member. */
export function membersAmong(
	guild: Guild,
	users: readonly MaybeMember[],
): { members: GuildMember[]; absent: Result | false } {
	const members = users.flatMap(({ member }) => member ?? []);
	const others = users.flatMap(({ id, member }) => (member ? [] : [id]));
	const ids = others.join(", ");
	const absent = said("result.absent", { who: mentions(others) });
	if (members.length === 0) {
		const who = users.length === 1 ? `User ${ids} is not` : `None of the users ${ids} is`;
		throw new SaidError(said("refusal.nothing_done", { why: absent }), {
			models: `${who} a member of the guild ${guild.id}. Nothing was done; lookup_user_by_name finds members.`,
		});
	}
	return { members, absent: others.length > 0 && result(`${others.length} not in the guild: ${ids}`, absent) };
}

/**
 * Returns those of the users who are members, like `membersAmong`. The only one of a call (`only`) is fetched from
 * Discord, because the cached member may not have the latest timeout, roles or nickname.
 */
export async function currentAmong(guild: Guild, users: readonly MaybeMember[]) {
	const { members, absent } = membersAmong(guild, users);
	const [user] = members;
	if (!user || users.length > 1) return { members, absent };
	const only = await guild.members.fetch({ user, force: true });
	const self = actingPerson(guild) ?? guild.client.user;
	if (only.id !== self.id) requireMembersBelow(guild, [only]);
	return { members: [only], absent, only };
}

/** How results of tools that change members name them, and how people read of those that were not changed. */
export const asMembers = { idOf: ({ id }: GuildMember) => id, describe: memberFields };
/** How to go on if members are left. The same call with user_ids would begin again with the first one. */
export const continuing = (chosen: Chosen | undefined) =>
	chosen
		? "To continue, call again with the same arguments."
		: (left: readonly { id: string }[]) =>
				`To continue, call again with user_ids ${left.map(({ id }) => id).join(", ")}.`;

/** The case of an action on these members. */
export const caseOf = (action: CaseAction, members: readonly { id: string }[]) => ({
	action,
	userIds: members.map(({ id }) => id),
});
