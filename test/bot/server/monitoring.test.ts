// Monitoring of a bot: probes, /status, metrics and log lines; and the secrets that they must not contain.

import { describe, expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import type { Stored } from "../../../src/bot/settings/guild-settings.ts";
import type { BotTool } from "../../../src/bot/tool/context.ts";
import { version } from "../../../src/lib/program/program.ts";
import { RpcError } from "../../../src/mcp/json-rpc.ts";
import { errorResult, textResult } from "../../../src/mcp/tool.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { botConfig, type ConfigChanges, withoutLogin } from "../../support/bot-config.ts";
import { rawTool } from "../../support/both-servers.ts";
import { storeSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { parseMetrics, sampleOf } from "../../support/prometheus.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

const token = "a-token-of-enough-length";

const testTools = [
	rawTool("good", () => textResult("fine")),
	rawTool("bad", () => errorResult("no such thing")),
	rawTool("refusing", () => {
		throw new RpcError(-32602, "Invalid parameters: x");
	}),
	rawTool("broken", () => {
		throw new Error("a bug");
	}),
];

/** The part of /status that these tests read. */
interface Status {
	discord: {
		connected: boolean;
		since: string;
		reason?: string;
		requests_paused: object | null;
		refused_intents: string[];
		sockets: number;
		logins_in_24_hours: number;
		events_dropped: number;
		user: string | null;
		guilds: object[];
	};
	calls_in_flight: number;
}

/** A bot without Discord, unless `config` has one. */
function startTestBot(config: ConfigChanges = {}, tools?: readonly BotTool[]) {
	const recorded = recordLog("debug");
	const bot = startBot(botConfig({ mcpToken: token, ...config }), recorded.log, { tools, ...withoutLogin });
	const get = (path: string, init: RequestInit = {}) => fetch(new URL(path, bot.url), init);
	const headers = { Authorization: `Bearer ${token}` };
	const rpc = async (method: string, params: unknown, more: Record<string, string> = {}) => {
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
		return (await fetch(bot.url, { method: "POST", body, headers: { ...headers, ...more } })).text();
	};
	return {
		...recorded,
		bot,
		get,
		rpc,
		call: (name: unknown, args = {}, more: Record<string, string> = {}) =>
			rpc("tools/call", { name, arguments: args }, more),
		status: async () => (await get("/status", { headers })).json() as Promise<Status>,
		metrics: async () => parseMetrics(await (await get("/metrics", { headers })).text()),
		connected: () => until("Discord is connected", async () => (await get("/readyz")).ok),
		[Symbol.asyncDispose]: () => bot.close(),
	};
}

/** A bot connected to a simulator of its own. */
async function startConnectedBot(
	configFor: (simulator: Simulator) => ConfigChanges = () => ({}),
	settings?: (simulator: Simulator) => Stored,
) {
	const simulator = await startSimulator();
	const guild = simulator.guild("The Cooks");
	const { dataDirectory } = botConfig();
	if (settings) await storeSettings(botConfig({ dataDirectory }), { [guild.id]: settings(simulator) });
	const alpha = startTestBot({
		dataDirectory,
		...configFor(simulator),
		discordToken: simulator.bot("alpha").token,
		discordApiUrl: simulator.api,
		guildId: guild.id,
	});
	await alpha.connected();
	return {
		...alpha,
		simulator,
		guild,
		async [Symbol.asyncDispose]() {
			await alpha.bot.close();
			await simulator.close();
		},
	};
}

describe("without Discord", () => {
	test("a bot is alive and not ready, for probes without a token and with any Host", async () => {
		await using offline = startTestBot();
		const headers = { Host: "10.1.2.3:9090" };
		const alive = await offline.get("/healthz", { headers });
		expect([alive.status, await alive.text()]).toEqual([200, "ok\n"]);
		const ready = await offline.get("/readyz", { headers });
		expect([ready.status, await ready.text()]).toEqual([503, "Discord is not connected\n"]);
	});

	test("/status has since when and why", async () => {
		await using offline = startTestBot();
		const discord = await until("it has tried", async () => {
			const { discord } = await offline.status();
			return discord.reason !== "not logged in yet" && discord;
		});
		expect(discord).toEqual({
			connected: false,
			since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
			reason: expect.stringMatching(/connect/i),
			requests_paused: null,
			refused_intents: [],
			sockets: 0,
			logins_in_24_hours: 0,
			events_dropped: 0,
			user: null,
			guilds: [],
		});
		const metrics = await offline.metrics();
		expect(sampleOf(metrics, "guildhall_bot_discord_connected")).toBe(0);
		const sent = "guildhall_bot_platform_requests_total";
		const failed = { outcome: "failed" };
		expect(sampleOf(metrics, sent, failed)).toBeGreaterThan(0);
	});
});

test.concurrent("with Discord a bot is ready, and /status has its user and guilds", async () => {
	await using alpha = await startConnectedBot();
	const { simulator, guild } = alpha;
	const ready = await alpha.get("/readyz");
	expect([ready.status, await ready.text()]).toEqual([200, "ok\n"]);
	await connectTo(alpha.bot.url, token);
	expect<object>(await alpha.status()).toEqual({
		name: "guildhall-bot",
		version,
		bot_name: "Alpha",
		uptime_seconds: expect.any(Number),
		discord: {
			connected: true,
			since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
			requests_paused: null,
			refused_intents: [],
			sockets: 1,
			logins_in_24_hours: 1,
			events_dropped: 0,
			user: simulator.bot("alpha").username,
			guilds: [{ id: guild.id, name: guild.name, members: guild.members.size }],
		},
		store: { state: "ready", since: expect.stringMatching(/^\d{4}-/), audit_queued: 0, audit_dropped: 0 },
		backups: null,
		chat: null,
		sessions: 1,
		calls_in_flight: 0,
	});
	const metrics = await alpha.metrics();
	const value = (name: string) => sampleOf(metrics, `guildhall_bot_${name}`);
	expect(value("discord_connected")).toBe(1);
	expect(value("discord_sockets")).toBe(1);
	expect(value("discord_logins_24h")).toBe(1);
	expect(value("guilds")).toBe(1);
	expect(value("sessions")).toBe(1);
	expect(value("store_ready")).toBe(1);
	expect(value("audit_queued")).toBe(0);
	expect(value("audit_dropped_total")).toBe(0);
	expect(value("calls_in_flight")).toBe(0);
	expect(value("discord_invalid_requests")).toBe(0);
	expect(value("discord_held_back_total")).toBe(0);
	expect(value("discord_pause_seconds")).toBe(0);
	expect(sampleOf(metrics, "guildhall_bot_build_info", { version })).toBe(1);
	expect(sampleOf(metrics, "process_resident_memory_bytes")).toBeGreaterThan(0);
});

test.concurrent("a bot that Cloudflare blocks is ready, and /status, metrics and log report the pause", async () => {
	await using alpha = await startConnectedBot();
	const { faults } = alpha.simulator;
	const headers = { "content-type": "text/html", "retry-after": "1800" };
	faults.answer("GET /guilds/*", { status: 429, body: "<html>", headers });
	const info = () => alpha.call("get_guild_info");
	// The first may be the bot's own.
	await info();
	expect(await info()).toMatch(/the bot sends no requests for 1[78]\d\d s\./);
	expect((await alpha.get("/readyz")).status).toBe(200);
	const { requests_paused } = (await alpha.status()).discord;
	expect(requests_paused).toEqual({ reason: "foreign response", status: 429, seconds_left: expect.any(Number) });
	const metrics = await alpha.metrics();
	const value = (name: string) => sampleOf(metrics, `guildhall_bot_${name}`);
	expect(value("discord_pause_seconds")).toBeGreaterThan(60);
	expect(value("discord_held_back_total")).toBeGreaterThan(0);
	expect(alpha.messages()).toContain("requests to Discord are paused");
});

test.concurrent("a bot that has lost Discord's Gateway is alive and not ready, and /status has the reason", async () => {
	await using alpha = await startConnectedBot();
	const before = (await alpha.status()).discord;
	await alpha.simulator.close();
	await until("it is not ready", async () => {
		const { status } = await alpha.get("/readyz");
		return status === 503;
	});
	const { discord } = await alpha.status();
	expect(discord).toMatchObject({ connected: false, guilds: before.guilds });
	expect(discord.reason).toBeString();
	expect(Date.parse(discord.since)).toBeGreaterThan(Date.parse(before.since));
	expect((await alpha.get("/mcp")).status).toBe(200);
	expect((await alpha.get("/healthz")).status).toBe(200);
});

test.concurrent("since is the time of the reconnect after a lost Gateway session", async () => {
	await using alpha = await startConnectedBot();
	const before = (await alpha.status()).discord;
	alpha.simulator.sockets.disconnect({ resumable: true });
	const after = await until("it is back", async () => {
		const { discord } = await alpha.status();
		return discord.connected && discord.since !== before.since && discord;
	});
	expect(after).not.toHaveProperty("reason");
	expect(after).toEqual({ ...before, since: after.since });
});

describe.each(["/status", "/metrics"])("%s", (path) => {
	const Authorization = `Bearer ${token}`;
	test.each([
		[{ Authorization }, 200],
		[{}, 401],
		[{ Authorization: "Bearer wrong" }, 401],
		[{ Authorization, Host: "evil.example" }, 403],
		[{ Authorization, Host: "bot.example:1" }, 200],
		[{ Authorization, Origin: "https://evil.example" }, 403],
		[{ Authorization, Origin: "https://chat.example" }, 200],
		[{ Host: "evil.example" }, 403],
	] as [Record<string, string>, number][])("with %j gets %d, like a call", async (headers, status) => {
		await using offline = startTestBot({ allowedHosts: ["bot.example"], allowedOrigins: ["https://chat.example"] });
		expect((await offline.get(path, { headers })).status).toBe(status);
		const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
		expect((await offline.get("/mcp", { method: "POST", body, headers })).status).toBe(status);
	});

	test("needs no token if calls need none", async () => {
		await using open = startTestBot({ mcpToken: undefined });
		expect((await open.get(path)).status).toBe(200);
		expect((await open.get(path, { headers: { Host: "evil.example" } })).status).toBe(403);
	});
});

test("probes refuse foreign origins", async () => {
	await using offline = startTestBot();
	const headers = { Origin: "https://evil.example" };
	for (const path of ["/healthz", "/readyz"]) expect((await offline.get(path, { headers })).status).toBe(403);
});

test("any other path gets 404", async () => {
	await using offline = startTestBot();
	expect((await offline.get("/healthzz")).status).toBe(404);
	expect((await offline.get("/")).status).toBe(404);
	expect(await (await offline.get("/mcp")).text()).toBe("starting");
});

describe("metrics", () => {
	test("requests count by method and outcome, and calls by tool and outcome", async () => {
		await using bot = startTestBot({}, testTools);
		for (const name of ["good", "good", "bad", "refusing", "broken"]) await bot.call(name);
		await bot.rpc("ping", {});
		await bot.rpc("tools/list", {});
		await bot.rpc("tools/list", { cursor: "x" });
		await bot.rpc("initialize", { protocolVersion: "2025-11-25" });
		const metrics = await bot.metrics();
		const requests = (method: string, outcome: string) =>
			sampleOf(metrics, "guildhall_bot_requests_total", { method, outcome });
		expect(requests("tools/call", "done")).toBe(2);
		expect(requests("tools/call", "refused")).toBe(1);
		expect(requests("tools/call", "rpc_error")).toBe(2);
		expect(requests("ping", "done")).toBe(1);
		expect(requests("tools/list", "done")).toBe(1);
		expect(requests("tools/list", "rpc_error")).toBe(1);
		expect(requests("initialize", "done")).toBe(1);
		const calls = metrics.get("guildhall_bot_tool_calls_total")?.samples;
		expect(calls?.map(({ labels, value }) => [labels, value])).toEqual([
			[{ tool: "good", outcome: "done" }, 2],
			[{ tool: "bad", outcome: "refused" }, 1],
			[{ tool: "refusing", outcome: "rpc_error" }, 1],
			[{ tool: "broken", outcome: "rpc_error" }, 1],
		]);
		const timed = { tool: "good" };
		expect(sampleOf(metrics, "guildhall_bot_tool_call_seconds_count", timed)).toBe(2);
	});

	test("an unknown tool or method creates no series of its own", async () => {
		await using bot = startTestBot({}, testTools);
		const names = ["a", "toString", 'x"}\n', "", "other", 7, null, { a: "b" }];
		for (const name of names) await bot.call(name);
		for (const method of ["a", "constructor", 'x"}\n', "other"]) await bot.rpc(method, {});
		const metrics = await bot.metrics();
		const samples = (name: string) => metrics.get(`guildhall_bot_${name}`)?.samples;
		expect(samples("tool_calls_total")).toEqual([
			{ name: "guildhall_bot_tool_calls_total", labels: { tool: "other", outcome: "rpc_error" }, value: names.length },
		]);
		expect(samples("requests_total")?.map(({ labels }) => labels)).toEqual([
			{ method: "tools/call", outcome: "rpc_error" },
			{ method: "other", outcome: "rpc_error" },
		]);
	});

	test("HTTP responses count by status, refusals included", async () => {
		await using bot = startTestBot({}, testTools);
		await bot.call("good");
		await bot.get("/nope");
		await bot.get("/status");
		await bot.get("/metrics");
		await bot.get("/readyz");
		await bot.rpc("ping", {}, { "Content-Type": "text/plain" });
		const metrics = await bot.metrics();
		const responses = (status: string) => sampleOf(metrics, "guildhall_bot_http_responses_total", { status });
		expect(["200", "401", "503", "415", "404"].map(responses)).toEqual([1, 2, 1, 1, 1]);
	});

	test("a call is in flight until it is answered", async () => {
		const arrived = Promise.withResolvers<void>();
		const answer = Promise.withResolvers<string>();
		const waiting = rawTool("wait", () => {
			arrived.resolve();
			return answer.promise;
		});
		await using bot = startTestBot({}, [waiting]);
		const called = bot.call("wait");
		await arrived.promise;
		const inFlight = async () => sampleOf(await bot.metrics(), "guildhall_bot_calls_in_flight");
		expect(await inFlight()).toBe(1);
		expect((await bot.status()).calls_in_flight).toBe(1);
		answer.resolve(textResult("done"));
		await called;
		expect(await inFlight()).toBe(0);
	});

	test.concurrent("requests to Discord count by outcome", async () => {
		await using alpha = await startConnectedBot();
		const { simulator } = alpha;
		const messages = "POST /channels/*/messages";
		const count = async (outcome: string) =>
			sampleOf(await alpha.metrics(), "guildhall_bot_platform_requests_total", { outcome }) ?? 0;
		const send = () =>
			alpha.call("send_message", { channel_id: simulator.channel("The Cooks/general").id, content: "hello" });
		// The bot asks for two things by itself: Discord's Gateway, and its commands.
		await until("its own requests are answered", () => alpha.bot.loaded);
		const before = await count("ok");
		expect(before).toBe(simulator.requests.list().length);
		simulator.faults.refuse(messages, 50013, { times: 1 });
		await send();
		simulator.faults.fail(messages, 500, { times: 1 });
		await send();
		simulator.faults.drop(messages, { when: "before", times: 1 });
		await send();
		simulator.faults.rateLimit(messages, { retryAfterMs: 10, times: 1 });
		await send();
		expect(await count("client_error")).toBe(1);
		expect(await count("server_error")).toBe(1);
		expect(await count("failed")).toBe(1);
		expect(await count("rate_limited")).toBe(1);
		// A message whose response is lost is sent again.
		expect(await count("ok")).toBe(before + 3);
	});
});

describe("the log", () => {
	const guild_id = "12345678901234567";

	test("a call is one line with the request id of its caller", async () => {
		await using bot = startTestBot({}, testTools);
		await bot.call("good", { guild_id }, { "X-Request-Id": "ab1c-7" });
		await bot.call("bad");
		expect(bot.entries("MCP tool call finished")).toEqual([
			{
				time: expect.any(String),
				level: "info",
				message: "MCP tool call finished",
				request: "ab1c-7",
				tool: "good",
				effect: "write",
				guild_id,
				outcome: "done",
				ms: expect.any(Number),
			},
			expect.objectContaining({ request: expect.stringMatching(/^[0-9a-f]{8}$/), tool: "bad", outcome: "refused" }),
		]);
	});

	test("a call has the id of its trace", async () => {
		await using bot = startTestBot({}, testTools);
		const id = "4bf92f3577b34da6a3ce929d0e0e4736";
		const traceparent = `00-${id}-00f067aa0ba902b7-01`;
		await bot.call("good", {}, { traceparent });
		await bot.call("good", {}, { traceparent: "00-x" });
		const lines = bot.entries("MCP tool call finished");
		expect(lines.map(({ trace }) => trace)).toEqual([id, undefined]);
	});

	test("an invalid request id is replaced by a unique one", async () => {
		await using bot = startTestBot({}, testTools);
		for (const id of ["a b", 'x"', "x".repeat(65)]) await bot.call("good", {}, { "X-Request-Id": id });
		const ids = bot.entries("MCP tool call finished").map(({ request }) => String(request));
		expect(ids).toHaveLength(3);
		expect(new Set(ids).size).toBe(3);
		for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
	});

	test("a call in a session logs its client", async () => {
		await using bot = startTestBot({}, testTools);
		const mcp = await connectTo(bot.bot.url, token);
		await mcp.call("good");
		expect(bot.entries("MCP tool call finished")).toEqual([expect.objectContaining({ client: "test", tool: "good" })]);
	});

	test("an unknown tool name is quoted and truncated, and an invalid guild id is omitted", async () => {
		await using bot = startTestBot({}, testTools);
		await bot.call(`line\nbreak ${"x".repeat(500)}`, { guild_id: "hello" });
		await bot.call({ content: "hello" }, { guild_id: 7 });
		const lines = bot.entries("MCP tool call finished");
		expect(lines).toEqual([
			expect.objectContaining({
				tool: JSON.stringify(`line\nbreak ${"x".repeat(89)}`),
				outcome: "rpc_error",
				code: -32601,
			}),
			expect.objectContaining({ tool: "a name of type object", outcome: "rpc_error", code: -32602 }),
		]);
		for (const line of lines) expect(line).not.toHaveProperty("guild_id");
	});

	test("a refused request is logged as info, and a successful one as debug", async () => {
		await using bot = startTestBot({}, testTools);
		await bot.rpc("nope", {}, { "X-Request-Id": "r1" });
		await bot.rpc("tools/list", {}, { "X-Request-Id": "r2" });
		expect(bot.entries("MCP request finished")).toEqual([
			expect.objectContaining({ level: "info", request: "r1", method: "nope", outcome: "rpc_error", code: -32601 }),
			expect.objectContaining({ level: "debug", request: "r2", method: "tools/list", outcome: "done" }),
		]);
	});

	test("an internal error is logged with its stack and the request id of its call", async () => {
		await using bot = startTestBot({}, testTools);
		await bot.call("broken");
		const [fault] = bot.entries("could not answer an MCP request: internal error");
		const [call] = bot.entries("MCP tool call finished");
		expect(fault?.error).toMatch(/^Error: a bug\n +at /);
		expect(call).toMatchObject({ outcome: "rpc_error", code: -32603 });
		expect(fault?.request).toBe(call?.request);
	});
});

test.concurrent("neither log nor metrics nor /status contain tokens, arguments or texts", async () => {
	await using alpha = await startConnectedBot();
	const { simulator, bot } = alpha;
	const channel_id = simulator.channel("The Cooks/general").id;
	const secrets = {
		content: "the-words-of-a-message",
		reason: "the-words-of-a-reason",
		unknown: "the-words-of-an-unknown-argument",
		said: "the-words-of-somebody",
		wrongToken: "a-token-that-is-not-right",
		token,
		discordToken: simulator.bot("alpha").token,
	};
	const { content, reason, unknown } = secrets;
	const mcp = await connectTo(bot.url, token);
	const ada = [...simulator.world.accounts.values()].find(({ user }) => !user.bot);
	const said = await fetch(`${simulator.api}/v10/channels/${channel_id}/messages`, {
		method: "POST",
		headers: { Authorization: String(ada?.token), "Content-Type": "application/json" },
		body: JSON.stringify({ content: secrets.said }),
	});
	expect(said.status).toBe(200);
	await mcp.expectResult("send_message", { channel_id, content });
	await mcp.expectResult("delete_messages", { channel_id, count: 2, reason });
	// Where it goes wrong, more is said.
	for (const args of [
		{ channel_id, content, [unknown]: unknown },
		{ channel_id: content, content },
		{ channel_id, content: [content] },
		{ channel_id, content, guild_id: content },
		{ channel_id, content: content.repeat(1_000) },
	])
		expect((await mcp.call("send_message", args)).isError).toBe(true);
	const messages = "POST /channels/*/messages";
	simulator.faults.refuse(messages, 50013, { times: 1 });
	await mcp.call("send_message", { channel_id, content, reason });
	simulator.faults.drop(messages, { when: "after", times: 1 });
	await mcp.call("send_message", { channel_id, content });
	simulator.faults.refuse(messages, 0, { status: 401, times: 1 });
	await mcp.call("send_message", { channel_id, content });
	await until("the token is known again", () => bot.ready);
	const headers = { Authorization: `Bearer ${secrets.wrongToken}` };
	expect((await alpha.get("/status", { headers })).status).toBe(401);
	expect((await alpha.get(`/${token}`, { headers })).status).toBe(404);
	await alpha.rpc("tools/call", `{"content":"${content}"`);
	const malformed = { method: "POST", body: `{"${content}` };
	const Authorization = `Bearer ${token}`;
	const refused = { ...malformed, headers: { Authorization } };
	expect((await alpha.get("/mcp", refused)).status).toBe(400);

	const shown = [
		...alpha.lines,
		JSON.stringify(await alpha.status()),
		JSON.stringify([...(await alpha.metrics())]),
	].join("\n");
	expect(alpha.entries("MCP tool call finished").length).toBeGreaterThan(8);
	for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret);
});

test.concurrent("a bot with backups shows them in /status, and posts a notice of a mass deletion in the audit channel", async () => {
	await using alpha = await startConnectedBot(
		() => ({ toml: { backup: { alarm_deletions: 3 } } }),
		(simulator) => ({ "audit.channel": simulator.channel("The Cooks/staff").id }),
	);
	const { simulator, guild } = alpha;
	const { world } = simulator;
	expect<object>(await alpha.status()).toMatchObject({
		backups: { every_seconds: 86_400, last_at: null, failing: [] },
	});
	const by = { actor: simulator.user("zoe").id };
	for (let number = 0; number < 3; number += 1) {
		const channel = world.channels.add(guild, { name: `recipes-${number}` });
		world.channels.remove(channel, by);
	}
	const staff = simulator.channel("The Cooks/staff").id;
	const message = await until("the notice is posted", () => world.messages.in(staff).at(-1));
	const [embed] = message.embeds;
	expect(embed).toMatchObject({ title: "Mass deletion" });
	expect(Object(embed).description).toContain(`<@${by.actor}> deleted 3 channels or roles from <t:`);
	const metrics = await alpha.metrics();
	const value = (name: string) => sampleOf(metrics, `guildhall_bot_${name}`);
	expect(value("mass_deletions_total")).toBe(1);
	expect(value("backups_failing")).toBe(0);
});
