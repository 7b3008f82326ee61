// `bun run bench --bots N`: one gateway with many bots in many guilds, and several gateways behind nginx.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tools } from "../../../src/bot/tools/index.ts";
import { columns, compare, goalLine, lines, ratiosOf } from "../compare.ts";
import { loadAllCores, shareCores } from "../cores.ts";
import { cell, median } from "../figures.ts";
import { type LoadProcess, startLoadProcess } from "../load-process.ts";
import { printMachine } from "../machine.ts";
import type { BenchOptions, partsWithBots } from "../options.ts";
import { memoryOf } from "../processes.ts";
import { guildId } from "../servers/guild-id.ts";
import { nginxCommand } from "../servers/nginx.ts";
import {
	type CallOptions,
	callJob,
	firstAnswer,
	type GatewayOptions,
	type GatewayProcess,
	startGatewayProcess,
	startStubs,
} from "../targets.ts";
import { measureSeveralGateways } from "./several-gateways.ts";

const guildsPerBot = 100;
const listedTools = 60;
/** The bots have so many different lists of tools, as bots with different toolsets have. */
const lists = 12;
/** So many that each bot gets calls of two, with 100 bots. */
const connections = 200;

export interface Setting {
	options: BenchOptions;
	load: LoadProcess;
	/** Where a bot listens, for each. */
	ports: readonly number[];
	directory: string;
	/** Starts a gateway for the first bots, which has asked all of them for their tools and guilds when this resolves. */
	start(name: string, bots: number, more?: Partial<GatewayOptions>): Promise<GatewayProcess>;
}

/** Measures and prints all about many bots. */
export async function measureManyBots(bots: number, options: BenchOptions): Promise<void> {
	await using stack = new AsyncDisposableStack();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	// nginx reads its files as another user where it is started by root.
	chmodSync(directory, 0o755);
	const cores = shareCores(options.oneCore);
	const listings = tools.map(({ listing }) => JSON.stringify(listing));
	const { ports } = stack.use(
		await startStubs(bots, listings.slice(0, listedTools), cores.others, { guilds: guildsPerBot, lists }),
	);
	const load = stack.use(startLoadProcess(cores.others));
	const start: Setting["start"] = async (name, count, more = {}) => {
		const gateway = await startGatewayProcess({
			name,
			backends: ports.slice(0, count),
			directory,
			pin: cores.server,
			...more,
		});
		stack.use(gateway);
		await firstAnswer(gateway.url);
		return gateway;
	};
	const setting = { options, load, ports, directory, start };
	if (options.busy) stack.use(loadAllCores());
	const stubUrl = `http://127.0.0.1:${ports[0]}/mcp`;
	await firstAnswer(stubUrl);
	await printMachine(options, { load, stubUrl }, nginxCommand());
	console.log(
		`${bots} bots with ${listedTools - lists + 1} to ${listedTools} tools each (${lists} different lists), ${bots * guildsPerBot} guilds; ${connections} connections`,
	);
	const wanted = (part: (typeof partsWithBots)[number]) => (options.only ?? part) === part;
	if (wanted("routing")) {
		const pair = [await start("one-bot", 1), await start("many-bots", bots)] as const;
		await printMemory("idle", pair, bots);
		await measureRouting(setting, pair, bots);
		await printMemory("after the calls", pair, bots);
	}
	if (wanted("refresh")) await measureRefresh(setting, bots);
	if (wanted("gateways")) await measureSeveralGateways(setting);
}

/** Calls to the first so many bots in turn, or to the last of them alone. */
function targetsOf(
	by: "instance" | "guild_id",
	bots: number,
	which: "last" | "in turn",
): NonNullable<CallOptions["targets"]> {
	const first = which === "last" ? bots - 1 : 0;
	return Array.from({ length: bots - first }, (_, index) => {
		const bot = first + index;
		return by === "instance" ? { instance: `stub${bot}` } : { guild_id: guildId((bot + 1) * guildsPerBot - 1) };
	});
}

