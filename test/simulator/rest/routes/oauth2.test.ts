// OAuth2: the page on which people authorize an application, tokens, and what they may be used for.

import { describe, expect } from "bun:test";
import { REST, Routes } from "discord.js";
import { testWith } from "../../support.ts";

const redirectUri = "https://guild.example/callback?from=discord";

type Fields = Readonly<Record<string, string | undefined>>;

/** Leaves out the fields that are undefined. */
const encode = (fields: Fields) =>
	new URLSearchParams(Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined));

const test = testWith(({ simulator, world }) => {
	const client_id = simulator.bot("alpha").id;
	const client = world.authorizations.configure(client_id, {
		redirectUris: [redirectUri, "https://guild.example/other"],
	});
	const authorizeUrl = (changes: Fields = {}) =>
		`${simulator.url}/oauth2/authorize?${encode({
			response_type: "code",
			client_id,
			scope: "identify",
			redirect_uri: redirectUri,
			state: "a b&c",
			...changes,
		})}`;
	const post = (path: string, fields: Fields, headers = {}) =>
		fetch(`${simulator.api}/v10${path}`, { method: "POST", headers, body: encode(fields) });
	const json = async (response: Response) => ({
		status: response.status,
		body: (await response.json()) as Record<string, unknown>,
	});
	const credentials = { client_id, client_secret: client.clientSecret };
	/** Sends the page's form, and returns the parameters of the redirect or the text of the page. */
	const answer = async (
		changes: Fields = {},
		form: Fields = { user_id: simulator.user("ada").id, authorize: "true" },
	): Promise<Record<string, string | number>> => {
		const response = await fetch(authorizeUrl(changes), { method: "POST", body: encode(form), redirect: "manual" });
		const location = response.headers.get("location");
		if (location === null) return { status: response.status, text: await response.text() };
		const { origin, pathname, searchParams } = new URL(location);
		return { to: origin + pathname, ...Object.fromEntries(searchParams) };
	};
	const codeOf = async (changes: Fields = {}) => String((await answer(changes)).code);
	const token = async (fields: Fields, headers = {}) =>
		json(await post("/oauth2/token", { ...credentials, ...fields }, headers));
	const exchange = (code: string, fields: Fields = {}) =>
		token({ grant_type: "authorization_code", code, redirect_uri: redirectUri, ...fields });
	const tokens = async (changes: Fields = {}) => {
		const { body } = await exchange(await codeOf(changes));
		return body as { access_token: string };
	};
	const revoke = async (fields: Fields) => json(await post("/oauth2/token/revoke", { ...credentials, ...fields }));
	const get = async (path: string, authorization: string) =>
		json(await fetch(`${simulator.api}/v10${path}`, { headers: { authorization } }));
	const me = (access_token: string) => get("/users/@me", `Bearer ${access_token}`);
	return {
		authorizeUrl,
		answer,
		codeOf,
		exchange,
		token,
		tokens,
		client,
		client_id,
		credentials,
		get,
		json,
		me,
		post,
		revoke,
	};
});

const refusal = (error: string, error_description?: string, status = 400) => ({
	status,
	body: { error, ...(error_description && { error_description }) },
});

