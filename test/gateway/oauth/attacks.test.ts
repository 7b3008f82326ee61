// Attacks on signing in, and what stops each.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashToken } from "../../../src/gateway/keys/token.ts";
import {
	accessLifetimeMs,
	codeLifetimeMs,
	refreshLifetimeMs,
	reuseGraceMs,
} from "../../../src/gateway/oauth/grants/grants.ts";
import { rowsIn, storeSettingsOf } from "../../support/gateway-store.ts";
import { onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { Browser } from "./browser.ts";
import {
	assistant,
	type Changes,
	errorOf,
	fieldOf,
	query,
	startWorld,
	type TokenBody,
	type World,
} from "./sign-in-world.ts";

onBoth((databases) => {
	let world: World;
	beforeAll(async () => {
		const place = await databases.place();
		world = await startWorld({ database: storeSettingsOf(place) });
		world.clients.set("client-2", { ...assistant, id: "client-2", name: "Another" });
	});
	afterAll(() => world[Symbol.asyncDispose]());

	const find = (token: string) => world.oauth.findAccessToken(hashToken(token));
	const works = async ({ access_token }: TokenBody) => (await find(access_token)) !== undefined;
	/** Keeps the connection of a store busy. Returns a function that ends that. */
	function holdStore({ store }: Pick<World, "store"> = world): () => void {
		const gate = Promise.withResolvers<void>();
		void store.transaction(() => gate.promise);
		return gate.resolve;
	}
	const json = async (response: Response) => (await response.json()) as TokenBody;
	/** The consent form that allows everything. */
	const allowing = (page: string, changes: Changes = {}) =>
		query({ csrf: fieldOf(page, "csrf"), decision: "allow", access: "all", ...changes });
	const invalidGrant = { status: 400, error: "invalid_grant" };

	describe("the authorization request", () => {
		test.each<[attack: string, changes: Changes, says?: string]>([
			["of an unknown client", { client_id: "nobody" }, "not known"],
			["without a client", { client_id: undefined }, "client_id is missing"],
			["without a redirect URI", { redirect_uri: undefined }, "is missing"],
			["with a redirect URI of another host", { redirect_uri: "https://evil.example/callback" }],
			["with a redirect URI that goes on", { redirect_uri: "https://assistant.example/callback/../evil" }],
			["with a redirect URI with a query", { redirect_uri: "https://assistant.example/callback?next=//evil" }],
			["with a loopback redirect URI of another path", { redirect_uri: "http://127.0.0.1:5000/evil" }],
		])("%s leads nowhere: its page has no link", async (_, changes, says = "has not registered") => {
			const response = await new Browser().open(world.authorizeUrl(changes));
			expect(response.status).toBe(400);
			expect(response.headers.get("location")).toBeNull();
			const page = await response.text();
			expect(page).toContain(says);
			expect(page).not.toContain("href");
			expect(page).not.toContain("evil.example");
		});

		test.each<[attack: string, changes: Changes, error: string]>([
			["without PKCE", { code_challenge: undefined }, "invalid_request"],
			["with PKCE plain", { code_challenge_method: "plain" }, "invalid_request"],
			["with PKCE of no method, which means plain", { code_challenge_method: undefined }, "invalid_request"],
			["with a short challenge", { code_challenge: "short" }, "invalid_request"],
			["for the implicit grant", { response_type: "token" }, "unsupported_response_type"],
			["for a response in the fragment", { response_mode: "fragment" }, "invalid_request"],
			["with a signed request object", { request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported"],
			["with a reference to one", { request_uri: "https://assistant.example/request" }, "request_uri_not_supported"],
			["without a prompt", { prompt: "none" }, "login_required"],
			["without a prompt, but a choice of accounts", { prompt: "none select_account" }, "login_required"],
			["for the resource of another server", { resource: "https://other.example/mcp" }, "invalid_target"],
			["for another path of this server", { resource: "http://127.0.0.1/status" }, "invalid_target"],
		])("%s is no redirect: its page has a link to the client", async (_, changes, error) => {
			const response = await new Browser().open(world.authorizeUrl(changes));
			expect(response.status).toBe(400);
			expect(response.headers.get("location")).toBeNull();
			const page = await response.text();
			const link = page.match(/href="([^"]*)"/)?.[1]?.replaceAll("&amp;", "&");
			const target = new URL(link ?? "");
			expect(target.origin).toBe("https://assistant.example");
			expect(Object.fromEntries(target.searchParams)).toEqual({
				error,
				error_description: expect.any(String),
				state: "the-client-state",
				iss: world.url,
			});
		});

		test.each<[attack: string, changes: Changes, more: string, says: string]>([
			["for two resources", {}, "resource=READONLY", "one resource only"],
			["with a long parameter", { state: "s".repeat(4097) }, "", "state is too long"],
			["with a parameter twice", {}, "redirect_uri=https://evil.example", "redirect_uri occurs twice"],
		])("%s is refused", async (_, changes, more, says) => {
			const response = await new Browser().open(
				`${world.authorizeUrl(changes)}&${more.replace("READONLY", `${world.url}/mcp/readonly`)}`,
			);
			expect(response.status).toBe(400);
			expect(await response.text()).toContain(says);
		});

		test("is refused when too many begin in a minute", async () => {
			await using own = await startWorld();
			const from = (network: number) => ({ headers: { "X-Forwarded-For": `198.51.100.${network}` } });
			const begin = (changes: Changes = {}, network = 0) =>
				new Browser().open(own.authorizeUrl(changes), from(network));
			const refused = { client_id: "nobody" };
			// What is refused does not count.
			await Promise.all(Array.from({ length: 50 }, () => begin(refused)));
			const responses = await Promise.all(Array.from({ length: 301 }, (_, n) => begin({}, n % 6)));
			const statuses = responses.map(({ status }) => status).sort();
			expect(statuses).toEqual([...Array(300).fill(303), 503]);
			// Who has not signed in is not kept from it by others.
			expect((await begin({}, 7)).status).toBe(303);
			// A clock that is set back does not prolong the minute.
			own.clock.setMs = -86_400_000;
			own.clock.now += 60_000;
			expect((await begin()).status).toBe(303);
		});

		test("by POST is refused", async () => {
			expect((await world.post("/oauth/authorize", world.parameters)).status).toBe(405);
		});

		test("asks for consent each time, also of a client that has been allowed", async () => {
			const steps = await world.toConsent();
			await world.decide(steps);
			const again = await world.toConsent({}, steps.browser);
			expect(again.page).toContain('name="csrf"');
		});
	});

	describe("pages", () => {
		test("cannot be framed, and are neither stored nor named to other pages", async () => {
			const { browser, consent } = await world.toConsent();
			const pages = [
				await browser.open(consent),
				await browser.open(world.authorizeUrl()),
				await browser.open(world.authorizeUrl({ client_id: "nobody" })),
				await browser.open(`${world.url}/oauth/callback`),
			];
			for (const { headers } of pages) {
				expect(headers.get("content-security-policy")).toStartWith("default-src 'none';");
				expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
				expect(headers.get("x-frame-options")).toBe("DENY");
				expect(headers.get("cache-control")).toBe("no-store");
				expect(headers.get("referrer-policy")).toBe("no-referrer");
				expect(headers.get("x-content-type-options")).toBe("nosniff");
				expect(headers.get("access-control-allow-origin")).toBeNull();
			}
		});

		test("show names of clients as text", async () => {
			world.clients.set("client-3", { ...assistant, id: "client-3", name: '<script>alert(1)</script>"' });
			const { page } = await world.toConsent({ client_id: "client-3" });
			expect(page).not.toContain("<script>");
		});
	});

	describe("the cookie", () => {
		test("is out of reach of scripts and other sites", async () => {
			const browser = new Browser();
			await browser.open(world.authorizeUrl());
			const [cookie] = browser.last?.headers.getSetCookie() ?? [];
			expect(cookie).toMatch(/^guildhall=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/);
		});

		test("binds the way back from Discord to the browser: a stolen state is worth nothing", async () => {
			const victim = new Browser();
			const discordUrl = await victim.redirected(world.authorizeUrl());
			const thief = new Browser();
			await thief.open(world.authorizeUrl());
			const callback = world.discord.signIn(discordUrl);
			for (const browser of [thief, new Browser()]) {
				const response = await browser.open(callback);
				expect(response.status).toBe(400);
				expect(await response.text()).toContain("cannot be continued");
			}
			// The victim is not disturbed.
			expect(await victim.redirected(callback)).toContain("/oauth/consent");
		});

		test("counts only once: of two with the same name, another host may have set one", async () => {
			const { browser, consent } = await world.toConsent();
			const { headers } = await browser.open(world.authorizeUrl());
			const own = /guildhall=[\w-]+/.exec(headers.getSetCookie().join())?.[0];
			const planted = `guildhall=${"x".repeat(43)}`;
			for (const [cookie, status] of [
				[`${own}; other=1`, 200],
				[`${own}; ${planted}`, 400],
				[`${planted}; ${own}`, 400],
			] as const) {
				const init = { headers: { Cookie: cookie } };
				expect((await fetch(consent, init)).status).toBe(status);
			}
		});

		test("binds the consent page to the browser", async () => {
			const { consent, page } = await world.toConsent();
			const thief = new Browser();
			await thief.open(world.authorizeUrl());
			expect(await thief.get(consent)).toContain("expired");
			expect((await thief.submit(consent, allowing(page))).status).toBe(400);
		});
	});

	describe("the way back from Discord", () => {
		test("works once", async () => {
			const { browser, callback } = await world.toConsent();
			const response = await browser.open(callback);
			expect(response.status).toBe(400);
			expect(await response.text()).toContain("cannot be continued");
		});

		test("ends after ten minutes", async () => {
			const browser = new Browser();
			const discordUrl = await browser.redirected(world.authorizeUrl());
			world.clock.now += 600_000;
			const response = await browser.open(world.discord.signIn(discordUrl));
			expect(response.status).toBe(400);
		});

		test("with a made-up code is refused, and Discord's answer is not shown", async () => {
			const browser = new Browser();
			const url = new URL(await browser.redirected(world.authorizeUrl()));
			const state = url.searchParams.get("state");
			const response = await browser.open(`${world.url}/oauth/callback?code=made-up&state=${state}`);
			expect(response.status).toBe(502);
			expect(await response.text()).not.toContain("invalid_grant");
		});
	});

	describe("the consent form", () => {
		test.each<[attack: string, changes: Changes]>([
			["without its token", { csrf: undefined }],
			["with another token", { csrf: "x".repeat(43) }],
		])("%s is refused, and the person can still decide", async (_, changes) => {
			const steps = await world.toConsent();
			const response = await steps.browser.submit(steps.consent, allowing(steps.page, changes));
			expect(response.status).toBe(400);
			expect((await world.decide(steps)).searchParams.has("code")).toBe(true);
		});

		test.each([
			{ Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
			{ Origin: "https://evil.example" },
			{ Origin: "null", "Sec-Fetch-Site": "same-site" },
		])("from another page is refused: %j", async (headers) => {
			const { browser, consent, page } = await world.toConsent();
			const response = await browser.open(consent, { method: "POST", headers, body: allowing(page) });
			expect(response.status).toBe(400);
			expect(response.headers.get("location")).toBeNull();
		});

		test("with the token of another sign-in of the same browser is refused", async () => {
			const first = await world.toConsent();
			const second = await world.toConsent({}, first.browser);
			expect((await first.browser.submit(second.consent, allowing(first.page))).status).toBe(400);
		});

		test("gives no more access than was offered", async () => {
			const steps = await world.toConsent({ resource: `${world.url}/mcp/readonly` });
			expect(steps.page).not.toContain('value="write"');
			await expect(world.decide(steps, { access: "all" })).rejects.toThrow("was not offered");
		});

		test("works once", async () => {
			const steps = await world.toConsent();
			await world.decide(steps);
			await expect(world.decide(steps)).rejects.toThrow("expired");
		});

		test("ends ten minutes after the sign-in began", async () => {
			const steps = await world.toConsent();
			world.clock.now += 600_000;
			expect(await steps.browser.get(steps.consent)).toContain("expired");
			await expect(world.decide(steps)).rejects.toThrow("expired");
		});

		test("gives one code if it is sent many times at once", async () => {
			const { browser, consent, page } = await world.toConsent();
			const release = holdStore();
			const responses = Array.from({ length: 8 }, () => browser.submit(consent, allowing(page)));
			// All have looked before the first one decides.
			await fetch(world.url);
			release();
			const statuses = (await Promise.all(responses)).map(({ status }) => status).sort();
			expect(statuses).toEqual([303, ...Array(7).fill(400)]);
		});
	});

	describe("an authorization code", () => {
		test("works once: its second use ends what the first one got", async () => {
			const code = await world.getCode();
			const tokens = await json(await world.exchange(code));
			expect(await works(tokens)).toBe(true);
			expect(await errorOf(await world.exchange(code))).toEqual(invalidGrant);
			expect(await works(tokens)).toBe(false);
			expect(await errorOf(await world.refresh(tokens.refresh_token))).toEqual(invalidGrant);
		});

		test.each<[attack: string, changes: Changes]>([
			["with another verifier", { code_verifier: "w".repeat(43) }],
			["by another client", { client_id: "client-2" }],
			["with another redirect URI", { redirect_uri: "https://assistant.example/callback2" }],
		])("%s gives nothing, and is used up", async (_, changes) => {
			const code = await world.getCode();
			expect(await errorOf(await world.exchange(code, changes))).toEqual(invalidGrant);
			expect(await errorOf(await world.exchange(code))).toEqual(invalidGrant);
		});

		test("without a verifier gives nothing", async () => {
			const code = await world.getCode();
			const refused = { status: 400, error: "invalid_request" };
			expect(await errorOf(await world.exchange(code, { code_verifier: undefined }))).toEqual(refused);
		});

		test("for another resource gives nothing", async () => {
			const foreign = { resource: "https://other.example/mcp" };
			const code = await world.getCode();
			expect(await errorOf(await world.exchange(code, foreign))).toEqual({ status: 400, error: "invalid_target" });
			const narrower = { resource: `${world.url}/mcp/readonly` };
			expect(await errorOf(await world.exchange(code, narrower))).toEqual(invalidGrant);
		});

		test("expires after a minute", async () => {
			const code = await world.getCode();
			world.clock.now += codeLifetimeMs;
			expect(await errorOf(await world.exchange(code))).toEqual(invalidGrant);
		});

		test("that is made up gives nothing", async () => {
			expect(await errorOf(await world.exchange("x".repeat(43)))).toEqual(invalidGrant);
		});
	});

	describe("a refresh token", () => {
		test("that is used again ends the connection", async () => {
			const first = await world.getTokens();
			const second = await json(await world.refresh(first.refresh_token));
			expect(await works(second)).toBe(true);
			world.clock.now += reuseGraceMs;
			expect(await errorOf(await world.refresh(first.refresh_token))).toEqual(invalidGrant);
			expect(await works(first)).toBe(false);
			expect(await works(second)).toBe(false);
			expect(await errorOf(await world.refresh(second.refresh_token))).toEqual(invalidGrant);
			const ended = "ended a connection: its refresh token was used twice";
			expect(world.recorded.entries(ended)).toHaveLength(1);
		});

		test("that two parties use at once ends the connection when both use what they got", async () => {
			const first = await world.getTokens();
			const [owner, thief] = await Promise.all([
				world.refresh(first.refresh_token).then(json),
				world.refresh(first.refresh_token).then(json),
			]);
			const next = await json(await world.refresh(owner.refresh_token));
			expect(await works(next)).toBe(true);
			world.clock.now += reuseGraceMs;
			expect(await errorOf(await world.refresh(thief.refresh_token))).toEqual(invalidGrant);
			expect(await works(next)).toBe(false);
		});

		test("of before the last one ends the connection at once", async () => {
			const first = await world.getTokens();
			const second = await json(await world.refresh(first.refresh_token));
			const third = await json(await world.refresh(second.refresh_token));
			expect(await errorOf(await world.refresh(first.refresh_token))).toEqual(invalidGrant);
			expect(await works(third)).toBe(false);
		});

		test.each<[attack: string, changes: Changes, error: string]>([
			["by another client", { client_id: "client-2" }, "invalid_grant"],
			["without a client", { client_id: undefined }, "invalid_request"],
			["with a made-up token", { refresh_token: "x" }, "invalid_grant"],
			["for another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
		])("%s gives nothing, and the client keeps it", async (_, changes, error) => {
			const { refresh_token } = await world.getTokens();
			const response = await world.refresh(refresh_token, changes);
			expect(await errorOf(response)).toEqual({ status: 400, error });
			expect((await world.refresh(refresh_token)).status).toBe(200);
		});

		test("gives no more access than the person allowed", async () => {
			const { refresh_token } = await world.getTokens({}, { access: "read" });
			const tokens = await json(await world.refresh(refresh_token, { scope: "read write all" }));
			expect(tokens.scope).toBe("read");
			expect((await find(tokens.access_token))?.principal.access).toBe("read");
		});

		test("expires after 30 days without use", async () => {
			const { refresh_token } = await world.getTokens();
			world.clock.now += refreshLifetimeMs;
			expect(await errorOf(await world.refresh(refresh_token))).toEqual(invalidGrant);
		});

		test("is no access token, and an access token is no refresh token", async () => {
			const { access_token, refresh_token } = await world.getTokens();
			expect(await find(refresh_token)).toBeUndefined();
			expect(await errorOf(await world.refresh(access_token))).toEqual(invalidGrant);
		});
	});

	test("a flood of guesses leaves room in the database for valid tokens", async () => {
		await using own = await startWorld({ database: world.settings });
		const { access_token } = await own.getTokens();
		const release = holdStore(own);
		const code = "x".repeat(43);
		const guesses = Array.from({ length: 70 }, () => [
			own.exchange(code),
			own.post("/oauth/revoke", { token: code }),
			new Browser().open(`${own.url}/oauth/consent?request=${code}`, { headers: { Cookie: `guildhall=${code}` } }),
		]).flat();
		const statuses: number[] = [];
		for (const guess of guesses) void guess.then(({ status }) => statuses.push(status));
		await until("some are refused", () => statuses.length >= 10);
		const found = own.oauth.findAccessToken(hashToken(access_token));
		release();
		expect(await found).toBeDefined();
		await Promise.all(guesses);
		expect(statuses.slice(0, 10)).toEqual(Array(10).fill(503));
	});

	describe("an access token", () => {
		test("expires after an hour", async () => {
			const tokens = await world.getTokens();
			world.clock.now += accessLifetimeMs - 1;
			expect(await works(tokens)).toBe(true);
			world.clock.now += 1;
			expect(await works(tokens)).toBe(false);
		});

		test("for /mcp/readonly only reads, whatever the client and the form say", async () => {
			const resource = `${world.url}/mcp/readonly`;
			const tokens = await world.getTokens({ resource }, { access: "read" });
			expect(tokens.scope).toBe("read");
			expect(await find(tokens.access_token)).toMatchObject({
				audience: "/mcp/readonly",
				principal: { access: "read" },
			});
		});
	});

	describe("the database", () => {
		test("contains no secret", async () => {
			const { browser, discordUrl } = await world.toConsent();
			const state = new URL(discordUrl).searchParams.get("state") ?? "";
			const cookie = browser.last?.headers.getSetCookie().join() ?? "";
			const code = await world.getCode();
			const tokens = await world.getTokens();
			const rows = await Promise.all(
				["attempts", "codes", "grants", "tokens"].map((table) => rowsIn(world.store, `oauth_${table}`)),
			);
			const text = JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
			expect(text).toContain("Hanna");
			for (const secret of [
				state,
				/guildhall=([\w-]+)/.exec(cookie)?.[1] ?? code,
				code,
				tokens.access_token,
				tokens.refresh_token,
				"discord-token",
			])
				expect(text).not.toContain(secret);
		});
	});

	test("no secret is in the log", async () => {
		const code = await world.getCode();
		await world.exchange(code);
		await world.exchange(code);
		const text = world.recorded.lines.join("\n");
		expect(text).not.toContain(code);
		expect(text).not.toMatch(/guildhall_[ar]t_|discord-(token|code)/);
	});
});
