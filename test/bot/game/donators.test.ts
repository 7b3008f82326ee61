// Supporters' roles follow the game server's list, and nobody loses a role by mistake.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { Connection } from "../../../src/bot/discord/connection/connection.ts";
import { createGameClient } from "../../../src/bot/game/client.ts";
import {
	createDonatorSync,
	type DonatorSyncOptions,
	waitAfter,
} from "../../../src/bot/game/donators.ts";
import { StoreUnavailable } from "../../../src/bot/store/database/db-error.ts";
import { startStore } from "../../../src/bot/store/store.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import { startGameServer } from "../../../src/simulator/game/game-server.ts";
import type { Misbehaviour } from "../../../src/simulator/game/misbehaviour.ts";
import {
	type Simulator,
	startSimulator,
} from "../../../src/simulator/simulator.ts";
import type { Role } from "../../../src/simulator/world/state/entities.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";

const giving = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";
const taking = "DELETE /guilds/:guild_id/members/:user_id/roles/:role_id";

interface StageOptions {
	sync?: Partial<DonatorSyncOptions>;
	/** By tier; a role called the same is made for each of those in lower case. */
	tiers?(
		roles: Record<string, Role>,
		simulator: Simulator,
	): Record<string, string>;
	/** Before the bot logs in. */
	prepare?(simulator: Simulator): void;
	/** Whether all members are waited for. */
	withMembers?: boolean;
}

/** The real connection, store and client of the game server, and the sync between them. */
async function startStage(options: StageOptions = {}) {
	const simulator = await startSimulator();
	const game = await startGameServer();
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const roles = Object.fromEntries(
		["gold", "silver", "bronze"].map((name) => [
			name,
			world.roles.add(guild, { name }),
		]),
	) as Record<"gold" | "silver" | "bronze", Role>;
	options.prepare?.(simulator);
	const logged = recordLog("debug");
	const { log } = logged;
	const connection = new Connection({
		token: simulator.bot("alpha").token,
		api: simulator.api,
		log,
		onResponse() {},
		timing: { backOffMs: [1, 4], identifyMs: 0 },
	});
	const opened = connection.open();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	const openStore = () =>
		startStore({
			...{ databaseUrl: undefined, schema: undefined, directory },
			...{ instance: "Alpha", log, backOffMs: [10, 20] },
		});
	let store = openStore();
	await store.opened;
	await until("the bot is ready", () => connection.ready);
	if (options.withMembers !== false)
		await until("its members are known", () =>
			connection.guilds.every((one) => connection.knowsMembers(one)),
		);
	const ids = Object.fromEntries(
		Object.entries(roles).map(([name, { id }]) => [name, id]),
	);
	/** What holds from the next list on. */
	const limits: { timeoutMs?: number } = {};
	const create = () =>
		createDonatorSync({
			game: {
				donators: () =>
					createGameClient({
						...{ url: game.url, secret: game.secret, log, ...limits },
					}).donators(),
			},
			...{ connection, store, guildId: guild.id },
			tiers: options.tiers?.(roles, simulator) ?? ids,
			intervalMs: 3_600_000,
			restrictedRole: undefined,
			mutex: new KeyedMutex(),
			log,
			...options.sync,
		});
	let sync = create();
	const member = (name: string) => {
		const found = guild.members.get(simulator.user(name).id);
		if (!found) throw new Error(`${name} is a member`);
		return found;
	};
	const has = (name: string, role: Role) =>
		member(name).roles.includes(role.id);
	/** Resolves when the bot knows the roles that members have. */
	const heard = () =>
		until("the bot has heard", () =>
			[...guild.members.values()].every(({ user, roles }) => {
				const known = connection.discord.guilds.cache
					.get(guild.id)
					?.members.cache.get(user.id);
				if (!known) return options.withMembers === false;
				return (
					known.roles.cache.size === roles.length + 1 &&
					roles.every((id) => known.roles.cache.has(id))
				);
			}),
		);
	const stage = {
		...{
			simulator,
			game,
			guild,
			roles,
			logged,
			connection,
			member,
			has,
			heard,
			limits,
		},
		get sync() {
			return sync;
		},
		get store() {
			return store;
		},
		list(...entries: [name: string | null, tier: string][]) {
			game.donators.length = 0;
			for (const [name, tier] of entries)
				game.addDonator({
					chat_id: name === null ? null : simulator.user(name).id,
					tier,
				});
		},
		give(name: string, ...given: Role[]) {
			world.members.edit(guild, member(name), {
				roles: [...member(name).roles, ...given.map(({ id }) => id)],
			});
		},
		/** A run, as the timer or the tool does one. */
		async run() {
			await heard();
			const found = await sync.plan();
			const outcome = await sync.apply(found);
			await heard();
			return { ...found, ...outcome };
		},
		/** What was done to roles, in order. */
		done: () =>
			simulator.journal
				.entries()
				.filter(({ route }) => route === giving || route === taking)
				.map(({ method, path, reason }) => {
					const [, user, role] =
						/members\/(\d+)\/roles\/(\d+)$/.exec(path) ?? [];
					const name = world.users.get(user ?? "")?.username;
					return `${method === "PUT" ? "+" : "-"}${name} ${guild.roles.get(role ?? "")?.name} (${reason})`;
				}),
		/** As after a restart of the bot: with the same data. */
		async restart() {
			await sync.close();
			await store.close();
			store = openStore();
			await store.opened;
			sync = create();
		},
		async [Symbol.asyncDispose]() {
			await sync.close();
			await connection.close();
			await opened;
			await store.close();
			await game.close();
			await simulator.close();
			rmSync(directory, { recursive: true, force: true });
		},
	};
	return stage;
}

