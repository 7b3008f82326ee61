// Defines which members are staff, meaning that they may moderate.

import {
	type Guild,
	type GuildMember,
	OverwriteType,
	PermissionFlagsBits,
	PermissionsBitField,
} from "discord.js";

/** Permissions that make a member staff. A member needs only one of them, but guild-wide. */
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

/** Whether a member is staff: is the owner of the guild, or has a moderator permission in the whole guild. */
export function isStaff(member: GuildMember): boolean {
	return (
		member.id === member.guild.ownerId ||
		(member.permissions.bitfield & staffPermissions) !== 0n
	);
}

/**
 * Returns the ids of members and roles to which a channel's permission overwrites give the permission to delete
 * messages of others. Does not include @everyone.
 */
export function channelModerators(guild: Guild): ReadonlySet<string> {
	const ids = new Set<string>();
	for (const channel of guild.channels.cache.values()) {
		if (channel.isThread()) continue;
		for (const {
			id,
			type,
			allow,
		} of channel.permissionOverwrites.cache.values())
			if (
				(type === OverwriteType.Member || id !== guild.id) &&
				allow.has(PermissionFlagsBits.ManageMessages)
			)
				ids.add(id);
	}
	return ids;
}
