// Supporters' roles follow the game server, and nobody loses a role by mistake.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { createGameClient } from "../../../src/bot/game/client.ts";
import { DonatorSync, type DonatorSyncOptions } from "../../../src/bot/game/donators.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import { startGameServer } from "../../../src/simulator/game/game-server.ts";
import type { Misbehaviour } from "../../../src/simulator/game/misbehaviour.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import type { Role } from "../../../src/simulator/world/state/entities.ts";
import { sharedBy, testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { type FeatureSetup, startFeature } from "../features/running-feature.ts";

const settledTest = testWith(startSettled);

const syncTest = testWith(startSync);

const giving = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";
const taking = "DELETE /guilds/:guild_id/members/:user_id/roles/:role_id";

interface Setup extends Pick<FeatureSetup, "withMembers" | "prepare"> {
	sync?: Partial<DonatorSyncOptions>;
	/** By tier; by default each tier has the role of its name. */
	tiers?(roles: Record<string, Role>, simulator: Simulator): Record<string, string>;
}

/** The sync, which runs when a test says so, a game server, and the roles gold, silver and bronze. */
async function startSync(setup: Setup = {}) {
	const game = await startGameServer();
	const roles = {} as Record<"gold" | "silver" | "bronze", Role>;
	let sync: DonatorSync | undefined;
	/** Applies to the next list. */
	const limits: { timeoutMs?: number } = {};
	const bot = await startFeature({
		...setup,
		prepare(simulator) {
			for (const name of ["gold", "silver", "bronze"] as const)
				roles[name] = simulator.world.roles.add(simulator.guild("The Cooks"), { name });
			setup.prepare?.(simulator);
		},
		create({ connection, store, mutex, log }, simulator) {
			const { url, secret } = game;
			const ids = Object.entries(roles).map(([name, { id }]) => [name, id]);
			sync = new DonatorSync({
				game: { donators: () => createGameClient({ url, secret, log, ...limits }).donators() },
				connection,
				store,
				mutex,
				log,
				guildId: simulator.guild("The Cooks").id,
				tiers: setup.tiers?.(roles, simulator) ?? Object.fromEntries(ids),
				intervalMs: 3_600_000,
				restrictedRole: undefined,
				...setup.sync,
			});
			const made = sync;
			return { close: () => made.close() };
		},
	});
	const { simulator, guild, logged, member, stop, start } = bot;
	const { world } = simulator;
	const has = (name: string, role: Role) => member(name).roles.includes(role.id);
	/** Resolves when the bot knows the roles that members have. */
	const heard = () =>
		until("the bot has heard", () =>
			[...guild.members.values()].every(({ user, roles }) => {
				const known = bot.connection.discord.guilds.cache.get(guild.id)?.members.cache.get(user.id);
				if (!known) return setup.withMembers === false;
				return known.roles.cache.size === roles.length + 1 && roles.every((id) => known.roles.cache.has(id));
			}),
		);
	const current = () => present(sync, "the sync was not created");
	return {
		simulator,
		game,
		guild,
		roles,
		logged,
		member,
		has,
		limits,
		get sync() {
			return current();
		},
		get store() {
			return bot.store;
		},
		get connection() {
			return bot.connection;
		},
		list(...entries: Entry[]) {
			game.donators.length = 0;
			for (const [name, tier] of entries)
				game.addDonator({ chat_id: name === null ? null : simulator.user(name).id, tier });
		},
		give(name: string, ...given: Role[]) {
			world.members.edit(guild, member(name), { roles: [...member(name).roles, ...given.map(({ id }) => id)] });
		},
		/** A run, as the timer or the tool does one. */
		async run() {
			await heard();
			const found = await current().plan();
			const outcome = await current().apply(found);
			await heard();
			return { ...found, ...outcome };
		},
		/** What was done to roles, in order. */
		done: () =>
			simulator.journal
				.entries()
				.filter(({ route }) => route === giving || route === taking)
				.map(({ method, path, reason }) => {
					const [, user, role] = /members\/(\d+)\/roles\/(\d+)$/.exec(path) ?? [];
					const name = world.users.get(user ?? "")?.username;
					return `${method === "PUT" ? "+" : "-"}${name} ${guild.roles.get(role ?? "")?.name} (${reason})`;
				}),
		/** As after a restart of the bot: with the same data. */
		async restart() {
			await stop();
			await start();
		},
		async [Symbol.asyncDispose]() {
			await bot[Symbol.asyncDispose]();
			await game.close();
		},
	};
}

describe.concurrent("the difference", () => {
	syncTest("supporters get the roles of their tiers, with the reason; nobody else gets any", async (bot) => {
		bot.list(["mona_lisa", "gold"], ["zoe", "silver"], ["zoe", "bronze"]);
		const { given, taken } = await bot.run();
		expect({ given, taken }).toEqual({ given: 3, taken: 0 });
		expect(bot.done().sort()).toEqual([
			"+mona_lisa gold (supporter of tier gold)",
			"+zoe bronze (supporter of tier bronze)",
			"+zoe silver (supporter of tier silver)",
		]);
		expect(await bot.run()).toMatchObject({ given: 0, taken: 0, changes: [] });
	});

	syncTest("who is not listed any more loses the role, and other roles stay", async (bot) => {
		const { silver } = bot.roles;
		const before = [...bot.member("mona_lisa").roles];
		bot.list(["mona_lisa", "silver"], ["zoe", "gold"], ["liwei", "gold"]);
		await bot.run();
		expect(bot.has("mona_lisa", silver)).toBe(true);
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		expect(await bot.run()).toMatchObject({ given: 0, taken: 1 });
		expect(bot.done().at(-1)).toBe("-mona_lisa silver (no longer supporter of tier silver)");
		expect(bot.member("mona_lisa").roles).toEqual(before);
	});

	test("two tiers may share a role: it goes with the last of them", async () => {
		await using bot = await startSync({ tiers: ({ gold }) => ({ gold: gold?.id ?? "", platinum: gold?.id ?? "" }) });
		bot.list(["mona_lisa", "gold"], ["mona_lisa", "platinum"], ["zoe", "gold"]);
		await bot.run();
		expect(bot.done().sort()).toEqual([
			"+mona_lisa gold (supporter of tier gold, platinum)",
			"+zoe gold (supporter of tier gold)",
		]);
		bot.list(["mona_lisa", "platinum"], ["zoe", "gold"]);
		expect((await bot.run()).changes).toEqual([]);
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		await bot.run();
		expect(bot.done()).toContain("-mona_lisa gold (no longer supporter of tier gold, platinum)");
	});

	test("an older plugin's discord_id counts, a listing twice counts once, and who is no member or has no account is passed over", async () => {
		await using bot = await startSync();
		bot.game.idField = "discord_id";
		bot.list(["zoe", "gold"], ["zoe", "gold"], [null, "gold"], ["bob_the_baker", "gold"]);
		const { absent, donators, given } = await bot.run();
		expect(donators).toHaveLength(4);
		expect(given).toBe(1);
		expect([...absent]).toEqual([bot.simulator.user("bob_the_baker").id]);
	});

	syncTest("a tier without a role is told, and the others go on", async (bot) => {
		bot.list(["zoe", "gold"], ["mona_lisa", "diamond\n"]);
		const { problems } = await bot.run();
		expect(problems).toEqual(['game.tiers has no role for "diamond\\n"']);
		expect(bot.has("zoe", bot.roles.gold)).toBe(true);
	});

	test("a role that is missing, managed, everyone's or above the bot is told, and the others go on", async () => {
		await using bot = await startSync({
			tiers: ({ gold, silver }, { world, guild }) => {
				const cooks = guild("The Cooks");
				const top = Math.max(...[...cooks.roles.values()].map(({ position }) => position));
				if (silver) world.roles.move(cooks, new Map([[silver, top]]));
				const managed = [...cooks.roles.values()].find((one) => one.managed);
				return {
					gold: gold?.id ?? "",
					high: silver?.id ?? "",
					gone: "123456789012345678",
					everyone: cooks.id,
					bots: managed?.id ?? "",
				};
			},
		});
		const { guild, roles, connection } = bot;
		await until("the bot has heard", () => {
			const known = connection.guilds[0];
			const me = known?.members.me;
			return me && known.roles.cache.get(roles.silver.id)?.comparePositionTo(me.roles.highest) === 1;
		});
		bot.list(...["gold", "high", "gone", "everyone", "bots"].map((tier) => ["zoe", tier] as [string, string]));
		const { problems } = await bot.run();
		expect(problems).toEqual([
			`tier high: @silver (ID: ${roles.silver.id}) does not rank below the bot's highest role`,
			`tier gone: there is no role 123456789012345678 in the guild ${guild.id}`,
			`tier everyone: @everyone (ID: ${guild.id}) is the role of everyone`,
			expect.stringContaining("belongs to an integration"),
		]);
		expect(bot.done()).toEqual(["+zoe gold (supporter of tier gold)"]);
	});

	test("without MANAGE_ROLES nothing is tried", async () => {
		await using bot = await startSync({
			prepare: ({ world, guild }) => {
				const cooks = guild("The Cooks");
				for (const role of cooks.roles.values())
					if (role.managed) world.roles.edit(cooks, role, { permissions: String(PermissionFlagsBits.SendMessages) });
			},
		});
		bot.list(["zoe", "gold"]);
		const { problems, changes } = await bot.run();
		expect(problems).toEqual([`the bot lacks MANAGE_ROLES in the guild ${bot.guild.id}`]);
		expect(changes).toEqual([]);
	});

	test("a tier with a long name of any kind makes a reason that Discord takes", async () => {
		const tier = "🥇".repeat(600);
		await using bot = await startSync({ tiers: ({ gold }) => ({ [tier]: gold?.id ?? "" }) });
		bot.list(["zoe", tier]);
		expect(await bot.run()).toMatchObject({ given: 1, failed: 0 });
		expect(bot.done()[0]).toStartWith("+zoe gold (supporter of tier 🥇🥇");
	});
});

type Entry = [name: string | null, tier: string];

const gold = ["zoe", "mona_lisa", "liwei", "jose.garcia"];
const goldFor = (...names: string[]) => names.map((name): Entry => [name, "gold"]);

/** Four people have gold by the list, which is stored as accepted. */
async function startSettled(options: Setup = {}) {
	const bot = await startSync(options);
	bot.list(...goldFor(...gold));
	await bot.run();
	await bot.run();
	return bot;
}

describe("nobody loses a role", () => {
	describe("by a list that", () => {
		const shared = sharedBy(startSettled);

		test.each<Misbehaviour>([
			...(["cut", "html", "204", "401", "403", "404", "500"] as const),
			...(["redirect", "wrong-types", "wrong-donators"] as const),
		])("is none: %s", async (kind) => {
			const bot = shared();
			bot.game.misbehave(kind);
			await expect(bot.run()).rejects.toThrow(/^(the game server answered HTTP |the connection was lost)/);
			expect(gold.filter((name) => bot.has(name, bot.roles.gold))).toEqual(gold);
		});

		test.each<[Misbehaviour, RegExp, { timeoutMs?: number }]>([
			["slow", /^the game server did not answer within 0.05 seconds$/, { timeoutMs: 50 }],
			["trickle", /^the game server did not answer within 0.05 seconds$/, { timeoutMs: 50 }],
			["huge", /^the game server's answer is longer than 4096 KiB$/, {}],
		])("does not end in time or size: %s", async (kind, reason, limits) => {
			const bot = shared();
			bot.game.misbehave(kind);
			Object.assign(bot.limits, limits);
			await expect(bot.run()).rejects.toThrow(reason);
			bot.game.behave();
			delete bot.limits.timeoutMs;
			expect(await bot.run()).toMatchObject({ given: 0, taken: 0 });
		});
	});

	settledTest("by an empty list, however often it comes", async (bot) => {
		bot.game.misbehave("no-donators");
		for (let run = 0; run < 3; run++)
			expect(await bot.run()).toMatchObject({ taken: 0, removalsHeld: "nobody on the list has a tier with a role" });
	});

	settledTest("by a list whose accounts are not linked any more, or whose tiers are called otherwise", async (bot) => {
		for (const list of [gold.map((): Entry => [null, "gold"]), gold.map((name): Entry => [name, "Gold"])]) {
			bot.list(...list);
			for (let run = 0; run < 2; run++) expect((await bot.run()).taken).toBe(0);
		}
	});

	syncTest("by the first list there ever was", async (bot) => {
		bot.give("mona_lisa", bot.roles.gold);
		bot.list(["zoe", "gold"]);
		expect(await bot.run()).toMatchObject({
			given: 1,
			taken: 0,
			removalsHeld: "this is the first list; the next one is compared with it",
		});
		expect(await bot.run()).toMatchObject({ given: 0, taken: 1 });
	});

	test("while the store is away; roles are given all the same", async () => {
		const away = async () => {
			throw new StoreUnavailable("away");
		};
		await using bot = await startSync({ sync: { store: { sql: away, transaction: away } } });
		bot.give("mona_lisa", bot.roles.gold);
		bot.list(["zoe", "gold"]);
		for (let run = 0; run < 2; run++)
			expect(await bot.run()).toMatchObject({
				given: run === 0 ? 1 : 0,
				taken: 0,
				removalsHeld: "the bot's database is unavailable, and with it the previous list",
			});
	});

	settledTest("when the store fails between plan and apply", async (bot) => {
		bot.list(...goldFor(...gold.slice(1)));
		const found = await bot.sync.plan();
		expect(found.removalsHeld).toBeUndefined();
		await bot.store.close();
		expect(await bot.sync.apply(found)).toMatchObject({
			taken: 0,
			removalsHeld: "the bot's database is unavailable, and with it the previous list",
		});
	});

	test("while not all members are known", async () => {
		await using bot = await startSync({ withMembers: false, prepare: ({ sockets }) => sockets.holdMembers(true) });
		const me = bot.connection.discord.guilds.cache.get(bot.guild.id);
		await me?.members.fetch(bot.simulator.user("zoe").id);
		bot.give("zoe", bot.roles.silver);
		bot.list(["zoe", "gold"]);
		await bot.run();
		expect(await bot.run()).toMatchObject({ taken: 0, removalsHeld: "not all members of the guild are loaded yet" });
		expect(bot.has("zoe", bot.roles.gold)).toBe(true);
		bot.simulator.sockets.holdMembers(false);
		await until("the members are known", () => bot.connection.guilds.every((one) => bot.connection.hasAllMembers(one)));
		expect(await bot.run()).toMatchObject({ taken: 1, removalsHeld: undefined });
	});
});

describe.concurrent("a list that shrinks", () => {
	const one: Entry[] = [["zoe", "gold"]];
	const others: Entry[] = [...(["gold", "silver", "bronze"] as const).map((tier): Entry => ["ada", tier]), ...one];

	/** Lists of consecutive runs, none of which takes a role. */
	const inTurn = (...lists: Entry[][]) => lists.map((list): [Entry[], number] => [list, 0]);

	/** Lists of consecutive runs, each with the number of roles that it takes. */
	test.each<[string, ...[Entry[], number][]]>([
		["by half is believed at once", [goldFor("zoe", "mona_lisa"), 2]],
		["by more than half needs the next one to agree", [one, 0], [one, 3]],
		["counts as one, too, when others take the places", [others, 0], [others, 3]],
		["is not believed when the next one is another", ...inTurn(one, goldFor("mona_lisa"), one)],
		["is forgotten when the next one is whole again, or empty", ...inTurn(one, goldFor(...gold), one, [], one)],
	])("%s", async (_, ...runs) => {
		await using bot = await startSettled();
		for (const [list, taken] of runs) {
			bot.list(...list);
			expect((await bot.run()).taken).toBe(taken);
		}
	});

	settledTest("by more than half says how much is lost", async (bot) => {
		bot.game.misbehave("fewer-donators");
		expect(await bot.run()).toMatchObject({
			removalsHeld: "the list lost 3 of 4 entries; the next one must confirm it",
		});
		expect((await bot.run()).removalsHeld).toBeUndefined();
		expect(gold.filter((name) => bot.has(name, bot.roles.gold))).toEqual(["zoe"]);
	});

	settledTest("may be agreed with after a failed fetch, and after a restart", async (bot) => {
		bot.list(...one);
		expect((await bot.run()).taken).toBe(0);
		bot.game.misbehave("500", { times: 1 });
		await expect(bot.run()).rejects.toThrow("HTTP 500");
		await bot.restart();
		expect((await bot.run()).taken).toBe(3);
	});

	settledTest("a plan alone stores nothing", async (bot) => {
		bot.list(...one);
		for (let looks = 0; looks < 3; looks++) expect((await bot.sync.plan()).removalsHeld).toContain("lost 3 of 4");
		expect((await bot.run()).taken).toBe(0);
	});
});

describe.concurrent("who is restricted", () => {
	const startWithJail = async () => {
		let id = "";
		const bot = await startSync({
			prepare: ({ world, guild }) => {
				({ id } = world.roles.add(guild("The Cooks"), { name: "jail" }));
			},
			get sync() {
				return { restrictedRole: id };
			},
		});
		return Object.assign(bot, { jail: present(bot.guild.roles.get(id)) });
	};

	test("by role: neither gets a role nor loses one", async () => {
		await using bot = await startWithJail();
		bot.give("zoe", bot.jail);
		bot.give("mona_lisa", bot.jail, bot.roles.gold);
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		await bot.run();
		const { restricted: left } = await bot.run();
		expect(left.size).toBe(2);
		expect(bot.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});

	test("by role, since the plan: is skipped", async () => {
		await using bot = await startWithJail();
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await bot.sync.plan();
		expect(found.changes).toHaveLength(2);
		bot.give("zoe", bot.jail);
		const { id } = bot.simulator.user("zoe");
		await until("the bot has heard", () => found.guild.members.cache.get(id)?.roles.cache.has(bot.jail.id));
		await bot.sync.apply(found);
		expect(bot.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});

	test("by the option, which fails: nobody gets a role", async () => {
		const restricted = () => Promise.reject(new StoreUnavailable("away"));
		await using bot = await startSync({ sync: { restricted } });
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		await bot.run();
		expect(bot.done()).toEqual([]);
	});

	test.each(["before the plan", "between plan and apply"])("by the option, %s: is skipped", async (when) => {
		const restricted = new Set<string>();
		await using bot = await startSync({ sync: { restricted: async () => restricted } });
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		if (when === "before the plan") restricted.add(bot.simulator.user("zoe").id);
		const found = await bot.sync.plan();
		expect(found.changes).toHaveLength(restricted.size === 0 ? 2 : 1);
		restricted.add(bot.simulator.user("zoe").id);
		await bot.sync.apply(found);
		expect(bot.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});
});

describe.concurrent("which guild", () => {
	test("in a guild that the bot is not in, the game server is not asked", async () => {
		await using bot = await startSync({ sync: { guildId: "123456789012345678" } });
		await expect(bot.sync.plan()).rejects.toThrow("The bot is not in the guild 123456789012345678");
		expect(bot.game.requests).toEqual([]);
	});
});

describe.concurrent("what goes wrong on Discord", () => {
	syncTest("a refusal is told once by role, the others go on, and the next run tries again", async (bot) => {
		const { faults } = bot.simulator;
		bot.list(["zoe", "gold"], ["mona_lisa", "gold"], ["liwei", "silver"]);
		faults.refuse(`PUT /guilds/*/members/*/roles/${bot.roles.gold.id}`, 50013);
		const { given, failed, reasons } = await bot.run();
		expect({ given, failed }).toEqual({ given: 1, failed: 2 });
		expect(reasons).toEqual([expect.stringMatching(/^@gold \(ID: \d+\): .*Missing Permissions/)]);
		bot.simulator.faults.clear();
		expect(await bot.run()).toMatchObject({ given: 2, failed: 0 });
	});

	syncTest("a change of unknown outcome is looked at again by the next run", async (bot) => {
		bot.list(["zoe", "gold"], ["mona_lisa", "gold"]);
		for (const when of ["before", "after"] as const)
			bot.simulator.faults.drop("PUT /guilds/*/members/*/roles/*", { when, times: 1 });
		const { given, failed } = await bot.run();
		expect({ given, failed }).toEqual({ given: 0, failed: 2 });
		expect(await bot.run()).toMatchObject({ given: 1, failed: 0 });
		expect(bot.has("zoe", bot.roles.gold)).toBe(true);
		expect(bot.has("mona_lisa", bot.roles.gold)).toBe(true);
		expect((await bot.run()).changes).toEqual([]);
	});

	syncTest("when Discord answers nothing any more, the rest is left to the next run", async (bot) => {
		bot.list(...goldFor(...gold, "ada"));
		bot.simulator.faults.fail("PUT /guilds/*/members/*/roles/*", 500);
		expect(await bot.run()).toMatchObject({ given: 0, failed: 3, left: 2 });
		bot.simulator.faults.clear();
		expect(await bot.run()).toMatchObject({ given: 5, failed: 0, left: 0 });
	});

	syncTest("a member who leaves between plan and apply is skipped", async (bot) => {
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await bot.sync.plan();
		bot.simulator.world.members.remove(bot.guild, bot.member("zoe"));
		await until("the bot has heard", () => !found.guild.members.cache.has(bot.simulator.user("zoe").id));
		expect(await bot.sync.apply(found)).toMatchObject({ given: 1, failed: 0 });
	});
});

describe.concurrent("runs", () => {
	syncTest("one at a time; another is refused", async (bot) => {
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		const stalled = bot.simulator.faults.stall("PUT /guilds/*/members/*/roles/*", { times: 1 });
		const [first, second] = [await bot.sync.plan(), await bot.sync.plan()];
		const running = bot.sync.apply(first);
		await until("it is at it", () => stalled.hits > 0);
		await expect(bot.sync.apply(second)).rejects.toThrow("already changing supporter roles. Nothing was done");
		stalled.release();
		expect(await running).toMatchObject({ given: 2 });
	});

	syncTest("what is over time is left to the next one", async (bot) => {
		bot.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await bot.sync.plan();
		expect(await bot.sync.apply(found, performance.now() - 1)).toMatchObject({ given: 0, left: 2 });
		expect(await bot.run()).toMatchObject({ given: 2, left: 0 });
	});

	test("one that is stopped in its middle is continued after a restart, also where the list had shrunk", async () => {
		await using bot = await startSettled();
		bot.list(["zoe", "gold"]);
		await bot.run();
		const found = await bot.sync.plan();
		const stalled = bot.simulator.faults.stall("DELETE /guilds/*/members/*/roles/*", { times: 1 });
		const running = bot.sync.apply(found);
		await until("it is at it", () => stalled.hits > 0);
		const closing = bot.sync.close();
		stalled.release();
		await closing;
		expect(await running).toMatchObject({ taken: 1, left: 2 });
		await bot.restart();
		expect(await bot.run()).toMatchObject({ taken: 2, removalsHeld: undefined });
	});

	test("begin by themselves when Discord is there, and again and again; each is told in one line", async () => {
		await using bot = await startSync({ sync: { intervalMs: 20 } });
		bot.list(["zoe", "gold"], ["liwei", "diamond"]);
		bot.sync.start();
		const runs = () => bot.logged.entries("synced supporter roles with the game server");
		await until("three runs", () => runs().length >= 3);
		bot.list(["mona_lisa", "gold"], ["zoe", "gold"], ["liwei", "diamond"]);
		await until("mona has it", () => bot.has("mona_lisa", bot.roles.gold));
		await bot.sync.close();
		expect(runs()[0]).toMatchObject({
			level: "info",
			guild: bot.guild.id,
			supporters: 2,
			given: 1,
			taken: 0,
			failed: 0,
			not_tried: 0,
			restricted: 0,
			not_members: 0,
			no_removals_because: "this is the first list; the next one is compared with it",
		});
		const warned = bot.logged.lines.filter((line) => line.includes("has no role for"));
		expect(warned).toHaveLength(1);
		const asked = bot.game.requests.length;
		await bot.run();
		expect(bot.game.requests).toHaveLength(asked + 1);
	});

	syncTest("go on after a failed one, which is told", { sync: { intervalMs: 5 } }, async (bot) => {
		bot.list(["zoe", "gold"]);
		bot.game.misbehave("500", { times: 2 });
		bot.sync.start();
		await until("zoe has it", () => bot.has("zoe", bot.roles.gold));
		const failed = bot.logged.entries("could not sync supporter roles with the game server, will retry");
		expect(failed).toMatchObject([
			{ level: "warn", reason: "the game server answered HTTP 500" },
			{ level: "warn", reason: "the game server answered HTTP 500" },
		]);
	});

	test("wait for the members of the guild", async () => {
		await using bot = await startSync({
			withMembers: false,
			prepare: ({ sockets }) => sockets.holdMembers(true),
			sync: { intervalMs: 3_600_000 },
		});
		bot.list(["zoe", "gold"]);
		bot.sync.start();
		// A run that did not wait would have asked before these.
		await bot.sync.plan();
		await bot.sync.plan();
		expect(bot.game.requests).toHaveLength(2);
		bot.simulator.sockets.holdMembers(false);
		const runs = () => bot.logged.entries("synced supporter roles with the game server");
		const first = await until("the first run", () => runs()[0]);
		// Before they are known she would be no member.
		expect(first).toMatchObject({ given: 1, not_members: 0 });
	});
});