describe("the page", () => {
	test("lists the people, and sends the person who accepts to the application with a code and the state", async (given) => {
		const { authorizeUrl, answer, world, user } = given;
		world.users.addPerson({ username: "eve", global_name: "<b>Eve" });
		const page = await fetch(authorizeUrl());
		expect(page.status).toBe(200);
		expect(page.headers.get("content-type")).toStartWith("text/html");
		expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
		const html = await page.text();
		expect(html).toContain(`value="${user("ada").id}"`);
		expect(html).toContain("&lt;b&gt;Eve");
		expect(html).not.toContain(`value="${user("alpha").id}"`);
		expect(await answer()).toEqual({
			to: "https://guild.example/callback",
			from: "discord",
			code: expect.stringMatching(/^[\w-]{30,}$/),
			state: "a b&c",
		});
	});

	test("redirects to the first registered URI by default, and sends no state that it did not get", async ({
		answer,
	}) => {
		expect(await answer({ redirect_uri: undefined, state: undefined })).toEqual({
			to: "https://guild.example/callback",
			from: "discord",
			code: expect.any(String),
		});
	});

	test("tells the application that the person canceled", async ({ answer }) => {
		expect(await answer({}, { authorize: "false" })).toEqual({
			to: "https://guild.example/callback",
			from: "discord",
			error: "access_denied",
			error_description: "The resource owner or authorization server denied the request",
			state: "a b&c",
		});
	});

	test("never redirects to an address that is not the application's", async (given) => {
		const rows: [Fields, number, string][] = [
			[{ client_id: "1" }, 404, "Unknown Application"],
			[{ client_id: undefined }, 404, "Unknown Application"],
			[{ client_id: given.user("ada").id }, 404, "Unknown Application"],
			[{ redirect_uri: "https://evil.example" }, 400, "Invalid OAuth2"],
			[{ redirect_uri: `${redirectUri}/` }, 400, "Invalid OAuth2"],
			[{ redirect_uri: "" }, 400, "Invalid OAuth2"],
			[{ client_id: given.simulator.bot("beta").id }, 400, "Invalid OAuth2"],
			[{ response_type: undefined }, 400, "Unsupported response_type"],
			[{ response_type: "token" }, 501, "no implicit grant"],
			[{ scope: "identify bot" }, 501, "no scope but identify"],
			[{ scope: undefined }, 501, "no scope but identify"],
		];
		for (const [changes, status, text] of rows)
			expect(await given.answer(changes)).toEqual({ status, text: expect.stringContaining(text) });
		const forms: Fields[] = [
			{ authorize: "true" },
			{ authorize: "true", user_id: given.client_id },
			{ user_id: given.user("ada").id },
		];
		for (const form of forms) expect(await given.answer({}, form)).toMatchObject({ status: 400 });
	});

	test("is not for other web pages, and is reached from the API's URL", async (given) => {
		const { authorizeUrl, simulator } = given;
		const foreign = await fetch(authorizeUrl(), {
			method: "POST",
			headers: { origin: "https://evil.example" },
			body: encode({ user_id: given.user("ada").id, authorize: "true" }),
			redirect: "manual",
		});
		expect(foreign.status).toBe(403);
		const url = authorizeUrl().replace("/oauth2", "/api/oauth2");
		const redirected = await fetch(url, { redirect: "manual" });
		expect(redirected.status).toBe(302);
		const location = redirected.headers.get("location") ?? "";
		expect(new URL(location, simulator.url).href).toBe(authorizeUrl());
	});
});

test("a code is exchanged for a token that stands for the person", async ({ codeOf, exchange, me, user }) => {
	const { status, body } = await exchange(await codeOf());
	expect(status).toBe(200);
	expect(body).toEqual({
		token_type: "Bearer",
		access_token: expect.any(String),
		refresh_token: expect.any(String),
		expires_in: 604_800,
		scope: "identify",
	});
	const ada = user("ada");
	const own = await me(String(body.access_token));
	expect(own).toMatchObject({ status: 200, body: ada });
	expect(own.body).not.toHaveProperty("email");
});

test("the application authenticates itself with HTTP Basic, or in the form", async (given) => {
	const { client_id, credentials, codeOf, json, post } = given;
	const basic = (secret: string) => ({ authorization: `Basic ${btoa(`${client_id}:${secret}`)}` });
	const attempt = async (fields: Fields, headers = {}) =>
		json(
			await post(
				"/oauth2/token",
				{ grant_type: "authorization_code", code: await codeOf(), redirect_uri: redirectUri, ...fields },
				headers,
			),
		);
	const { client_secret } = credentials;
	expect((await attempt({}, basic(client_secret))).status).toBe(200);
	expect((await attempt(credentials)).status).toBe(200);
	const refused = refusal("invalid_client", undefined, 401);
	expect(await attempt({}, basic("wrong"))).toEqual(refused);
	expect(await attempt({ ...credentials, client_secret: "x" })).toEqual(refused);
	expect(await attempt({ client_id })).toEqual(refused);
	expect(await attempt({ client_id: "1", client_secret })).toEqual(refused);
	expect(await attempt({})).toEqual(refused);
	const headers = { authorization: `Bot ${given.simulator.bot("alpha").token}` };
	expect(await attempt({}, headers)).toEqual(refused);
});

test("a code works once, for its application, and with its redirect URI", async (given) => {
	const { codeOf, exchange, simulator, world } = given;
	const invalidCode = refusal("invalid_grant", 'Invalid "code" in request.');
	const invalidUri = refusal("invalid_grant", 'Invalid "redirect_uri" in request.');
	const code = await codeOf();
	const other = { redirect_uri: "https://guild.example/other" };
	expect(await exchange(code, other)).toEqual(invalidUri);
	expect(await exchange(code, { redirect_uri: undefined })).toEqual(invalidUri);
	const beta = simulator.bot("beta").id;
	const client_secret = world.authorizations.settings(beta)?.clientSecret;
	expect(await exchange(code, { client_id: beta, client_secret })).toEqual(invalidCode);
	const both = await Promise.all([exchange(code), exchange(code)]);
	expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
	expect(await exchange(code)).toEqual(invalidCode);
	expect(await exchange("soup")).toEqual(invalidCode);
});

