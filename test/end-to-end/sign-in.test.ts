// Signing in with Discord, from a client's registration to the end of its connection: the real gateway and bot, and the
// simulator as Discord.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { hash } from "node:crypto";
import { Browser } from "../gateway/oauth/browser.ts";
import type { TokenBody } from "../gateway/oauth/sign-in-world.ts";
import { createGatewayClient } from "../support/gateway.ts";
import { type SignInWorld, startSignIn } from "../support/sign-in.ts";

const verifier = "verifier-".padEnd(43, "v");
const redirectUri = "http://127.0.0.1:3334/oauth/callback";

let on: SignInWorld;
let clientId: string;
beforeAll(async () => {
	on = await startSignIn();
	const registered = await fetch(`${on.url}/oauth/register`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({
			client_name: "Assistant",
			redirect_uris: [redirectUri],
			token_endpoint_auth_method: "none",
		}),
	});
	const body = (await registered.json()) as { client_id: string };
	clientId = body.client_id;
});
afterAll(() => on[Symbol.asyncDispose]());

/** Returns the address at which the client sends people. */
function authorizeUrl(): string {
	const query = new URLSearchParams({
		response_type: "code",
		client_id: clientId,
		redirect_uri: redirectUri,
		code_challenge: hash("sha256", verifier, "base64url"),
		code_challenge_method: "S256",
		resource: `${on.url}/mcp`,
		state: "xyz",
	});
	return `${on.url}/oauth/authorize?${query}`;
}

/** Signs a person in and connects the client. */
async function connect(person: string, access: string): Promise<TokenBody> {
	const back = await on.allow(person, authorizeUrl(), access);
	const response = await fetch(`${on.url}/oauth/token`, {
		method: "POST",
		body: new URLSearchParams({
			grant_type: "authorization_code",
			client_id: clientId,
			redirect_uri: redirectUri,
			code: back.searchParams.get("code") ?? "",
			code_verifier: verifier,
			resource: `${on.url}/mcp`,
		}),
	});
	return (await response.json()) as TokenBody;
}

const clientWith = ({ access_token }: TokenBody) => createGatewayClient(`${on.url}/mcp`, access_token);
test("the owner signs in, and their client acts in their name", async () => {
	const tokens = await connect("ada", "write");
	const client = clientWith(tokens);
	const guild_id = on.world.guild.id;
	expect(await client.text("list_guilds", { guild_id })).toContain("The Cooks");
	const channel_id = on.world.simulator.channel("The Cooks/general").id;
	const message = { guild_id, channel_id, content: "hello from an assistant" };
	await client.text("send_message", message);
	expect(on.world.simulator.channel("The Cooks/general").transcript()).toContain("alpha: hello from an assistant");
	const names = await client.toolNames();
	expect(names).toContain("send_message");
	expect(names).not.toContain("delete_channel");
});

test("a member without Manage Server cannot sign in", async () => {
	const { browser, location } = await on.toGateway("jose.garcia", authorizeUrl());
	const response = await browser.open(location);
	expect(response.status).toBe(403);
	expect(await response.text()).toContain("You cannot sign in here");
});

test("who loses Manage Server loses it with the next call of their client", async () => {
	await on.setManager("mona_lisa", true);
	const tokens = await connect("mona_lisa", "read");
	const client = clientWith(tokens);
	const guild_id = on.world.guild.id;
	expect(await client.text("list_channels", { guild_id })).toContain("general");
	await on.setManager("mona_lisa", false);
	expect(await client.text("list_channels", { guild_id })).toStartWith("ERROR");
});

test("cancelling at Discord signs nobody in", async () => {
	const browser = new Browser();
	const discord = await browser.redirected(authorizeUrl());
	const form = new URLSearchParams({ authorize: "false" });
	const response = await browser.open(await browser.submitted(discord, form, new URL(discord).origin));
	expect(response.status).toBe(400);
	expect(await response.text()).toContain("You did not sign in");
});
