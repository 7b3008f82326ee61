// `bun run bench:logs`: what all logs of a guild cost a bot while people write 10,000 messages a minute: how long calls take
// meanwhile, the bot's memory, and whether it stays within Discord's limits.

import { ChannelType, PermissionFlagsBits } from "discord.js";
import { serverLogs } from "../../src/bot/settings/keys.ts";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { realisticLimits } from "../../src/simulator/rest/rate-limits.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import type { Message } from "../../src/simulator/world/state/entities.ts";
import { startBenchBot } from "./bot.ts";
import { Histogram, show } from "./figures.ts";
import { memoryOf } from "./processes.ts";

const usage = `Usage: bun run bench:logs [--seconds N] [--without] [--help]

  --seconds N  how long people write (default: 60)
  --without    with all logs off, to compare`;

const options = parseCommandLine(usage, { seconds: { type: "string" }, without: { type: "boolean" } });
const seconds = Number(options.seconds ?? 60);
/** 10,000 a minute. */
const messageMs = 6;
const p99GoalMs = 200;
/** Of the bot with its 48 MiB of messages. */
const memoryGoal = 300;

await using stack = new AsyncDisposableStack();
const simulator = stack.use(await startSimulator({ rateLimits: realisticLimits }));
const { world } = simulator;
const guild = simulator.guild("The Cooks");
const overwrites = [{ id: guild.id, type: 0 as const, allow: "0", deny: String(PermissionFlagsBits.ViewChannel) }];
const logs = world.channels.add(guild, {
	name: "logs",
	type: ChannelType.GuildText,
	permission_overwrites: [
		...overwrites,
		{ id: simulator.bot("alpha").id, type: 1 as const, allow: String(PermissionFlagsBits.ViewChannel), deny: "0" },
	],
});
const channels = Array.from({ length: 30 }, (_, number) =>
	world.channels.add(guild, { name: `talk-${number}`, type: ChannelType.GuildText }),
);
const people = Array.from({ length: 300 }, (_, number) => {
	const user = world.users.add({ username: `person${number}` });
	return world.members.add(guild, user);
});

const { api, cdn } = simulator;
const bot = stack.use(await startBenchBot({ api, cdn, token: simulator.bot("alpha").token, guild: guild.id }));
const { call } = bot.client;
if (!options.without) {
	const named = ["moderation.log_channel", "log.messages", ...serverLogs.map((kind) => `log.${kind}`)];
	const settings = { ...Object.fromEntries(named.map((key) => [key, logs.id])), "log.evidence": true, "spam.on": true };
	const { text, isError } = await call("set_settings", { settings });
	if (isError) throw new Error(text);
}

const before = await memoryOf(bot.pid);
const written: Message[] = [];
const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;
let count = 0;
function write(): void {
	count += 1;
	const channel = pick(channels);
	const { user } = pick(people);
	const content = `${count} ${crypto.randomUUID()} ${"word ".repeat(Math.floor(Math.random() * 30))}`;
	written.push(world.messages.add(channel, user, { content }));
	const old = written[written.length - 50];
	const place = channels.find(({ id }) => id === old?.channel_id);
	if (old && place && count % 20 === 0) world.messages.remove(place, old);
	if (old && place && count % 20 === 10) world.messages.edit(place, old, { content: `${old.content} edited` });
	if (count % 100 === 0)
		world.members.edit(guild, pick(people), { nick: `name${count}` }, { actor: simulator.user("jose.garcia").id });
}
const end = performance.now() + seconds * 1_000;
const writing = (async () => {
	for (let due = performance.now(); due < end; due += messageMs) {
		write();
		const wait = due + messageMs - performance.now();
		if (wait > 0) await Bun.sleep(wait);
		else if (count % 20 === 0) await Bun.sleep(0);
	}
})();
const times = new Histogram();
let calls = 0;
while (performance.now() < end) {
	const from = performance.now();
	const { isError, text } = await call("list_channels", { guild_id: guild.id });
	if (isError) throw new Error(text);
	times.add(performance.now() - from);
	calls += 1;
	await Bun.sleep(20);
}
await writing;
const memory = await memoryOf(bot.pid);
const entries = world.messages.in(logs.id).reduce((sum, { embeds }) => sum + embeds.length, 0);
console.log(`${count} messages in ${seconds} s, ${entries} entries in the logs, ${calls} calls meanwhile`);
show("call p50", times.quantile(0.5), "ms");
show("call p99", times.quantile(0.99), "ms", p99GoalMs);
show("memory of the bot before", before, "MiB");
show("memory of the bot after", memory, "MiB", memoryGoal);
show("requests over a limit", simulator.requests.invalid, "", 0);
