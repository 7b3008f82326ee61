// What a guild's members cost the bot: memory, the time in which they load, and how long a call waits meanwhile. A bare
// client of discord.js in front of the same simulator is measured beside it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../src/demo/ports.ts";
import { cacheEnvironment } from "../../../src/up/environment.ts";
import { connectTo, type McpCaller } from "../../support/mcp.ts";
import { startProgram } from "../../support/program.ts";
import { cell, median } from "../figures.ts";
import { memoryOf, peakMemoryOf } from "../processes.ts";
import { token } from "../targets.ts";
import { type SimulatedBot, startSimulatorProcess } from "./simulator-process.ts";

/** After the last change a process gives memory back for about so long. */
const restMs = 5_000;
const lookUps = 31;

const rootPath = join(import.meta.dir, "../../..");

/** Goals for a guild of so many members: MiB of the bot. */
const memoryGoals: ReadonlyMap<number, number> = new Map([
	[0, 75],
	[100_000, 200],
	[1_000_000, 1_250],
]);
/** A look-up scans the names of all members. */
const lookUpGoalMs = (crowd: number) => crowd / 5_000;
const startGoalMs = 400;

interface StartedBot extends AsyncDisposable {
	pid: number;
	url: string;
	/** From the start of the process to the first right answer to a tool call. */
	startMs: number;
	client: McpCaller;
	/** Resolves when all members are loaded. */
	loaded: Promise<unknown>;
}

async function startMeasuredBot({ api, token: botToken, guild }: SimulatedBot): Promise<StartedBot> {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
	writeFileSync(join(directory, "config.toml"), 'bot_name = "Bench"\n');
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/mcp`;
	const from = performance.now();
	const program = startProgram("src/bot/main.ts", {
		...cacheEnvironment(process.env),
		DISCORD_TOKEN: botToken,
		DISCORD_API_URL: api,
		GUILD_ID: guild,
		MCP_AUTH_TOKEN: token,
		LOG_FORMAT: "json",
		CONFIG_DIR: directory,
		MCP_PORT: String(port),
	});
	const loaded = program.line((line) =>
		line.includes("loaded all members") && line.includes(guild) ? true : undefined,
	);
	// Without members to wait for, nobody does.
	loaded.catch(() => {});
	const dispose = async () => {
		await program[Symbol.asyncDispose]();
		rmSync(directory, { recursive: true, force: true });
	};
	try {
		const client = await firstCall(url, () => program.end !== null);
		const startMs = performance.now() - from;
		return { pid: program.pid, url, startMs, client, loaded, [Symbol.asyncDispose]: dispose };
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
			const { text, isError } = await client.call("list_roles");
			if (isError) throw new Error(text);
			return client;
		} catch (error) {
			if (ended()) throw error;
			await Bun.sleep(2);
		}
	}
}

/** Calls a cheap tool, one call after the other, until `end` resolves. Returns how long each took, in milliseconds. */
async function callUntil(client: McpCaller, end: Promise<unknown>): Promise<number[]> {
	let over = false;
	const stop = () => {
		over = true;
	};
	end.then(stop, stop);
	const times: number[] = [];
	while (!over) {
		const from = performance.now();
		await client.call("list_guilds");
		times.push(performance.now() - from);
		// The calls take little of the processor from what is measured.
		await Bun.sleep(1);
	}
	return times;
}

function show(name: string, value: number, unit: string, goal?: number): void {
	const end = goal === undefined ? "" : `  goal ${goal} ${unit}: ${value <= goal ? "met" : "MISSED"}`;
	console.log(`  ${name.padEnd(44)}${cell(value, 1)} ${unit}${end}`);
}

/** Prints what a bot needs whose guild has so many members more than the few of the demo. */
export async function measureMembers(crowd: number): Promise<void> {
	await using simulator = await startSimulatorProcess(crowd);
	console.log(`a guild of ${crowd || "a few"} members`);
	await using bot = await startMeasuredBot(simulator);
	const from = performance.now();
	const times = await callUntil(bot.client, bot.loaded);
	const ms = performance.now() - from;
	await Bun.sleep(restMs);
	show("bot, resident memory", await memoryOf(bot.pid), "MiB", memoryGoals.get(crowd));
	show("bot, most resident memory so far", await peakMemoryOf(bot.pid), "MiB");
	if (crowd === 0) return;
	show("bot, members loaded after the first answer", ms / 1000, "s");
	show("longest call while they load", Math.max(...times), "ms");
	show("median call while they load", median(times), "ms");
	await measureLookUps(bot.client, lookUpGoalMs(crowd));
}

async function measureLookUps(client: McpCaller, goalMs: number): Promise<void> {
	for (const [name, args] of [
		["lookup_user_by_name", { query: "nobody at all" }],
		["lookup_user_by_name", { query: "r999" }],
		["lookup_user_by_name", { query: "e" }],
		["list_members", { query: "r999", limit: 10 }],
		["list_members", { limit: 10 }],
		["list_members", { bots: true, limit: 10 }],
	] as const) {
		const times: number[] = [];
		for (let count = 0; count < lookUps; count += 1) {
			const from = performance.now();
			const { text, isError } = await client.call(name, args);
			if (isError) throw new Error(text);
			times.push(performance.now() - from);
		}
		show(`${name} ${JSON.stringify(args)}`, median(times), "ms", goalMs);
	}
}

/** Prints how much memory a bare client of discord.js takes that holds so many members. */
export async function measureBareClient(crowd: number): Promise<void> {
	await using simulator = await startSimulatorProcess(crowd);
	const { api, token: botToken, guild } = simulator;
	const main = join(import.meta.dir, "bare-client.ts");
	const child = Bun.spawn([process.execPath, main], {
		cwd: rootPath,
		env: { API: api, TOKEN: botToken, GUILD: guild },
		stdin: "pipe",
		stdout: "pipe",
		stderr: "inherit",
	});
	try {
		await child.stdout.getReader().read();
		await Bun.sleep(restMs);
		show(`bare discord.js, ${crowd || "a few"} members`, await memoryOf(child.pid), "MiB");
		show("most so far", await peakMemoryOf(child.pid), "MiB");
	} finally {
		child.kill();
		await child.exited;
	}
}

/** Prints how long bots take from the start of their process to the first answer to a tool call. */
export async function measureStart(rounds: number): Promise<void> {
	const times: number[] = [];
	for (let round = 0; round < rounds; round += 1) {
		// Discord, and the simulator, let a bot identify once in 5 s.
		await using simulator = await startSimulatorProcess(0);
		await using bot = await startMeasuredBot(simulator);
		times.push(bot.startMs);
	}
	show(`bot, start to first answer (median of ${rounds})`, median(times), "ms", startGoalMs);
	show("most", Math.max(...times), "ms");
}
