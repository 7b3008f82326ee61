// A person signs in with a real Chromium, with the keyboard only; Discord is the simulator.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createClients } from "../../../src/gateway/oauth/clients/clients.ts";
import { createOAuth } from "../../../src/gateway/oauth/oauth.ts";
import { type ListenOptions, pathOf } from "../../../src/lib/program/listen.ts";
import { violations } from "../../pages/axe.ts";
import { type ChromiumPage, chromium, openChromium } from "../../support/chromium.ts";
import { databaseDirectory } from "../../support/database-directory.ts";
import { openGatewayStore } from "../../support/gateway-store.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { challenge, query, verifier } from "./sign-in-world.ts";

if (!chromium) console.warn("no page is tried in a browser: chromium is not installed");

/** An authorization server with a simulated Discord, and a client on this machine. */
async function startWorld() {
	const simulator = await startSimulator({ onlyResponses: true });
	const directory = await mkdtemp(join(databaseDirectory, "guildhall-oauth-"));
	const opened = openGatewayStore({ settings: { directory, databaseUrl: undefined, schema: undefined } });
	const { store } = opened;
	const { log } = recordLog();
	let respond: ListenOptions["fetch"] = () => new Response(null);
	const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request, http) => respond(request, http) });
	const publicUrl = server.url.origin;
	const clientId = simulator.bot("alpha").id;
	const { clientSecret } = simulator.world.authorizations.configure(clientId, {
		redirectUris: [`${publicUrl}/oauth/callback`],
	});
	const clients = createClients({ store, log });
	const guilds = [
		{ id: "200000000000000001", name: "The Cooks", signIn: true },
		{ id: "200000000000000002", name: "\u202eW".repeat(60), signIn: true },
	];
	const oauth = createOAuth({
		settings: { publicUrl, clientId, clientSecret, discordApiUrl: simulator.api },
		store,
		log,
		clients,
		askRights: async () => [{ guilds }],
	});
	respond = (request, http) =>
		oauth.respond(request, pathOf(request), http) ?? new Response("Not found", { status: 404 });

	/** What the client got. */
	let got = Promise.withResolvers<URLSearchParams>();
	const client = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch(request) {
			const { pathname, searchParams, port } = new URL(request.url);
			if (pathname === "/callback") {
				got.resolve(searchParams);
				// Clients redirect further, which must not be refused because the form did not name it.
				return Response.redirect(`http://localhost:${port}/done`, 303);
			}
			const frame = searchParams.get("frame");
			const body = frame ? `<iframe src="${Bun.escapeHTML(frame)}">` : "";
			return new Response(`<!doctype html><title>${frame ? "Evil" : "Done"}</title>${body}`, {
				headers: { "Content-Type": "text/html" },
			});
		},
	});
	const redirect_uri = `http://127.0.0.1:${client.port}/callback`;
	const registration = await fetch(`${publicUrl}/oauth/register`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({
			client_name: `Claude \u202e<b>${"W".repeat(60)}`,
			redirect_uris: ["http://127.0.0.1/callback"],
		}),
	});
	const { client_id } = (await registration.json()) as { client_id: string };
	const authorizeUrl = `${publicUrl}/oauth/authorize?${query({
		client_id,
		redirect_uri,
		response_type: "code",
		state: "s",
		code_challenge: challenge,
		code_challenge_method: "S256",
	})}`;
	return {
		publicUrl,
		authorizeUrl,
		/** The address of a page that shows another in a frame. It is of the same site, so the frame gets the cookies. */
		evilUrl: (frame: string) => `http://127.0.0.1:${client.port}/?${query({ frame })}`,
		/** Resolves with what the client gets next. */
		next() {
			got = Promise.withResolvers<URLSearchParams>();
			return got.promise;
		},
		async exchange(code: string) {
			const response = await fetch(`${publicUrl}/oauth/token`, {
				method: "POST",
				body: query({ grant_type: "authorization_code", client_id, redirect_uri, code, code_verifier: verifier }),
			});
			return (await response.json()) as { scope: string };
		},
		async [Symbol.asyncDispose]() {
			await server.stop(true);
			await client.stop(true);
			await opened[Symbol.asyncDispose]();
			await simulator.close();
			await rm(directory, { recursive: true, force: true });
		},
	};
}

