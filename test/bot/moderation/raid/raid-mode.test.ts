// The work of raid mode on Discord: what it changes and restores, what it leaves, and what it does when something fails.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { LogEntry } from "../../../../src/bot/moderation/moderation-log.ts";
import { RaidModes } from "../../../../src/bot/moderation/raid/raid-mode.ts";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { type Language, render } from "../../../../src/texts/texts.ts";
import { onBoth, type Place } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { giveRole } from "../../../support/world.ts";
import { startFeature, withSql } from "../../features/running-feature.ts";

const raidTest = testWith(startRaids);

const hourMs = 3_600_000;
const edit = "PATCH /channels/:channel_id";
const pause = "PUT /guilds/:guild_id/incident-actions";
const editGuild = "PATCH /guilds/:guild_id";

onBoth(({ place }, kind) => {
	test(`raid mode changes settings and restores them, on ${kind}`, async () => {
		await using bot = await startRaids(await place());
		const { simulator, cooks } = bot;
		const { world } = simulator;
		world.channels.edit(bot.channel("general"), { rate_limit_per_user: 5 });
		const slow = world.channels.add(cooks, { name: "slow", rate_limit_per_user: 600 });
		const forum = world.channels.add(cooks, { name: "posts", type: ChannelType.GuildForum });
		await bot.knows(forum);
		const before = bot.settings();
		await bot.turn("on");
		expect(bot.settings()).toMatchObject({ level: 3, general: 30, slow: 600, posts: 30, staff: 0 });
		expect(bot.pausedForMs()).toBeWithin(22 * hourMs, 24 * hourMs);
		expect(bot.titles()).toEqual(["Raid mode is on"]);
		expect(bot.last()).toContain("at least as long before in 1 channel");
		await bot.turn("off");
		expect(bot.settings()).toEqual(before);
		expect(bot.last()).toContain("Slow mode: restored in ");
		expect(bot.entries.some(({ isFailure }) => isFailure)).toBe(false);
		expect([slow, forum]).toHaveLength(2);
	});
});

raidTest("what others changed meanwhile is left and reported", async (bot) => {
	const { world } = bot.simulator;
	await bot.turn("on");
	world.channels.edit(bot.channel("general"), { rate_limit_per_user: 10 });
	world.guilds.edit(bot.cooks, { verification_level: 4 });
	await bot.turn("off");
	expect(bot.settings()).toMatchObject({ level: 4, general: 10 });
	expect(bot.last()).toContain(`left: <#${bot.channel("general").id}>: 10 s (before raid mode: 0 s)`);
	expect(bot.last()).toContain("left: Highest (before raid mode:");
});

raidTest("channels that are deleted or made meanwhile", async (bot) => {
	const { world } = bot.simulator;
	const doomed = world.channels.add(bot.cooks, { name: "doomed" });
	await bot.knows(doomed);
	await bot.turn("on");
	world.channels.remove(doomed);
	const fresh = world.channels.add(bot.cooks, { name: "fresh" });
	await until("the new channel has slow mode", () => bot.settings().fresh === 30);
	await bot.turn("off");
	expect(fresh.rate_limit_per_user).toBe(0);
	expect(bot.last()).toContain("1 channel deleted meanwhile");
	expect(bot.entries.some(({ isFailure }) => isFailure)).toBe(false);
});

raidTest("a channel that is deleted while the request is on its way does not hold up the others", async (bot) => {
	const { simulator } = bot;
	for (const name of ["one", "two"]) await bot.knows(simulator.world.channels.add(bot.cooks, { name }));
	simulator.faults.refuse(edit, 10003, { times: 1 });
	await bot.turn("on");
	const changed = Object.values(bot.settings()).filter((one) => one === 30);
	expect(changed).toHaveLength(3);
	expect(bot.last()).toContain("1 channel deleted meanwhile");
	expect(bot.entries[0]?.isFailure).toBe(false);
});

