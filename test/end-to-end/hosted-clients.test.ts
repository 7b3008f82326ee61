// What clients do that cannot run here, as they and those who watched them document it: claude.ai, Claude Code, ChatGPT, and
// clients in a web page. The gateway and the bot are real, and the simulator is Discord.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hash } from "node:crypto";
import type { TokenBody } from "../gateway/oauth/sign-in-world.ts";
import { createGatewayClient } from "../support/gateway.ts";
import { type SignInWorld, startSignIn } from "../support/sign-in.ts";

/** The page of a client in a browser, such as MCP Inspector. */
const page = "http://localhost:6274";
const person = "ada";
const verifier = "verifier-".padEnd(43, "v");

/**
 * The metadata documents of clients, by their URL.
 * claude.ai: https://claude.com/docs/connectors/building/authentication
 * Claude Code: https://github.com/anthropics/claude-code/issues/41011
 * ChatGPT: https://github.com/django-oauth/django-oauth-toolkit/issues/1857
 */
const documents: Record<string, object> = {
	"https://claude.ai/oauth/mcp-oauth-client-metadata": {
		client_name: "Claude",
		client_uri: "https://claude.ai",
		redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
		grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
		response_types: ["code"],
		token_endpoint_auth_method: "none",
	},
	"https://claude.ai/oauth/claude-code-client-metadata": {
		client_name: "Claude Code",
		client_uri: "https://claude.ai",
		redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
		grant_types: ["authorization_code", "refresh_token"],
		response_types: ["code"],
		token_endpoint_auth_method: "none",
	},
	"https://chatgpt.com/oauth/client.json": {
		client_name: "ChatGPT",
		client_uri: "https://chatgpt.com/",
		redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
		grant_types: ["authorization_code", "refresh_token"],
		response_types: ["code"],
		token_endpoint_auth_method: "private_key_jwt",
		token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
		token_endpoint_auth_signing_alg: "RS256",
		jwks_uri: "https://chatgpt.com/oauth/jwks.json",
	},
};

let world: SignInWorld;
beforeAll(async () => {
	world = await startSignIn({
		env: { MCP_ALLOWED_ORIGINS: page },
		documents: {
			resolve: async () => ["93.184.215.14"],
			async fetch(url, { headers }) {
				const host = new Headers(headers).get("host");
				const client_id = `https://${host}${new URL(url).pathname}`;
				return Response.json({ client_id, ...documents[client_id] });
			},
		},
	});
});
afterAll(() => world[Symbol.asyncDispose]());

const get = (path: string) => fetch(world.url + path);
const postForm = (path: string, form: Record<string, string>) =>
	fetch(world.url + path, { method: "POST", body: new URLSearchParams(form) });
const initialize = (headers: Record<string, string> = {}) =>
	fetch(`${world.url}/mcp`, {
		method: "POST",
		headers: { Accept: "application/json, text/event-stream", "Content-Type": "application/json", ...headers },
		body: JSON.stringify({
			jsonrpc: "2.0",
			id: 0,
			method: "initialize",
			params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "client", version: "1.0.0" } },
		}),
	});

/** Registers a client, and returns its id. */
async function register(metadata: object): Promise<string> {
	const response = await fetch(`${world.url}/oauth/register`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(metadata),
	});
	expect(response.status).toBe(201);
	const client = (await response.json()) as Record<string, unknown>;
	expect(client).toMatchObject({ token_endpoint_auth_method: "none" });
	// Otherwise claude.ai would send it.
	expect(client).not.toHaveProperty("client_secret");
	return String(client.client_id);
}

interface SignIn {
	client_id: string;
	redirect_uri: string;
	/** Undefined: the client asks for none. */
	scope?: string;
}

