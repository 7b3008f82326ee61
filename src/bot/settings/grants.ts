// Grants: roles that can use a moderator action without the Discord permission for it, from the settings "may.<action>". In calls
// of this action, a grant counts as these permissions of a role: channel overwrites, timeouts and the role hierarchy still apply,
// and the bot needs its own permissions.

import { GuildMember } from "discord.js";
import { bitsIn, type Permission } from "../../discord/permissions.ts";

interface Grantable {
	permissions: readonly [Permission, ...Permission[]];
	/** After "lets @Role". */
	lets: string;
}

export const moderatorActions = {
	warn: { permissions: ["ModerateMembers"], lets: "warn members" },
	timeout: { permissions: ["ModerateMembers"], lets: "time out members" },
	kick: { permissions: ["KickMembers"], lets: "kick members" },
	ban: { permissions: ["BanMembers"], lets: "ban members" },
	purge: { permissions: ["ManageMessages"], lets: "delete messages" },
	lock: { permissions: ["ManageRoles"], lets: "lock channels" },
	raid_mode: { permissions: ["ManageGuild", "ManageChannels"], lets: "turn raid mode on and off" },
	cases: { permissions: ["ModerateMembers", "ManageGuild"], lets: "read and edit all cases" },
	settings: { permissions: ["ManageGuild"], lets: "change the bot's settings" },
} as const satisfies Record<string, Grantable>;

export type ModeratorAction = keyof typeof moderatorActions;

export interface Grants {
	of(guildId: string): Readonly<Record<`may.${ModeratorAction}`, readonly string[]>>;
}

export function isGranted(grants: Grants, member: unknown, may: ModeratorAction | undefined): boolean {
	if (!may || !(member instanceof GuildMember)) return false;
	return member.roles.cache.hasAny(...grants.of(member.guild.id)[`may.${may}`]);
}

export function grantedBits(grants: Grants, member: GuildMember, may: ModeratorAction | undefined): bigint {
	return may && isGranted(grants, member, may) ? bitsIn(undefined, moderatorActions[may].permissions) : 0n;
}
