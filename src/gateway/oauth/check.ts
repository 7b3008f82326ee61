// Checks for `gateway --check` whether people can sign in with Discord.

import type { Log } from "../../lib/log.ts";
import { CheckFailed } from "../../lib/program/check.ts";
import type { SignInSettings } from "../config/sign-in.ts";
import { createDiscord, DiscordFailure } from "./people/discord.ts";
import { paths } from "./protocol/metadata.ts";

/**
 * Checks for `gateway --check` that Discord accepts the id and secret of the application with which people sign in.
 * Rejects with a CheckFailed.
 */
export async function checkSignIn(
	{ publicUrl, discordApiUrl: apiUrl, clientId, clientSecret }: SignInSettings,
	log: Log,
): Promise<string> {
	const redirectUri = publicUrl + paths.callback;
	const options = { apiUrl, clientId, clientSecret, redirectUri, log };
	try {
		if (await createDiscord(options).knowsApplication())
			return `Discord knows the application ${clientId}; its redirects must contain ${redirectUri}`;
	} catch (error) {
		if (!(error instanceof DiscordFailure)) throw error;
		throw new CheckFailed(
			`Discord did not answer: ${error.message}`,
			"Check the network, and DISCORD_API_URL if it is set.",
		);
	}
	throw new CheckFailed(
		"Discord refuses DISCORD_CLIENT_ID and DISCORD_CLIENT_SECRET",
		"Copy both from the page OAuth2 of your application at https://discord.com/developers/applications.",
	);
}
