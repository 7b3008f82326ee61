// Access to channels in tool results: who sees a new channel, and how permission overwrites change.

import type { Guild, GuildMember, Role } from "discord.js";
import { memberName, roleName } from "../discord/describe.ts";
import { botMember } from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";
import type { Access, Entries } from "./channel-access.ts";
import { describeChange } from "./overwrites.ts";

/** Describes how permission overwrites change, one line for each changed role or member. */
export function changedEntries(
	guild: Guild,
	before: Entries,
	after: Entries,
): string[] {
	const none = { allow: 0n, deny: 0n };
	const ids = [...new Set([...after.keys(), ...before.keys()])];
	return ids.flatMap((id) => {
		const [old, now] = [before.get(id) ?? none, after.get(id) ?? none];
		const change = describeChange(old, now);
		return change === "" ? [] : `${subjectName(guild, id)}: ${change}`;
	});
}

/**
 * Returns the name of the role or member with this id as tool results show it: "the bot", "@everyone", or name and id.
 */
export function subjectName(guild: Guild, id: string): string {
	if (id === botMember(guild).id) return "the bot";
	const role = guild.roles.cache.get(id);
	if (role) return id === guild.id ? "@everyone" : roleName(role);
	const member = guild.members.cache.get(id);
	return member ? memberName(member) : oneField(id);
}

/** Describes who can see a new channel and who can write in it, as the end of a sentence: ", visible only to …". */
export function accessText(
	{ view_role_ids, view_user_ids, ...access }: Access,
	things: {
		view_roles?: readonly Role[] | undefined;
		view_users?: readonly GuildMember[] | undefined;
		write_roles?: readonly Role[] | undefined;
	},
): string {
	const list = (
		roles: readonly Role[] = [],
		users: readonly GuildMember[] = [],
	) =>
		[...roles.map(roleName), ...users.map(memberName)]
			.map((name) => `${name}, `)
			.join("")
			.replace(/, $/, " and ");
	const viewers = [...(things.view_roles ?? [])];
	const writers = things.write_roles ?? [];
	const seers = [
		...viewers,
		...writers.filter((role) => !viewers.includes(role)),
	];
	const isPrivate = view_role_ids !== undefined || view_user_ids !== undefined;
	const visible = isPrivate
		? `, visible only to ${list(seers, things.view_users)}the bot`
		: "";
	const written =
		access.write_role_ids === undefined
			? ""
			: `, in which only ${list(writers)}the bot can write`;
	const count = access.permission_overwrites?.length;
	return `${visible}${written}${count === undefined ? "" : `, with ${count} permission overwrite(s) of its own`}`;
}