describe.skipIf(!chromium)("in Chromium", () => {
	let world: Awaited<ReturnType<typeof startWorld>>;
	let page: ChromiumPage;
	beforeAll(async () => {
		[world, page] = await Promise.all([startWorld(), openChromium()]);
	});
	afterAll(async () => {
		await page[Symbol.asyncDispose]();
		await world[Symbol.asyncDispose]();
	});

	/** Walks from the client to the consent page, with Enter on Discord's page. */
	async function toConsent() {
		await page.open(world.authorizeUrl, "simulated Discord");
		await page.press("Tab");
		await page.press("Enter");
		await page.arrive("Connect Claude");
	}

	/** What has the focus: its text or value, and whether that is visible. */
	const focused = () =>
		page.evaluate<{ what: string; isVisible: boolean }>(`(() => {
			const one = document.activeElement;
			const { outlineStyle, outlineWidth } = getComputedStyle(one);
			return { what: one.value || one.textContent,
				isVisible: outlineStyle === "solid" && parseFloat(outlineWidth) >= 2,
			};
		})()`);

	/** The width of the page beyond that of the window, in pixels. */
	const overflow = () =>
		page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

	test("a person signs in, chooses and allows with the keyboard, and the client gets a code", async () => {
		await toConsent();
		const seen: unknown[] = [];
		await page.press("Tab");
		seen.push(await focused());
		await page.press("ArrowDown");
		seen.push(await focused());
		for (let stop = 0; stop < 3; stop++) {
			await page.press("Tab");
			seen.push(await focused());
		}
		expect(seen).toEqual(
			["read", "write", "your connections", "deny", "allow"].map((what) => ({ what, isVisible: true })),
		);
		const got = world.next();
		await page.press("Enter");
		const answer = await got;
		expect(answer.get("iss")).toBe(world.publicUrl);
		await page.arrive("Done");
		expect(await world.exchange(answer.get("code") ?? "")).toMatchObject({ scope: "read write" });
	});

	test("Enter before a choice denies", async () => {
		await toConsent();
		await page.press("Tab");
		const got = world.next();
		await page.press("Enter");
		expect((await got).get("error")).toBe("access_denied");
	});

	test("a click that was meant for another page does not allow", async () => {
		await toConsent();
		/** Whether the button takes clicks at this time after the page was shown. */
		const takesClicks = (ms: number) =>
			page.evaluate<string>(`(() => {
				const button = document.querySelector("[value=allow]");
				// The animation may be over by now.
				button.classList.remove("delayed");
				getComputedStyle(button).animationName;
				button.classList.add("delayed");
				const [animation] = button.getAnimations();
				animation.pause();
				animation.currentTime = ${ms};
				return getComputedStyle(button).pointerEvents;
			})()`);
		expect(await takesClicks(0)).toBe("none");
		expect(await takesClicks(990)).toBe("none");
		expect(await takesClicks(1000)).toBe("auto");
	});

	test("another page cannot frame the consent page", async () => {
		await toConsent();
		const consent = (await page.evaluate<string>("location.href")) ?? "";
		await page.open(world.evilUrl(consent), "Evil");
		const { frameTree } = (await page.send("Page.getFrameTree")) as {
			frameTree: { childFrames: { frame: { url: string } }[] };
		};
		expect(frameTree.childFrames.map(({ frame }) => frame.url)).toEqual(["chrome-error://chromewebdata/"]);
	});

	test("at 320 pixels and more nothing is cut off, whatever the names, and axe-core finds nothing", async () => {
		const pages: Record<string, () => Promise<unknown>> = {
			Discord: () => page.open(world.authorizeUrl, "simulated Discord"),
			consent: toConsent,
			error: () => page.open(`${world.publicUrl}/oauth/authorize`, "not valid"),
		};
		for (const [name, open] of Object.entries(pages)) {
			await page.resize(320, 600);
			await open();
			expect([name, await overflow(), await violations(page)]).toEqual([name, 0, []]);
		}
	});
});
