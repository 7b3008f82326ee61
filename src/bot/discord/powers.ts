// Powerful permissions, and which of them a role gives to the members who get it.

import { type Guild, type GuildBasedChannel, PermissionFlagsBits, PermissionsBitField, type Role } from "discord.js";
import { channelName } from "./describe.ts";
import { isObfuscated } from "./obfuscation.ts";
import { describeBits } from "./permissions.ts";

/**
 * Permissions of moderators and administrators, including those that Discord split off from Manage Messages and Manage
 * Channels, and those that need two-factor authentication.
 * https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
 */
export const powerfulPermissions = PermissionsBitField.resolve([
	"Administrator",
	"BanMembers",
	"BypassSlowmode",
	"DeafenMembers",
	"KickMembers",
	"ManageChannels",
	"ManageEvents",
	"ManageGuild",
	"ManageGuildExpressions",
	"ManageMessages",
	"ManageNicknames",
	"ManageRoles",
	"ManageThreads",
	"ManageWebhooks",
	"MentionEveryone",
	"ModerateMembers",
	"MoveMembers",
	"MuteMembers",
	"PinMessages",
	"ViewAuditLog",
	"ViewCreatorMonetizationAnalytics",
	"ViewGuildInsights",
]);

/** Returns the powerful permissions that `bits` contain and @everyone lacks in the channel or, without one, the guild. */
export function powersIn(
	bits: bigint,
	guild: Guild,
	channel?: GuildBasedChannel,
	powerful = powerfulPermissions,
): bigint {
	const { everyone } = guild.roles;
	const common = channel ? channel.permissionsFor(everyone) : everyone.permissions;
	return bits & powerful & ~common.bitfield;
}

/** Powerful permissions that a role gives in the guild or, by its overwrite, in a channel. */
export interface RolePowers {
	bits: bigint;
	channel?: GuildBasedChannel;
}

/** Returns the first powers that a role gives beyond @everyone's; undefined if it gives none. */
export function powersOf(role: Role, powerful = powerfulPermissions): RolePowers | undefined {
	const { guild, id, permissions } = role;
	const bits = powersIn(permissions.bitfield, guild, undefined, powerful);
	if (bits !== 0n) return { bits };
	for (const channel of guild.channels.cache.values()) {
		if (channel.isThread()) continue;
		const overwrite = channel.permissionOverwrites.cache.get(id);
		const allow = overwrite?.allow.bitfield ?? 0n;
		if ((allow & powerful) === 0n) continue;
		const bits = powersIn(allow, guild, channel, powerful);
		if (bits !== 0n) return { bits, channel };
	}
	return undefined;
}

/** Lists permissions by name. If they include ADMINISTRATOR, lists only that one. */
export function describePowers(bits: bigint): string {
	const { Administrator } = PermissionFlagsBits;
	return describeBits((bits & Administrator) !== 0n ? Administrator : bits);
}

/** The permissions that give power over others, or access to what @everyone does not see. */
export const grantingPermissions = powerfulPermissions | PermissionFlagsBits.ViewChannel;

/**
 * Says what members who get one of these roles may then do beyond @everyone, as words such as "KICK_MEMBERS";
 * undefined if none of them gives power over others or access to what @everyone does not see. Access that the bot cannot
 * know of counts, too.
 */
export function grantsOf(roles: readonly Role[]): string | undefined {
	for (const role of roles) {
		const powers = powersOf(role, grantingPermissions);
		if (!powers) continue;
		const { bits, channel } = powers;
		return `${describePowers(bits)}${channel ? ` in ${channelName(channel)}` : ""}`;
	}
	// Discord does not tell the bot what roles may do in channels that it does not see.
	const isUnknown = roles[0]?.guild.channels.cache.some(isObfuscated);
	return isUnknown ? "access to channels that the bot does not see" : undefined;
}
