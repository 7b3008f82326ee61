// `bun run bench:pace`: what people wait for where Discord's limits set the pace. Bot and simulator are one process, in virtual
// time: each request takes 100 ms, our work none. A limit is as the simulator has it (realisticLimits).

import * as v from "valibot";
import { toml } from "../../src/bot/config/settings.ts";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { carryOut } from "../../src/rehearsal/documents.ts";
import { advance, during, latencyMs, seed } from "../../src/rehearsal/sandbox.ts";
import { openStage, type Stage } from "../../src/rehearsal/stage.ts";
import { realisticLimits } from "../../src/simulator/rest/rate-limits.ts";
import { addInvites } from "../../src/simulator/seed.ts";
import { show } from "./figures.ts";

const scenarios = { spam, raid, restore, search };
const usage = `Usage: bun run bench:pace [--only ${Object.keys(scenarios).join("|")}] [--help]`;
const { only } = parseCommandLine(usage, { only: { type: "string" } });
const channelCount = 200;
// A plan has at most 20,000 steps.
const memberCount = 19_500;
const latency = latencyMs / 1_000;

let lastId = 3n * 10n ** 17n;
const id = () => String(++lastId);
const channelsNamed = (count: number) => Array.from({ length: count }, (_, n) => ({ id: id(), name: `channel-${n}` }));
const helper = { name: "Helper", managed: true, permissions: ["ADMINISTRATOR"] };
const everyone = ["VIEW_CHANNEL", "SEND_MESSAGES", "READ_MESSAGE_HISTORY", "CREATE_INSTANT_INVITE"];

/** A guild with our bot, and Discord's limits. */
async function open(parts: object, settings: object = {}): Promise<Stage> {
	seed(1);
	const document = readDocument({ version: 1, everyone, ...parts });
	const keys = { bot_name: "Bench", features: { moderation: true }, mcp: { toolsets: "all" }, commands: "off" };
	const given = {
		document,
		toml: v.parse(toml, keys),
		deny: [],
		settings,
		botId: "200000000000000777",
		botRole: "Helper",
	};
	return openStage(given as unknown as Parameters<typeof openStage>[0], new Set(), realisticLimits);
}

const now = () => performance.now() / 1_000;

/** What Discord's limits make the bot's requests so far last at least, in seconds, and the latency of the last. */
const leastSeconds = ({ costs }: Stage) => Number(/at least ([\d.]+) s/.exec(costs()[0] ?? "")?.[1] ?? 0) + latency;

/** `least`: seconds that it lasts if Discord's limits alone delay it. The goal is 1.2 times that. */
function print(what: string, seconds: number, least: number): void {
	show(`${what} (least ${least.toFixed(1)})`, seconds, "s", Math.round(least * 12) / 10);
}

/** 125 accounts write the same link in 8 channels each, all at once, every 250 ms. */
async function spam(): Promise<void> {
	await using stage = await open({ roles: [helper], channels: channelsNamed(20) }, { "spam.on": true });
	const { world, guild, request, done } = stage;
	const spammers = Array.from({ length: 125 }, (_, n) => stage.newAccount(`spammer${n}`));
	for (const { user } of spammers) world.members.add(guild, user);
	const places = stage.placesOf(spammers[0] as never);
	await advance(5_000);
	stage.begin();
	const from = now();
	for (let round = 0; round < 8; round += 1) {
		for (const [at, spammer] of spammers.entries()) {
			const path = `/channels/${places[(at + round) % places.length]}/messages`;
			await request(spammer, "POST", path, { content: "Free gifts at https://gifts.example/now" });
		}
		await advance(250);
	}
	const timeouts = () => done("PATCH /guilds/:guild_id/members/:user_id");
	while (timeouts().length < spammers.length) await advance(1_000);
	const seconds = timeouts().map(({ at }) => Date.parse(at) / 1_000 - startedAt / 1_000 - from);
	// The fourth channel is what the bot waits for.
	print("spam: first message to the first timeout", Math.min(...seconds), 0.75 + latency);
	print("spam: first message to the last timeout", Math.max(...seconds), 0.75 + leastSeconds(stage));
}

