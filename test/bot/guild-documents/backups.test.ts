// Backups of the bot's guilds, with the real connection and store. The tests set both clocks.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { Backups, type BackupTiming } from "../../../src/bot/guild-documents/backups/backups.ts";
import { createPictures } from "../../../src/bot/guild-documents/read/pictures.ts";
import { settingsInDocuments } from "../../../src/bot/settings/in-documents.ts";
import type { Store } from "../../../src/bot/store/store.ts";
import { createRegistry } from "../../../src/lib/metrics.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { channelNamed, denyBot, roleNamed } from "../../support/world.ts";
import { startFeature } from "../features/running-feature.ts";

const worldTest = testWith(() => startBackups());

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const channelsRoute = "GET /guilds/:guild_id/channels";
const never = new Promise<never>(() => {});

interface Setup {
	place?: Pick<Place, "settings">;
	keep?: number;
	guilds?: readonly string[];
	timing?: Partial<BackupTiming>;
	withMembers?: boolean;
	prepare?(simulator: Simulator): void;
	store?(store: Store): Store;
}

/** A bot that makes backups daily, as soon as the clocks of the test say so. */
async function startBackups(setup: Setup = {}) {
	const state = { hasMembers: true };
	const clock = { now: 1_790_000_000_000, monotonic: 0 };
	let registry = createRegistry();
	let backups: Backups | undefined;
	const bot = await startFeature({
		...(setup.place && { place: setup.place }),
		...(setup.prepare && { prepare: setup.prepare }),
		...(setup.store && { store: setup.store }),
		withMembers: setup.withMembers ?? true,
		create({ connection, store, log, settings }) {
			registry = createRegistry();
			backups = new Backups({
				settings: { every: dayMs, keep: setup.keep ?? 14 },
				guilds: setup.guilds && new Set(setup.guilds),
				connection: {
					get ready() {
						return connection.ready;
					},
					get guilds() {
						return connection.guilds;
					},
					hasAllMembers: (guild) => state.hasMembers && connection.hasAllMembers(guild),
				},
				store,
				pictures: createPictures({
					store,
					now: () => clock.now,
					download: async ({ source }) => ({ bytes: new TextEncoder().encode(source), mediaType: "image/png" }),
				}),
				log,
				registry,
				ownSettings: settingsInDocuments(settings),
				timing: {
					now: () => clock.now,
					monotonicNow: () => clock.monotonic,
					startDelayMs: 0,
					spacingMs: 0,
					maxSleepMs: 5,
					backOffMs: [5, 10],
					...setup.timing,
				},
			});
			return backups;
		},
	});
	const current = () => {
		if (backups) return backups;
		throw new Error("the bot has started");
	};
	const checkedAt = async (guildId = bot.guild.id) => {
		const [row] = await bot.store.sql<{ checked_at: number }>`
			SELECT checked_at FROM guild_backup_checks WHERE guild_id = ${guildId}`;
		return row?.checked_at;
	};
	return {
		bot,
		clock,
		checkedAt,
		state,
		get metrics() {
			return registry.text();
		},
		get backups() {
			return current();
		},
		/** Resolves when the guild was compared with its latest backup at the present time. */
		checked: (guildId?: string) => until("the guild was checked", async () => (await checkedAt(guildId)) === clock.now),
		list: (guildId = bot.guild.id) => current().list(guildId),
		rename(name: string) {
			bot.simulator.world.guilds.edit(bot.guild, { name });
		},
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

worldTest("a guild is backed up when something has changed, and not otherwise", async (world) => {
	const { bot, clock } = world;
	await world.checked();
	const [first, ...others] = await world.list();
	expect(others).toEqual([]);
	expect(first).toMatchObject({
		guildId: bot.guild.id,
		name: "1",
		madeAt: new Date(clock.now),
		guildName: "The Cooks",
		channels: bot.guild.channels.size,
		roles: bot.guild.roles.size,
		omitted: "",
		kept: undefined,
	});
	clock.now += dayMs;
	await world.checked();
	expect(await world.list()).toHaveLength(1);
	world.rename("The Bakers");
	clock.now += dayMs;
	await world.checked();
	const names = (await world.list()).map(({ name, guildName }) => [name, guildName]);
	expect(names).toEqual([
		["2", "The Bakers"],
		["1", "The Cooks"],
	]);
	expect(world.metrics).toContain('guildhall_bot_backups_total{outcome="made"} 2');
	expect(world.backups.status).toMatchObject({ every: dayMs, lastAt: new Date(clock.now) });
});

test("a backup has everything but the bans, with who has which role", async () => {
	await using world = await startBackups({
		prepare({ world, guild, user }) {
			const zoe = world.users.get(user("zoe").id);
			if (zoe) world.emojis.add(guild("The Cooks"), zoe, { name: "soup" });
		},
	});
	await world.checked();
	const { document } = await world.backups.read(world.bot.guild.id, "latest");
	expect(document.settings?.name).toBe("The Cooks");
	expect(document.roles?.length).toBeGreaterThan(0);
	expect(document.categories?.length).toBeGreaterThan(0);
	expect(document.members?.length).toBeGreaterThan(0);
	expect(document.bans).toBeUndefined();
	const [emoji] = document.emojis ?? [];
	expect(emoji?.picture).toMatch(/^[0-9a-f]{32}$/);
	const rows = await world.bot.store.sql`SELECT number, hash FROM guild_backup_pictures`;
	expect(rows).toEqual([{ number: 1, hash: emoji?.picture }]);
	const { bot, clock } = world;
	const role = roleNamed(bot, "Regular");
	await bot.settings.change(bot.guild.id, { "join_role.role": role.id }, { userId: null, door: "test" });
	clock.now += dayMs;
	await world.checked();
	const later = await world.backups.read(bot.guild.id, "latest");
	expect([document.bot, later.document.bot]).toEqual([{}, { "join_role.role": "Regular" }]);
});

worldTest("a backup is found by name, as the latest, and from another guild; others are refused", async (world) => {
	const { bot, clock } = world;
	await world.checked();
	world.rename("The Bakers");
	clock.now += dayMs;
	await world.checked();
	const { id } = bot.guild;
	const other = "123456789012345678";
	for (const [from, name, guildName] of [
		[id, "1", "The Cooks"],
		[id, "latest", "The Bakers"],
		[other, `${id}/1`, "The Cooks"],
		[other, `${id}/latest`, "The Bakers"],
	] as const) {
		const found = await world.backups.read(from, name);
		expect(found.guildName).toBe(guildName);
		expect(found.document.settings?.name).toBe(guildName);
	}
	for (const [from, name] of [
		[id, "3"],
		[id, "one"],
		[id, ""],
		[id, "1/1"],
		[other, "1"],
		[other, "latest"],
		[id, `${other}/1`],
	] as const)
		expect(world.backups.read(from, name)).rejects.toThrow("list_backups");
});

test("only guilds that the bot serves are backed up, and read", async () => {
	await using world = await startBackups({ guilds: ["123456789012345678"], timing: { startDelayMs: 0 } });
	const { bot } = world;
	await until("it has looked", async () => {
		const { sql } = bot.store;
		const rows = await sql`SELECT guild_id FROM guild_backup_checks`;
		return rows.length === 0;
	});
	expect(world.backups.read(bot.guild.id, "latest")).rejects.toThrow("There is no backup");
});

test("the members of a guild in which too many have roles are left out", async () => {
	await using world = await startBackups({
		prepare({ world, guild }) {
			const cooks = guild("The Cooks");
			const roles = Array.from({ length: 100 }, (_, number) => world.roles.add(cooks, { name: `role-${number}` })).map(
				({ id }) => id,
			);
			for (let number = 0; number < 1_500; number += 1)
				world.members.add(cooks, world.users.add({ username: `cook-${number}` }), { roles });
		},
	});
	await world.checked();
	const { document, omitted } = await world.backups.read(world.bot.guild.id, "latest");
	expect(omitted).toMatch(/^members: 15\d\d members have roles, too many for a backup$/);
	expect(document.members).toBeUndefined();
	expect(document.roles?.length).toBeGreaterThan(100);
});

worldTest("a backup names the channels that the bot cannot see, and counts them", async (world) => {
	const { bot, clock } = world;
	await world.checked();
	const hidden = channelNamed(bot, "general");
	await denyBot(bot, hidden, PermissionFlagsBits.ViewChannel);
	clock.now += dayMs;
	await world.checked();
	const [latest, before] = await world.list();
	expect(latest?.omitted).toStartWith("channels: the bot cannot see 1 of its channels");
	expect(latest?.omitted).toContain(hidden.id);
	expect([latest?.channels, before?.omitted]).toEqual([before?.channels, ""]);
});

test("the oldest backups are deleted", async () => {
	await using world = await startBackups({ keep: 2 });
	for (const name of ["Bakers", "Cooks", "Waiters", "Guests"]) {
		world.rename(name);
		world.clock.now += dayMs;
		await world.checked();
	}
	const names = (await world.list()).map(({ guildName }) => guildName);
	expect(names).toEqual(["Guests", "Waiters"]);
});

test("the backup before a guild was wiped is kept for good", async () => {
	await using world = await startBackups({
		keep: 2,
		prepare({ world, guild }) {
			for (let number = 0; number < 10; number += 1)
				world.channels.add(guild("The Cooks"), { name: `recipes-${number}` });
		},
	});
	const { bot, clock } = world;
	await world.checked();
	const before = bot.guild.channels.size;
	for (const channel of [...bot.guild.channels.values()].slice(1)) bot.simulator.world.channels.remove(channel);
	for (const name of ["Wiped", "Still wiped", "Rebuilt", "Done"]) {
		world.rename(name);
		clock.now += dayMs;
		await world.checked();
	}
	const backups = await world.list();
	expect(backups.map(({ guildName }) => guildName)).toEqual([...["Done", "Rebuilt"], "The Cooks"]);
	expect(backups.at(-1)?.kept?.reason).toBe(`of its ${before} channels, 1 were left at the next backup`);
});

worldTest("a clock that jumps causes at most one backup more", async (world) => {
	const { clock } = world;
	await world.checked();
	clock.now += 400 * dayMs;
	await world.checked();
	clock.now -= 800 * dayMs;
	await world.checked();
	const at = clock.now;
	clock.now += hourMs;
	world.rename("The Bakers");
	// Nothing is due: another search would find the new name.
	await until("it has searched again", async () => {
		await world.bot.store.sql`SELECT 1 AS one`;
		return true;
	});
	expect(await world.checkedAt()).toBe(at);
	expect(await world.list()).toHaveLength(1);
});

worldTest("a failed backup is logged, shown and retried", async (world) => {
	const { bot, clock } = world;
	await world.checked();
	const fault = bot.simulator.faults.fail(channelsRoute, 500);
	world.rename("The Bakers");
	clock.now += dayMs;
	await until("it failed", () => world.backups.status.failing.size === 1);
	expect(world.backups.status.failing.get(bot.guild.id)).toContain("Discord could not be reached");
	expect(world.metrics).toContain("guildhall_bot_backups_failing 1");
	expect(bot.logged.lines.join("\n")).toContain("could not back up a guild, will retry");
	fault.release();
	await world.checked();
	expect(await world.list()).toHaveLength(2);
	await until("it failed no more", () => world.backups.status.failing.size === 0);
});

test("missed backups are made one after the other", async () => {
	const made: string[] = [];
	await using world = await startBackups({
		timing: { startDelayMs: 1_000, spacingMs: 500 },
		prepare(simulator) {
			const { world } = simulator;
			const bot = present(world.users.get(simulator.bot("alpha").id));
			const owner = present(world.users.get(simulator.user("zoe").id));
			for (const name of ["Bakers", "Waiters"]) {
				const guild = world.guilds.add({ name, owner });
				world.members.add(guild, bot, { botPermissions: 8n });
			}
		},
	});
	const { bot, clock } = world;
	const count = async () => (await bot.store.sql`SELECT guild_id FROM guild_backup_checks`).length;
	const total = bot.connection.guilds.length;
	expect(total).toBeGreaterThan(2);
	expect(await count()).toBe(0);
	clock.monotonic += 1_000;
	for (let number = 1; number <= total; number += 1) {
		await until("the next one is made", async () => (await count()) === number);
		made.push(String(number));
		clock.monotonic += 499;
		await bot.store.sql`SELECT 1 AS one`;
		expect(await count()).toBe(number);
		clock.monotonic += 1;
	}
	expect(made).toHaveLength(total);
});

test("without settings no backups are made", async () => {
	await using bot = await startFeature({
		create: ({ connection, store, log }) =>
			new Backups({
				settings: undefined,
				guilds: undefined,
				connection,
				store,
				pictures: { hashesOf: async () => ({ hashes: new Map() }) },
				log,
				timing: { startDelayMs: 0, spacingMs: 0, maxSleepMs: 1 },
			}),
	});
	for (let times = 0; times < 20; times += 1)
		expect(await bot.store.sql`SELECT guild_id FROM guild_backups`).toEqual([]);
});

test("a backup is made without members that are never all loaded, and says so", async () => {
	await using world = await startBackups({ timing: { membersWaitMs: 1_000, startDelayMs: 0 } });
	const { bot, clock } = world;
	await world.checked();
	const at = clock.now;
	world.state.hasMembers = false;
	clock.now += dayMs;
	for (let times = 0; times < 10; times += 1) {
		await bot.store.sql`SELECT 1 AS one`;
		expect(await world.checkedAt()).toBe(at);
	}
	clock.monotonic += 1_000;
	await world.checked();
	const [latest] = await world.list();
	expect(latest?.omitted).toBe("members: they were not all loaded");
	const { document } = await world.backups.read(bot.guild.id, "latest");
	expect(document.members).toBeUndefined();
});

test("the first backup waits for the members, not for the next look", async () => {
	const prepare = ({ sockets }: Simulator) => sockets.holdMembers(true);
	await using world = await startBackups({ timing: { maxSleepMs: 300_000 }, withMembers: false, prepare });
	expect(await world.list()).toEqual([]);
	world.bot.simulator.sockets.holdMembers(false);
	await world.checked();
	expect(await world.list()).toMatchObject([{ omitted: "" }]);
});

onBoth((databases) => {
	test("a restart continues where the bot stopped", async () => {
		await using world = await startBackups({ place: await databases.place() });
		const { bot, clock } = world;
		await world.checked();
		const at = clock.now;
		for (const how of ["stop", "kill"] as const) {
			await bot[how]();
			clock.now += hourMs;
			world.rename(how);
			await bot.start();
			for (let times = 0; times < 10; times += 1) expect(await world.checkedAt()).toBe(at);
			expect(await world.list()).toHaveLength(1);
		}
		await bot.stop();
		clock.now += dayMs;
		await bot.start();
		await world.checked();
		expect(await world.list()).toHaveLength(2);
	});

	test("a kill before or after any statement leaves whole backups, and the next start makes the missing one", async () => {
		for (let operation = 1; ; operation += 1) {
			let count = 0;
			let isArmed = false;
			let isDead = false;
			let running = 0;
			const kill = async <T>(work: () => Promise<T>): Promise<T> => {
				if (isDead) return never;
				if (!isArmed) return work();
				count += 1;
				if (count >= operation * 2 - 1) isDead = true;
				if (isDead) return never;
				running += 1;
				const result = await work();
				running -= 1;
				count += 1;
				if (count >= operation * 2) isDead = true;
				return isDead ? never : result;
			};
			let lives = 0;
			await using world = await startBackups({
				place: await databases.place(),
				timing: { startDelayMs: 1_000, shutdownGraceMs: 1 },
				store(store) {
					lives += 1;
					if (lives > 1) return store;
					const sql = ((...statement: Parameters<Sql>) => kill(() => store.sql(...statement))) as Sql;
					return new Proxy(store, {
						get(target, key) {
							if (key === "sql") return sql;
							if (key !== "transaction") return Reflect.get(target, key, target);
							return (work: (sql: Sql) => Promise<unknown>) => kill(() => target.transaction(work));
						},
					});
				},
			});
			const { bot, clock } = world;
			isArmed = true;
			clock.monotonic += 1_000;
			const checked = async () => {
				const { sql } = bot.store;
				return (await sql`SELECT guild_id FROM guild_backup_checks`).length > 0;
			};
			// The database shows what a statement did before the statement returns, and a backup needs more than two.
			await until("killed or done", async () => isDead || ((await checked()) && running === 0 && count > 5));
			const wasKilled = isDead;
			isDead = true;
			await bot.kill();
			await bot.start();
			clock.monotonic += 1_000;
			await until("it is made", checked);
			const backups = await world.list();
			expect(backups.map(({ name }) => name)).toEqual(["1"]);
			const { document } = await world.backups.read(bot.guild.id, "1");
			expect(document.settings?.name).toBe("The Cooks");
			if (!wasKilled) {
				expect(operation).toBeGreaterThan(2);
				return;
			}
		}
	});
});
