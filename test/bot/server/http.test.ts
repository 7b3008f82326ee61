// Access to the bot's HTTP routes: token, Host, Origin, body size.

import { expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import { withoutToken } from "../../../src/bot/config/config.ts";
import { createLog } from "../../../src/lib/log.ts";
import { encodePrincipal, principalHeader } from "../../../src/lib/principal.ts";
import { readNotReady } from "../../../src/mcp/readiness.ts";
import { failureKey } from "../../../src/mcp/tool.ts";
import { botConfig, withoutLogin } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import { startWorld, worldTest } from "../../support/world.ts";

const token = "a-token-of-enough-length";

/** A bot without Discord. */
function startOfflineBot(mcpToken: string | undefined) {
	const bot = startBot(
		botConfig({ mcpToken }),
		createLog({ format: "text", level: "info" }, () => {}),
		withoutLogin,
	);
	return { url: bot.url, [Symbol.asyncDispose]: () => bot.close() };
}

const call = JSON.stringify({
	jsonrpc: "2.0",
	id: 1,
	method: "tools/call",
	params: { name: "list_guilds", arguments: {} },
});

test("readiness needs no token, and is starting, then ready", async () => {
	await using offline = startOfflineBot(token);
	const starting = await fetch(offline.url);
	expect(starting.status).toBe(200);
	expect(await starting.text()).toBe("starting");
	expect(readNotReady(starting.headers)).toBeUndefined();
	const { headers } = await fetch(offline.url, { headers: { Authorization: `Bearer ${token}` } });
	expect(readNotReady(headers)).toStartWith("Discord is not connected: ");
	await using world = await startWorld();
	const ready = await fetch(world.bot.url);
	expect([await ready.text(), readNotReady(ready.headers)]).toEqual(["ready", undefined]);
});

test("a GET for an event stream gets 405", async () => {
	await using offline = startOfflineBot(token);
	const Accept = "application/json, text/event-stream";
	const refused = await fetch(offline.url, { headers: { Accept } });
	expect(refused.status).toBe(401);
	const response = await fetch(offline.url, { headers: { Accept, Authorization: `Bearer ${token}` } });
	expect(response.status).toBe(405);
	expect(response.headers.get("allow")).toBe("POST, DELETE");
});

test("a call needs the token if there is one, and needs no session", async () => {
	await using offline = startOfflineBot(token);
	const post = (headers: Record<string, string>) => fetch(offline.url, { method: "POST", body: call, headers });
	expect((await post({})).status).toBe(401);
	expect((await post({ Authorization: "Bearer wrong" })).status).toBe(401);
	const answered = await post({ Authorization: `bearer ${token}` });
	expect(answered.status).toBe(200);
	const text = await answered.text();
	expect(text).toContain("not connected to Discord yet");
	// It counts as failed, not as refused.
	expect(text).toContain(`"${failureKey}":true`);
	const inGuild = await connectTo(offline.url, token);
	expect((await inGuild.call("list_channels", {})).text).toContain("not connected to Discord yet");
	expect((await fetch(new URL("/nope", offline.url))).status).toBe(404);
});

test("a bot accepts the header of a principal only together with its token", async () => {
	const sent = encodePrincipal({ id: "key:a", name: "a", access: "read" });
	const post = (url: string, headers: Record<string, string>) => fetch(url, { method: "POST", body: call, headers });
	await using guarded = startOfflineBot(token);
	const Authorization = `Bearer ${token}`;
	for (const [headers, status] of [
		[{ Authorization, [principalHeader]: sent }, 200],
		[{ Authorization, [principalHeader]: "{}" }, 400],
		[{ Authorization, [principalHeader]: "" }, 400],
		[{ [principalHeader]: sent }, 401],
	] as const)
		expect((await post(guarded.url, headers)).status).toBe(status);
	await using open = startOfflineBot(undefined);
	expect((await post(open.url, {})).status).toBe(200);
	const refused = await post(open.url, { [principalHeader]: sent });
	expect(refused.status).toBe(403);
});

test.each([
	[token, { "guildhall/principal": {} }],
	[undefined, undefined],
])("with the token %p, initialize declares %j", async (mcpToken, declared) => {
	await using bot = startOfflineBot(mcpToken);
	const response = await fetch(bot.url, {
		method: "POST",
		headers: { Authorization: `Bearer ${mcpToken}` },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }),
	});
	const [, json = ""] = (await response.text()).split("data: ");
	expect(JSON.parse(json).result.capabilities.experimental).toEqual(declared);
});

