// The two-factor authentication that guilds can require for moderation.
// https://discord.com/developers/docs/topics/oauth2#twofactor-authentication-requirement

import { type APIUser, type Guild, GuildMFALevel, Routes } from "discord.js";

export const twoFactorAdvice =
	"The account that owns the bot's application has to enable two-factor authentication in its user settings (My Account), or an administrator to stop requiring it in the guild's settings (Safety Setup).";

export function requiresTwoFactor({ mfaLevel }: Guild): boolean {
	return mfaLevel === GuildMFALevel.Elevated;
}

/** Whether the account that owns the application has not enabled it. Source: discord.js, ClientUser#mfaEnabled. */
export async function lacksTwoFactor({ client }: Guild): Promise<boolean> {
	if (client.user.mfaEnabled !== false) return false;
	// It may have been enabled since the login.
	return ((await client.rest.get(Routes.user())) as APIUser).mfa_enabled === false;
}
