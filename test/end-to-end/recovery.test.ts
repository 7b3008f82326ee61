// Gateway and bots as an operator runs them, each a process, coming and going.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tools } from "../../src/bot/tools/index.ts";
import { settingTools } from "../../src/bot/tools/settings.ts";
import { freePort } from "../../src/demo/ports.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { botExecutable } from "../support/bot-executable.ts";
import { connectTo } from "../support/mcp.ts";
import { listeningUrl, startCommand, startProgram } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const token = "a-token-of-enough-length";
let simulator: Simulator;
let configDirectory: string;
let executable: string;

beforeAll(async () => {
	executable = await botExecutable();
	simulator = await startSimulator();
	configDirectory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	writeFileSync(
		join(configDirectory, "config.toml"),
		'bot_name = "Alpha"\n[mcp]\ntoolsets = "all"\n[features]\nmoderation = false\n',
	);
});

afterAll(async () => {
	await simulator.close();
	rmSync(configDirectory, { recursive: true, force: true });
});

function startBot(port: number | string, discordToken = simulator.bot("alpha").token) {
	const env = {
		CONFIG_DIR: configDirectory,
		DISCORD_TOKEN: discordToken,
		DISCORD_API_URL: simulator.api,
		GUILD_ID: simulator.guild("The Cooks").id,
		MCP_PORT: String(port),
		MCP_AUTH_TOKEN: token,
	};
	return startCommand([executable], env, { cwd: configDirectory });
}

function startGateway(instances: string, refreshSeconds = 300) {
	return startProgram("src/gateway/main.ts", {
		INSTANCES: instances,
		MCP_AUTH_TOKEN: token,
		GATEWAY_PORT: "0",
		GATEWAY_BIND_ADDR: "127.0.0.1",
		REFRESH_INTERVAL_SECONDS: String(refreshSeconds),
	});
}

async function isReady(url: string) {
	const response = await fetch(url).catch(() => undefined);
	return (await response?.text()) === "ready";
}

test("a gateway that is started before its bot serves it within one refresh", async () => {
	const port = await freePort();
	await using gateway = startGateway(`alpha=http://127.0.0.1:${port}/mcp`, 1);
	const mcp = await connectTo(await listeningUrl(gateway), token);
	expect(gateway.lines.join("\n")).toContain(`"instance":"alpha","route":"alpha -> http://127.0.0.1:${port}/mcp"`);
	expect((await mcp.listTools()).map(({ name }) => name)).toEqual(["list_instances"]);
	const offline = await mcp.call("list_guilds", { instance: "alpha" });
	expect(offline.text).toStartWith("Gateway error: BackendOffline: alpha");

	await using bot = startBot(port);
	await until("the bot is ready", () => isReady(`http://127.0.0.1:${port}/mcp`));
	const guild_id = simulator.guild("The Cooks").id;
	await until("the gateway serves its guild", async () => {
		const { isError } = await mcp.call("list_guilds", { guild_id });
		return !isError;
	});
	expect(await mcp.listTools()).toHaveLength(
		// Without find_tools, which is for bots that do not list all; with list_instances.
		tools.length - 1 + settingTools.length + 1,
	);
	expect(bot.lines.join("\n")).not.toContain(token);
	expect(gateway.lines.join("\n")).not.toContain(token);
});

test("a bot killed with SIGKILL and started again answers the next call, and the gateway ends its session at the end", async () => {
	const bot = startBot(0);
	const url = await listeningUrl(bot);
	const { port } = new URL(url);
	await until("the bot is ready", () => isReady(url));
	await using gateway = startGateway(`alpha=http://127.0.0.1:${port}/`);
	const mcp = await connectTo(await listeningUrl(gateway), token);
	const call = () => mcp.call("list_guilds", { instance: "alpha" });
	expect((await call()).isError).toBe(false);

	bot.kill("SIGKILL");
	await bot.exited;
	await using again = startBot(port);
	await until("the bot is ready again", () => isReady(url));
	expect((await call()).isError).toBe(false);

	const openSessions = async () => {
		const response = await fetch(new URL("/status", url), { headers: { Authorization: `Bearer ${token}` } });
		const { sessions } = (await response.json()) as { sessions: number };
		return sessions;
	};
	expect(await openSessions()).toBeGreaterThan(0);
	gateway.kill("SIGTERM");
	expect(await gateway.exited).toBe(0);
	expect(await openSessions()).toBe(0);
	again.kill("SIGTERM");
	expect(await again.exited).toBe(0);
});

test("a bot whose token Discord refuses exits 1 and says what to do", async () => {
	await using bot = startBot(0, "wrong-token");
	expect(await bot.exited).toBe(1);
	expect(bot.lines.join("\n")).toContain("Discord refuses DISCORD_TOKEN");
	expect(bot.lines.join("\n")).not.toContain("wrong-token");
});

test("a bot whose parent has gone ends, though a call of it is in flight", async () => {
	await using bot = startBot(0);
	const url = await listeningUrl(bot);
	await until("the bot is ready", () => isReady(url));
	const messages = "POST /channels/:channel_id/messages";
	const fault = simulator.faults.stall(messages);
	const mcp = await connectTo(url, token);
	const lost = mcp
		.call("send_message", { channel_id: simulator.channel("The Cooks/general").id, content: "hello" })
		.then(
			() => "answered",
			() => "lost",
		);
	await until("the call is in flight", () => fault.hits > 0);
	bot.orphan();
	// It does not wait for the call, which would end by itself, and then the bot with 0.
	expect(await bot.exited).toBe(1);
	expect(await lost).toBe("lost");
	fault.release();
});