test("channels without permissions are reported, the rest is done, and turning it on again retries them", async () => {
	await using bot = await startRaids();
	const { world } = bot.simulator;
	const general = bot.channel("general");
	const denied = {
		id: bot.simulator.bot("alpha").id,
		type: 1 as const,
		allow: "0",
		deny: String(PermissionFlagsBits.ManageChannels),
	};
	world.channels.setOverwrite(general, denied);
	await bot.heard(() => {
		const channel = bot.guild().channels.cache.get(general.id);
		const me = bot.guild().members.me;
		return Boolean(me && !channel?.permissionsFor(me).has(PermissionFlagsBits.ManageChannels));
	});
	await bot.turn("on");
	expect(bot.settings()).toMatchObject({ level: 3, general: 0 });
	expect(bot.entries[0]).toMatchObject({ isFailure: true });
	expect(bot.last()).toContain(`Slow mode not changed: <#${general.id}>: the bot lacks Manage Channels.`);
	expect(bot.last("de").split("\n")).toEqual([
		"Einladungen: pausiert; die Pause wird verlängert, solange der Raid-Modus an ist.",
		"Verifizierungsstufe: Keine → Hoch.",
		"Slow-Modus: 30 s in 1 Kanal.",
		`Slow-Modus nicht geändert: <#${general.id}>: Dem Bot fehlt „Kanäle verwalten“.`,
		"Schalte den Raid-Modus noch einmal ein, um es erneut zu versuchen.",
	]);
	expect(bot.writes(edit)).not.toContain(general.id);
	world.channels.setOverwrite(general, { ...denied, deny: "0" });
	await bot.heard(() => {
		const channel = bot.guild().channels.cache.get(general.id);
		const me = bot.guild().members.me;
		return Boolean(me && channel?.permissionsFor(me).has(PermissionFlagsBits.ManageChannels));
	});
	await bot.turn("on");
	expect(bot.settings().general).toBe(30);
	await bot.turn("off");
	expect(bot.settings().general).toBe(0);
});

raidTest("a moderator changes no channel that they could not change by hand, and another one can", async (bot) => {
	const mona = bot.simulator.user("mona_lisa").id;
	giveRole(bot.simulator, "mona_lisa", { permissions: PermissionFlagsBits.ManageGuild });
	await bot.heard(() => Boolean(bot.guild().members.cache.get(mona)?.permissions.has(PermissionFlagsBits.ManageGuild)));
	await bot.turn("on", { moderator_id: mona });
	expect(bot.settings()).toMatchObject({ level: 3, general: 0 });
	expect(bot.last()).toContain("the moderator lacks Manage Channels");
	await bot.turn("on");
	expect(bot.settings().general).toBe(30);
	await bot.turn("off", { moderator_id: mona });
	expect(bot.settings().general).toBe(30);
	expect(bot.last()).toContain("Slow mode not restored");
	await bot.turn("off");
	expect(bot.settings().general).toBe(0);
});

raidTest("turning it off while it is being turned on ends with what was before", async (bot) => {
	const before = bot.settings();
	const held = bot.simulator.faults.stall(edit, { times: 1 });
	await bot.ask("on");
	await until("it has begun", () => held.hits === 1);
	await bot.ask("off");
	held.release();
	await bot.ended("off");
	expect(bot.settings()).toEqual(before);
	expect(bot.titles()).toEqual(["Raid mode is off"]);
});

test.each(["before", "after"] as const)("requests whose connection drops %s they take effect", async (when) => {
	await using bot = await startRaids();
	const before = bot.settings();
	const { faults } = bot.simulator;
	for (const route of [edit, pause, editGuild]) faults.drop(route, { when, times: 2 });
	await bot.turn("on");
	expect(bot.settings()).toMatchObject({ level: 3, general: 30 });
	for (const route of [edit, pause, editGuild]) faults.drop(route, { when, times: 2 });
	await bot.turn("off");
	expect(bot.settings()).toEqual(before);
	expect(bot.entries.some(({ isFailure }) => isFailure)).toBe(false);
});

raidTest("a request that never gets a response fails in the end, and is restored if it took effect", async (bot) => {
	const before = bot.settings();
	bot.simulator.faults.drop(pause, { when: "after", times: 5 });
	bot.simulator.faults.fail("GET /guilds/:guild_id", 503, { times: 2 });
	await bot.turn("on");
	expect(bot.settings()).toMatchObject({ level: 3, general: 30 });
	await bot.turn("off");
	expect(bot.settings()).toEqual(before);
});

