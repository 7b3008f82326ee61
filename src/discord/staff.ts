// Defines which members and roles are staff, meaning that they may moderate.

import {
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
	OverwriteType,
	PermissionFlagsBits,
	type PermissionOverwrites,
	PermissionsBitField,
	type Role,
} from "discord.js";

const staffPermissions = PermissionsBitField.resolve([
	"Administrator",
	"ManageGuild",
	"ManageRoles",
	"ManageChannels",
	"ManageMessages",
	"ModerateMembers",
	"KickMembers",
	"BanMembers",
]);

/** The owner, or anybody with a moderator permission in the whole guild. */
export function isStaff(member: GuildMember): boolean {
	return member.id === member.guild.ownerId || (member.permissions.bitfield & staffPermissions) !== 0n;
}

export function isStaffOrBotRole({ permissions, tags }: Role): boolean {
	return tags?.botId !== undefined || permissions.any(staffPermissions);
}

/** Overwrites for single members are ignored. */
export function isStaffOnly(channel: GuildBasedChannel): boolean {
	return channel.guild.roles.cache.every(
		(role) => isStaffOrBotRole(role) || !channel.permissionsFor(role)?.has(PermissionFlagsBits.ViewChannel),
	);
}

/** Or lets its role or member moderate there. */
export function isForStaffOrBot(guild: Guild, { id, allow }: PermissionOverwrites): boolean {
	if (allow.any(staffPermissions)) return true;
	const role = guild.roles.cache.get(id);
	if (role) return isStaffOrBotRole(role);
	const member = guild.members.cache.get(id);
	return member !== undefined && (member.user.bot || isStaff(member));
}

/** Ids of members and roles, without @everyone, that may delete messages of others by an overwrite. */
export function channelModerators(guild: Guild): ReadonlySet<string> {
	const ids = new Set<string>();
	for (const channel of guild.channels.cache.values()) {
		if (channel.isThread()) continue;
		for (const { id, type, allow } of channel.permissionOverwrites.cache.values())
			if ((type === OverwriteType.Member || id !== guild.id) && allow.has(PermissionFlagsBits.ManageMessages))
				ids.add(id);
	}
	return ids;
}
