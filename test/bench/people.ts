// `bun run bench:people`: what people wait for. Slash commands from press to answer while a client calls tools beside them;
// the time of plan_guild and of `where`, and the longest call beside each, in a guild of 500 channels and many members.

import { parseCommandLine } from "../../src/lib/program/program.ts";
import { demoSeed } from "../../src/simulator/seed.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
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
/** Between an answer and the next press: a command takes up to 4 of Discord's 50 requests a second. */
const pressMs = 250;

/** A bot in the demo's guilds, of which the first has `crowd` members more, when it has loaded them. */
async function startGuild(crowd: number) {
	const [first, ...others] = demoSeed().guilds;
	const guilds = [{ ...first, crowd } as never, ...others];
	const simulator = await startSimulator({ seed: { ...demoSeed(), guilds } });
	const guild = simulator.guild(first?.name ?? "");
	const { api, cdn } = simulator;
	const simulated = { api, cdn, token: simulator.bot("alpha").token, guild: guild.id };
	const bot = await startBenchBot(simulated, { toml: '[features]\nmoderation = true\n[mcp]\ntoolsets = "all"\n' });
	const call = (name: string, args: object) => bot.client.expectResult(name, { guild_id: guild.id, ...args });
	await bot.loaded;
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

/** Calls a tool, `pauseMs` after the last call ended, while `work` runs. Returns how long the longest took. */
async function longestBeside(call: () => Promise<unknown>, work: Promise<unknown>, pauseMs: number): Promise<number> {
	let isOver = false;
	const end = () => (isOver = true);
	work.then(end, end);
	let longest = 0;
	while (!isOver) {
		const from = performance.now();
		await call();
		longest = Math.max(longest, performance.now() - from);
		await Bun.sleep(pauseMs);
	}
	await work;
	return longest;
}

/** In a guild of its own: a simulator with very many members has pauses of its own. */
async function measureCommands(): Promise<void> {
	await using bot = await startGuild(6 * rounds);
	const { simulator, guild, call, beside } = bot;
	const { world } = simulator;
	const { id: channel } = simulator.channel(`${guild.name}/general`);
	await call("set_settings", { settings: { "moderation.log_channel": channel } });
	const people = [...guild.members.values()].filter(({ user }) => !user.bot && user.id !== guild.owner_id);
	const { id: admin } = world.roles.add(guild, { name: "Admin", permissions: "8" });
	// Each may use 30 commands a minute.
	const moderators = Array.from({ length: 20 }, (_, number) => {
		const { user } = world.users.addPerson({ username: `moderator${number}` });
		world.members.add(guild, user, { roles: [admin] });
		return simulator.user(user.username);
	});
	const reads = Array.from({ length: 30 }, (_, number) => {
		const { id: channel_id } = world.channels.add(guild, { name: `read-${number}`, type: 0 });
		return () => beside.call("get_recent_messages", { guild_id: guild.id, channel_id });
	});
	for (const [load, calls] of [
		["100 calls a second", [() => beside.call("list_guilds")]],
		["30 clients that read messages, together more than Discord's limit allows", reads],
	] as const) {
		console.log(`slash commands from press to answer, beside ${load}, ${rounds} of each`);
		for (const name of ["warn", "cases", "ban"]) {
			const times = new Histogram();
			const presses = (async () => {
				for (let round = 0; round < rounds; round += 1) {
					await Bun.sleep(pressMs);
					const moderator = moderators[round % moderators.length];
					const user = people.pop()?.user.id ?? "";
					const from = performance.now();
					const handle = await moderator?.run(channel, name, { user, ...(name !== "cases" && { reason: "spam" }) });
					const { content = "" } = (await handle?.reply()) ?? {};
					times.add(performance.now() - from);
					if (!/^(Warned|Banned|No case)/.test(content)) throw new Error(`/${name}: ${content}`);
				}
			})();
			await Promise.all(calls.map((one) => longestBeside(one, presses, callMs)));
			show(`/${name}, p99`, times.quantile(0.99), "ms", 150);
		}
	}
}

async function measureCalls(bot: Guild, tool: string, args: object, goals: readonly [ms: number, stallMs: number]) {
	const [times, longest] = [new Histogram(), new Histogram()];
	for (let round = 0; round < callRounds; round += 1) {
		const from = performance.now();
		const work = bot.call(tool, args);
		work.then(() => times.add(performance.now() - from));
		longest.add(await longestBeside(() => bot.beside.call("list_guilds"), work, 0));
	}
	show(`${tool}, median`, times.quantile(0.5), "ms", goals[0]);
	show("  longest call beside it, median", longest.quantile(0.5), "ms", goals[1]);
}

await measureCommands();
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