raidTest("the pause of invites is renewed by the stored time, also after an outage of days", async (bot) => {
	await bot.turn("on");
	const pauses = () => bot.writes(pause).length;
	expect(pauses()).toBe(1);
	bot.clock.now += 5 * hourMs;
	await bot.searched();
	expect(pauses()).toBe(1);
	await bot.stop();
	// The simulator's own clock stays, so that the pause has not ended there.
	bot.clock.now += 7 * hourMs;
	await bot.start();
	await until("it is renewed", () => pauses() === 2 || bot.entries.length > 1);
	// Discord, whose clock stayed, refuses a pause of more than 24 hours.
	expect(bot.last()).toContain("the pause could not be renewed");
});

test.each(["refused", "never answered"] as const)(
	"a renewal that is %s is tried again, logged once, and holds up nothing",
	async (fate) => {
		await using bot = await startRaids();
		const { faults, world } = bot.simulator;
		const before = bot.settings();
		await bot.turn("on");
		const fault = fate === "refused" ? faults.refuse(pause, 50013) : faults.drop(pause, { when: "before" });
		bot.clock.now += 12 * hourMs;
		await until("it is logged", () => bot.entries.length > 1);
		expect(bot.entries[1]?.isFailure).toBe(true);
		expect(bot.last()).toContain("the pause could not be renewed");
		if (fate === "refused") expect(bot.last("de")).toContain("Discord lehnt das ab: Dem Bot fehlt eine Berechtigung");
		const { hits } = fault;
		await until("it is tried again", () => fault.hits > hits + 6);
		world.channels.add(bot.cooks, { name: "fresh" });
		await until("new channels get it", () => bot.settings().fresh === 30);
		expect(bot.entries).toHaveLength(2);
		// Turning it on again ends, although the renewal still fails.
		await bot.turn("on");
		expect(bot.last()).toContain("the pause could not be renewed");
		// The simulator, whose clock stayed, refuses a pause of more than 24 hours.
		bot.clock.now -= 11.5 * hourMs;
		fault.release();
		const paused = bot.cooks.incidents_data?.invites_disabled_until;
		await bot.turn("on");
		await until("it is renewed", () => bot.cooks.incidents_data?.invites_disabled_until !== paused);
		expect(bot.last()).not.toContain("could not be renewed");
		await bot.turn("off");
		expect(bot.settings()).toEqual({ ...before, fresh: 0 });
	},
);

raidTest("a pause that somebody ended is not made again, and that is logged once", async (bot) => {
	await bot.turn("on");
	bot.simulator.world.guilds.edit(bot.cooks, { incidents_data: null });
	bot.clock.now += 12 * hourMs;
	await until("it is logged", () => bot.entries.length === 2);
	expect(bot.last()).toContain("Invites: somebody changed it meanwhile");
	await bot.searched();
	expect(bot.entries).toHaveLength(2);
	expect(bot.writes(pause)).toHaveLength(1);
});

raidTest("what the bot turned on ends by itself, unless a person has changed it", async (bot) => {
	const ends_at = bot.clock.now + 3_600_000;
	await bot.ask("on", { ends_at });
	await bot.ended("on");
	await bot.ask("on", { moderator_id: bot.cooks.owner_id });
	bot.clock.now = ends_at;
	await bot.ended("on");
	await bot.ask("off");
	await bot.ended("off");
	await bot.ask("on", { ends_at: ends_at + 1 });
	await bot.ended("on");
	bot.clock.now = ends_at + 1;
	await bot.ended("off");
	expect([...bot.cooks.channels.values()].some((one) => Object(one).rate_limit_per_user > 0)).toBe(false);
});

raidTest("direct messages stay paused", async (bot) => {
	const until = new Date(Date.now() + 3 * hourMs).toISOString();
	const incidents_data = { invites_disabled_until: null, dms_disabled_until: until };
	bot.simulator.world.guilds.edit(bot.cooks, { incidents_data });
	await bot.turn("on");
	await bot.turn("off");
	expect(bot.cooks.incidents_data).toMatchObject(incidents_data);
});

raidTest("an unavailable database changes nothing, and the work waits for it", async (bot) => {
	bot.away(true);
	await expect(bot.ask("on")).rejects.toThrow("database is unavailable");
	bot.away(false);
	await bot.turn("on");
	expect(bot.settings().general).toBe(30);
});

