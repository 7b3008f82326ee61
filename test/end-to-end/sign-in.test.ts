// Signing in with Discord, from a client's registration to the end of its connection: the real gateway and bot, and the
// simulator as Discord.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { hash } from "node:crypto";
import { PermissionFlagsBits } from "discord.js";
import { readConfig } from "../../src/gateway/config.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { openStore } from "../../src/gateway/store/store.ts";
import type { ListenOptions } from "../../src/lib/listen.ts";
import { Browser } from "../gateway/oauth/browser.ts";
import { fieldOf, type TokenBody } from "../gateway/oauth/sign-in-world.ts";
import { createGatewayClient, gatewayToken } from "../support/gateway.ts";
import { recordLog } from "../support/log.ts";
import { memberNamed, startWorld, type TestWorld } from "../support/world.ts";

const verifier = "verifier-".padEnd(43, "v");
const redirectUri = "http://127.0.0.1:3334/oauth/callback";

interface SignInWorld extends AsyncDisposable {
	url: string;
	world: TestWorld;
	clientId: string;
	/** Gives a member Manage Server, or takes it away. */
	setManager(person: string, isManager: boolean): Promise<void>;
	post(path: string, form: Record<string, string>): Promise<Response>;
	/** Walks a person from the client through Discord. Returns where the browser is sent by the gateway. */
	signIn(person: string): Promise<{ browser: Browser; location: string }>;
	/** Signs in and connects the client. */
	connect(person: string, access: string): Promise<TokenBody>;
}

async function startSignIn(): Promise<SignInWorld> {
	const world = await startWorld({}, { mcpToken: gatewayToken });
	const { simulator, guild, bot } = world;
	let respond: ListenOptions["fetch"] = () => new Response(null);
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: (request, http) => respond(request, http),
	});
	const url = server.url.origin;
	const application = simulator.bot("alpha").id;
	const { clientSecret } = simulator.world.authorizations.configure(
		application,
		{ redirectUris: [`${url}/oauth/callback`] },
	);
	const config = readConfig({
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_DATABASE: `${world.dataDirectory}/gateway.sqlite`,
		PUBLIC_URL: url,
		DISCORD_CLIENT_ID: application,
		DISCORD_CLIENT_SECRET: clientSecret,
		DISCORD_API_URL: simulator.api,
	});
	const { log } = recordLog();
	if (!config.store) throw new Error("there is no database");
	const store = openStore(config.store, log);
	const gateway = createGateway(config, log, { store });
	respond = gateway.fetch;
	await gateway.refresh();

	const registered = await fetch(`${url}/oauth/register`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({
			client_name: "Assistant",
			redirect_uris: [redirectUri],
			token_endpoint_auth_method: "none",
		}),
	});
	const { client_id: clientId } = (await registered.json()) as {
		client_id: string;
	};

	const manager = simulator.world.roles.add(guild, {
		name: "Manager",
		permissions: String(PermissionFlagsBits.ManageGuild),
	});
	async function signIn(person: string) {
		const browser = new Browser();
		const query = new URLSearchParams({
			response_type: "code",
			client_id: clientId,
			redirect_uri: redirectUri,
			code_challenge: hash("sha256", verifier, "base64url"),
			code_challenge_method: "S256",
			resource: `${url}/mcp`,
			state: "xyz",
		});
		const discord = await browser.redirected(`${url}/oauth/authorize?${query}`);
		const { id } = simulator.user(person);
		const form = new URLSearchParams({ user_id: id, authorize: "true" });
		const location = await browser.submitted(
			discord,
			form,
			new URL(discord).origin,
		);
		return { browser, location };
	}
	const post = (path: string, form: Record<string, string>) =>
		fetch(url + path, { method: "POST", body: new URLSearchParams(form) });

	return {
		url,
		world,
		clientId,
		async setManager(person, isManager) {
			const member = memberNamed(world, person);
			const others = member.roles.filter((id) => id !== manager.id);
			const roles = isManager ? [...others, manager.id] : others;
			simulator.world.members.edit(guild, member, { roles });
			await world.heard();
		},
		post,
		signIn,
		async connect(person, access) {
			const { browser, location } = await signIn(person);
			const consent = await browser.redirected(location);
			const csrf = fieldOf(await browser.get(consent), "csrf");
			const choice = { csrf, decision: "allow", access };
			const form = new URLSearchParams(choice);
			const back = new URL(await browser.submitted(consent, form));
			const response = await post("/oauth/token", {
				grant_type: "authorization_code",
				client_id: clientId,
				redirect_uri: redirectUri,
				code: back.searchParams.get("code") ?? "",
				code_verifier: verifier,
				resource: `${url}/mcp`,
			});
			return (await response.json()) as TokenBody;
		},
		async [Symbol.asyncDispose]() {
			await server.stop(true);
			await gateway.close();
			await store.close();
			await world[Symbol.asyncDispose]();
		},
	};
}

let on: SignInWorld;
beforeAll(async () => {
	on = await startSignIn();
});
afterAll(() => on[Symbol.asyncDispose]());

const clientWith = ({ access_token }: TokenBody) =>
	createGatewayClient(`${on.url}/mcp`, access_token);
test("the owner signs in, and their client acts in their name", async () => {
	const tokens = await on.connect("ada", "write");
	const client = clientWith(tokens);
	const guild_id = on.world.guild.id;
	expect(await client.text("list_guilds", { guild_id })).toContain("The Cooks");
	const channel_id = on.world.simulator.channel("The Cooks/general").id;
	const message = { guild_id, channel_id, content: "hello from an assistant" };
	await client.text("send_message", message);
	expect(
		on.world.simulator.channel("The Cooks/general").transcript(),
	).toContain("alpha: hello from an assistant");
	const names = await client.toolNames();
	expect(names).toContain("send_message");
	expect(names).not.toContain("delete_channel");
});

test("a member without Manage Server cannot sign in", async () => {
	const { browser, location } = await on.signIn("jose.garcia");
	const response = await browser.open(location);
	expect(response.status).toBe(403);
	expect(await response.text()).toContain("You cannot sign in here");
});

test("who loses Manage Server loses it with the next call of their client", async () => {
	await on.setManager("mona_lisa", true);
	const tokens = await on.connect("mona_lisa", "read");
	const client = clientWith(tokens);
	const guild_id = on.world.guild.id;
	expect(await client.text("list_channels", { guild_id })).toContain("general");
	await on.setManager("mona_lisa", false);
	expect(await client.text("list_channels", { guild_id })).toStartWith("ERROR");
});

test("cancelling at Discord signs nobody in", async () => {
	const browser = new Browser();
	const query = new URLSearchParams({
		response_type: "code",
		client_id: on.clientId,
		redirect_uri: redirectUri,
		code_challenge: hash("sha256", verifier, "base64url"),
		code_challenge_method: "S256",
	});
	const discord = await browser.redirected(
		`${on.url}/oauth/authorize?${query}`,
	);
	const form = new URLSearchParams({ authorize: "false" });
	const response = await browser.open(
		await browser.submitted(discord, form, new URL(discord).origin),
	);
	expect(response.status).toBe(400);
	expect(await response.text()).toContain("You did not sign in");
});
