// Everyone who joins gets the role, whatever comes in between.

import { expect, test } from "bun:test";
import { createJoinRole } from "../../../src/bot/features/join-role.ts";
import { onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { roleNamed } from "../../support/world.ts";
import { type FeatureSetup, startFeature } from "./running-feature.ts";

const giving = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";
/** Before the bot starts, so that its members do not count as joined. */
const longAgo = "2020-01-01T00:00:00.000Z";

async function startJoinRole(changes: Partial<FeatureSetup> = {}) {
	const bot = await startFeature({
		settings: (simulator) => ({ join_role: { role: roleNamed(simulator, "Newcomer").id } }),
		create: (options) => createJoinRole(options, { scanIntervalMs: 5, saveIntervalMs: 10, backOffMs: [5, 20] }),
		...changes,
		prepare(simulator) {
			for (const member of simulator.guild("The Cooks").members.values()) member.joined_at = longAgo;
			changes.prepare?.(simulator);
		},
	});
	await until("it has stored its first scan", async () => {
		const { sql } = bot.store;
		return (await sql`SELECT guild_id FROM join_role_marks`).length === 1;
	});
	const role = roleNamed(bot.simulator, "Newcomer").id;
	const has = (name: string) => bot.member(name).roles.includes(role);
	return {
		bot,
		role,
		has,
		/** Who was given it, in order. A scan may give it again before the event of the first time has come. */
		given: () => [
			...new Set(
				bot.simulator.journal
					.entries(giving)
					.map(({ path }) => bot.simulator.world.users.get(/members\/(\d+)/.exec(path)?.[1] ?? "")?.username),
			),
		],
		gets: (...names: string[]) => until(`${names} have the role`, () => names.every(has)),
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

test("people who join get the role, with a reason; bots and who was there before do not", async () => {
	await using world = await startJoinRole();
	const { bot } = world;
	const robot = bot.simulator.world.users.add({ username: "robot" });
	Object.assign(robot, { bot: true });
	bot.simulator.world.members.add(bot.guild, robot);
	bot.join("nora");
	bot.join("omar");
	await world.gets("nora", "omar");
	expect(world.given()).toEqual(["nora", "omar"]);
	const [entry] = bot.simulator.journal.entries(giving);
	expect(entry?.reason).toBe("for everyone who joins");
});
test("a member who joins while the bot is disconnected gets the role", async () => {
	await using world = await startJoinRole();
	const { bot } = world;
	const { sockets } = bot.simulator;
	sockets.holdEvents(true);
	bot.join("nora");
	bot.simulator.sockets.disconnect({ resumable: false });
	sockets.holdEvents(false);
	await world.gets("nora");
});
test("a failed write is retried, and others are given meanwhile", async () => {
	await using world = await startJoinRole();
	const { bot } = world;
	const { faults } = bot.simulator;
	faults.fail(giving, 500, { times: 2 });
	bot.join("nora");
	bot.join("omar");
	await world.gets("nora", "omar");
	expect(bot.logged.lines.join("\n")).toContain("join_role feature: could not give new members the role");
});
test("a part of each rate limit is left to others", async () => {
	await using world = await startJoinRole({
		simulator: { rateLimits: { global: { requests: 10_000, perMs: 1_000 }, each: { requests: 20, perMs: 3_600_000 } } },
	});
	const { bot } = world;
	let answers = 0;
	bot.connection.discord.rest.on("response", ({ method }) => {
		if (method === "PUT") answers += 1;
	});
	for (let at = 0; at < 20; at++) bot.join(`raider${at}`);
	// Discord has them before we have its answers.
	await until("its part is used up", () => answers === 15);
	const late = bot.join("late").user.id;
	await until("the bot has heard", () => bot.connection.guilds.some(({ members }) => members.cache.has(late)));
	expect(world.given()).toHaveLength(15);
});
test("a member restricted by a chargeback gets the role when the restriction ends", async () => {
	await using world = await startJoinRole({
		settings: (simulator) => ({
			features: { game: true },
			join_role: { role: roleNamed(simulator, "Newcomer").id },
			game: { restricted_role: roleNamed(simulator, "Regular").id },
		}),
	});
	const { bot } = world;
	const restricted = roleNamed(bot.simulator, "Regular").id;
	bot.join("nora", { roles: [restricted] });
	bot.join("omar");
	await world.gets("omar");
	expect(world.has("nora")).toBe(false);
	bot.simulator.world.members.edit(bot.guild, bot.member("nora"), { roles: [] });
	await world.gets("nora");
});
onBoth((databases) => {
	test("who joins while the bot is away gets it when it is back, and nobody is given it twice", async () => {
		await using world = await startJoinRole({ place: await databases.place() });
		const { bot } = world;
		bot.join("nora");
		await world.gets("nora");
		for (const how of ["stop", "kill"] as const) {
			await bot[how]();
			bot.join(`late-${how}`);
			bot.join(`greeted-${how}`, { roles: [roleNamed(bot.simulator, "Regular").id] });
			await bot.start();
			await world.gets(`late-${how}`);
		}
		expect(world.given()).toEqual(["nora", "late-stop", "late-kill"]);
	});

	test("who lost the role by hand is not given it again at the next start", async () => {
		await using world = await startJoinRole({ place: await databases.place() });
		const { bot } = world;
		bot.join("nora", { joined_at: new Date(Date.now() - 60_000).toISOString() });
		bot.join("omar");
		await world.gets("nora", "omar");
		await bot.stop();
		bot.simulator.world.members.edit(bot.guild, bot.member("nora"), { roles: [] });
		await bot.start();
		bot.join("petra");
		await world.gets("petra");
		expect(world.has("nora")).toBe(false);
	});

	test("the role is given when the membership screening is passed, also while the bot is away", async () => {
		await using world = await startJoinRole({ place: await databases.place() });
		const { bot } = world;
		const { world: discord } = bot.simulator;
		for (const name of ["nora", "omar"]) bot.join(name, { pending: true });
		bot.join("petra");
		await world.gets("petra");
		expect(world.given()).toEqual(["petra"]);
		discord.members.edit(bot.guild, bot.member("nora"), { pending: false });
		await world.gets("nora");
		await until("it is noted who is owed", async () => {
			const rows = await bot.store.sql<{ user_id: string }>`
				SELECT user_id FROM join_roles_owed`;
			return rows.length === 1 && rows[0]?.user_id === bot.member("omar").user.id;
		});
		await bot.kill();
		discord.members.edit(bot.guild, bot.member("omar"), { pending: false });
		await bot.start();
		await world.gets("omar");
		expect(world.given()).toEqual(["petra", "nora", "omar"]);
		await until("nobody is owed any more", async () => {
			const rows = await bot.store.sql`SELECT user_id FROM join_roles_owed`;
			return rows.length === 0;
		});
	});

	test("100 who join at once get it within Discord's rate limits, oldest first, also over a restart", async () => {
		await using world = await startJoinRole({
			place: await databases.place(),
			simulator: { rateLimits: { global: { requests: 10_000, perMs: 1_000 }, each: { requests: 20, perMs: 50 } } },
		});
		const { bot } = world;
		const names = Array.from({ length: 100 }, (_, at) => `raider${at}`);
		for (const name of names) bot.join(name);
		await until("some have it", () => world.given().length > 20);
		await bot.stop();
		expect(world.given().length).toBeLessThan(100);
		await bot.start();
		await world.gets(...names);
		expect(world.given()).toEqual(names);
		const refused = bot.simulator.requests.list().filter(({ status }) => status === 429);
		expect(refused).toEqual([]);
	});

	test("the last who joined before the first start is not given the role at the second", async () => {
		await using world = await startJoinRole({
			place: await databases.place(),
			prepare(simulator) {
				const guild = simulator.guild("The Cooks");
				const user = simulator.world.users.add({ username: "just_before" });
				simulator.world.members.add(guild, user);
			},
		});
		const { bot } = world;
		await bot.stop();
		await bot.start();
		bot.join("nora", { joined_at: new Date(Date.now() + 60_000).toISOString() });
		await world.gets("nora");
		expect(world.given()).toEqual(["nora"]);
	});
});
