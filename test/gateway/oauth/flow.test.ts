// Signing in with Discord, from a client's request to its tokens.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashToken } from "../../../src/gateway/keys/token.ts";
import {
	hanna,
	startWorld,
	type TokenBody,
	type World,
} from "./sign-in-world.ts";

let world: World;
beforeAll(async () => {
	world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe("the sign-in", () => {
	test("leads over Discord and the consent page to tokens", async () => {
		const steps = await world.toConsent();
		const discord = new URL(steps.discordUrl);
		expect(discord.pathname).toBe("/oauth2/authorize");
		expect(Object.fromEntries(discord.searchParams)).toEqual({
			response_type: "code",
			client_id: world.discord.clientId,
			scope: "identify",
			redirect_uri: `${world.url}/oauth/callback`,
			prompt: "consent",
			state: expect.stringMatching(/^[\w-]{43}$/),
		});
		expect(steps.page).toContain("Assistant");
		expect(steps.page).toContain("assistant.example");
		expect(steps.page).toContain("Hanna");
		expect(steps.page).toContain("The Cooks");

		const target = await world.decide(steps);
		expect(target.origin + target.pathname).toBe(
			"https://assistant.example/callback",
		);
		expect(Object.fromEntries(target.searchParams)).toEqual({
			code: expect.stringMatching(/^[\w-]{43}$/),
			state: "the-client-state",
			iss: world.url,
		});

		const response = await world.exchange(
			target.searchParams.get("code") ?? "",
		);
		expect(response.status).toBe(200);
		expect(response.headers.get("cache-control")).toBe("no-store");
		const tokens = (await response.json()) as TokenBody;
		expect(tokens).toEqual({
			access_token: expect.stringMatching(/^guildhall_at_\w{46}$/),
			token_type: "Bearer",
			expires_in: 3600,
			refresh_token: expect.stringMatching(/^guildhall_rt_\w{46}$/),
			scope: "read write",
		});
		const owner = await world.oauth.findAccessToken(
			hashToken(tokens.access_token),
		);
		expect(owner).toMatchObject({
			audience: "/mcp",
			principal: {
				id: expect.stringMatching(/^grant:[\w-]{12}$/),
				name: "Assistant",
				client: "Assistant",
				person: { ...hanna, signedIn: true },
				access: "write",
			},
		});
	});
});
