// `--health` as a container's health check runs it: with the environment of the program that it asks, and nothing else.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { startBotProcess } from "../support/bot-process.ts";
import { type Program, startProgram } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const token = "a-token-of-enough-length";

async function ask(main: string, env: Record<string, string>) {
	await using program: Program = startProgram(main, env, ["--health"]);
	return { code: await program.exited, lines: program.lines };
}

test("bot and gateway are asked whether they are ready, with exit 0 and 1", async () => {
	await using simulator = await startSimulator();
	await using bot = await startBotProcess({
		DISCORD_TOKEN: simulator.bot("alpha").token,
		DISCORD_API_URL: simulator.api,
		MCP_AUTH_TOKEN: token,
	});
	// What the bot itself has in its environment stands in the directory here. The rest of it is of no concern.
	const env = `MCP_PORT="${bot.port}"\nGUILD_ID=none\nNONSENSE=1\n`;
	writeFileSync(join(bot.directory, ".env"), env);
	const proxy = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "127.0.0.1:9" };
	const ofBot = { CONFIG_DIR: bot.directory, ...proxy };
	expect(await ask("src/bot/main.ts", ofBot)).toEqual({ code: 0, lines: [`ready: ${bot.url}: answers 200 "ready"`] });

	const ofGateway = {
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: token,
		// It may be called by other names than the loopback's.
		MCP_ALLOWED_HOSTS: "guildhall.example",
		GATEWAY_BIND_ADDR: "0.0.0.0",
		GATEWAY_PORT: String(await freePort()),
		REFRESH_INTERVAL_SECONDS: "1",
		...proxy,
	};
	const readyz = `http://127.0.0.1:${ofGateway.GATEWAY_PORT}/readyz`;
	expect(await ask("src/gateway/main.ts", ofGateway)).toEqual({
		code: 1,
		lines: [`not ready: ${readyz}: the connection was refused`],
	});
	await using gateway = startProgram("src/gateway/main.ts", ofGateway);
	await until("the gateway knows the bot", async () => {
		const { ok } = await fetch(readyz).catch(() => ({ ok: false }));
		return ok || gateway.end !== null;
	});
	expect(await ask("src/gateway/main.ts", ofGateway)).toEqual({
		code: 0,
		lines: [`ready: ${readyz}: answers 200 "ok"`],
	});

	await bot[Symbol.asyncDispose]();
	const { MCP_AUTH_TOKEN: _, ...rest } = ofGateway;
	await until("the gateway misses the bot", async () => {
		return !(await fetch(readyz)).ok;
	});
	expect(await ask("src/gateway/main.ts", rest)).toEqual({
		code: 1,
		lines: [`not ready: ${readyz}: answers 503 "no backend is online"`],
	});
});

test("a fault in what says where to ask is told on stderr, with exit 1", async () => {
	expect(await ask("src/gateway/main.ts", { GATEWAY_PORT: "x" })).toEqual({
		code: 1,
		lines: ["the environment has 1 error:", '  GATEWAY_PORT: expected a whole number from 0 to 65535, received "x"'],
	});
});
