// People see what they have connected, and end it, at /connections.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { principalCapability } from "../../../../src/lib/principal.ts";
import { startStubBackend } from "../../../support/stub-backend.ts";
import { until } from "../../../support/until.ts";
import { Browser } from "../browser.ts";
import { type Changes, fieldOf, hanna, query, startWorld, type World } from "../sign-in-world.ts";

const ida = { id: "100000000000000002", name: "Ida", username: "ida" };
const alpha = startStubBackend({ guilds: { "200000000000000001": "The Cooks" }, experimental: [principalCapability] });
let world: World;
beforeEach(async () => {
	await world?.[Symbol.asyncDispose]();
	world = await startWorld({ bots: { alpha } });
});
afterAll(async () => {
	await world[Symbol.asyncDispose]();
	await alpha.stop();
});

/** Signs in at /connections, and returns the browser and the page. */
async function visit(browser = new Browser()) {
	const url = `${world.url}/connections`;
	const first = await browser.get(url);
	const [, href = ""] = /href="(\/connections\?[^"]*)"/.exec(first) ?? [];
	const discordUrl = await browser.redirected(world.url + href);
	const back = await browser.redirected(world.discord.signIn(discordUrl));
	expect(back).toBe(url);
	const page = await browser.get(url);
	return { browser, page, csrf: fieldOf(page, "csrf") };
}

const send = (browser: Browser, form: Changes) => browser.submit(`${world.url}/connections`, query(form));
const grantsIn = (page: string) => [...page.matchAll(/name="end" value="([^"]*)"/g)].map(([, id = ""]) => id);
const statusOf = async (token: string) => {
	const response = await fetch(`${world.url}/mcp`, {
		method: "POST",
		headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
	});
	return response.status;
};

test.each([
	["/connections", "Melde dich mit Discord an"],
	["/oauth/callback", "Diese Anmeldung lässt sich nicht fortsetzen"],
	["/oauth/consent", "Diese Seite ist abgelaufen"],
	["/oauth/authorize?client_id=unknown", "Diese Anfrage ist ungültig"],
])("%s is in the browser's language", async (path, text) => {
	const response = await fetch(world.url + path, {
		headers: { Accept: "text/html", "Accept-Language": "fr, de-AT;q=0.8" },
	});
	const page = await response.text();
	expect(page).toContain('<html lang="de">');
	expect(page).toContain(text);
});

test("a person signs in, sees their connection, and ends it with all of its tokens", async () => {
	const { access_token, refresh_token } = await world.getTokens();
	expect(await statusOf(access_token)).toBe(200);
	const { browser, page, csrf } = await visit();
	for (const text of ["Hanna", "Assistant", "assistant.example", "Read and write", "2026-03-01 12:00 UTC"])
		expect(page).toContain(text);
	const [grant = "", ...others] = grantsIn(page);
	expect(others).toEqual([]);
	const ended = await send(browser, { csrf, end: grant });
	expect(ended.status).toBe(303);
	const after = await browser.get(new URL(ended.headers.get("location") ?? "", world.url).href);
	expect(after).toContain("The connection has ended.");
	expect(grantsIn(after)).toEqual([]);
	await until("the token has ended", async () => (await statusOf(access_token)) === 401);
	const { status } = await world.refresh(refresh_token);
	expect(status).toBe(400);
	expect(world.recorded.entries("person ended a connection")).toMatchObject([{ person: hanna.id, grant }]);
	// Once more is no error.
	const again = await send(browser, { csrf, end: grant });
	expect(again.headers.get("location")).toBe("/connections");
});

test("a person sees and ends only their own connections", async () => {
	const { access_token } = await world.getTokens();
	const hannas = await visit();
	const [grant = ""] = grantsIn(hannas.page);
	world.discord.state.user = ida;
	const idas = await visit();
	expect(idas.page).toContain("Ida");
	expect(idas.page).toContain("No program is connected in your name.");
	const { headers } = await send(idas.browser, { csrf: idas.csrf, end: grant });
	expect(headers.get("location")).toBe("/connections");
	expect(grantsIn(await hannas.browser.get(`${world.url}/connections`))).toEqual([grant]);
	expect(await statusOf(access_token)).toBe(200);
});

test.each<[string, (own: { browser: Browser; csrf: string }) => Promise<Response>]>([
	["without the form's token", ({ browser }) => send(browser, { end: "x" })],
	["with a wrong token", ({ browser }) => send(browser, { csrf: "A".repeat(43), end: "x" })],
	["from a browser that has not signed in", ({ csrf }) => send(new Browser(), { csrf, end: "x" })],
	[
		"with the token of another person's page",
		async ({ browser }) => send(browser, { csrf: (await visit()).csrf, end: "x" }),
	],
	[
		"from another site",
		({ browser, csrf }) =>
			browser.open(`${world.url}/connections`, {
				method: "POST",
				body: query({ csrf, end: "x" }),
				headers: { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
			}),
	],
	[
		"after ten minutes",
		({ browser, csrf }) => {
			world.clock.now += 10 * 60_000;
			return send(browser, { csrf, end: "x" });
		},
	],
])("nothing is ended %s", async (_, attempt) => {
	await world.getTokens();
	const own = await visit();
	const [grant = ""] = grantsIn(own.page);
	const response = await attempt(own);
	expect(response.status).toBe(400);
	expect(await response.text()).toContain("This page has expired");
	expect(grantsIn((await visit()).page)).toEqual([grant]);
});

test("a form that names no connection is refused", async () => {
	const { browser, csrf } = await visit();
	expect((await send(browser, { csrf })).status).toBe(400);
});

test("after signing out the browser shows nothing, and the connection stays", async () => {
	const { access_token } = await world.getTokens();
	const { browser, csrf } = await visit();
	const other = await visit();
	const left = await send(browser, { csrf, leave: "1" });
	expect(await left.text()).toContain("Signed out");
	expect(await browser.get(`${world.url}/connections`)).toContain("Sign in with Discord");
	expect((await send(browser, { csrf, end: "x" })).status).toBe(400);
	expect(await statusOf(access_token)).toBe(200);
	expect(await other.browser.get(`${world.url}/connections`)).toContain("Sign out");
});

test("a sign-in for a client does not open the connections", async () => {
	const { browser } = await world.toConsent();
	expect(await browser.get(`${world.url}/connections`)).toContain("Sign in with Discord");
});

test("more sign-ins than 60 in a minute are refused", async () => {
	const url = `${world.url}/connections?sign-in=1`;
	const statuses: number[] = [];
	for (let n = 0; n < 61; n++) statuses.push((await new Browser().open(url)).status);
	expect(statuses).toEqual([...Array(60).fill(303), 503]);
	world.clock.now += 60_000;
	expect((await new Browser().open(url)).status).toBe(303);
});