/** Lets a person connect a client, and redeems its code. */
async function signIn({ client_id, redirect_uri, scope }: SignIn) {
	const resource = `${world.url}/mcp`;
	const query = new URLSearchParams({
		response_type: "code",
		client_id,
		redirect_uri,
		resource,
		code_challenge_method: "S256",
		state: "the-state",
		code_challenge: hash("sha256", verifier, "base64url"),
		...(scope !== undefined && { scope }),
	});
	const authorizeUrl = `${world.url}/oauth/authorize?${query}`;
	const back = await world.allow(person, authorizeUrl, "write");
	expect(back.href).toStartWith(`${redirect_uri}?`);
	expect(back.searchParams.get("state")).toBe("the-state");
	// ChatGPT uses its stable redirect URI, and Claude Code goes on, only with it.
	expect(back.searchParams.get("iss")).toBe(world.url);
	return redeem({
		grant_type: "authorization_code",
		client_id,
		redirect_uri,
		resource,
		code_verifier: verifier,
		code: back.searchParams.get("code") ?? "",
	});
}

async function redeem(form: Record<string, string>): Promise<TokenBody> {
	const response = await postForm("/oauth/token", form);
	expect(response.status).toBe(200);
	return (await response.json()) as TokenBody;
}

/** Calls a tool that reads. */
async function callTool({ access_token }: TokenBody): Promise<void> {
	const client = createGatewayClient(`${world.url}/mcp`, access_token);
	const guild_id = world.world.guild.id;
	expect(await client.text("list_channels", { guild_id })).toContain("general");
}

/** Lets the access token expire, and returns new tokens. */
async function refresh({ access_token, refresh_token }: TokenBody, client_id: string): Promise<TokenBody> {
	world.clock.now += 3_600_001;
	const refused = await initialize({ Authorization: `Bearer ${access_token}` });
	expect(refused.status).toBe(401);
	// ChatGPT refreshes for this error: https://developers.openai.com/apps-sdk/build/auth
	expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
	const resource = `${world.url}/mcp`;
	const grant_type = "refresh_token";
	return redeem({ grant_type, client_id, refresh_token, resource });
}

/**
 * claude.ai, Claude's desktop and mobile apps: all connect from Anthropic's servers.
 * https://claude.com/docs/connectors/building/authentication, https://github.com/anthropics/claude-ai-mcp/issues/490
 */
describe("claude.ai", () => {
	const redirect_uri = "https://claude.ai/api/mcp/auth_callback";

	/** Finds the server, and returns the scope to ask for. */
	async function discover(): Promise<string> {
		const first = await initialize();
		expect(first.status).toBe(401);
		const challenge = first.headers.get("www-authenticate") ?? "";
		const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
		const [, scope = ""] = /scope="([^"]+)"/.exec(challenge) ?? [];
		expect(metadata).toStartWith(world.url);
		// It has to be exactly the URL that the person has entered.
		const resource = `${world.url}/mcp`;
		const authorization_servers = [world.url];
		expect(await (await fetch(metadata)).json()).toMatchObject({ resource, authorization_servers });
		const server = await get("/.well-known/oauth-authorization-server");
		// With both it uses its document; otherwise it registers. It appends offline_access to the scope if that is listed.
		expect(await server.json()).toMatchObject({
			client_id_metadata_document_supported: true,
			token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
			token_endpoint_auth_signing_alg_values_supported: ["ES256", "EdDSA", "PS256", "RS256"],
			scopes_supported: ["read", "write", "all"],
		});
		return scope;
	}

	test("connects with its metadata document", async () => {
		const scope = await discover();
		const client_id = "https://claude.ai/oauth/mcp-oauth-client-metadata";
		const tokens = await signIn({ client_id, redirect_uri, scope });
		await callTool(tokens);
		await callTool(await refresh(tokens, client_id));
	});

	// https://github.com/PostHog/posthog/pull/48397, https://github.com/anthropics/claude-ai-mcp/issues/1043
	test("connects after a registration that asks for a secret", async () => {
		const scope = await discover();
		const client_id = await register({
			client_name: "Claude",
			redirect_uris: [redirect_uri],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "client_secret_post",
		});
		const tokens = await signIn({ client_id, redirect_uri, scope });
		await callTool(tokens);
		await callTool(await refresh(tokens, client_id));
	});
});

// Its document has no port: https://github.com/anthropics/claude-code/issues/37747
test("Claude Code connects with a port of its own", async () => {
	const client_id = "https://claude.ai/oauth/claude-code-client-metadata";
	const redirect_uri = "http://localhost:60351/callback";
	const tokens = await signIn({ client_id, redirect_uri, scope: "read write" });
	await callTool(tokens);
	await callTool(await refresh(tokens, client_id));
});

