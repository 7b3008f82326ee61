// What a tool call costs the bot: `bun run bench:bot`. The real bot, in front of the simulator, is called over HTTP, and
// so is a server made with the official MCP SDK, in turn within each round; the ratio is taken within a round.
// Everything shares this machine, so that the ratio says more than the figures.

import { heapStats } from "bun:jsc";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import type { Guild } from "discord.js";
import { findByName } from "../../src/discord/members/name-search.ts";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { Sessions } from "../../src/mcp/session.ts";
import { demoSeed } from "../../src/simulator/seed.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { startBotProcess } from "../support/bot-process.ts";
import { cell, median } from "./figures.ts";
import { type Measured, measureCalls, membersLoaded, openSession, type Target } from "./http-load.ts";

const usage = `Usage: bun run bench:bot [--quick] [--help]

Measures the bot's calls over HTTP against the official MCP SDK, open sessions, and look-ups of members.

  --quick  less of everything, in under 15 seconds`;

const { quick } = parseCommandLine(usage, { quick: { type: "boolean" } });
const rounds = quick ? 3 : 7;
const roundMs = quick ? 250 : 1_500;
const crowd = quick ? 10_000 : 100_000;
const token = "bench-token-of-enough-length";
const sdkDirectory = join(import.meta.dir, "sdk");

/** A server made with the SDK; no target where it cannot be installed. */
async function startSdk(answer: string): Promise<AsyncDisposable & { target?: Target }> {
	const install = Bun.spawn([process.execPath, "install", "--frozen-lockfile"], {
		cwd: sdkDirectory,
		stdout: "ignore",
		stderr: "ignore",
	});
	if ((await install.exited) !== 0) return { async [Symbol.asyncDispose]() {} };
	const child = Bun.spawn([process.execPath, join(sdkDirectory, "server.js")], {
		env: { TOKEN: token, ANSWER: answer },
		stdin: "pipe",
		stdout: "pipe",
		stderr: "inherit",
	});
	const { value } = await child.stdout.getReader().read();
	const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
	const target: Target = {
		name: "SDK",
		url,
		token,
		async usage() {
			const response = await fetch(new URL("/usage", url));
			const { cpu, rss } = (await response.json()) as { cpu: NodeJS.CpuUsage; rss: number };
			return { cpuMicros: cpu.user + cpu.system, rss };
		},
	};
	return {
		target,
		async [Symbol.asyncDispose]() {
			child.kill();
			await child.exited;
		},
	};
}

function botTarget(url: string): Target {
	return {
		name: "bot",
		url,
		token,
		async usage() {
			const response = await fetch(new URL("/metrics", url), { headers: { Authorization: `Bearer ${token}` } });
			const text = await response.text();
			const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
			return { cpuMicros: read("process_cpu_seconds_total") * 1e6, rss: read("process_resident_memory_bytes") };
		},
	};
}

/** The cost of a tool's calls at so many connections, for each of these, in turn within each round. */
async function compare(runs: readonly { target: Target; tool: string }[], connections: number): Promise<void> {
	const measured: Measured[][] = runs.map(() => []);
	const sessions: string[][] = [];
	for (const { target } of runs)
		sessions.push(await Promise.all(Array.from({ length: connections }, () => openSession(target))));
	// The first round warms up.
	for (let round = 0; round <= rounds; round += 1)
		for (const [index, { target, tool }] of runs.entries()) {
			const call = { name: tool, arguments: {} };
			const own = sessions[index] ?? [];
			const figures = await measureCalls(target, call, own, roundMs);
			if (round > 0) measured[index]?.push(figures);
		}
	const last = measured.at(-1) ?? [];
	for (const [index, { target, tool }] of runs.entries()) {
		const own = measured[index] ?? [];
		const ratio = own.map(({ cpuMicros }, round) => cpuMicros / (last[round]?.cpuMicros ?? 1));
		console.log(
			`${String(connections).padStart(4)}  ${`${target.name}: ${tool}`.padEnd(20)}${cell(median(own.map(({ rate }) => rate)))}${cell(median(own.map(({ cpuMicros }) => cpuMicros)))}${cell(runs.length > 1 ? median(ratio) : undefined, 2)}`,
		);
	}
}

/** What so many open sessions take, in this process. */
function measureSessions(count: number): void {
	const sessions = new Sessions({ idleTimeoutMs: 1e9, maxSessions: count });
	Bun.gc(true);
	const before = heapStats().heapSize;
	for (let open = 0; open < count; open += 1) sessions.open("2025-11-25", "bench");
	Bun.gc(true);
	const bytes = (heapStats().heapSize - before) / sessions.size;
	console.log(`${count} sessions open in one process: ${bytes.toFixed(0)} B each`);
}