test("without a token only listed origins are allowed, and the log warns at the start", async () => {
	const { log, entries } = recordLog();
	const startOpenBot = (mcpToken?: string) =>
		startBot(botConfig({ mcpToken, allowedOrigins: ["http://localhost:5173"] }), log, withoutLogin);
	const open = startOpenBot();
	await using stack = new AsyncDisposableStack();
	stack.defer(() => open.close());
	const ask = async (Origin: string, path: string, init?: RequestInit) => {
		return (await fetch(new URL(path, open.url), { ...init, headers: { Origin } })).status;
	};
	const post = { method: "POST", body: call };
	for (const [Origin, status] of [
		["http://localhost:5173", 200],
		["http://localhost:6274", 403],
		[new URL(open.url).origin, 403],
		["http://[::1]", 403],
		["https://evil.example", 403],
		["null", 403],
	] as const) {
		expect([Origin, await ask(Origin, "/mcp", post)]).toEqual([Origin, status]);
		for (const path of ["/mcp", "/status", "/metrics", "/healthz"])
			expect([Origin, path, await ask(Origin, path)]).toEqual([Origin, path, status]);
	}
	const warnings = () => entries(withoutToken);
	expect(warnings()).toMatchObject([{ level: "warn" }]);
	const guarded = startOpenBot(token);
	stack.defer(() => guarded.close());
	expect(warnings()).toHaveLength(1);
});

test.each([
	["localhost:9090", 200],
	["127.0.0.1", 200],
	["[::1]:1", 200],
	["localhost.evil.example", 403],
	["evil.example:9090", 403],
])("the Host %s is answered %d", async (Host, status) => {
	await using offline = startOfflineBot(undefined);
	const response = await fetch(offline.url, { method: "POST", body: call, headers: { Host } });
	expect(response.status).toBe(status);
	if (status === 403) expect(await response.text()).toBe("Host header is not allowed");
	// The readiness check is on the same path.
	const readiness = await fetch(offline.url, { headers: { Host } });
	expect(readiness.status).toBe(status);
});

worldTest(
	"while it drains, a bot refuses calls and new sessions, still answers everything else, and ends what runs",
	async (world) => {
		const { bot, guild, simulator } = world;
		const fault = simulator.faults.stall("POST /channels/:channel_id/messages");
		const channel_id = simulator.channel("The Cooks/general").id;
		const running = world.call("send_message", { channel_id, content: "a" });
		await until("the call is in flight", () => fault.hits > 0);
		let isDrained = false;
		const drained = bot.drain?.().then(() => {
			isDrained = true;
		});
		const post = (method: string, params: unknown) =>
			fetch(bot.url, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
		const before = simulator.journal.entries().length;
		for (const refused of [
			await post("tools/call", { name: "send_message", arguments: { guild_id: guild.id, channel_id, content: "b" } }),
			await post("initialize", { protocolVersion: "2025-11-25" }),
		]) {
			expect(refused.status).toBe(503);
			expect(await refused.text()).toContain("Nothing was done");
			expect(refused.headers.get("x-guildhall-draining")).toBe("1");
			expect(refused.headers.get("connection")).toBe("close");
		}
		const answered = await post("tools/list", {});
		expect(answered.status).toBe(200);
		expect(answered.headers.get("connection")).toBe("close");
		expect(isDrained).toBe(false);
		fault.release();
		expect((await running).text).toStartWith("Message sent");
		await drained;
		expect(simulator.journal.entries()).toHaveLength(before + 1);
	},
);
