// Memory of `guildhall up` with several bots: of each program, and of all together.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newInstance } from "../../src/bot/setup/new-instance-report.ts";
import { freePort } from "../../src/demo/ports.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { cacheEnvironment } from "../../src/up/environment.ts";
import { connectTo } from "../support/mcp.ts";
import { openPlace } from "../support/place.ts";
import { executables, startCommand } from "../support/program.ts";
import { smallGuilds } from "../support/small-guilds.ts";
import { until } from "../support/until.ts";
import { median } from "./figures.ts";
import { printRow, settle } from "./memory.ts";
import { memoryOf, ownMemoryOf, treeOf } from "./processes.ts";

/** Goals for the sum of the PSS of all processes, in MiB, by the number of bots. */
const sumGoals: Record<number, number> = { 2: 170, 5: 400 };

/** A server for which the README has numbers: two bots, each in a guild of 20,000 members. */
export const smallServer = { bots: 2, members: 20_000, limit: 512 };

/**
 * Prints the memory of `up`, its gateway and so many bots, each in a small guild or one with so many members. Returns the sum in MiB.
 * With `limit`, the kernel ends what takes more MiB, pages of files included, where control groups can be made.
 */
export async function measureUp({ bots = 5, members = 0, limit = 0 } = {}): Promise<number> {
	await using stack = new AsyncDisposableStack();
	const names = Array.from({ length: bots }, (_, index) => `bot${index + 1}`);
	const simulator = stack.use(await startSimulator({ seed: smallGuilds(names, members) }));
	const { path: home } = stack.use(openPlace());
	for (const name of names)
		await makeInstance(home, name, { DISCORD_TOKEN: simulator.bot(name).token, DISCORD_API_URL: simulator.api });

	const env = { ...cacheEnvironment(process.env), LOG_FORMAT: "json", GATEWAY_PORT: "0" };
	const directory = join(home, "instances");
	const args = ["up", "--directory", directory];
	const program = executables
		? [join(executables, "guildhall")]
		: [process.execPath, join(import.meta.dir, "../../src/guildhall/main.ts")];
	const group = limit > 0 ? limitedGroup(limit) : undefined;
	stack.defer(() => {
		if (group) rmdirSync(group);
	});
	const enter = ["sh", "-c", `echo $$ > ${group}/cgroup.procs && exec "$@"`, "-"];
	const up = stack.use(startCommand([...(group ? enter : []), ...program, ...args], env, { cwd: home }));
	stack.defer(async () => {
		// It ends its programs first.
		up.kill();
		await up.exited;
	});
	const url = await up.line((line) =>
		line.includes('"program":"gateway"') ? /"url":"([^"]+)"/.exec(line)?.[1] : undefined,
	);
	const token = readFileSync(join(directory, "gateway.env"), "utf8");
	const [, secret = ""] = /^MCP_AUTH_TOKEN=(\w+)$/m.exec(token) ?? [];
	await until("the gateway reaches all bots", async () => {
		const response = await fetch(new URL("/status", url), { headers: { Authorization: `Bearer ${secret}` } });
		return (await response.text()).match(/"state":"online"/g)?.length === bots;
	});
	if (members > 0) {
		const isLoaded = (line: string) => line.includes("loaded all members");
		await until("all members are loaded", () => up.lines.filter(isLoaded).length >= bots);
		const { call } = await connectTo(new URL("/mcp", url).href, secret);
		for (const instance of names)
			for (const where of ["joined since 1d", "without roles"]) {
				const { text, isError } = await call("list_members", { instance, where });
				if (isError) throw new Error(text);
			}
	}
	await settle();
	const sum = await printAll(up.pid, bots, limit > 0 ? undefined : sumGoals[bots]);
	if (group) {
		const bytes = readFileSync(`${group}/memory.max_usage_in_bytes`, "utf8");
		printRow("most that the group has held, files included", Number(bytes) / 1024 / 1024, { goal: limit });
	}
	return sum;
}

/** A control group (v1) with so many MiB, or undefined where none can be made. */
function limitedGroup(limit: number): string | undefined {
	const path = `/sys/fs/cgroup/memory/guildhall-${process.pid}`;
	if (!existsSync("/sys/fs/cgroup/memory/cgroup.procs") || process.getuid?.() !== 0) return undefined;
	mkdirSync(path);
	writeFileSync(`${path}/memory.limit_in_bytes`, `${limit}M`);
	return path;
}

/** Makes an instance as an operator does, with a free port and these variables. */
async function makeInstance(home: string, name: string, variables: Record<string, string>): Promise<void> {
	const { code, text } = newInstance(name, undefined, home);
	if (code !== 0) throw new Error(text);
	const file = join(home, "instances", name, ".env");
	let lines = readFileSync(file, "utf8");
	const all = { ...variables, MCP_PORT: String(await freePort()) };
	for (const [key, value] of Object.entries(all))
		lines = lines.replace(new RegExp(`^(# )?${key}=.*$`, "m"), `${key}=${value}`);
	writeFileSync(file, lines);
}

/** The gateway is started last, after all bots listen. */
async function printAll(pid: number, bots: number, goal?: number): Promise<number> {
	const pids = await treeOf(pid);
	const rows = await Promise.all(
		pids.map(async (one) => ({
			program: one === pid ? "up" : await programOf(one),
			rss: await memoryOf(one),
			own: await ownMemoryOf(one),
		})),
	);
	const named = (program: string) => rows.filter((row) => row.program === program);
	for (const program of ["up", "gateway", "bot"]) {
		const found = named(program);
		const label = `up: ${program}${found.length > 1 ? `, median of ${found.length}` : ""}`;
		const rss = median(found.map((row) => row.rss));
		const own = median(found.map((row) => row.own));
		printRow(label, rss, { note: `PSS ${own.toFixed(1)}` });
	}
	const sum = rows.reduce((all, { own }) => all + own, 0);
	const label = `up with ${bots} bots, sum of PSS of ${rows.length} processes`;
	printRow(label, sum, { goal });
	return sum;
}

/** "gateway" or "bot", by the command line of the process. */
async function programOf(pid: number): Promise<string> {
	const command = Bun.spawnSync(["ps", "-o", "command=", "-p", `${pid}`]);
	const text = command.stdout.toString();
	return /\bgateway\b(?!.*\bbot\b)/.test(text) ? "gateway" : "bot";
}
