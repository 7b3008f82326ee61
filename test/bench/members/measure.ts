// What a guild's members cost the bot: memory, the time in which they load, and how long a call waits meanwhile. A bare
// client of discord.js in front of the same simulator is measured beside it.

import { join } from "node:path";
import type { McpCaller } from "../../support/mcp.ts";
import { startBenchBot } from "../bot.ts";
import { median, show } from "../figures.ts";
import { memoryOf, peakMemoryOf } from "../processes.ts";
import { startSimulatorProcess } from "./simulator-process.ts";

/** After the last change a process gives memory back for about so long. */
const restMs = 5_000;
const lookUps = 31;

const rootPath = join(import.meta.dir, "../../..");

/** Goals for a guild of so many members: MiB of the bot. */
const memoryGoals: ReadonlyMap<number, number> = new Map([
	[0, 70],
	[100_000, 150],
	[1_000_000, 1_250],
]);
/** A look-up scans the names of all members. */
const lookUpGoalMs = (crowd: number) => crowd / 5_000;
/** Until calls are served; with few members, until the bot is ready. */
const startGoalMs = (crowd: number) => (crowd > 0 ? 1_000 : 250);
const stallGoalMs = 20;

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

/** Prints what a bot needs whose guild has so many members more than the few of the demo. */
export async function measureMembers(crowd: number): Promise<void> {
	await using simulator = await startSimulatorProcess(crowd);
	console.log(`a guild of ${crowd || "a few"} members`);
	await using bot = await startBenchBot(simulator, { ready: false });
	show("bot, start to first answer", bot.answeredMs, "ms", crowd > 0 ? startGoalMs(crowd) : undefined);
	const from = performance.now();
	const times = await callUntil(bot.client, bot.loaded);
	const ms = performance.now() - from;
	await Bun.sleep(restMs);
	show("bot, resident memory", await memoryOf(bot.pid), "MiB", memoryGoals.get(crowd));
	show("bot, most resident memory so far", await peakMemoryOf(bot.pid), "MiB");
	if (crowd === 0) return;
	show("bot, members loaded after the first answer", ms / 1000, "s");
	show("longest call while they load", Math.max(...times), "ms", stallGoalMs);
	show("median call while they load", median(times), "ms");
	await measureLookUps(bot.client, lookUpGoalMs(crowd));
}

async function measureLookUps(client: McpCaller, goalMs: number): Promise<void> {
	for (const [name, args] of [
		["lookup_user_by_name", { query: "nobody at all" }],
		["lookup_user_by_name", { query: "r999" }],
		["lookup_user_by_name", { query: "e" }],
		["list_members", { where: "name:r999", limit: 10 }],
		["list_members", { limit: 10 }],
		["list_members", { where: "bot", limit: 10 }],
	] as const) {
		const times: number[] = [];
		for (let count = 0; count < lookUps; count += 1) {
			const from = performance.now();
			const { text, isError } = await client.call(name, args);
			if (isError) throw new Error(text);
			times.push(performance.now() - from);
		}
		show(`${name} ${JSON.stringify(args)}`, median(times), "ms", name === "list_members" ? 2.5 * goalMs : goalMs);
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

/** Prints how long bots take from the start of their process. */
export async function measureStart(rounds: number): Promise<void> {
	const [answered, ready]: [number[], number[]] = [[], []];
	for (let round = 0; round < rounds; round += 1) {
		// Discord, and the simulator, let a bot identify once in 5 s.
		await using simulator = await startSimulatorProcess(0);
		await using bot = await startBenchBot(simulator);
		answered.push(bot.answeredMs);
		ready.push(bot.readyMs);
	}
	show(`bot, start to first answer (median of ${rounds})`, median(answered), "ms");
	show("start to ready", median(ready), "ms", startGoalMs(0));
	show("most", Math.max(...ready), "ms");
}