/** How much memory a server's process takes for each session that is opened. */
async function measureOpening(target: Target, count: number): Promise<void> {
	const { rss: before } = await target.usage();
	for (let open = 0; open < count; open += 100)
		await Promise.all(Array.from({ length: 100 }, () => openSession(target)));
	const { rss: after } = await target.usage();
	console.log(
		`${target.name}: ${count} sessions opened over HTTP: ${((after - before) / 1024 / count).toFixed(1)} KB each, as its memory has grown`,
	);
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789_.";
function randomName(): string {
	const length = 6 + Math.floor(Math.random() * 8);
	return Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join("");
}

/** Look-ups among so many members, straight. */
function measureSearch(count: number): void {
	const members = Array.from({ length: count }, (_, member) => {
		const username = randomName();
		const globalName = member % 2 === 0 ? randomName() : null;
		const nickname = member % 4 === 0 ? `${randomName()} Ünï` : null;
		const id = String(10n ** 17n + BigInt(member) * 4_194_304n);
		return { id, nickname, displayName: nickname ?? globalName ?? username, user: { globalName, username } };
	});
	const cache = new Map(members.map((member) => [member.id, member]));
	const guild = { members: { cache } } as unknown as Guild;
	console.log(`${count} members`);
	for (const wanted of ["NOBODY AT ALL", "Q9X", "AB", "E"]) {
		const times: number[] = [];
		let total = 0;
		for (let look = 0; look < 51; look += 1) {
			const start = performance.now();
			({ total } = findByName(guild, wanted, 10));
			times.push(performance.now() - start);
		}
		console.log(
			`  ${`"${wanted}"`.padEnd(16)}${cell(total)} match(es)${cell(median(times), 3)} ms, at most ${Math.max(...times).toFixed(3)}`,
		);
	}
}

/** A tool that looks at the members, called by one client. */
async function measureTool(name: string, args: Record<string, unknown>): Promise<void> {
	const session = await openSession(ours);
	const tool = { name, arguments: args };
	const { rate, cpuMicros } = await measureCalls(ours, tool, [session], roundMs);
	console.log(
		`  ${`${name} ${args.query ?? ""}`.padEnd(34)}${cell(1000 / rate, 3)} ms a call over HTTP, one at a time;${cell(cpuMicros)} us of CPU`,
	);
}

const [cooks, ...others] = demoSeed().guilds;
if (!cooks) throw new Error("the demo has guilds");
await using simulator = await startSimulator({ seed: { ...demoSeed(), guilds: [{ ...cooks, crowd }, ...others] } });
const guild = simulator.guild(cooks.name);
await using bot = await startBotProcess({
	DISCORD_TOKEN: simulator.bot("alpha").token,
	DISCORD_API_URL: simulator.api,
	GUILD_ID: guild.id,
	MCP_AUTH_TOKEN: token,
	LOG_FORMAT: "json",
});
const ours = botTarget(bot.url);
await using sdk = await startSdk(`1 guild(s):\n${guild.name} | ID: ${guild.id}`);
await membersLoaded(bot.url, token);

console.log(
	`Bun ${Bun.version}, ${availableParallelism()} x ${cpus()[0]?.model}; the simulator and what makes the load are one more process here, which can take all of one core: the rates are a lower bound, the CPU is that of the server's process alone`,
);
if (!sdk.target) console.log("the SDK could not be installed: there is nothing to compare with");
console.log(
	`\ntools/call, medians of ${rounds} rounds of ${roundMs} ms; the bot logs each call and keeps it in SQLite, the SDK's server does neither`,
);
console.log("conn  call                     req/s  CPU us/call   of SDK's");
const runs = [
	{ target: ours, tool: "list_guilds" },
	...(sdk.target ? [{ target: sdk.target, tool: "list_guilds" }] : []),
];
for (const connections of [1, 16, 64]) await compare(runs, connections);

console.log("\nopen sessions");
measureSessions(10_000);
// The bot keeps a thousand of them.
await measureOpening(ours, quick ? 1_000 : 10_000);
if (sdk.target) await measureOpening(sdk.target, quick ? 300 : 1_000);

console.log("\nlook-ups: medians of 51");
for (const count of quick ? [100_000] : [100_000, 1_000_000]) measureSearch(count);
console.log(`in a guild of ${crowd} and a few members`);
for (const query of ["nobody at all", "r999", "e"]) await measureTool("lookup_user_by_name", { query });
await measureTool("list_roles", {});
