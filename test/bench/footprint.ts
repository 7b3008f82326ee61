// How much memory the programs take, at rest and full, and how big their executables are: `bun run bench:footprint`.

import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs } from "../../src/build/compile.ts";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { demoSeed } from "../../src/simulator/seed.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { startBotProcess } from "../support/bot-process.ts";
import { executables } from "../support/program.ts";
import { measureCalls, membersLoaded, openSession } from "./http-load.ts";
import { startLoadProcess } from "./load-process.ts";
import { fillGateway, printMemory } from "./memory.ts";
import {
	firstAnswer,
	startGatewayProcess,
	startStubs,
	token,
} from "./targets.ts";

const usage = `Usage: bun run bench:footprint [--quick] [--help]

Prints the memory (RSS) of a gateway and a bot, at rest and full, and the sizes of the executables in dist.

  --quick  fewer calls and members, in under 20 seconds

Environment:
  EXECUTABLES  a directory with executables to measure instead of the sources, e.g. dist`;

const { quick } = parseCommandLine(usage, { quick: { type: "boolean" } });
const calls = quick ? 20_000 : 100_000;
const crowd = quick ? 10_000 : 100_000;
const botLoad = { connections: 64, ms: quick ? 1_000 : 5_000 };

async function measureGateway(): Promise<void> {
	await using stack = new AsyncDisposableStack();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-footprint-"));
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	const stubs = stack.use(await startStubs(1, []));
	const gateway = await startGatewayProcess({
		name: "gateway",
		backends: stubs.ports,
		directory,
	});
	stack.use(gateway);
	await firstAnswer(gateway.url);
	await fillGateway(gateway, stack.use(startLoadProcess()), calls);
}

/** A bot in front of the demo's guilds, one of which has so many members more. */
async function measureBot(more: number): Promise<void> {
	const seed = demoSeed();
	const [first, ...others] = seed.guilds;
	if (!first) throw new Error("the demo has guilds");
	await using simulator = await startSimulator({
		seed: { ...seed, guilds: [{ ...first, crowd: more }, ...others] },
	});
	await using bot = await startBotProcess({
		DISCORD_TOKEN: simulator.bot("alpha").token,
		DISCORD_API_URL: simulator.api,
		GUILD_ID: simulator.guild(first.name).id,
		MCP_AUTH_TOKEN: token,
		LOG_FORMAT: "json",
	});
	await membersLoaded(bot.url, token);
	await printMemory(bot.pid, `bot, a guild of ${more || "a few"} members`);
	const target = {
		name: "bot",
		url: bot.url,
		token,
		usage: async () => ({ cpuMicros: 0, rss: 0 }),
	};
	const sessions = await Promise.all(
		Array.from({ length: botLoad.connections }, () => openSession(target)),
	);
	const tool = { name: "list_guilds", arguments: {} };
	const { rate } = await measureCalls(target, tool, sessions, botLoad.ms);
	const done = Math.round((rate * botLoad.ms) / 1000);
	await printMemory(bot.pid, `bot, after ${done} calls as well`);
}

function printSizes(): void {
	const dist = executables ?? "dist";
	for (const program of programs) {
		const file = join(dist, program);
		console.log(
			existsSync(file)
				? `${file.padEnd(42)}${(statSync(file).size / 1024 / 1024).toFixed(1).padStart(7)} MiB`
				: `${file}: not there; "bun run build" makes it`,
		);
	}
}

console.log(
	executables
		? `the executables in ${executables}, resident memory`
		: `from the sources with Bun ${Bun.version}, resident memory`,
);
await measureGateway();
await measureBot(0);
await measureBot(crowd);
console.log("\nexecutables");
printSizes();
