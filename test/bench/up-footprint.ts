// Memory of `guildhall up` with several bots: of each program, and of all together.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newInstance } from "../../src/bot/setup/new-instance-report.ts";
import { freePort } from "../../src/demo/ports.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { cacheEnvironment } from "../../src/up/environment.ts";
import { executables, startCommand, startProgram } from "../support/program.ts";
import { smallGuilds } from "../support/small-guilds.ts";
import { median } from "./figures.ts";
import { printRow, settle } from "./memory.ts";
import { memoryOf, ownMemoryOf, treeOf } from "./processes.ts";

const startTimeoutMs = 120_000;
/** Goal for the sum of the PSS of all processes, in MiB. */
const sumGoal = 400;

/** Prints the memory of `up`, its gateway and so many bots, each in a small guild. */
export async function measureUp(bots = 5): Promise<void> {
	await using stack = new AsyncDisposableStack();
	const names = Array.from({ length: bots }, (_, index) => `bot${index + 1}`);
	const simulator = stack.use(await startSimulator({ seed: smallGuilds(names) }));
	const home = mkdtempSync(join(tmpdir(), "guildhall-footprint-"));
	stack.defer(() => rmSync(home, { recursive: true, force: true }));
	for (const name of names)
		await makeInstance(home, name, { DISCORD_TOKEN: simulator.bot(name).token, DISCORD_API_URL: simulator.api });

	const env = { ...cacheEnvironment(process.env), LOG_FORMAT: "json", GATEWAY_PORT: "0" };
	const directory = join(home, "instances");
	const args = ["up", "--directory", directory];
	const up = stack.use(
		executables
			? startCommand([join(executables, "guildhall"), ...args], env, { cwd: home })
			: startProgram("src/guildhall/main.ts", env, args),
	);
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
	await allOnline(url, secret, bots);
	await settle();
	await printAll(up.pid, bots);
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

/** Resolves when the gateway reaches all bots. */
async function allOnline(url: string, token: string, bots: number): Promise<void> {
	const endsAt = performance.now() + startTimeoutMs;
	for (;;) {
		const response = await fetch(new URL("/status", url), { headers: { Authorization: `Bearer ${token}` } });
		const text = await response.text();
		const online = text.match(/"state":"online"/g)?.length ?? 0;
		if (online >= bots) return;
		if (performance.now() > endsAt) throw new Error(`${online} of ${bots} bots are online: ${text}`);
		await Bun.sleep(200);
	}
}

/** The gateway is started last, after all bots listen. */
async function printAll(pid: number, bots: number): Promise<void> {
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
	printRow(label, sum, bots === 5 ? { goal: sumGoal } : {});
}

/** "gateway" or "bot", by the command line of the process. */
async function programOf(pid: number): Promise<string> {
	const command = Bun.spawnSync(["ps", "-o", "command=", "-p", `${pid}`]);
	const text = command.stdout.toString();
	return /\bgateway\b(?!.*\bbot\b)/.test(text) ? "gateway" : "bot";
}