describe.concurrent("the difference", () => {
	test("supporters get the roles of their tiers, with the reason; nobody else gets any", async () => {
		await using stage = await startStage();
		stage.list(["mona_lisa", "gold"], ["zoe", "silver"], ["zoe", "bronze"]);
		const { given, taken } = await stage.run();
		expect({ given, taken }).toEqual({ given: 3, taken: 0 });
		expect(stage.done().sort()).toEqual([
			"+mona_lisa gold (supporter of tier gold)",
			"+zoe bronze (supporter of tier bronze)",
			"+zoe silver (supporter of tier silver)",
		]);
		expect(await stage.run()).toMatchObject({
			given: 0,
			taken: 0,
			changes: [],
		});
	});

	test("who is not listed any more loses the role, and other roles stay", async () => {
		await using stage = await startStage();
		const { silver } = stage.roles;
		const before = [...stage.member("mona_lisa").roles];
		stage.list(["mona_lisa", "silver"], ["zoe", "gold"], ["liwei", "gold"]);
		await stage.run();
		expect(stage.has("mona_lisa", silver)).toBe(true);
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		expect(await stage.run()).toMatchObject({ given: 0, taken: 1 });
		expect(stage.done().at(-1)).toBe(
			"-mona_lisa silver (no longer supporter of tier silver)",
		);
		expect(stage.member("mona_lisa").roles).toEqual(before);
	});

	test("two tiers may share a role: it goes with the last of them", async () => {
		await using stage = await startStage({
			tiers: ({ gold }) => ({ gold: gold?.id ?? "", platinum: gold?.id ?? "" }),
		});
		stage.list(
			["mona_lisa", "gold"],
			["mona_lisa", "platinum"],
			["zoe", "gold"],
		);
		await stage.run();
		expect(stage.done().sort()).toEqual([
			"+mona_lisa gold (supporter of tier gold, platinum)",
			"+zoe gold (supporter of tier gold)",
		]);
		stage.list(["mona_lisa", "platinum"], ["zoe", "gold"]);
		expect((await stage.run()).changes).toEqual([]);
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		await stage.run();
		expect(stage.done()).toContain(
			"-mona_lisa gold (no longer supporter of tier gold, platinum)",
		);
	});

	test("an older plugin's discord_id counts, a listing twice counts once, and who is no member or has no account is passed over", async () => {
		await using stage = await startStage();
		stage.game.idField = "discord_id";
		stage.list(
			["zoe", "gold"],
			["zoe", "gold"],
			[null, "gold"],
			["bob_the_baker", "gold"],
		);
		const { absent, donators, given } = await stage.run();
		expect(donators).toHaveLength(4);
		expect(given).toBe(1);
		expect([...absent]).toEqual([stage.simulator.user("bob_the_baker").id]);
	});

	test("a tier without a role is told, and the others go on", async () => {
		await using stage = await startStage();
		stage.list(["zoe", "gold"], ["mona_lisa", "diamond\n"]);
		const { problems } = await stage.run();
		expect(problems).toEqual([
			'[game.donators.tiers] has no role for "diamond\\n"',
		]);
		expect(stage.has("zoe", stage.roles.gold)).toBe(true);
	});

	test("a role that is missing, managed, everyone's or above the bot is told, and the others go on", async () => {
		await using stage = await startStage({
			tiers: ({ gold, silver }, { world, guild }) => {
				const cooks = guild("The Cooks");
				const top = Math.max(
					...[...cooks.roles.values()].map(({ position }) => position),
				);
				if (silver) world.roles.move(cooks, new Map([[silver, top]]));
				const managed = [...cooks.roles.values()].find((one) => one.managed);
				return {
					...{ gold: gold?.id ?? "", high: silver?.id ?? "" },
					...{ gone: "123456789012345678", everyone: cooks.id },
					bots: managed?.id ?? "",
				};
			},
		});
		const { guild, roles, connection } = stage;
		await until("the bot has heard", () => {
			const known = connection.guilds[0];
			const me = known?.members.me;
			return (
				me &&
				known.roles.cache
					.get(roles.silver.id)
					?.comparePositionTo(me.roles.highest) === 1
			);
		});
		stage.list(
			...["gold", "high", "gone", "everyone", "bots"].map(
				(tier) => ["zoe", tier] as [string, string],
			),
		);
		const { problems } = await stage.run();
		expect(problems).toEqual([
			`tier high: @silver (ID: ${roles.silver.id}) does not rank below the bot's highest role`,
			`tier gone: there is no role 123456789012345678 in the guild ${guild.id}`,
			`tier everyone: @everyone (ID: ${guild.id}) is everyone's`,
			expect.stringContaining("belongs to an integration"),
		]);
		expect(stage.done()).toEqual(["+zoe gold (supporter of tier gold)"]);
	});

	test("without MANAGE_ROLES nothing is tried", async () => {
		await using stage = await startStage({
			prepare: ({ world, guild }) => {
				const cooks = guild("The Cooks");
				for (const role of cooks.roles.values())
					if (role.managed)
						world.roles.edit(cooks, role, {
							permissions: String(PermissionFlagsBits.SendMessages),
						});
			},
		});
		stage.list(["zoe", "gold"]);
		const { problems, changes } = await stage.run();
		expect(problems).toEqual([
			`the bot lacks MANAGE_ROLES in the guild ${stage.guild.id}`,
		]);
		expect(changes).toEqual([]);
	});

	test("a tier with a long name of any kind makes a reason that Discord takes", async () => {
		const tier = "🥇".repeat(50);
		await using stage = await startStage({
			tiers: ({ gold }) => ({ [tier]: gold?.id ?? "" }),
		});
		stage.list(["zoe", tier]);
		expect(await stage.run()).toMatchObject({ given: 1, failed: 0 });
		expect(stage.done()[0]).toStartWith("+zoe gold (supporter of tier 🥇🥇");
	});
});

