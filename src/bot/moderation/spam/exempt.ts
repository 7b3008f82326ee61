// Members whose messages are never treated as spam.

import { type GuildMember, type GuildTextBasedChannel, PermissionFlagsBits } from "discord.js";
import { isAbove } from "../../../discord/role-hierarchy.ts";
import { isStaff } from "../../../discord/staff.ts";

/** Staff, who ranks above the bot, has Manage Messages in the channel, or has one of `roles`. */
export function isExempt(member: GuildMember, channel: GuildTextBasedChannel, roles: readonly string[]): boolean {
	const { guild } = member;
	const { me } = guild.members;
	if (!me || isStaff(member)) return true;
	if (roles.some((id) => member.roles.cache.has(id))) return true;
	const { ManageMessages } = PermissionFlagsBits;
	if (channel.permissionsFor(member)?.has(ManageMessages)) return true;
	return !isAbove(me, member.roles.highest);
}
