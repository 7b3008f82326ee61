// `bun run bench:people`: what people wait for. Slash commands from press to answer while a client calls tools beside them;
// the time of plan_guild and of `where`, and the longest call beside each, in a guild of 450 channels and many members.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { demoSeed } from "../../src/simulator/seed.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { connectTo } from "../support/mcp.ts";
import { becomesReady, listeningUrl, startProgram } from "../support/program.ts";
import { until } from "../support/until.ts";
import { cell, Histogram } from "./figures.ts";

const usage = `Usage: bun run bench:people [--rounds N] [--members N] [--help]

  --rounds N   how often each command and call is measured (default: 30)
  --members N  members of the guild (default: 100000)`;
const options = parseCommandLine(usage, { rounds: { type: "string" }, members: { type: "string" } });
const rounds = Number(options.rounds ?? 30);
const crowd = Number(options.members ?? 100_000);
const token = "bench";
/** 100 calls a second. */
const callMs = 10;

await using stack = new AsyncDisposableStack();
const [first, ...others] = demoSeed().guilds;
const simulator = stack.use(
	await startSimulator({ seed: { ...demoSeed(), guilds: [{ ...first, crowd } as never, ...others] } }),
);
const guild = simulator.guild(first?.name ?? "");
const owner = simulator.world.users.people.find(({ user }) => user.id === guild.owner_id);
if (!owner) throw new Error("the guild has an owner");
const moderator = simulator.user(owner.user.username);

const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
stack.defer(() => rmSync(directory, { recursive: true, force: true }));
writeFileSync(
	join(directory, "config.toml"),
	'bot_name = "Bench"\n[features]\nmoderation = true\n[mcp]\ntoolsets = "all"\n',
);
const bot = stack.use(
	startProgram("src/bot/main.ts", {
		DISCORD_TOKEN: simulator.bot("alpha").token,
		DISCORD_API_URL: simulator.api,
		DISCORD_CDN_URL: simulator.cdn,
		GUILD_ID: guild.id,
		MCP_AUTH_TOKEN: token,
		CONFIG_DIR: directory,
		MCP_PORT: "0",
	}),
);
const url = await listeningUrl(bot);
await becomesReady(bot, url);
const endpoint = new URL("/mcp", url).href;
const [client, beside] = [await connectTo(endpoint, token), await connectTo(endpoint, token)];

async function call(name: string, args: object): Promise<string> {
	const { text, isError } = await client.call(name, { guild_id: guild.id, ...args });
	if (isError) throw new Error(`${name}: ${text}`);
	return text;
}

function show(what: string, times: Histogram, q: number, goalMs: number): void {
	const ms = times.quantile(q);
	console.log(`  ${what.padEnd(52)}${cell(ms)} ms  goal ${goalMs} ms: ${ms <= goalMs ? "met" : "MISSED"}`);
}

/** Calls a cheap tool `pauseMs` after the last one ended, while `work` runs. Returns how long the longest took. */
async function longestBeside(work: Promise<unknown>, pauseMs: number): Promise<number> {
	let isOver = false;
	const end = () => (isOver = true);
	work.then(end, end);
	let longest = 0;
	while (!isOver) {
		const from = performance.now();
		await beside.call("list_guilds");
		longest = Math.max(longest, performance.now() - from);
		await Bun.sleep(pauseMs);
	}
	await work;
	return longest;
}

async function measureCalls(name: string, tool: string, args: object, goals: readonly [ms: number, stallMs: number]) {
	const [times, longest] = [new Histogram(), new Histogram()];
	for (let round = 0; round < rounds; round += 1) {
		const from = performance.now();
		const work = call(tool, args);
		work.then(() => times.add(performance.now() - from));
		longest.add(await longestBeside(work, 0));
	}
	show(`${name}, median`, times, 0.5, goals[0]);
	show("  longest call beside it, median", longest, 0.5, goals[1]);
}

await until(
	"the members are loaded",
	async () => !(await call("list_members", { limit: 1 })).includes("still being loaded"),
);
const { id: channel } = simulator.channel(`${guild.name}/general`);
await call("set_settings", { settings: { "moderation.log_channel": channel } });
const people = [...guild.members.values()]
	.filter(({ user }) => !user.bot && user.id !== guild.owner_id)
	.slice(0, 3 * rounds);
console.log(`slash commands from press to answer, beside 100 calls a second, ${rounds} of each`);
for (const [name, values] of [
	["warn", (user: string) => ({ user, reason: "spam" })],
	["cases", (user: string) => ({ user })],
	["ban", (user: string) => ({ user, reason: "spam" })],
] as const) {
	const times = new Histogram();
	const presses = (async () => {
		for (let round = 0; round < rounds; round += 1) {
			const from = performance.now();
			const handle = await moderator.run(channel, name, values(people.pop()?.user.id ?? ""));
			const reply = await handle.reply();
			if (reply.failed) throw new Error(`/${name} was not answered`);
			times.add(performance.now() - from);
		}
	})();
	await longestBeside(presses, callMs);
	show(`/${name}, p99`, times, 0.99, 150);
}

const channels = Array.from({ length: 450 }, (_, number) => ({ name: `room-${number}`, topic: `Topic ${number}` }));
const document = { version: 1, channels };
console.log(`a guild of ${crowd} members`);
await measureCalls("plan_guild of 450 new channels", "plan_guild", { document }, [1_000, 50]);
await measureCalls('list_members where="name:r99"', "list_members", { where: "name:r99", limit: 10 }, [50, 50]);
