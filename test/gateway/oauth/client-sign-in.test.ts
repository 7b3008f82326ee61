// Clients as they come, from their registration or document to tokens; and what they may not make the gateway do.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Browser } from "./browser.ts";
import { type Changes, startWorld, type TokenBody, type World } from "./sign-in-world.ts";

/** The documents of clients, by their address. */
const documents = new Map<string, object>();
/** What was resolved or fetched. */
const requests: string[] = [];
/** Addresses of the hosts of documents; otherwise a public one. */
const addresses = new Map<string, string[]>();

let world: World;
beforeAll(async () => {
	world = await startWorld({
		realClients: {
			async resolve(hostname) {
				requests.push(hostname);
				return addresses.get(hostname) ?? ["93.184.215.14"];
			},
			async fetch(url, init) {
				requests.push(url);
				const { pathname } = new URL(url);
				const host = new Headers(init.headers).get("host");
				const found = documents.get(`https://${host}${pathname}`);
				return Response.json(found ?? {}, { status: found ? 200 : 404 });
			},
		},
	});
});
afterAll(() => world[Symbol.asyncDispose]());

async function register(metadata: object): Promise<string> {
	const response = await fetch(`${world.url}/oauth/register`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(metadata),
	});
	expect(response.status).toBe(201);
	expect(response.headers.get("access-control-allow-origin")).toBe("*");
	const { client_id } = (await response.json()) as { client_id: string };
	return client_id;
}

/** Signs in with a client, and returns its tokens and the consent page. */
async function signIn(client_id: string, redirect_uri: string) {
	const steps = await world.toConsent({ client_id, redirect_uri });
	const target = await world.decide(steps);
	expect(target.href).toStartWith(redirect_uri);
	const code = target.searchParams.get("code") ?? "";
	const response = await world.exchange(code, { client_id, redirect_uri });
	expect(response.status).toBe(200);
	const tokens = (await response.json()) as TokenBody;
	return { page: steps.page, tokens };
}

const standard = {
	grant_types: ["authorization_code", "refresh_token"],
	response_types: ["code"],
	token_endpoint_auth_method: "none",
};
const claude = {
	...standard,
	client_name: "Claude",
	redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
	token_endpoint_auth_method: "client_secret_post",
};
const chatgpt = { ...standard, redirect_uris: ["https://chatgpt.com/connector/oauth/abc123"] };
const vsCode = {
	...standard,
	application_type: "native",
	redirect_uris: ["https://vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"],
	grant_types: [...standard.grant_types, "urn:ietf:params:oauth:grant-type:device_code"],
};
const cursor = { ...standard, redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"] };

/** What real clients send when they register, where they then want the person back, and what the page calls that. */
const registrations = [
	["claude.ai", claude, claude.redirect_uris[0], "claude.ai"],
	["ChatGPT", chatgpt, chatgpt.redirect_uris[0], "chatgpt.com"],
	["VS Code", vsCode, "http://127.0.0.1:59656/", "a program on this computer (127.0.0.1:59656)"],
	["Cursor", cursor, cursor.redirect_uris[0], "the app that opens cursor: links"],
] as const;

test.each(registrations)("%s registers and signs in", async (_, metadata, redirectUri = "", target) => {
	const { page, tokens } = await signIn(await register(metadata), redirectUri);
	expect(page).toContain(`<strong>${target}</strong>`);
	expect(page).toContain("it registered itself");
	expect(tokens.scope).toBe("read write");
});

test("a client with a metadata document signs in, and the page names its host", async () => {
	const id = "https://assistant.example/oauth/client.json";
	const redirectUri = "https://assistant.example/callback";
	documents.set(id, { ...standard, client_id: id, client_name: "Assistant", redirect_uris: [redirectUri] });
	const { page } = await signIn(id, redirectUri);
	expect(page).toContain("<strong>assistant.example</strong>, which states this name");
	expect(page).not.toContain("registered itself");
	await signIn(id, redirectUri);
	expect(requests.filter((request) => request.includes("client.json"))).toHaveLength(1);
});

/** Opens the authorization endpoint, which must show an error page and lead nowhere. */
async function refused(changes: Changes): Promise<string> {
	const browser = new Browser();
	const response = await browser.open(world.authorizeUrl(changes));
	expect(response.status).toBe(400);
	expect(response.headers.get("location")).toBeNull();
	const page = await response.text();
	expect(page).not.toContain("<a ");
	return page;
}

describe("no client id makes the gateway reach what is not public:", () => {
	test.each([
		"https://127.0.0.1/client.json",
		"https://[::1]/client.json",
		"https://169.254.169.254/latest/meta-data/",
		"https://2130706433/client.json",
		"https://localhost/client.json",
		"https://localhost:9100/mcp",
		"https://postgres/client.json",
		"https://metadata.google.internal/client.json",
		"https://me:secret@assistant.example/client.json",
		"https://assistant.example:22/client.json",
		"https://assistant.example/x/../oauth/client.json",
		"https://assistant.example",
		"http://assistant.example/oauth/client.json",
		"file:///etc/passwd",
	])("%s", async (client_id) => {
		const before = requests.length;
		expect(await refused({ client_id })).toContain("not known to this server");
		expect(requests).toHaveLength(before);
	});

	test.each<[string, string[]]>([
		["127.0.0.1", ["127.0.0.1"]],
		["10.0.0.1 beside a public one", ["93.184.215.14", "10.0.0.1"]],
		["::ffff:169.254.169.254", ["::ffff:169.254.169.254"]],
		["fd00::1", ["fd00::1"]],
	])("a name with the address %s", async (_, found) => {
		const host = `c${requests.length}.example`;
		addresses.set(host, found);
		await refused({ client_id: `https://${host}/client.json` });
		expect(requests.at(-1)).toBe(host);
	});
});

test("the redirect URI of one client is of no use to another", async () => {
	const client_id = await register(claude);
	expect(await refused({ client_id, redirect_uri: cursor.redirect_uris[0] })).toContain("has not registered");
});

test("a client that is not used is forgotten after a day, and says so at the next sign-in", async () => {
	const client_id = await register(claude);
	world.clock.now += 2 * 86_400_000;
	await register(claude);
	expect(await refused({ client_id, redirect_uri: claude.redirect_uris[0] })).toContain("not known to this server");
});
