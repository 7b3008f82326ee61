// Signing in with Discord, from a client's request to its tokens.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashToken } from "../../../src/gateway/keys/token.ts";
import { refreshLifetimeMs } from "../../../src/gateway/oauth/grants/grants.ts";
import type { PersonRights } from "../../../src/mcp/rights.ts";
import { rowsIn } from "../../support/gateway-store.ts";
import { until } from "../../support/until.ts";
import { Browser } from "./browser.ts";
import {
	assistant,
	type Changes,
	cooks,
	errorOf,
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

const find = (token: string, { oauth } = world) => oauth.findAccessToken(hashToken(token));

/** The levels on the consent page, with a star behind the one that is preselected. */
function choicesOn(page: string): string {
	const choices = page.matchAll(/name="access" value="(\w+)"( checked)?/g);
	return Array.from(choices, ([, level, checked]) => level + (checked ? "*" : "")).join(" ");
}

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
		expect(target.origin + target.pathname).toBe("https://assistant.example/callback");
		expect(Object.fromEntries(target.searchParams)).toEqual({
			code: expect.stringMatching(/^[\w-]{43}$/),
			state: "the-client-state",
			iss: world.url,
		});

		const response = await world.exchange(target.searchParams.get("code") ?? "");
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
		const owner = await find(tokens.access_token);
		expect(owner).toMatchObject({
			audience: "/mcp",
			principal: {
				id: expect.stringMatching(/^grant:[0-9a-f]{16}$/),
				name: "Assistant",
				client: "Assistant",
				person: { ...hanna, signedIn: true },
				access: "write",
			},
		});
	});

	test("tells a program, by JSON, that its registration is not known", async () => {
		const url = world.authorizeUrl({ client_id: "forgotten" });
		const ask = (accept: string) => fetch(url, { headers: { accept } });
		expect(await errorOf(await ask("application/json"))).toEqual({ status: 401, error: "invalid_client" });
		const page = await ask("text/html,application/json;q=0.9,*/*;q=0.8");
		expect(page.status).toBe(400);
		expect(await page.text()).toContain("not known to this server");
	});

	test("sends a person who denies back with an error", async () => {
		const steps = await world.toConsent({ state: undefined });
		const target = await world.decide(steps, { decision: "deny" });
		expect(Object.fromEntries(target.searchParams)).toEqual({
			error: "access_denied",
			error_description: "The person denied the request.",
			iss: world.url,
		});
		expect(await steps.browser.get(steps.consent)).toContain("expired");
	});

	test("goes on in two tabs of one browser", async () => {
		const first = await world.toConsent();
		const second = await world.toConsent({}, first.browser);
		for (const steps of [first, second]) expect((await world.decide(steps)).searchParams.has("code")).toBe(true);
	});

	test("of a program on the person's machine goes back to the port it listens on", async () => {
		const redirect_uri = "http://127.0.0.1:53211/done";
		const steps = await world.toConsent({ redirect_uri });
		expect((await world.decide(steps)).href).toStartWith(`${redirect_uri}?`);
	});

	test("keeps the query of a redirect URI", async () => {
		const redirect_uri = "com.example.app:/done?from=guildhall";
		world.clients.set("app", { ...assistant, id: "app", redirectUris: [redirect_uri] });
		const steps = await world.toConsent({ client_id: "app", redirect_uri });
		const target = await world.decide(steps);
		expect(target.href).toStartWith(`${redirect_uri}&code=`);
	});

	test.each(["read", "read write all offline_access", undefined])(
		"for the scope %j proposes to read",
		async (scope) => {
			await using own = await startWorld();
			const { page } = await own.toConsent({ scope });
			expect(choicesOn(page)).toBe("read* write all");
		},
	);

	test.each([
		["read", "write openid", "read write* all", "It now asks for “Read and write”"],
		["read", "read write all", "read write all*", "It now asks for “Everything”"],
		["write", "read write", "read* write all", undefined],
		["write", "read", "read* write all", undefined],
		["write", undefined, "read* write all", undefined],
	])("of a client that may %s proposes for the scope %j: %s", async (access, scope, choices, says) => {
		await using own = await startWorld();
		const first = await own.getTokens({}, { access });
		const steps = await own.toConsent({ scope });
		expect(choicesOn(steps.page)).toBe(choices);
		if (says === undefined) return expect(steps.page).not.toContain("It is connected already");
		expect(steps.page).toContain(says);
		const { id } = (await find(first.access_token, own))?.principal ?? {};
		const code = (await own.decide(steps, { access: "all" })).searchParams.get("code") ?? "";
		const tokens = (await (await own.exchange(code)).json()) as TokenBody;
		expect((await find(tokens.access_token, own))?.principal).toMatchObject({ id, access: "all" });
		expect(await find(first.access_token, own)).toBeUndefined();
	});

	test("of one of several clients with one id is a connection beside the others", async () => {
		await using own = await startWorld();
		const scope = "read";
		const first = await own.getTokens({ scope }, { access: scope });
		const second = await own.getTokens({ scope }, { access: scope });
		await own.getTokens({}, { access: "all" });
		for (const { access_token } of [first, second]) expect(await find(access_token, own)).toBeDefined();
	});

	test.each([
		["that is missing, as of older clients", () => undefined],
		["in capitals", (url: string) => `${url.replace("http", "HTTP")}/mcp`],
		["with a slash at its end", (url: string) => `${url}/mcp/`],
	])("accepts a resource %s", async (_, spell) => {
		const tokens = await world.getTokens({ resource: spell(world.url) });
		expect(await find(tokens.access_token)).toMatchObject({ audience: "/mcp" });
	});
});