async function raid(): Promise<void> {
	const settings = { "moderation.raid": "10 joins in 60s", "night.raid": true };
	await using stage = await open({ roles: [helper], channels: channelsNamed(channelCount) }, settings);
	const { world, guild, request, done } = stage;
	addInvites(world);
	const [invite] = world.invites.list({ guild_id: guild.id });
	for (let second = 1; second <= 10; second += 1) {
		await advance(1_000);
		await request(stage.newAccount(`raider${second}`), "POST", `/invites/${invite?.code}`);
	}
	const from = Date.now();
	const slowed = () => done("PATCH /channels/:channel_id");
	while (slowed().length < channelCount) await advance(1_000);
	const [paused] = done("PUT /guilds/:guild_id/incident-actions");
	const after = (at: string | undefined) => (Date.parse(at ?? "") - from) / 1_000;
	print("raid: tenth join to paused invites", after(paused?.at), latency);
	print("raid: tenth join to slow mode everywhere", after(slowed().at(-1)?.at), leastSeconds(stage));
}

async function restore(): Promise<void> {
	const roles = Array.from({ length: 100 }, (_, n) => ({ id: id(), name: `Role ${n}` }));
	const members = Array.from({ length: memberCount }, (_, n) => ({ id: id(), roles: [`Role ${n % 100}`] }));
	const parts = { roles: [helper, ...roles], channels: channelsNamed(channelCount), members };
	await using stage = await open(parts);
	const { guild, owner, request } = stage;
	const made = [...guild.roles.values()].filter(({ id: role, managed }) => !managed && role !== guild.id);
	const paths = [
		...[...guild.channels.keys()].map((channel) => `/channels/${channel}`),
		...made.map(({ id: role }) => `/guilds/${guild.id}/roles/${role}`),
	];
	for (const path of paths) while (!(await request(owner, "DELETE", path))) await advance(1_000);
	await advance(60_000);
	stage.begin();
	const from = now();
	const { lines, isDone } = await carryOut(stage, { version: 1, everyone, ...parts });
	console.log(lines.join("\n"));
	if (!isDone) throw new Error("the restore is not done");
	print(
		`restore: ${channelCount} channels, 100 roles, roles of ${memberCount} members`,
		now() - from,
		leastSeconds(stage),
	);
}

async function search(): Promise<void> {
	await using stage = await open({ roles: [helper], channels: channelsNamed(50) });
	const { world, guild, owner, tool } = stage;
	const channels = [...guild.channels.values()];
	for (let n = 0; n < 100_000; n += 1) {
		world.messages.add(channels[n % channels.length] as never, owner.user, { content: `message ${n} of many` });
		if (n % 1_000 === 0) await advance(1_000);
	}
	await advance(60_000);
	console.log(`100,000 messages in ${channels.length} channels`);
	for (const [what, args, followed] of [
		// 50 messages are two pages.
		["search of the index", { text: "many" }, 1],
		["count by channel, of the index", { count_by: ["channel"] }, 0],
		["count by author, reading all", { count_by: ["author"], after: "30d" }, 0],
		["search of parts of words, reading all", { text: "ny of", after: "30d", limit: 1 }, 0],
	] as const) {
		await advance(60_000);
		stage.begin();
		const from = now();
		let calls = 0;
		let before: string | undefined;
		do {
			const text: string = await during(tool("search_messages", { ...args, before }));
			before = /next_before=(\d+)/.exec(text)?.[1];
			calls += 1;
		} while (before && "count_by" in args);
		print(`${what}, ${calls} call(s)`, now() - from, leastSeconds(stage) + followed * latency);
	}
}

const startedAt = Date.now() - performance.now();
if (only !== undefined && !(only in scenarios)) throw new Error(usage);
for (const [name, play] of Object.entries(scenarios)) if (only === undefined || only === name) await play();
process.exit(0);
