// Powerful permissions, and which of them a role gives to the members who get it.

import { type Guild, type GuildBasedChannel, PermissionFlagsBits, PermissionsBitField, type Role } from "discord.js";
import { channelName } from "./describe.ts";
import { isObfuscated } from "./obfuscation.ts";
import { describeBits } from "./permissions.ts";

/**
 * Those of moderators and administrators, with what Discord split off from them, and what needs two-factor
 * authentication. https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
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

/** Those that @everyone lacks there. */
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

/** The first place in which a role gives powers beyond @everyone's. */
export function powersOf(role: Role, powerful = powerfulPermissions) {
	const { guild, id, permissions } = role;
	const bits = powersIn(permissions.bitfield, guild, undefined, powerful);
	if (bits !== 0n) return { bits, channel: undefined };
	for (const channel of guild.channels.cache.values()) {
		if (channel.isThread()) continue;
		const allow = channel.permissionOverwrites.cache.get(id)?.allow.bitfield ?? 0n;
		if ((allow & powerful) === 0n) continue;
		const bits = powersIn(allow, guild, channel, powerful);
		if (bits !== 0n) return { bits, channel };
	}
	return undefined;
}

/** Only ADMINISTRATOR, if it is among them. */
export function describePowers(bits: bigint): string {
	const { Administrator } = PermissionFlagsBits;
	return describeBits((bits & Administrator) !== 0n ? Administrator : bits);
}

/** With those that give access to what @everyone does not see. */
export const grantingPermissions = powerfulPermissions | PermissionFlagsBits.ViewChannel;

/** What members who get one of these roles may do that @everyone may not; undefined if that gives no power or access. */
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
