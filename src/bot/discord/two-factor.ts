// The two-factor authentication that guilds can require for moderation.
// https://discord.com/developers/docs/topics/oauth2#twofactor-authentication-requirement

import { type APIUser, type Guild, GuildMFALevel, PermissionFlagsBits, Routes } from "discord.js";
import { ToolError } from "../../lib/tool-error.ts";

export const twoFactorAdvice =
	"The account that owns the bot's application has to enable two-factor authentication in its user settings (My Account), or an administrator to stop requiring it in the guild's settings (Safety Setup).";

/**
 * Permissions for which a guild can require two-factor authentication. Discord marks them with an asterisk:
 * https://discord.com/developers/docs/topics/permissions
 */
const elevated =
	PermissionFlagsBits.KickMembers |
	PermissionFlagsBits.BanMembers |
	PermissionFlagsBits.Administrator |
	PermissionFlagsBits.ManageChannels |
	PermissionFlagsBits.ManageGuild |
	PermissionFlagsBits.ManageMessages |
	PermissionFlagsBits.ManageRoles |
	PermissionFlagsBits.ManageWebhooks |
	PermissionFlagsBits.ManageGuildExpressions |
	PermissionFlagsBits.ManageThreads |
	PermissionFlagsBits.ViewCreatorMonetizationAnalytics;

/** Whether the guild requires two-factor authentication for moderation. */
export function requiresTwoFactor({ mfaLevel }: Guild): boolean {
	return mfaLevel === GuildMFALevel.Elevated;
}

/**
 * Whether the account that owns the bot's application has not enabled two-factor authentication. Source: discord.js,
 * ClientUser#mfaEnabled.
 */
export async function lacksTwoFactor({ client }: Guild): Promise<boolean> {
	if (client.user.mfaEnabled !== false) return false;
	// It may have been enabled since the login.
	const user = (await client.rest.get(Routes.user())) as APIUser;
	return user.mfa_enabled === false;
}

/**
 * Throws a ToolError if the guild requires two-factor authentication for one of the needed permissions, but the account
 * that owns the bot's application has not enabled it.
 */
export async function requireTwoFactor(guild: Guild, needed: bigint): Promise<void> {
	const refused = refusedForTwoFactor(guild, needed);
	if (refused && (await lacksTwoFactor(guild))) throw new ToolError(`${refused} Nothing was done.`);
}

/**
 * Returns why the needed permissions have no effect without two-factor authentication; undefined if the guild does not
 * require it for them.
 */
export function refusedForTwoFactor(guild: Guild, needed: bigint): string | undefined {
	if ((needed & elevated) === 0n || !requiresTwoFactor(guild)) return undefined;
	return `The guild ${guild.id} requires two-factor authentication for moderation. ${twoFactorAdvice}`;
}