describe("Discord", () => {
	test("is asked once who the person is; then its token is revoked", async () => {
		await using own = await startWorld();
		await own.toConsent();
		await own.discord.revoked;
		expect(own.discord.requests.map(({ path }) => path)).toEqual([
			"/api/oauth2/token",
			"/api/v10/users/@me",
			"/api/oauth2/token/revoke",
		]);
		expect(own.discord.state.tokens.size).toBe(0);
	});

	const user = JSON.stringify({ id: hanna.id, username: "hanna" });

	test("may send the person back without a sign-in", async () => {
		const browser = new Browser();
		const url = new URL(await browser.redirected(world.authorizeUrl()));
		const state = url.searchParams.get("state");
		const response = await browser.open(`${world.url}/oauth/callback?error=access_denied&state=${state}`);
		expect(response.status).toBe(400);
		const page = await response.text();
		expect(page).toContain("You did not sign in");
		expect(page).toContain("https://assistant.example/callback?error=access");
	});

	test.each<[trouble: string, path: string, answer: () => Response]>([
		["is down", "/api/oauth2/token", () => new Response("no", { status: 503 })],
		["sends no JSON", "/api/v10/users/@me", () => new Response("<html>")],
		["sends no id", "/api/v10/users/@me", () => Response.json({ username: "hanna" })],
		["sends too much", "/api/v10/users/@me", () => new Response(user.padEnd(100_000))],
		[
			"redirects, which could lead a secret to another server",
			"/api/v10/users/@me",
			() => {
				world.discord.on["/api/elsewhere"] = () => new Response(user);
				return Response.redirect(`${world.discord.apiUrl}/elsewhere`, 307);
			},
		],
	])("that %s is an error, and nobody is signed in", async (_, path, answer) => {
		const browser = new Browser();
		const url = await browser.redirected(world.authorizeUrl());
		world.discord.on[path] = answer;
		const response = await browser.open(world.discord.signIn(url));
		delete world.discord.on[path];
		expect(response.status).toBe(502);
		expect(await response.text()).toContain("Discord did not tell");
	});
});