async function measureRouting(
	{ options, load }: Setting,
	[one, many]: readonly [GatewayProcess, GatewayProcess],
	bots: number,
): Promise<void> {
	const contender = (
		gateway: GatewayProcess,
		count: number,
		by: "instance" | "guild_id",
		which: "last" | "in turn",
	) => ({
		name: count === 1 ? `1 bot, by ${by}` : `${count}, ${which === "last" ? "last" : "all"}, by ${by}`,
		job: callJob(gateway.url, { connections, targets: targetsOf(by, count, which) }),
		pids: [gateway.pid],
	});
	const contenders = (["instance", "guild_id"] as const).flatMap((by) => [
		contender(one, 1, by, "last"),
		contender(many, bots, by, "last"),
		contender(many, bots, by, "in turn"),
	]);
	// Until Bun has compiled all of it.
	for (const { job } of contenders) {
		const calls = await load.open(job);
		await calls.run({ ms: options.quick ? 300 : 1_500 });
		await calls.close();
	}
	console.log(`\nrouting: calls of 0.4 KB\n${columns}`);
	const compared = await compare(load, contenders, options.effort);
	for (const line of lines(compared)) console.log(line);
	for (const by of ["instance", "guild_id"]) {
		const [first, ...others] = compared.filter(({ name }) => name.endsWith(by));
		for (const other of others)
			if (first) console.log(goalLine(`CPU, "${other.name}" : "${first.name}"`, ratiosOf(other, first), 1.1));
	}
	for (const gateway of [one, many]) gateway.forget();
}

async function printMemory(
	state: string,
	[one, many]: readonly [GatewayProcess, GatewayProcess],
	bots: number,
): Promise<void> {
	// What is let go is given back a little later.
	await Bun.sleep(1_000);
	const [few, all] = [await memoryOf(one.pid), await memoryOf(many.pid)];
	const each = (all - few) / (bots - 1);
	console.log(
		`memory (RSS), ${state}: ${few.toFixed(1)} MiB with 1 bot, ${all.toFixed(1)} with ${bots}: ${each.toFixed(2)} MiB for each bot more, goal 1.0 ${each <= 1 ? "met" : "missed"}`,
	);
}

async function measureRefresh({ options, load, start }: Setting, bots: number): Promise<void> {
	const gateway = await start("refresh", bots, { main: "test/bench/servers/refresh-gateway.ts" });
	const refresh = async () => {
		const url = gateway.url.replace("/mcp", "/refresh");
		const response = await fetch(url, { method: "POST" });
		return Number(await response.text());
	};
	const first = await refresh();
	const alone: number[] = [];
	for (let round = 0; round < 5; round++) alone.push(await refresh());
	// Bots that take 5 ms leave the gateway time for something else, as in use.
	const calls = await load.open(
		callJob(gateway.url, { connections: 16, delayMs: 5, targets: targetsOf("guild_id", bots, "in turn") }),
	);
	const ms = options.quick ? 1_000 : 3_000;
	await calls.run({ ms });
	const quiet: Awaited<ReturnType<typeof calls.run>>[] = [];
	const during: typeof quiet = [];
	const busy: number[] = [];
	for (let round = 0; round < options.effort.rounds; round++) {
		quiet.push(await calls.run({ ms }));
		let done = false;
		const running = calls.run({ ms }).finally(() => {
			done = true;
		});
		while (!done) busy.push(await refresh());
		during.push(await running);
	}
	await calls.close();
	const range = (all: number[]) => `${median(all).toFixed(0)} ms (most ${Math.max(...all).toFixed(0)})`;
	console.log(
		`\nrefresh of ${bots} bots, goal 5000 ms: the first ${first.toFixed(0)} ms, then ${range(alone)}; under load ${range(busy)}`,
	);
	console.log(
		`calls of bots that take 5 ms, 16 connections  ${"p50 ms".padStart(10)}${"p99 ms".padStart(10)}${"most ms".padStart(10)}${"req/s".padStart(10)}`,
	);
	for (const [name, all] of [
		["without a refresh", quiet],
		["while one refresh follows another", during],
	] as const) {
		const of = (pick: (one: (typeof all)[number]) => number) => median(all.map(pick));
		console.log(
			name.padEnd(46) +
				cell(
					of(({ p50 }) => p50),
					2,
				) +
				cell(
					of(({ p99 }) => p99),
					2,
				) +
				cell(
					of(({ max }) => max),
					2,
				) +
				cell(of(({ rate }) => rate)),
		);
	}
}
