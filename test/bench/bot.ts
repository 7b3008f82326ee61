// A bot as a process, started as an operator does, in front of a simulated Discord.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { cacheEnvironment } from "../../src/up/environment.ts";
import { connectTo, type McpCaller } from "../support/mcp.ts";
import { becomesReady, startProgram } from "../support/program.ts";
import type { SimulatedBot } from "./members/simulator-process.ts";
import { token } from "./targets.ts";

export interface BenchBot extends AsyncDisposable {
	pid: number;
	/** From the start of the process, in milliseconds: to the first right answer to a tool call, to being ready. */
	answeredMs: number;
	readyMs: number;
	client: McpCaller;
	/** Another session. */
	connect(): Promise<McpCaller>;
	/** Resolves when all members of the guild are loaded. */
	loaded: Promise<unknown>;
}

/** `toml`: more of config.toml. Resolves when the bot answers, or, with `ready`, when it is ready. */
export async function startBenchBot(simulated: SimulatedBot, { toml = "", ready = true } = {}): Promise<BenchBot> {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
	writeFileSync(join(directory, "config.toml"), `bot_name = "Bench"\n${toml}`);
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/mcp`;
	const from = performance.now();
	const program = startProgram("src/bot/main.ts", {
		...cacheEnvironment(process.env),
		DISCORD_TOKEN: simulated.token,
		DISCORD_API_URL: simulated.api,
		DISCORD_CDN_URL: simulated.cdn,
		GUILD_ID: simulated.guild,
		MCP_AUTH_TOKEN: token,
		LOG_FORMAT: "json",
		CONFIG_DIR: directory,
		MCP_PORT: String(port),
	});
	const loaded = program.line((line) =>
		line.includes("loaded all members") && line.includes(simulated.guild) ? true : undefined,
	);
	// Without members to wait for, nobody does.
	loaded.catch(() => {});
	const dispose = async () => {
		await program[Symbol.asyncDispose]();
		rmSync(directory, { recursive: true, force: true });
	};
	try {
		const client = await firstCall(url, () => program.end !== null);
		const answeredMs = performance.now() - from;
		if (ready) await becomesReady(program, url);
		const readyMs = performance.now() - from;
		const connect = () => connectTo(url, token);
		return { pid: program.pid, answeredMs, readyMs, client, connect, loaded, [Symbol.asyncDispose]: dispose };
	} catch (error) {
		await dispose();
		throw new Error(`${error}\n${program.lines.slice(-20).join("\n")}`);
	}
}

/** Opens a session and calls a tool until there is a result. */
async function firstCall(url: string, ended: () => boolean): Promise<McpCaller> {
	for (;;) {
		try {
			const client = await connectTo(url, token);
			await client.expectResult("list_roles");
			return client;
		} catch (error) {
			if (ended()) throw error;
			await Bun.sleep(2);
		}
	}
}