test("a token request is refused in the form of OAuth2", async ({ token, simulator, credentials, json }) => {
	const unsupported = (grant: string) => refusal("unsupported_grant_type", `Grant type ${grant} is not supported`);
	expect(await token({})).toEqual(unsupported("None"));
	expect(await token({ grant_type: "password" })).toEqual(unsupported("password"));
	expect(await token({ grant_type: "authorization_code" })).toEqual(
		refusal("invalid_request", 'Missing "code" in request.'),
	);
	const response = await fetch(`${simulator.api}/oauth2/token`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ ...credentials, grant_type: "refresh_token" }),
	});
	expect(await json(response)).toEqual(unsupported("None"));
	const { status } = await token({ grant_type: "refresh_token" });
	expect(status).toBe(501);
});

test("revoking ends all tokens of the person and the application", async (given) => {
	const { tokens, revoke, me, simulator, world, answer, exchange } = given;
	const [first, second] = [await tokens(), await tokens()];
	const form = { user_id: simulator.user("zoe").id, authorize: "true" };
	const { code } = await answer({}, form);
	const zoe = (await exchange(String(code))).body;
	const beta = simulator.bot("beta").id;
	const client_secret = world.authorizations.settings(beta)?.clientSecret;
	const done = { status: 200, body: {} };
	const token = first.access_token;
	expect(await revoke({ token, client_id: beta, client_secret })).toEqual(done);
	expect((await me(token)).status).toBe(200);
	expect(await revoke({ token: "soup" })).toEqual(done);
	expect(await revoke({})).toEqual(refusal("invalid_request"));
	expect(await revoke({ token, client_secret: "wrong" })).toEqual(refusal("invalid_client", undefined, 401));
	expect((await me(token)).status).toBe(200);
	expect(await revoke({ token, token_type_hint: "access_token" })).toEqual(done);
	expect((await me(token)).status).toBe(401);
	expect((await me(second.access_token)).status).toBe(401);
	expect((await me(String(zoe.access_token))).status).toBe(200);
});

test("tokens work only where they belong", async ({ tokens, get, me, simulator, guild }) => {
	const { access_token } = await tokens();
	const bearer = `Bearer ${access_token}`;
	const refused = { status: 401, body: { message: "401: Unauthorized", code: 0 } };
	const bot = simulator.bot("alpha").token;
	const rows: [path: string, authorization: string][] = [
		["/gateway/bot", bearer],
		["/gateway", bearer],
		["/oauth2/applications/@me", bearer],
		[`/guilds/${guild.id}`, bearer],
		["/users/@me/guilds", bearer],
		["/users/@me", `Bot ${access_token}`],
		["/users/@me", access_token],
		["/users/@me", `Bearer ${bot}`],
		["/users/@me", `Bearer ${simulator.user("ada").token}`],
		["/users/@me", "Bearer "],
	];
	for (const [path, authorization] of rows) expect(await get(path, authorization)).toEqual(refused);
	expect((await me(access_token)).status).toBe(200);
});

test("discord.js exchanges, uses and revokes a token", async ({ simulator, codeOf, credentials }) => {
	const rest = new REST({ api: simulator.api });
	const send = (route: `/${string}`, fields: Fields) =>
		rest.post(route, {
			auth: false,
			passThroughBody: true,
			headers: { "Content-Type": "application/x-www-form-urlencoded" },
			body: encode({ ...credentials, ...fields }),
		});
	const { access_token: token } = (await send(Routes.oauth2TokenExchange(), {
		grant_type: "authorization_code",
		code: await codeOf(),
		redirect_uri: redirectUri,
	})) as { access_token: string };
	const inTheirName = new REST({ api: simulator.api, authPrefix: "Bearer" });
	inTheirName.setToken(token);
	expect(await inTheirName.get(Routes.user())).toMatchObject({ username: "ada" });
	await send(Routes.oauth2TokenRevocation(), { token });
	await expect(inTheirName.get(Routes.user())).rejects.toThrow("401: Unauthorized");
});

test("faults affect OAuth2, and the journal has no secrets", async (given) => {
	const { simulator, codeOf, exchange, tokens } = given;
	simulator.faults.fail("POST /oauth2/token", 503, { times: 1 });
	const code = await codeOf();
	const response = await given.post("/oauth2/token", {});
	expect(response.status).toBe(503);
	expect((await exchange(code)).status).toBe(200);
	await tokens();
	expect(simulator.journal.entries()).toEqual([]);
	expect(simulator.requests.list("POST /oauth2/token")).toHaveLength(3);
});