/** Three people have gold, by the list; the list of last time is known. */
async function startSettled(options: StageOptions = {}) {
	const stage = await startStage(options);
	stage.list(
		["zoe", "gold"],
		["mona_lisa", "gold"],
		["liwei", "gold"],
		["jose.garcia", "gold"],
	);
	await stage.run();
	await stage.run();
	return stage;
}

const gold = ["zoe", "mona_lisa", "liwei", "jose.garcia"];

describe("nobody loses a role", () => {
	describe("by a list that", () => {
		let stage: Awaited<ReturnType<typeof startSettled>>;
		beforeAll(async () => {
			stage = await startSettled();
		});
		afterAll(() => stage[Symbol.asyncDispose]());

		test.each<Misbehaviour>([
			...(["cut", "html", "204", "401", "403", "404", "500"] as const),
			...(["redirect", "wrong-types", "wrong-donators"] as const),
		])("is none: %s", async (kind) => {
			stage.game.misbehave(kind);
			await expect(stage.run()).rejects.toThrow(
				/^(HTTP |the connection was lost)/,
			);
			expect(gold.filter((name) => stage.has(name, stage.roles.gold))).toEqual(
				gold,
			);
		});

		test.each<[Misbehaviour, RegExp, { timeoutMs?: number }]>([
			["slow", /^no answer within 0.05 seconds$/, { timeoutMs: 50 }],
			["trickle", /^no answer within 0.05 seconds$/, { timeoutMs: 50 }],
			["huge", /^its answer is longer than 4096 KiB$/, {}],
		])("does not end in time or size: %s", async (kind, reason, limits) => {
			stage.game.misbehave(kind);
			Object.assign(stage.limits, limits);
			await expect(stage.run()).rejects.toThrow(reason);
			stage.game.behave();
			delete stage.limits.timeoutMs;
			expect(await stage.run()).toMatchObject({ given: 0, taken: 0 });
		});
	});

	test("by an empty list, however often it comes", async () => {
		await using stage = await startSettled();
		stage.game.misbehave("no-donators");
		for (let run = 0; run < 3; run++)
			expect(await stage.run()).toMatchObject({
				taken: 0,
				removalsHeld: "nobody on the list has a tier with a role",
			});
	});

	test("by a list whose accounts are not linked any more, or whose tiers are called otherwise", async () => {
		await using stage = await startSettled();
		stage.list([null, "gold"], [null, "gold"], [null, "gold"], [null, "gold"]);
		expect((await stage.run()).taken).toBe(0);
		expect((await stage.run()).taken).toBe(0);
		stage.list(...gold.map((name) => [name, "Gold"] as [string, string]));
		expect((await stage.run()).taken).toBe(0);
		expect((await stage.run()).taken).toBe(0);
	});

	test("by the first list there ever was", async () => {
		await using stage = await startStage();
		stage.give("mona_lisa", stage.roles.gold);
		stage.list(["zoe", "gold"]);
		expect(await stage.run()).toMatchObject({
			...{ given: 1, taken: 0 },
			removalsHeld: "this is the first list; the next one is compared with it",
		});
		expect(await stage.run()).toMatchObject({ given: 0, taken: 1 });
	});

	test("while the store is away; roles are given all the same", async () => {
		const away = async () => {
			throw new StoreUnavailable("away");
		};
		await using stage = await startStage({
			sync: { store: { sql: away, transaction: away } },
		});
		stage.give("mona_lisa", stage.roles.gold);
		stage.list(["zoe", "gold"]);
		for (let run = 0; run < 2; run++)
			expect(await stage.run()).toMatchObject({
				...{ given: run === 0 ? 1 : 0, taken: 0 },
				removalsHeld:
					"the bot's database is unavailable, and with it the previous list",
			});
	});

	test("when the store goes away between the look and the deed", async () => {
		await using stage = await startSettled();
		stage.list(
			...gold.slice(1).map((name) => [name, "gold"] as [string, string]),
		);
		const found = await stage.sync.plan();
		expect(found.removalsHeld).toBeUndefined();
		await stage.store.close();
		expect(await stage.sync.apply(found)).toMatchObject({
			taken: 0,
			removalsHeld:
				"the bot's database is unavailable, and with it the previous list",
		});
	});

	test("while not all members are known", async () => {
		await using stage = await startStage({
			withMembers: false,
			prepare: ({ sockets }) => sockets.holdMembers(true),
		});
		const me = stage.connection.discord.guilds.cache.get(stage.guild.id);
		await me?.members.fetch(stage.simulator.user("zoe").id);
		stage.give("zoe", stage.roles.silver);
		stage.list(["zoe", "gold"]);
		await stage.run();
		expect(await stage.run()).toMatchObject({
			taken: 0,
			removalsHeld: "not all members are loaded yet",
		});
		expect(stage.has("zoe", stage.roles.gold)).toBe(true);
		stage.simulator.sockets.holdMembers(false);
		await until("the members are known", () =>
			stage.connection.guilds.every((one) =>
				stage.connection.knowsMembers(one),
			),
		);
		expect(await stage.run()).toMatchObject({
			taken: 1,
			removalsHeld: undefined,
		});
	});
});

