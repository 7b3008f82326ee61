// Which roles members may give themselves through a role menu: only roles that the bot can give, and that give no
// moderator rights on Discord or in the bot's configuration.

import {
	type Guild,
	PermissionFlagsBits,
	PermissionsBitField,
	type Role,
} from "discord.js";
import type { BotConfig } from "../../../config/config.ts";
import {
	describeBits,
	notablePermissions,
} from "../../../discord/permissions.ts";
import { isBelowBot } from "../../../discord/role-hierarchy.ts";

/**
 * Permissions of moderators and administrators. A role with one of them cannot be in a role menu. The list includes
 * those that Discord split off from Manage Messages and Manage Channels, and those that need two-factor authentication.
 * https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
 */
const elevated =
	notablePermissions |
	PermissionsBitField.resolve([
		"BypassSlowmode",
		"PinMessages",
		"ViewCreatorMonetizationAnalytics",
		"ViewGuildInsights",
	]);

/**
 * Roles that are used in the bot's configuration, to give rights or to restrict people: the name of the setting by role
 * id.
 */
export type ReservedRoles = ReadonlyMap<string, string>;

/** Returns the roles that cannot be in a role menu because a setting of the bot refers to them. */
export function reservedRoles({
	game,
	mcp,
	moderation,
}: BotConfig["toml"]): ReservedRoles {
	const settings: [string, readonly string[] | undefined][] = [
		["mcp.approval_roles", mcp.approval_roles],
		["mcp.sign_in_roles", mcp.sign_in_roles],
		["moderation.spam.exempt_roles", moderation?.spam?.exempt_roles],
		["game.staff_roles", game?.staff_roles],
		[
			"game.restricted_role",
			game?.restricted_role === undefined ? [] : [game.restricted_role],
		],
	];
	return new Map(
		settings.flatMap(([name, ids = []]) =>
			ids.map((id) => [id, name] as const),
		),
	);
}

/**
 * Returns why the bot cannot give or remove a role, as the end of a sentence that begins with "the role"; undefined if
 * it can.
 */
export function whyFixed(guild: Guild, role: Role): string | undefined {
	if (role.id === guild.id) return "is the role of all members";
	if (role.managed) return "is managed by Discord";
	if (!isBelowBot(guild, role))
		return "does not rank below the bot's highest role";
	return undefined;
}

/**
 * Returns why a role cannot be in a role menu, as the end of a sentence that begins with "the role"; undefined if it
 * can. Permissions that @everyone also has are ignored.
 */
export function whyNotTakeable(
	guild: Guild,
	role: Role,
	reserved: ReservedRoles,
): string | undefined {
	const fixed = whyFixed(guild, role);
	if (fixed !== undefined) return fixed;
	const setting = reserved.get(role.id);
	if (setting !== undefined) return `is in the setting ${setting} of this bot`;
	const inGuild =
		role.permissions.bitfield &
		elevated &
		~guild.roles.everyone.permissions.bitfield;
	if (inGuild !== 0n)
		return `gives permissions of moderators (${describeElevated(inGuild)})`;
	for (const channel of guild.channels.cache.values()) {
		if (channel.isThread()) continue;
		const overwrite = channel.permissionOverwrites.cache.get(role.id);
		const allowed = (overwrite?.allow.bitfield ?? 0n) & elevated;
		if (allowed === 0n) continue;
		const common = channel.permissionsFor(guild.roles.everyone).bitfield;
		const inChannel = allowed & ~common;
		if (inChannel !== 0n)
			return `gives permissions of moderators in the channel <#${channel.id}> (${describeElevated(inChannel)})`;
	}
	return undefined;
}

/** Lists permissions by name. If they include ADMINISTRATOR, lists only that one. */
function describeElevated(bits: bigint): string {
	const { Administrator } = PermissionFlagsBits;
	return describeBits((bits & Administrator) !== 0n ? Administrator : bits);
}
