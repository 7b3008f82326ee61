// Guilds rebuilt from the exports of others by a bot that is killed meanwhile, with rate limits and people who edit.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { GuildDocument } from "../../../src/guild-document/format/document.ts";
import type { RateLimits } from "../../../src/simulator/rest/rate-limits.ts";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import { type Random, seeded } from "../../support/random.ts";
import { randomGuild } from "../../support/random-guild.ts";
import { until } from "../../support/until.ts";
import { startService } from "./running-service.ts";

const alpha = { username: "alpha", permissions: PermissionFlagsBits.Administrator };
const seed = {
	bots: [{ username: "alpha" }],
	users: [{ username: "owner" }, { username: "ada" }],
	guilds: ["The Cooks", "The Copies"].map((name) => ({
		name,
		owner: "owner",
		bots: [alpha],
		members: [{ username: "ada" }],
	})),
};

/** Low, so that jobs have to wait, but for short times. */
const rateLimits: RateLimits = {
	global: { requests: 10_000, perMs: 1000 },
	each: { requests: 10_000, perMs: 1000 },
	routes: {
		"POST /guilds/:guild_id/roles": { requests: 5, perMs: 40 },
		"POST /guilds/:guild_id/channels": { requests: 5, perMs: 40 },
	},
};

type Running = Awaited<ReturnType<typeof startService>>;

/** Plans and applies until nothing differs. Returns the number of jobs. */
async function build(
	running: Running,
	name: string,
	document: GuildDocument,
	disturb: (guild: Guild) => Promise<void> = async () => {},
): Promise<number> {
	const { service, guild } = running;
	for (let jobs = 1; jobs <= 5; jobs += 1) {
		const id = await running.apply(document, { prune: true, name });
		if (id === "") return jobs - 1;
		if (jobs === 1) await disturb(running.bot.simulator.guild(name));
		await until("the job ends", async () => (await service().job(id)).includes(", ended "));
	}
	throw new Error(`still different: ${await service().plan(guild(name), { document }, { prune: true })}`);
}

/** Kills the bot at random requests, while a person changes what it makes. */
async function disturbed(running: Running, random: Random, guild: Guild) {
	const { bot } = running;
	const { world, journal } = bot.simulator;
	for (let kills = random.below(4); kills > 0; kills -= 1) {
		const target = journal.entries().length + 5 + random.below(40);
		const id = await running.service().jobs(running.guild(guild.name));
		if (!id.includes(": running")) return;
		await until("some requests are sent", async () => {
			const text = await running.service().jobs(running.guild(guild.name));
			return journal.entries().length >= target || !text.includes(": running");
		});
		const actor = guild.owner_id;
		const channel = random.pick([...guild.channels.values()]);
		if (channel) world.channels.edit(channel, { name: "renamed" }, { actor });
		await bot.kill();
		await bot.start();
	}
}

/** Without what differs between guilds: ids and the guild's name. */
function comparable(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(comparable);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([field]) => field !== "id")
			.map(([field, one]) => [field, comparable(one)]),
	);
}

test.each([...[1, 2, 3, 4].map((number) => [number, 20, 35] as const), [10, 60, 110]])(
	"random guild %d is copied by a bot that is killed",
	async (number, maxRoles, maxChannels) => {
		const random = seeded(number);
		await using running = await startService({ hasRealRules: true, simulator: { seed, rateLimits } });
		const { simulator } = running.bot;
		const document = randomGuild(random, {
			roles: maxRoles - random.below(15),
			channels: maxChannels - random.below(25),
			memberIds: [simulator.guild("The Cooks").owner_id],
			community: random.chance(0.5),
		});
		delete document.settings?.name;
		expect(await build(running, "The Cooks", document)).toBe(1);
		const source = await running.service().export(running.guild());
		expect(source.missing).toEqual([]);
		const copy = source.document;
		delete copy.settings?.name;
		await build(running, "The Copies", copy, (guild) => disturbed(running, random, guild));
		const { document: again } = await running.service().export(running.guild("The Copies"));
		delete again.settings?.name;
		expect(comparable(again)).toEqual(comparable(copy));
	},
	300_000,
);
