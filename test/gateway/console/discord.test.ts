// Signing in to the console with Discord.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { principalCapability } from "../../../src/lib/principal.ts";
import { startStubBackend } from "../../support/stub-backend.ts";
import { Browser } from "../oauth/browser.ts";
import { cooks, hanna, startWorld, type World } from "../oauth/sign-in-world.ts";

const alpha = startStubBackend({ guilds: { [cooks.id]: cooks.name }, experimental: [principalCapability] });
let world: World;
beforeEach(async () => {
	await world?.[Symbol.asyncDispose]();
	world = await startWorld({ bots: { alpha } });
});
afterAll(async () => {
	await world[Symbol.asyncDispose]();
	await alpha.stop();
});

interface Body {
	url?: string;
	session?: { kind: string; person: unknown; csrf: string } | null;
	discord?: string;
	error?: { code: string };
}

const api = (path: string) => `${world.url}/console/api/${path}`;

async function get(browser: Browser, path: string) {
	const response = await browser.open(api(path));
	return { status: response.status, body: (await response.json()) as Body };
}

async function post(browser: Browser, path: string, body: unknown = {}, headers: Record<string, string> = {}) {
	const response = await browser.open(api(path), {
		method: "POST",
		headers: { Origin: world.url, "Content-Type": "application/json", ...headers },
		body: JSON.stringify(body),
	});
	return { status: response.status, body: (await response.json()) as Body };
}

/** Signs in at Discord, and returns where the browser is then sent. */
async function throughDiscord(browser: Browser): Promise<string> {
	const { body } = await post(browser, "sign-in/discord");
	return browser.redirected(world.discord.signIn(body.url ?? ""));
}

test("a person signs in with Discord, and signs in there again after signing out", async () => {
	const browser = new Browser();
	expect((await get(browser, "sign-in")).body).toEqual({ session: null, discord: world.url });
	expect(await throughDiscord(browser)).toBe(`${world.url}/console?from=discord`);
	const { status, body } = await post(browser, "sign-in", { discord: true });
	expect(status).toBe(200);
	expect(body.session).toMatchObject({ kind: "person", person: hanna });
	expect((await get(browser, "access")).body as unknown).toEqual({ keys: [], connections: [], reason: null });

	const csrf = { "X-Guildhall-Csrf": body.session?.csrf ?? "" };
	expect((await post(browser, "sign-out", {}, csrf)).status).toBe(200);
	expect((await get(browser, "state")).status).toBe(401);
	const again = await post(browser, "sign-in", { discord: true });
	expect([again.status, again.body.error?.code]).toEqual([401, "signed_out"]);
});

test("a sign-in belongs to the browser that began it", async () => {
	const browser = new Browser();
	const { body } = await post(browser, "sign-in/discord");
	const callback = world.discord.signIn(body.url ?? "");
	const other = new Browser();
	await post(other, "sign-in/discord");
	expect((await other.open(callback)).status).toBe(400);
	for (const one of [other, browser, new Browser()])
		expect((await post(one, "sign-in", { discord: true })).status).toBe(401);
});

test("who may sign in in no guild gets no session", async () => {
	world.rights.answer = [{ guilds: [{ ...cooks, signIn: false }] }];
	const browser = new Browser();
	await throughDiscord(browser);
	const refused = await post(browser, "sign-in", { discord: true });
	expect([refused.status, refused.body.error?.code]).toEqual([403, "forbidden"]);
	const refusals = () => world.recorded.entries("refused a sign-in to the console: no guild allows it");
	expect(refusals()).toEqual([expect.objectContaining({ person: hanna.id })]);
	world.rights.answer = [undefined];
	const later = await post(browser, "sign-in", { discord: true });
	expect(later.status).toBe(503);
	// Whether the person may sign in is unknown.
	expect(refusals()).toHaveLength(1);
	world.rights.answer = [{ guilds: [cooks] }];
	expect((await post(browser, "sign-in", { discord: true })).status).toBe(200);
});

test("a sign-in with Discord begins only on the console's page, 60 times a minute", async () => {
	const browser = new Browser();
	const evil = { Origin: "https://evil.example" };
	expect((await post(browser, "sign-in/discord", {}, evil)).status).toBe(403);
	for (let count = 0; count < 60; count++) expect((await post(browser, "sign-in/discord")).status).toBe(200);
	expect((await post(browser, "sign-in/discord")).status).toBe(503);
	world.clock.now += 60_000;
	expect((await post(browser, "sign-in/discord")).status).toBe(200);
});

test("a sign-in to the console connects no client, and one for a client does not sign in to the console", async () => {
	const browser = new Browser();
	await throughDiscord(browser);
	expect(world.rights.asked).toEqual([]);
	const steps = await world.toConsent();
	expect((await post(steps.browser, "sign-in", { discord: true })).status).toBe(401);
});