describe.concurrent("a list that shrinks", () => {
	const one: [string, string][] = [["zoe", "gold"]];

	test("by half is believed at once", async () => {
		await using stage = await startSettled();
		stage.list(["zoe", "gold"], ["mona_lisa", "gold"]);
		expect(await stage.run()).toMatchObject({
			taken: 2,
			removalsHeld: undefined,
		});
	});

	test("by more than half needs the next one to agree", async () => {
		await using stage = await startSettled();
		stage.game.misbehave("fewer-donators");
		expect(await stage.run()).toMatchObject({
			taken: 0,
			removalsHeld:
				"the list lost 3 of 4 entries; the next one must confirm it",
		});
		expect(await stage.run()).toMatchObject({
			taken: 3,
			removalsHeld: undefined,
		});
		expect(gold.filter((name) => stage.has(name, stage.roles.gold))).toEqual([
			"zoe",
		]);
	});

	test("counts as one, too, when others take the places", async () => {
		await using stage = await startSettled();
		stage.list(
			["ada", "gold"],
			["ada", "silver"],
			["ada", "bronze"],
			["zoe", "gold"],
		);
		expect(await stage.run()).toMatchObject({ given: 3, taken: 0 });
		expect(await stage.run()).toMatchObject({ taken: 3 });
	});

	test("is not believed when the next one is another", async () => {
		await using stage = await startSettled();
		stage.list(...one);
		expect((await stage.run()).taken).toBe(0);
		stage.list(["mona_lisa", "gold"]);
		expect((await stage.run()).taken).toBe(0);
		stage.list(...one);
		expect((await stage.run()).taken).toBe(0);
	});

	test("is forgotten when the next one is whole again, or empty", async () => {
		await using stage = await startSettled();
		for (const between of [gold, []]) {
			stage.list(...one);
			expect((await stage.run()).taken).toBe(0);
			stage.list(...between.map((name) => [name, "gold"] as [string, string]));
			expect((await stage.run()).taken).toBe(0);
		}
		stage.list(...one);
		expect((await stage.run()).taken).toBe(0);
	});

	test("may be agreed with after a failed fetch, and after a restart", async () => {
		await using stage = await startSettled();
		stage.list(...one);
		expect((await stage.run()).taken).toBe(0);
		stage.game.misbehave("500", { times: 1 });
		await expect(stage.run()).rejects.toThrow("HTTP 500");
		await stage.restart();
		expect((await stage.run()).taken).toBe(3);
	});

	test("a look alone remembers nothing", async () => {
		await using stage = await startSettled();
		stage.list(...one);
		for (let looks = 0; looks < 3; looks++)
			expect((await stage.sync.plan()).removalsHeld).toContain("lost 3 of 4");
		expect((await stage.run()).taken).toBe(0);
	});
});