describe("who may sign in", () => {
	const guest = { id: "200000000000000002", name: "Guests", signIn: false };

	test("is decided by the bots: a guild where they may not is not listed", async () => {
		world.rights.answer = [{ guilds: [guest, cooks] }, { guilds: [cooks] }, undefined];
		const { page } = await world.toConsent();
		expect(page).not.toContain("Guests");
		expect(page.split("The Cooks")).toHaveLength(2);
		expect(world.rights.asked.at(-1)).toBe(hanna.id);
	});

	test.each<[bots: string, answer: (PersonRights | undefined)[], status: number]>([
		["name no guild", [{ guilds: [] }], 403],
		["do not let them", [{ guilds: [guest] }], 403],
		["do not exist", [], 403],
		["are offline", [undefined], 503],
		["do not know all guilds", [{ guilds: [guest], incomplete: true }], 503],
	])("is nobody while the bots %s", async (_, answer, status) => {
		const browser = new Browser();
		const url = await browser.redirected(world.authorizeUrl());
		world.rights.answer = answer;
		const refusals = () => world.recorded.entries("refused a sign-in: no guild allows it");
		const before = refusals().length;
		const response = await browser.open(world.discord.signIn(url));
		world.rights.answer = [{ guilds: [cooks] }];
		expect(response.status).toBe(status);
		const page = await response.text();
		const error = status === 403 ? "access_denied" : "temporarily_unavailable";
		expect(page).toContain(`callback?error=${error}&amp;`);
		expect(refusals().slice(before)).toEqual(
			status === 403 ? [expect.objectContaining({ person: hanna.id, client: "Assistant" })] : [],
		);
	});

	test("is asked again at each refresh", async () => {
		const { refresh_token } = await world.getTokens();
		world.rights.answer = [{ guilds: [guest] }];
		expect(await errorOf(await world.refresh(refresh_token))).toEqual({ status: 400, error: "invalid_grant" });
		world.rights.answer = [{ guilds: [cooks] }];
	});

	test("is unknown while the bot is offline: the client keeps its refresh token", async () => {
		const { refresh_token } = await world.getTokens();
		world.rights.answer = [undefined];
		const response = await world.refresh(refresh_token);
		expect(response.headers.get("retry-after")).toBe("5");
		expect(await errorOf(response)).toEqual({ status: 503, error: "temporarily_unavailable" });
		world.rights.answer = [{ guilds: [cooks] }];
		expect((await world.refresh(refresh_token)).status).toBe(200);
	});
});

describe("the token endpoint", () => {
	test("gives new tokens for a refresh token, and the old access token goes on", async () => {
		const first = await world.getTokens();
		const response = await world.refresh(first.refresh_token);
		const second = (await response.json()) as TokenBody;
		expect(second).toMatchObject({ scope: "read write", expires_in: 3600 });
		expect(second.refresh_token).not.toBe(first.refresh_token);
		const owners = await Promise.all([first, second].map(({ access_token }) => find(access_token)));
		expect(owners[0]?.principal.id).toBe(owners[1]?.principal.id ?? "");
	});

	test("gives narrower access on request, and later all of it again", async () => {
		const first = await world.getTokens();
		const scope = "read";
		const narrow = await world.refresh(first.refresh_token, { scope });
		const second = (await narrow.json()) as TokenBody;
		expect(second.scope).toBe("read");
		const full = await world.refresh(second.refresh_token);
		expect(await full.json()).toMatchObject({ scope: "read write" });
	});

	test("serves requests of one client that refresh at once", async () => {
		const { refresh_token } = await world.getTokens();
		const responses = await Promise.all(Array.from({ length: 4 }, () => world.refresh(refresh_token)));
		expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
	});

	test.each<[request: string, form: Changes, error: string]>([
		["without a grant type", {}, "invalid_request"],
		["for a password", { grant_type: "password", username: "hanna" }, "unsupported_grant_type"],
		["for the client itself", { grant_type: "client_credentials" }, "unsupported_grant_type"],
	])("refuses a request %s", async (_, form, error) => {
		const response = await world.post("/oauth/token", form);
		expect(response.headers.get("cache-control")).toBe("no-store");
		expect(await errorOf(response)).toEqual({ status: 400, error });
	});

	test("tells a client that it has to register again", async () => {
		const client_id = "forgotten";
		for (const response of [await world.exchange("x", { client_id }), await world.refresh("x", { client_id })])
			expect(await errorOf(response)).toEqual({ status: 401, error: "invalid_client" });
	});

	test("refuses a body that is no form, or too long", async () => {
		const post = (init: RequestInit) => fetch(`${world.url}/oauth/token`, { method: "POST", ...init });
		const json = { "Content-Type": "application/json" };
		for (const response of [
			await post({ body: "{}", headers: json }),
			await post({ body: new URLSearchParams({ x: "x".repeat(20_000) }) }),
		])
			expect(await errorOf(response)).toEqual({ status: 400, error: "invalid_request" });
	});
});