/** https://developers.openai.com/apps-sdk/build/auth */
describe("ChatGPT", () => {
	// https://community.openai.com/t/new-mcp-connector-does-not-follow-mcp-authorization-spec/1358992
	// https://github.com/kernel/kernel-mcp-server/pull/91, https://github.com/clerk/mcp-tools/issues/22
	test("finds the server without asking its endpoint first", async () => {
		const server = "/.well-known/oauth-authorization-server";
		const head = await fetch(world.url + server, { method: "HEAD" });
		expect([head.status, await head.text()]).toEqual([200, ""]);
		for (const path of [
			server,
			"/.well-known/openid-configuration",
			"/.well-known/oauth-protected-resource",
			"/.well-known/oauth-protected-resource/mcp",
		]) {
			const response = await get(path);
			expect([path, response.status]).toEqual([path, 200]);
			expect(response.headers.get("content-type")).toStartWith("application/json");
		}
		// A 401 would make clients wait for a sign-in.
		expect((await get(`${server}/mcp`)).status).toBe(404);
	});

	// It signs its requests only where the server says so: https://github.com/gamedevpl/www.gamedev.pl/pull/641
	test("connects with its metadata document, and revokes its token when it is disconnected", async () => {
		const client_id = "https://chatgpt.com/oauth/client.json";
		const redirect_uri = "https://chatgpt.com/connector_platform_oauth_redirect";
		const scope = "read write all";
		const tokens = await signIn({ client_id, redirect_uri, scope });
		await callTool(tokens);
		const { refresh_token } = await refresh(tokens, client_id);
		const revoked = { token: refresh_token, client_id };
		expect((await postForm("/oauth/revoke", revoked)).status).toBe(200);
		const again = await postForm("/oauth/token", { grant_type: "refresh_token", client_id, refresh_token });
		expect(again.status).toBe(400);
	});

	// The second time it asks for no scope: https://community.openai.com/t/oauth-missing-scopes-after-reconnect/1366784
	test("connects after a registration, and again without a scope", async () => {
		const redirect_uri = "https://chatgpt.com/connector/oauth/c0ffee";
		const client_id = await register({
			client_name: "ChatGPT",
			redirect_uris: [redirect_uri],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		});
		const scope = "read write all";
		await callTool(await signIn({ client_id, redirect_uri, scope }));
		const tokens = await signIn({ client_id, redirect_uri });
		expect(tokens.scope).toBe("read write");
		await callTool(tokens);
	});
});

// https://github.com/modelcontextprotocol/inspector, which connects from the page if it is told to.
describe("a client in a web page", () => {
	const preflight = (path: string, method: string, headers: string) =>
		fetch(world.url + path, {
			method: "OPTIONS",
			headers: { Origin: page, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers },
		});

	test.each([
		["GET", "/.well-known/oauth-protected-resource/mcp", "mcp-protocol-version"],
		["GET", "/.well-known/oauth-authorization-server", "mcp-protocol-version"],
		["POST", "/oauth/register", "content-type"],
		["POST", "/oauth/token", "content-type"],
		["POST", "/mcp", "authorization,content-type,mcp-protocol-version"],
		["DELETE", "/mcp", "authorization,mcp-session-id"],
	])("may send %s %s", async (method, path, wanted) => {
		const { status, headers } = await preflight(path, method, wanted);
		expect(status).toBe(204);
		const origin = headers.get("access-control-allow-origin") ?? "";
		expect(["*", page]).toContain(origin);
		expect(headers.get("access-control-allow-methods")).toContain(method);
		const allowed = headers.get("access-control-allow-headers") ?? "";
		for (const header of wanted.split(","))
			if (!allowed.startsWith("*") || header === "authorization") expect(allowed.toLowerCase()).toContain(header);
	});

	test("can read where to sign in", async () => {
		const { status, headers } = await initialize({ Origin: page });
		expect(status).toBe(401);
		expect(headers.get("access-control-allow-origin")).toBe(page);
		expect(headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
	});
});
