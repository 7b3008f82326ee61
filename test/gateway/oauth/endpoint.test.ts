// Signed-in clients at the gateway's endpoint, in front of a bot.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decodePrincipal, encodePrincipal, principalCapability } from "../../../src/lib/principal.ts";
import { createGatewayClient, gatewayToken } from "../../support/gateway.ts";
import { result, startStubBackend } from "../../support/stub-backend.ts";
import { hanna, startWorld, type World } from "./sign-in-world.ts";

const cooks = { id: "200000000000000001", name: "The Cooks", signIn: true };
const alpha = startStubBackend({
	guilds: { [cooks.id]: cooks.name },
	experimental: [principalCapability],
	on: { "guildhall/rights": ({ id }) => result(id, JSON.stringify({ guilds: [cooks] })) },
});
let world: World;
beforeAll(async () => {
	world = await startWorld({ bots: { alpha } });
});
afterAll(async () => {
	await world[Symbol.asyncDispose]();
	await alpha.stop();
});

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const post = (path: string, token?: string) =>
	fetch(world.url + path, {
		method: "POST",
		headers: { "Content-Type": "application/json", ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
		body: ping,
	});

describe("a request without a token", () => {
	test.each(["/mcp", "/mcp/readonly"])("to %s learns where to sign in, and to ask for the least", async (path) => {
		const response = await post(path);
		expect(response.status).toBe(401);
		expect(response.headers.get("www-authenticate")).toBe(
			`Bearer resource_metadata="${world.url}/.well-known/oauth-protected-resource${path}", scope="read"`,
		);
	});

	test("that is wrong learns so", async () => {
		const { headers } = await post("/mcp", "wrong");
		expect(headers.get("www-authenticate")).toStartWith('Bearer error="invalid_token", resource_metadata="');
	});
});

describe("an access token", () => {
	test("works for its resource only", async () => {
		const full = await world.getTokens();
		const readonly = { resource: `${world.url}/mcp/readonly` };
		const narrow = await world.getTokens(readonly, { access: "read" });
		expect((await post("/mcp", full.access_token)).status).toBe(200);
		expect((await post("/mcp/readonly", full.access_token)).status).toBe(401);
		expect((await post("/mcp/readonly", narrow.access_token)).status).toBe(200);
		expect((await post("/mcp", narrow.access_token)).status).toBe(401);
	});

	test("opens neither /status nor /metrics", async () => {
		const { access_token } = await world.getTokens();
		const headers = { Authorization: `Bearer ${access_token}` };
		for (const path of ["/status", "/metrics"]) expect((await fetch(world.url + path, { headers })).status).toBe(401);
	});

	test("lets calls run in the person's name", async () => {
		const { access_token } = await world.getTokens();
		const client = createGatewayClient(`${world.url}/mcp`, access_token);
		await client.call("echo", { guild_id: cooks.id });
		const sent = alpha.received("echo").at(-1)?.headers.get("x-guildhall-caller");
		expect(decodePrincipal(sent ?? "")).toMatchObject({
			id: expect.stringMatching(/^grant:/),
			name: "Assistant",
			person: { ...hanna, signedIn: true },
			access: "write",
		});
	});
});

test("a client cannot claim to act for somebody else", async () => {
	const { access_token } = await world.getTokens({}, { access: "read" });
	const forged = encodePrincipal({
		id: "root",
		name: "root",
		access: "all",
		person: { id: "999999999999999999", name: "Eve", signedIn: false },
	});
	const body = {
		jsonrpc: "2.0",
		id: 1,
		method: "tools/call",
		params: { name: "echo", arguments: { guild_id: cooks.id } },
	};
	const before = alpha.received("echo").length;
	await createGatewayClient(`${world.url}/mcp`, access_token).post(JSON.stringify(body), {
		"X-Guildhall-Caller": forged,
	});
	const [call] = alpha.received("echo").slice(before);
	const sent = call?.headers.get("x-guildhall-caller") ?? "";
	expect(decodePrincipal(sent)?.person?.id).toBe(hanna.id);
});

test("the root key still works", async () => {
	expect((await post("/mcp", gatewayToken)).status).toBe(200);
});

test("other paths are 404, and do not say that there is no OAuth", async () => {
	const response = await post("/.well-known/webfinger");
	expect(response.status).toBe(404);
	expect(await response.text()).toBe("Not found. The MCP endpoint is /mcp.\n");
});

test("pages of other origins may sign in, but not call tools", async () => {
	const headers = { Origin: "https://client.example" };
	const path = "/.well-known/oauth-protected-resource/mcp";
	expect((await fetch(world.url + path, { headers })).status).toBe(200);
	const call = await fetch(`${world.url}/mcp`, { method: "POST", headers });
	expect(call.status).toBe(403);
});
