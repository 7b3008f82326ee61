// Grants: roles that can use a moderator action without the Discord permission for it, from the settings "may.<action>". In calls
// of this action, a grant counts as these permissions of a role: channel overwrites, timeouts and the role hierarchy still apply,
// and the bot needs its own permissions.

import { GuildMember } from "discord.js";
import { bitsIn, type Permission } from "../../discord/permissions.ts";

export const moderatorActions = {
	warn: ["ModerateMembers"],
	timeout: ["ModerateMembers"],
	kick: ["KickMembers"],
	ban: ["BanMembers"],
	purge: ["ManageMessages"],
	lock: ["ManageRoles"],
	raid_mode: ["ManageGuild", "ManageChannels"],
	cases: ["ModerateMembers", "ManageGuild"],
	tags: ["ManageGuild"],
	settings: ["ManageGuild"],
} as const satisfies Record<string, readonly [Permission, ...Permission[]]>;

export type ModeratorAction = keyof typeof moderatorActions;

export interface Grants {
	of(guildId: string): Readonly<Record<`may.${ModeratorAction}`, readonly string[]>>;
}

export function isGranted(grants: Grants, member: unknown, may: ModeratorAction | undefined): boolean {
	if (!may || !(member instanceof GuildMember)) return false;
	return member.roles.cache.hasAny(...grants.of(member.guild.id)[`may.${may}`]);
}

/** Of all actions. */
export function allGrantedBits(grants: Grants, member: GuildMember): bigint {
	const actions = Object.keys(moderatorActions) as ModeratorAction[];
	return actions.reduce((bits, action) => bits | grantedBits(grants, member, action), 0n);
}

export function grantedBits(grants: Grants, member: GuildMember, may: ModeratorAction | undefined): bigint {
	return may && isGranted(grants, member, may) ? bitsIn(undefined, moderatorActions[may]) : 0n;
}