describe("revocation", () => {
	const revoke = (form: Changes) => world.post("/oauth/revoke", form);
	const client_id = assistant.id;

	test.each([
		["refresh_token", "the connection", 400],
		["access_token", "only this token", 200],
	] as const)("of the %s ends %s", async (kind, _, status) => {
		const tokens = await world.getTokens();
		expect((await revoke({ token: tokens[kind], client_id })).status).toBe(200);
		expect(await find(tokens.access_token)).toBeUndefined();
		expect((await world.refresh(tokens.refresh_token)).status).toBe(status);
	});

	test("of an unknown token is no error", async () => {
		expect((await revoke({ token: "x", client_id })).status).toBe(200);
	});

	test("by another client is refused", async () => {
		const { access_token, refresh_token } = await world.getTokens();
		const other = { token: refresh_token, client_id: "client-2" };
		expect((await revoke(other)).status).toBe(400);
		expect(await find(access_token)).toBeDefined();
	});
});

describe("metadata", () => {
	const get = async (path: string) => (await fetch(world.url + path)).json();

	test.each(["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"])(
		"of the authorization server at %s",
		async (path) => {
			const { url } = world;
			expect(await get(path)).toEqual({
				issuer: url,
				authorization_endpoint: `${url}/oauth/authorize`,
				token_endpoint: `${url}/oauth/token`,
				revocation_endpoint: `${url}/oauth/revoke`,
				registration_endpoint: `${url}/oauth/register`,
				scopes_supported: ["read", "write", "all"],
				response_types_supported: ["code"],
				response_modes_supported: ["query"],
				grant_types_supported: ["authorization_code", "refresh_token"],
				code_challenge_methods_supported: ["S256"],
				token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
				token_endpoint_auth_signing_alg_values_supported: ["ES256", "EdDSA", "PS256", "RS256"],
				revocation_endpoint_auth_methods_supported: ["none"],
				authorization_response_iss_parameter_supported: true,
				client_id_metadata_document_supported: true,
			});
		},
	);

	test.each([
		["", "/mcp"],
		["/mcp", "/mcp"],
		["/mcp/readonly", "/mcp/readonly"],
	])("of the protected resource at %j names the least scope", async (suffix, path) => {
		const document = await get(`/.well-known/oauth-protected-resource${suffix}`);
		expect(document).toMatchObject({
			resource: world.url + path,
			authorization_servers: [world.url],
			scopes_supported: ["read"],
			bearer_methods_supported: ["header"],
		});
	});

	test.each([
		"/.well-known/oauth-protected-resource",
		"/.well-known/oauth-authorization-server",
		"/.well-known/openid-configuration",
		"/oauth/token",
		"/oauth/revoke",
		"/oauth/register",
	])("and %s can be read by scripts of any page", async (path) => {
		const Origin = "https://client.example";
		const preflight = await fetch(world.url + path, {
			method: "OPTIONS",
			headers: { Origin, "Access-Control-Request-Method": "POST" },
		});
		expect(preflight.status).toBe(204);
		for (const { headers } of [preflight, await fetch(world.url + path)])
			expect(headers.get("access-control-allow-origin")).toBe("*");
	});
});

test("what has expired is removed from the database", async () => {
	await using own = await startWorld();
	await own.toConsent();
	await own.getTokens();
	const tables = ["attempts", "codes", "grants", "tokens"];
	const count = () => Promise.all(tables.map(async (table) => (await rowsIn(own.store, `oauth_${table}`)).length));
	expect(await count()).toEqual([1, 1, 1, 2]);
	own.clock.now += refreshLifetimeMs + 86_400_000;
	await own.post("/oauth/token", {});
	await until("the expired rows are removed", async () => (await count()).every((n) => n === 0));
});

test("without its database nobody signs in, and clients may try again", async () => {
	await using own = await startWorld();
	const tokens = await own.getTokens();
	const steps = await own.toConsent();
	await own.store.close();
	const unavailable = { status: 503, error: "temporarily_unavailable" };
	expect(await errorOf(await own.refresh(tokens.refresh_token))).toEqual(unavailable);
	const response = await steps.browser.open(steps.consent);
	expect(response.status).toBe(503);
	expect(response.headers.get("retry-after")).toBe("5");
});
