// `bun run bench:people`: what people wait for. Slash commands from press to answer while a client calls tools beside them;
// the time of plan_guild and of `where`, and the longest call beside each, in a guild of 500 channels and many members.

import { parseCommandLine } from "../../src/lib/program/program.ts";
import { demoSeed } from "../../src/simulator/seed.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { until } from "../support/until.ts";
import { startBenchBot } from "./bot.ts";
import { Histogram, show } from "./figures.ts";

const usage = `Usage: bun run bench:people [--rounds N] [--members N] [--help]

  --rounds N   how often each command is measured (default: 100)
  --members N  members of the guild (default: 100000)`;
const options = parseCommandLine(usage, { rounds: { type: "string" }, members: { type: "string" } });
const rounds = Number(options.rounds ?? 100);
const callRounds = 30;
const crowd = Number(options.members ?? 100_000);
/** 100 calls a second. */
const callMs = 10;

/** A bot in the demo's guilds, of which the first has `crowd` members more, when it has loaded them. */
async function startGuild(crowd: number) {
	const [first, ...others] = demoSeed().guilds;
	const guilds = [{ ...first, crowd } as never, ...others];
	const simulator = await startSimulator({ seed: { ...demoSeed(), guilds } });
	const guild = simulator.guild(first?.name ?? "");
	const { api, cdn } = simulator;
	const simulated = { api, cdn, token: simulator.bot("alpha").token, guild: guild.id };
	const toml = '[features]\nmoderation = true\n[mcp]\ntoolsets = "all"\n';
	const bot = await startBenchBot(simulated, { toml });
	const call = (name: string, args: object) => bot.client.expectResult(name, { guild_id: guild.id, ...args });
	await until(
		"the members are loaded",
		async () => !(await call("list_members", { limit: 1 })).includes("still being loaded"),
	);
	return {
		simulator,
		guild,
		call,
		beside: await bot.connect(),
		async [Symbol.asyncDispose]() {
			await bot[Symbol.asyncDispose]();
			await simulator.close();
		},
	};
}
type Guild = Awaited<ReturnType<typeof startGuild>>;

/** Calls a cheap tool `pauseMs` after the last one ended, while `work` runs. Returns how long the longest took. */
async function longestBeside({ beside }: Guild, work: Promise<unknown>, pauseMs: number): Promise<number> {
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

async function measureCommands(bot: Guild): Promise<void> {
	const { simulator, guild, call } = bot;
	const owner = simulator.world.users.people.find(({ user }) => user.id === guild.owner_id);
	const moderator = simulator.user(owner?.user.username ?? "");
	const { id: channel } = simulator.channel(`${guild.name}/general`);
	await call("set_settings", { settings: { "moderation.log_channel": channel } });
	const people = [...guild.members.values()].filter(({ user }) => !user.bot && user.id !== guild.owner_id);
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
		await longestBeside(bot, presses, callMs);
		show(`/${name}, p99`, times.quantile(0.99), "ms", 150);
	}
}

async function measureCalls(bot: Guild, tool: string, args: object, goals: readonly [ms: number, stallMs: number]) {
	const [times, longest] = [new Histogram(), new Histogram()];
	for (let round = 0; round < callRounds; round += 1) {
		const from = performance.now();
		const work = bot.call(tool, args);
		work.then(() => times.add(performance.now() - from));
		longest.add(await longestBeside(bot, work, 0));
	}
	show(`${tool}, median`, times.quantile(0.5), "ms", goals[0]);
	show("  longest call beside it, median", longest.quantile(0.5), "ms", goals[1]);
}

// Apart: a simulator with so many members has pauses of its own.
{
	await using bot = await startGuild(3 * rounds);
	await measureCommands(bot);
}
{
	await using bot = await startGuild(crowd);
	const channels = Array.from({ length: 500 - bot.guild.channels.size }, (_, number) => ({
		name: `room-${number}`,
		topic: `Topic ${number}`,
	}));
	console.log(`a guild of ${crowd} members; plan_guild makes it one of 500 channels`);
	await measureCalls(bot, "plan_guild", { document: { version: 1, channels } }, [1_000, 50]);
	await measureCalls(bot, "list_members", { where: "name:r99", limit: 10 }, [50, 50]);
}
