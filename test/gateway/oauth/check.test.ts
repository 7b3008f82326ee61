// What `gateway --check` says about signing in with Discord.

import { afterAll, expect, test } from "bun:test";
import { checkSignIn } from "../../../src/gateway/check.ts";
import type { SignInSettings } from "../../../src/gateway/config/sign-in.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { CheckFailed } from "../../../src/lib/program/check.ts";
import { hanna } from "./sign-in-world.ts";
import { startStubDiscord } from "./stub-discord.ts";

const discord = startStubDiscord({ ...hanna, username: "hanna" });
afterAll(() => discord.stop());

async function check(changes: Partial<SignInSettings> = {}): Promise<string> {
	const { clientId, clientSecret, apiUrl: discordApiUrl } = discord;
	const settings = { publicUrl: "https://mcp.example", clientId, clientSecret, discordApiUrl, ...changes };
	try {
		return await checkSignIn(settings, silentLog);
	} catch (error) {
		if (error instanceof CheckFailed) return `✗ ${error.message}`;
		throw error;
	}
}

test("with the right secret it names the redirect that Discord must have", async () => {
	expect(await check()).toBe(
		`Discord knows the application ${discord.clientId}; its redirects must contain https://mcp.example/oauth/callback`,
	);
});

test.each<[changes: Partial<SignInSettings>, says: string]>([
	[{ clientSecret: "another-secret" }, "✗ Discord refuses DISCORD_CLIENT_ID and DISCORD_CLIENT_SECRET"],
	[
		{ discordApiUrl: "http://127.0.0.1:1/api" },
		"✗ Discord did not answer: /oauth2/token/revoke: the connection was refused",
	],
	[
		{ discordApiUrl: `${discord.apiUrl}/nothing` },
		"✗ Discord did not answer: /oauth2/token/revoke: HTTP 404: not_found",
	],
])("with %j it fails", async (changes, says) => {
	expect(await check(changes)).toBe(says);
});
