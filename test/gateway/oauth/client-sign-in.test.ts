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

/** What real clients send when they register, and where they then want the person back. */
const registrations: [string, object, string, string][] = [
	[
		"claude.ai",
		{
			client_name: "Claude",
			redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "client_secret_post",
		},
		"https://claude.ai/api/mcp/auth_callback",
		"claude.ai",
	],
	[
		"ChatGPT",
		{
			client_name: "ChatGPT",
			redirect_uris: ["https://chatgpt.com/connector/oauth/abc123"],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		},
		"https://chatgpt.com/connector/oauth/abc123",
		"chatgpt.com",
	],
	[
		"VS Code on another port than its own",
		{
			client_name: "Visual Studio Code",
			client_uri: "https://code.visualstudio.com",
			application_type: "native",
			redirect_uris: [
				"https://insiders.vscode.dev/redirect",
				"https://vscode.dev/redirect",
				"http://127.0.0.1/",
				"http://127.0.0.1:33418/",
			],
			grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		},
		"http://127.0.0.1:59656/",
		"a program on this computer (127.0.0.1:59656)",
	],
	[
		"Cursor",
		{
			client_name: "Cursor",
			redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		},
		"cursor://anysphere.cursor-mcp/oauth/callback",
		"the app that opens cursor: links",
	],
];

test.each(registrations)("%s registers and signs in", async (_, metadata, redirectUri, target) => {
	const { page, tokens } = await signIn(await register(metadata), redirectUri);
	expect(page).toContain(`<strong>${target}</strong>`);
	expect(page).toContain("it registered itself");
	expect(tokens.scope).toBe("read write");
});

test("a client with a metadata document signs in, and the page names its host", async () => {
	const id = "https://assistant.example/oauth/client.json";
	documents.set(id, {
		client_id: id,
		client_name: "Assistant",
		redirect_uris: ["https://assistant.example/callback"],
		token_endpoint_auth_method: "none",
	});
	const { page } = await signIn(id, "https://assistant.example/callback");
	expect(page).toContain("<strong>assistant.example</strong>, which states this name");
	expect(page).not.toContain("registered itself");
	await signIn(id, "https://assistant.example/callback");
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
	const [, claude] = registrations[0] ?? [];
	const [, , cursor] = registrations[3] ?? [];
	const client_id = await register(claude ?? {});
	expect(await refused({ client_id, redirect_uri: cursor })).toContain("has not registered");
});

test("a client that is not used is forgotten after a day, and says so at the next sign-in", async () => {
	const [, claude, redirect_uri] = registrations[0] ?? [];
	const client_id = await register(claude ?? {});
	world.clock.now += 2 * 86_400_000;
	await register(claude ?? {});
	expect(await refused({ client_id, redirect_uri })).toContain("not known to this server");
});