raidTest(
	"100 channels are changed and restored",
	async (bot) => {
		for (let number = bot.cooks.channels.size; number < 100; number += 1)
			bot.simulator.world.channels.add(bot.cooks, { name: `c-${number}` });
		await bot.heard(() => bot.guild().channels.cache.size >= 100);
		const before = bot.settings();
		await bot.turn("on");
		const slow = Object.values(bot.settings()).filter((one) => one === 30);
		expect(slow.length).toBeGreaterThan(90);
		await bot.turn("off");
		expect(bot.settings()).toEqual(before);
	},
	120_000,
);

interface Asked {
	moderator_id?: string;
	slowmode?: number;
	ends_at?: number;
}

/** Raid mode on a connection and store of its own. */
async function startRaids(place?: Pick<Place, "settings">) {
	const clock = { now: Date.now() };
	const entries: LogEntry[] = [];
	let modes: RaidModes | undefined;
	let isAway = false;
	let searches = 0;
	const running = await startFeature({
		...(place && { place }),
		withMembers: true,
		store: (store) =>
			withSql(store, async (...statement) => {
				if (isAway) throw new StoreUnavailable("a test's outage");
				if (statement[0].join("").includes("LEFT JOIN raid_steps")) searches += 1;
				return store.sql(...statement) as never;
			}),
		create({ settings, connection, store, mutex, log }) {
			modes = new RaidModes({
				settings,
				connection,
				store,
				mutex,
				log,
				moderationLog: { add: (_, entry) => void entries.push(entry) },
				now: () => clock.now,
				backOffMs: [5, 50],
				maxSleepMs: 10,
			});
			return modes;
		},
	});
	const { simulator, guild: cooks } = running;
	const current = (): RaidModes => {
		if (!modes) throw new Error("the bot does not run");
		return modes;
	};
	const channels = () =>
		[...cooks.channels.values()].filter((one): one is GuildChannel => "rate_limit_per_user" in one);
	const ask = (wanted: "on" | "off", asked: Asked = {}) =>
		current().turn(cooks.id, { wanted, moderator_id: null, slowmode: 30, mark: `Raid mode ${wanted}`, ...asked });
	const ended = (wanted: "on" | "off") =>
		until(`raid mode is ${wanted}`, async () => {
			const view = await current().view(cooks.id);
			return view?.mode.wanted === wanted && view.mode.ended_at !== null;
		});
	return {
		...running,
		clock,
		entries,
		ask,
		ended,
		cooks,
		get simulator() {
			return simulator;
		},
		/** Waits until the bot has heard of this channel, and so of all changes before it. */
		knows: ({ id }: { id: string }) =>
			until("the bot knows the channel", () =>
				running.connection.guilds.some(({ channels }) => channels.cache.has(id)),
			),
		/** The database is away, or back. */
		away(away: boolean) {
			isAway = away;
		},
		/** Asks for it, and waits for its end and its log entry. */
		async turn(wanted: "on" | "off", asked?: Asked) {
			const count = entries.length;
			await ask(wanted, asked);
			await ended(wanted);
			await until("it is logged", () => entries.length > count);
		},
		/** The next searches for due work have ended. */
		async searched() {
			const count = searches;
			await until("it has searched", () => searches > count + 2);
		},
		guild() {
			return present(running.connection.guilds[0]);
		},
		heard: (isHeard: () => boolean) => until("the bot has heard", isHeard),
		channel(name: string) {
			const found = channels().find((one) => one.name === name);
			if (!found) throw new Error(`no channel is called ${name}`);
			return found;
		},
		/** Slow modes by channel, the verification level, and whether invites are paused. */
		settings(): Record<string, unknown> {
			return {
				level: cooks.verification_level,
				paused: cooks.incidents_data?.invites_disabled_until != null,
				...Object.fromEntries(channels().map(({ name, rate_limit_per_user }) => [name, rate_limit_per_user])),
			};
		},
		pausedForMs: () => Date.parse(String(cooks.incidents_data?.invites_disabled_until)) - clock.now,
		titles: () => entries.map(({ title }) => render(title, "en")),
		/** The description of the last entry. */
		last: (language: Language = "en") =>
			[entries.at(-1)?.description ?? []]
				.flat()
				.map((line) => render(line, language))
				.join("\n"),
		/** Paths of the requests on a route. */
		writes: (route: string) => simulator.journal.entries(route).map(({ path }) => path),
		start: running.start,
		stop: running.stop,
		kill: running.kill,
		[Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
	};
}