describe.concurrent("who is restricted", () => {
	const startWithJail = async () => {
		let id = "";
		const stage = await startStage({
			prepare: ({ world, guild }) => {
				({ id } = world.roles.add(guild("The Cooks"), { name: "jail" }));
			},
			get sync() {
				return { restrictedRole: id };
			},
		});
		const jail = stage.guild.roles.get(id);
		if (!jail) throw new Error("it was made");
		return { stage, jail };
	};

	test("by role: neither gets a role nor loses one", async () => {
		const { stage, jail } = await startWithJail();
		await using _ = stage;
		stage.give("zoe", jail);
		stage.give("mona_lisa", jail, stage.roles.gold);
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		await stage.run();
		const { restricted: left } = await stage.run();
		expect(left.size).toBe(2);
		expect(stage.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});

	test("by role, since the look: is left alone", async () => {
		const { stage, jail } = await startWithJail();
		await using _ = stage;
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await stage.sync.plan();
		expect(found.changes).toHaveLength(2);
		stage.give("zoe", jail);
		const { id } = stage.simulator.user("zoe");
		await until("the bot has heard", () =>
			found.guild.members.cache.get(id)?.roles.cache.has(jail.id),
		);
		await stage.sync.apply(found);
		expect(stage.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});

	test("by what the option says, and also where it cannot say", async () => {
		const names: Record<string, () => Promise<boolean>> = {
			zoe: async () => true,
			mona_lisa: async () => {
				throw new StoreUnavailable("away");
			},
		};
		const ids = new Map<string, () => Promise<boolean>>();
		await using stage = await startStage({
			prepare: ({ user }) => {
				for (const [name, says] of Object.entries(names))
					ids.set(user(name).id, says);
			},
			sync: { isRestricted: (id) => ids.get(id)?.() ?? false },
		});
		stage.list(["zoe", "gold"], ["mona_lisa", "gold"], ["liwei", "gold"]);
		await stage.run();
		expect(stage.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});

	test("between the look and the deed: is left alone", async () => {
		const restricted = new Set<string>();
		await using stage = await startStage({
			sync: { isRestricted: (id) => restricted.has(id) },
		});
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await stage.sync.plan();
		expect(found.changes).toHaveLength(2);
		restricted.add(stage.simulator.user("zoe").id);
		await stage.sync.apply(found);
		expect(stage.done()).toEqual(["+liwei gold (supporter of tier gold)"]);
	});
});

describe.concurrent("which guild", () => {
	test("without GUILD_ID it is the only one", async () => {
		await using stage = await startStage({ sync: { guildId: undefined } });
		stage.list(["zoe", "gold"]);
		expect((await stage.run()).given).toBe(1);
	});

	test.each([
		[
			"two guilds and no GUILD_ID",
			undefined,
			"GUILD_ID is not set, and the bot is in 2 guilds",
		],
		[
			"a GUILD_ID of another guild",
			"123456789012345678",
			"The bot is not in the guild 123456789012345678",
		],
	])(
		"%s: it is told, and the game server is not asked",
		async (_, guildId, said) => {
			await using stage = await startStage({
				sync: { guildId },
				prepare: ({ world, bot, guild }) => {
					const alpha = world.users.get(bot("alpha").id);
					if (alpha) world.members.add(guild("The Bakers"), alpha, {});
				},
			});
			await expect(stage.sync.plan()).rejects.toThrow(said);
			expect(stage.game.requests).toEqual([]);
		},
	);
});

describe.concurrent("what goes wrong on Discord", () => {
	test("a refusal is told once by role, the others go on, and the next run tries again", async () => {
		await using stage = await startStage();
		const { faults } = stage.simulator;
		stage.list(["zoe", "gold"], ["mona_lisa", "gold"], ["liwei", "silver"]);
		faults.refuse(
			`PUT /guilds/*/members/*/roles/${stage.roles.gold.id}`,
			50013,
		);
		const { given, failed, reasons } = await stage.run();
		expect({ given, failed }).toEqual({ given: 1, failed: 2 });
		expect(reasons).toEqual([
			expect.stringMatching(/^@gold \(ID: \d+\): .*Missing Permissions/),
		]);
		stage.simulator.clearFaults();
		expect(await stage.run()).toMatchObject({ given: 2, failed: 0 });
	});

	test("a change of unknown outcome is looked at again by the next run", async () => {
		await using stage = await startStage();
		stage.list(["zoe", "gold"], ["mona_lisa", "gold"]);
		for (const when of ["before", "after"] as const)
			stage.simulator.faults.drop("PUT /guilds/*/members/*/roles/*", {
				...{ when, times: 1 },
			});
		const { given, failed } = await stage.run();
		expect({ given, failed }).toEqual({ given: 0, failed: 2 });
		expect(await stage.run()).toMatchObject({ given: 1, failed: 0 });
		expect(stage.has("zoe", stage.roles.gold)).toBe(true);
		expect(stage.has("mona_lisa", stage.roles.gold)).toBe(true);
		expect((await stage.run()).changes).toEqual([]);
	});

	test("when Discord answers nothing any more, the rest is left to the next run", async () => {
		await using stage = await startStage();
		stage.list(...gold.map((name) => [name, "gold"] as [string, string]), [
			"ada",
			"gold",
		]);
		stage.simulator.faults.fail("PUT /guilds/*/members/*/roles/*", 500);
		expect(await stage.run()).toMatchObject({ given: 0, failed: 3, left: 2 });
		stage.simulator.clearFaults();
		expect(await stage.run()).toMatchObject({ given: 5, failed: 0, left: 0 });
	});

	test("who leaves between the look and the deed is passed over", async () => {
		await using stage = await startStage();
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await stage.sync.plan();
		stage.simulator.world.members.remove(stage.guild, stage.member("zoe"));
		await until(
			"the bot has heard",
			() => !found.guild.members.cache.has(stage.simulator.user("zoe").id),
		);
		expect(await stage.sync.apply(found)).toMatchObject({
			given: 1,
			failed: 0,
		});
	});
});

describe.concurrent("runs", () => {
	test("one at a time; another is refused with how far the first has got", async () => {
		await using stage = await startStage();
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		const stalled = stage.simulator.faults.stall(
			"PUT /guilds/*/members/*/roles/*",
			{ times: 1 },
		);
		const [first, second] = [await stage.sync.plan(), await stage.sync.plan()];
		const running = stage.sync.apply(first);
		await until("it is at it", () => stalled.hits > 0);
		await expect(stage.sync.apply(second)).rejects.toThrow(
			"(1 of 2 done). Nothing was done; try again later.",
		);
		stalled.release();
		expect(await running).toMatchObject({ given: 2 });
	});

	test("what is over time is left to the next one", async () => {
		await using stage = await startStage();
		stage.list(["zoe", "gold"], ["liwei", "gold"]);
		const found = await stage.sync.plan();
		expect(await stage.sync.apply(found, performance.now() - 1)).toMatchObject({
			given: 0,
			left: 2,
		});
		expect(await stage.run()).toMatchObject({ given: 2, left: 0 });
	});

	test("one that is stopped in its middle is continued after a restart, also where the list had shrunk", async () => {
		await using stage = await startSettled();
		stage.list(["zoe", "gold"]);
		await stage.run();
		const found = await stage.sync.plan();
		const stalled = stage.simulator.faults.stall(
			"DELETE /guilds/*/members/*/roles/*",
			{ times: 1 },
		);
		const running = stage.sync.apply(found);
		await until("it is at it", () => stalled.hits > 0);
		const closing = stage.sync.close();
		stalled.release();
		await closing;
		expect(await running).toMatchObject({ taken: 1, left: 2 });
		await stage.restart();
		expect(await stage.run()).toMatchObject({
			taken: 2,
			removalsHeld: undefined,
		});
	});

	test("begin by themselves when Discord is there, and again and again; each is told in one line", async () => {
		await using stage = await startStage({ sync: { intervalMs: 20 } });
		stage.list(["zoe", "gold"], ["liwei", "diamond"]);
		stage.sync.start();
		await until("three runs", () => runs() >= 3);
		stage.list(["mona_lisa", "gold"], ["zoe", "gold"], ["liwei", "diamond"]);
		await until("mona has it", () => stage.has("mona_lisa", stage.roles.gold));
		await stage.sync.close();
		const [first] = stage.logged.entries("supporter roles synced");
		expect(first).toMatchObject({
			...{ level: "info", guild: stage.guild.id, supporters: 2 },
			...{ given: 1, taken: 0, failed: 0, left: 0 },
			...{ restricted: 0, not_members: 0 },
			removals_held: "this is the first list; the next one is compared with it",
		});
		const warned = stage.logged.lines.filter((line) =>
			line.includes("has no role for"),
		);
		expect(warned).toHaveLength(1);
		const asked = stage.game.requests.length;
		await stage.run();
		expect(stage.game.requests).toHaveLength(asked + 1);

		function runs() {
			return stage.logged.entries("supporter roles synced").length;
		}
	});

	test("go on after a failed one, which is told", async () => {
		await using stage = await startStage({ sync: { intervalMs: 5 } });
		stage.list(["zoe", "gold"]);
		stage.game.misbehave("500", { times: 2 });
		stage.sync.start();
		await until("zoe has it", () => stage.has("zoe", stage.roles.gold));
		const failed = stage.logged.entries("supporter role sync failed");
		expect(failed).toMatchObject([
			{ level: "warn", reason: "HTTP 500" },
			{ level: "warn", reason: "HTTP 500" },
		]);
	});

	test("wait for the members of the guild", async () => {
		await using stage = await startStage({
			withMembers: false,
			prepare: ({ sockets }) => sockets.holdMembers(true),
			sync: { intervalMs: 3_600_000 },
		});
		stage.list(["zoe", "gold"]);
		stage.sync.start();
		// A run that did not wait would have asked before these.
		await stage.sync.plan();
		await stage.sync.plan();
		expect(stage.game.requests).toHaveLength(2);
		stage.simulator.sockets.holdMembers(false);
		const [first] = await until("the first run", () => {
			const entries = stage.logged.entries("supporter roles synced");
			return entries.length > 0 && entries;
		});
		// Before they are known she would be no member.
		expect(first).toMatchObject({ given: 1, not_members: 0 });
	});

	test("come later after failures, up to an hour", () => {
		const minutes = [0, 1, 2, 3, 4, 20].map(
			(failures) => waitAfter(failures, 300_000) / 60_000,
		);
		expect(minutes).toEqual([5, 5, 10, 20, 40, 60]);
		expect(waitAfter(9, 86_400_000)).toBe(86_400_000);
	});
});
