// Members are promoted when they have earned it, once, whatever comes in between.

import { describe, expect, test } from "bun:test";
import type { GuildMember } from "discord.js";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import { ActivityBuffer } from "../../../src/bot/features/activity.ts";
import { createAutoRole, isEarned } from "../../../src/bot/features/auto-role.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import type { Member } from "../../../src/simulator/world/state/entities.ts";
import { recordLog } from "../../support/log.ts";
import { onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { memberNamed, roleNamed } from "../../support/world.ts";
import { type FeatureSetup, startFeature, withSql } from "./running-feature.ts";

const promoting = "PATCH /guilds/:guild_id/members/:user_id";
const general = "The Cooks/general";
const day = 86_400_000;
/** When everyone of the demo's world has joined. */
const begin = Date.UTC(2026, 0, 1);

describe("what is earned", () => {
	const rules = { to_role: "1", min_age: day, min_messages: 10 };
	const of = (changes: Partial<Parameters<typeof isEarned>[0]>, ageMs: number, messages: number) =>
		isEarned({ ...rules, require_all: true, ...changes }, { ageMs, messages });

	test("both are needed, or one of them, and what is 0 is not asked for", () => {
		expect(of({}, day, 10)).toBe(true);
		expect(of({}, day - 1, 10)).toBe(false);
		expect(of({}, day, 9)).toBe(false);
		expect(of({ require_all: false }, day, 0)).toBe(true);
		expect(of({ require_all: false }, 0, 10)).toBe(true);
		expect(of({ require_all: false }, day - 1, 9)).toBe(false);
		expect(of({ require_all: false, min_messages: 0 }, day - 1, 99)).toBe(false);
		expect(of({ require_all: false, min_age: 0 }, 9 * day, 9)).toBe(false);
		expect(of({ min_age: 0 }, 0, 10)).toBe(true);
		expect(of({ min_age: 0, min_messages: 0 }, 0, 0)).toBe(true);
	});
});

interface SceneOptions extends Partial<FeatureSetup> {
	/** Keys of [auto_role], beside the roles. */
	rules?: Record<string, unknown>;
	flushIntervalMs?: number;
	/** Other sections. */
	sections?(simulator: Simulator): Record<string, unknown>;
}

/** Everyone is a Newcomer since the beginning of the year, and becomes a Regular; sweeps and batches come when they are asked for. */
async function sceneOn({ rules = { min_age: "3d", min_messages: 3 }, ...options }: SceneOptions = {}) {
	let clock = begin;
	let feature: ReturnType<typeof createAutoRole>;
	const bot = await startFeature({
		settings(simulator) {
			return {
				auto_role: {
					from_role: roleNamed(simulator, "Newcomer").id,
					to_role: roleNamed(simulator, "Regular").id,
					...rules,
				},
				...options.sections?.(simulator),
			};
		},
		create(given: FeatureOptions) {
			feature = createAutoRole(given, {
				sweepIntervalMs: 3_600_000,
				flushIntervalMs: options.flushIntervalMs ?? 3_600_000,
				backOffMs: [1, 5],
				now: () => clock,
			});
			return feature;
		},
		...options,
		prepare(simulator) {
			for (const member of simulator.guild("The Cooks").members.values()) {
				member.joined_at = new Date(begin).toISOString();
				if (!member.user.bot) member.roles = [roleNamed(simulator, "Newcomer").id];
			}
			options.prepare?.(simulator);
		},
	});
	const { simulator, guild } = bot;
	const newcomer = roleNamed(simulator, "Newcomer").id;
	const regular = roleNamed(simulator, "Regular").id;
	const has = (name: string, role = regular) => bot.member(name).roles.includes(role);
	/** Resolves when the bot knows all that has happened. */
	const heard = async () => {
		const nick = crypto.randomUUID().slice(0, 20);
		const me = memberNamed({ guild }, "alpha");
		simulator.world.members.edit(guild, me, { nick });
		await until("the bot has heard", () => {
			const known = bot.connection.discord.guilds.cache.get(guild.id);
			return known?.members.me?.nickname === nick;
		});
	};
	const scene = {
		bot,
		simulator,
		guild,
		newcomer,
		regular,
		has,
		heard,
		member: bot.member,
		passDays(days: number) {
			clock += days * day;
		},
		async writes(name: string, count: number) {
			for (let at = 0; at < count; at++) await simulator.user(name).say(general, `message ${at}`);
		},
		edit(name: string, changes: Partial<Member>) {
			simulator.world.members.edit(guild, bot.member(name), changes);
		},
		async sweep() {
			await heard();
			await feature?.sweep();
			await heard();
		},
		/** Whom Discord has given another role on behalf of the bot, in order. */
		promoted: () =>
			simulator.journal.entries(promoting).map(({ path }) => {
				const id = /members\/(\d+)/.exec(path)?.[1] ?? "";
				return simulator.world.users.get(id)?.username;
			}),
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
	return scene;
}

test("a member with enough time and messages is promoted, in one write with a reason", async () => {
	await using scene = await sceneOn();
	await scene.writes("ada", 3);
	await scene.writes("mona_lisa", 2);
	await scene.sweep();
	expect(scene.promoted()).toEqual([]);
	scene.passDays(3);
	await scene.sweep();
	expect(scene.promoted()).toEqual(["ada"]);
	expect(scene.member("ada").roles).toEqual([scene.regular]);
	const [entry] = scene.simulator.journal.entries(promoting);
	expect(entry?.reason).toBe("promoted: a member since 2026-01-01T00:00:00.000Z");
	await scene.writes("mona_lisa", 1);
	await scene.sweep();
	await scene.sweep();
	expect(scene.promoted()).toEqual(["ada", "mona_lisa"]);
});
test("where one of both is enough, those who write nothing are promoted by time; bots and who lacks from_role are not", async () => {
	await using scene = await sceneOn({ rules: { min_age: "3d", min_messages: 2, require_all: false } });
	scene.edit("zoe", { roles: [] });
	await scene.writes("zoe", 2);
	await scene.writes("ada", 2);
	await scene.sweep();
	expect(scene.promoted()).toEqual(["ada"]);
	scene.passDays(3);
	await scene.sweep();
	const people = [...scene.guild.members.values()]
		.filter(({ user }) => !user.bot && user.username !== "zoe")
		.map(({ user }) => user.username);
	expect(scene.promoted().sort()).toEqual(people.sort());
	scene.edit("zoe", { roles: [scene.newcomer] });
	await scene.sweep();
	expect(scene.has("zoe")).toBe(true);
});
test("a refused promotion is released, and others go on", async () => {
	await using scene = await sceneOn({ rules: { min_messages: 1 } });
	const { faults } = scene.simulator;
	faults.refuse(`PATCH /guilds/*/members/${scene.member("ada").user.id}`, 50013);
	await scene.writes("ada", 1);
	await scene.writes("zoe", 1);
	await scene.sweep();
	expect(scene.promoted()).toEqual(["zoe"]);
	const rows = await scene.bot.store.sql<{ promoted: number }>`
		SELECT promoted FROM member_activity WHERE user_id = ${scene.member("ada").user.id}`;
	expect(rows).toEqual([{ promoted: 0 }]);
});
test("a member restricted by a chargeback is promoted only after it", async () => {
	await using scene = await sceneOn({
		rules: { min_messages: 1 },
		sections: (simulator) => ({
			features: { game: true },
			game: { restricted_role: roleNamed(simulator, "Staff").id },
		}),
	});
	const restricted = roleNamed(scene.simulator, "Staff").id;
	scene.edit("ada", { roles: [scene.newcomer, restricted] });
	await scene.writes("ada", 1);
	await scene.sweep();
	expect(scene.promoted()).toEqual([]);
	scene.edit("ada", { roles: [scene.newcomer] });
	await scene.sweep();
	expect(scene.promoted()).toEqual(["ada"]);
});
test("without the database messages are counted and nobody is promoted; both catch up", async () => {
	let isAway = false;
	await using scene = await sceneOn({
		rules: { min_messages: 2 },
		store: (store) =>
			withSql(store, async (...statement) => {
				if (isAway) throw new StoreUnavailable("a test");
				return store.sql(...statement);
			}),
	});
	isAway = true;
	await scene.writes("ada", 2);
	await scene.sweep();
	expect(scene.promoted()).toEqual([]);
	isAway = false;
	await scene.sweep();
	expect(scene.promoted()).toEqual(["ada"]);
});

test("all flushes requested during a flush are one", async () => {
	const held = Promise.withResolvers<never>();
	let writes = 0;
	const sql = () => {
		writes += 1;
		return held.promise;
	};
	const activity = new ActivityBuffer({
		store: { sql },
		log: recordLog().log,
		guildId: "3",
		settings: { to_role: "1" },
	});
	activity.addHolder({ id: "2" } as GuildMember);
	const flushes = [activity.flush()];
	await until("it writes", () => writes === 1);
	for (let at = 0; at < 10; at++) flushes.push(activity.flush());
	held.reject(new StoreUnavailable("a test"));
	await Promise.allSettled(flushes);
	expect(writes).toBe(2);
});

onBoth((databases) => {
	test("messages are counted over restarts, and a kill loses only those that were not written down", async () => {
		await using scene = await sceneOn({ place: await databases.place(), rules: { min_messages: 4 } });
		await scene.writes("ada", 2);
		await scene.writes("mona_lisa", 3);
		await scene.heard();
		await scene.bot.stop();
		await scene.bot.start();
		await scene.writes("mona_lisa", 1);
		await scene.writes("ada", 2);
		await scene.heard();
		await scene.bot.kill();
		await scene.bot.start();
		await scene.writes("ada", 1);
		await scene.sweep();
		expect(scene.promoted()).toEqual([]);
		await scene.writes("ada", 1);
		await scene.sweep();
		expect(scene.promoted()).toEqual(["ada"]);
	});

	test("a promotion whose response is lost is done once", async () => {
		await using scene = await sceneOn({ place: await databases.place(), rules: { min_messages: 1 } });
		scene.simulator.faults.fail(promoting, 500, { executed: true, times: 1 });
		await scene.writes("zoe", 1);
		await scene.sweep();
		await scene.sweep();
		expect(scene.promoted()).toEqual(["zoe"]);
		await scene.sweep();
		const claimed = await scene.bot.store.sql`SELECT user_id FROM member_activity WHERE claimed = 1`;
		expect(claimed).toEqual([]);
	});

	test("who lost the role by hand is not promoted again, over restarts and over leaving", async () => {
		await using scene = await sceneOn({ place: await databases.place(), rules: { min_messages: 1 } });
		for (const name of ["ada", "zoe"]) await scene.writes(name, 1);
		await scene.sweep();
		expect(scene.promoted()).toEqual(["ada", "zoe"]);
		// By hand given, and by hand taken.
		scene.edit("mona_lisa", { roles: [scene.regular] });
		for (const name of ["ada", "mona_lisa"]) scene.edit(name, { roles: [scene.newcomer] });
		for (const name of ["ada", "mona_lisa"]) await scene.writes(name, 3);
		await scene.sweep();
		await scene.bot.stop();
		await scene.bot.start();
		await scene.sweep();
		expect(scene.promoted()).toEqual(["ada", "zoe"]);
		// Zoe leaves with her role, and may earn it again.
		const { world } = scene.simulator;
		for (const name of ["ada", "zoe"]) {
			const { user } = scene.member(name);
			world.members.remove(scene.guild, scene.member(name));
			const anew: Partial<Member> = { roles: [scene.newcomer], joined_at: new Date(begin + day).toISOString() };
			world.members.add(scene.guild, user, anew);
		}
		await scene.sweep();
		expect(scene.promoted()).toEqual(["ada", "zoe"]);
		for (const name of ["ada", "zoe"]) await scene.writes(name, 1);
		await scene.sweep();
		expect(scene.promoted()).toEqual(["ada", "zoe", "zoe"]);
	});

	test("3,000 messages take few statements, and many people begin a batch early", async () => {
		const statements: string[] = [];
		await using scene = await sceneOn({
			place: await databases.place(),
			rules: { min_messages: 100_000 },
			store: (store) =>
				withSql(store, (strings, ...values) => {
					statements.push(strings.join("?"));
					return store.sql(strings, ...values);
				}),
		});
		const { world } = scene.simulator;
		const channel = scene.simulator.channel(general).channel;
		const users = Array.from({ length: 1_500 }, (_, at) =>
			scene.bot.join(`writer${at}`, { roles: [scene.newcomer] }),
		).map(({ user }) => user);
		for (let at = 0; at < 3_000; at++) {
			const author = users[at % users.length];
			if (author) world.messages.add(channel, author, { content: `${at}` });
			// So that the sockets keep up.
			if (at % 500 === 0) await scene.heard();
		}
		await scene.sweep();
		const counts = statements.filter((text) => text.includes("INSERT INTO member_activity"));
		// A thousand people begin a batch, and so does the time: how many that is depends on the machine.
		expect(counts.length).toBeLessThan(30);
		const [row] = await scene.bot.store.sql<{ all: number; people: number }>`
			SELECT CAST(SUM(messages) AS BIGINT) AS "all", COUNT(*) AS people FROM member_activity`;
		expect(row).toEqual({ all: 3_000, people: 1_500 });
	});

	test("what is counted while a batch is being written is written at the end", async () => {
		let release = () => {};
		const held = new Promise<void>((resolve) => {
			release = resolve;
		});
		let isHeld = false;
		let isWaiting = false;
		await using scene = await sceneOn({
			place: await databases.place(),
			rules: { min_messages: 100 },
			flushIntervalMs: 5,
			store: (store) =>
				withSql(store, async (strings, ...values) => {
					if (isHeld && strings.join("").includes("INSERT INTO member_activity")) {
						isWaiting = true;
						await held;
					}
					return store.sql(strings, ...values);
				}),
		});
		isHeld = true;
		await scene.writes("ada", 2);
		await until("a batch is being written", () => isWaiting);
		await scene.heard();
		await scene.writes("ada", 3);
		await scene.heard();
		const stopped = scene.bot.stop();
		release();
		await stopped;
		await scene.bot.start();
		const rows = await scene.bot.store.sql<{ messages: number }>`
			SELECT messages FROM member_activity`;
		expect(rows).toEqual([{ messages: 5 }]);
	});
});
