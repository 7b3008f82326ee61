// Everyone who joins gets the role, whatever comes in between.

import { expect, test } from "bun:test";
import { createJoinRole } from "../../../src/bot/features/join-role.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { type StageOptions, startStage } from "./stage.ts";

const giving = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";
/** Before the bot starts, so that its members do not count as joined. */
const longAgo = "2020-01-01T00:00:00.000Z";

function newcomer(simulator: Simulator): string {
	for (const role of simulator.guild("The Cooks").roles.values())
		if (role.name === "Newcomer") return role.id;
	throw new Error("there is no such role");
}

async function stageOn(changes: Partial<StageOptions> = {}) {
	const stage = await startStage({
		settings: (simulator) => ({
			features: { join_role: true },
			join_role: { role: newcomer(simulator) },
		}),
		create: (options) =>
			createJoinRole(options, {
				scanIntervalMs: 5,
				saveIntervalMs: 10,
				backOffMs: [5, 20],
			}),
		...changes,
		prepare(simulator) {
			for (const member of simulator.guild("The Cooks").members.values())
				member.joined_at = longAgo;
			changes.prepare?.(simulator);
		},
	});
	const role = newcomer(stage.simulator);
	const has = (name: string) => stage.member(name).roles.includes(role);
	return {
		...{ stage, role, has },
		/** Who was given it, in order. A scan may give it again before the event of the first time has come. */
		given: () => [
			...new Set(
				stage.simulator.journal
					.entries(giving)
					.map(
						({ path }) =>
							stage.simulator.world.users.get(
								/members\/(\d+)/.exec(path)?.[1] ?? "",
							)?.username,
					),
			),
		],
		gets: (...names: string[]) =>
			until(`${names} have the role`, () => names.every(has)),
		/** Until the bot has noted in its store that it has looked. */
		looked: () =>
			until("it has looked", async () => {
				const { sql } = stage.store;
				return (await sql`SELECT guild_id FROM join_role_marks`).length === 1;
			}),
		[Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
	};
}

test("people who join get the role, with a reason; bots and who was there before do not", async () => {
	await using world = await stageOn();
	const { stage } = world;
	await world.looked();
	const bot = stage.simulator.world.users.add({ username: "robot" });
	Object.assign(bot, { bot: true });
	stage.simulator.world.members.add(stage.guild, bot);
	stage.join("nora");
	stage.join("omar");
	await world.gets("nora", "omar");
	expect(world.given()).toEqual(["nora", "omar"]);
	const [entry] = stage.simulator.journal.entries(giving);
	expect(entry?.reason).toBe("for everyone who joins");
});
test("who joins while Discord's Gateway has lost the bot gets it", async () => {
	await using world = await stageOn();
	const { stage } = world;
	await world.looked();
	const { sockets } = stage.simulator;
	sockets.holdEvents(true);
	stage.join("nora");
	stage.simulator.disconnectSockets({ resumable: false });
	sockets.holdEvents(false);
	await world.gets("nora");
});
test("a write that Discord does not answer is sent again, and the others do not wait for ever", async () => {
	await using world = await stageOn();
	const { stage } = world;
	await world.looked();
	const { faults } = stage.simulator;
	faults.fail(giving, 500, { times: 2 });
	stage.join("nora");
	stage.join("omar");
	await world.gets("nora", "omar");
	expect(stage.logged.lines.join("\n")).toContain(
		"join_role cannot give the role",
	);
});
test("a part of each rate limit is left to others", async () => {
	await using world = await stageOn({
		simulator: {
			rateLimits: {
				global: { requests: 10_000, perMs: 1_000 },
				each: { requests: 20, perMs: 3_600_000 },
			},
		},
	});
	const { stage } = world;
	await world.looked();
	let answers = 0;
	stage.connection.discord.rest.on("response", ({ method }) => {
		if (method === "PUT") answers += 1;
	});
	for (let at = 0; at < 20; at++) stage.join(`raider${at}`);
	// Discord has them before we have its answers.
	await until("its part is used up", () => answers === 15);
	const late = stage.join("late").user.id;
	await until("the bot has heard", () =>
		stage.connection.guilds.some(({ members }) => members.cache.has(late)),
	);
	expect(world.given()).toHaveLength(15);
});
test("whoever a chargeback sets apart gets it when it is over", async () => {
	await using world = await stageOn({
		settings: (simulator) => {
			const [restricted] = [...simulator.guild("The Cooks").roles.values()]
				.filter(({ name }) => name === "Regular")
				.map(({ id }) => id);
			return {
				features: { join_role: true, game: true },
				join_role: { role: newcomer(simulator) },
				game: { restricted_role: restricted },
			};
		},
	});
	const { stage } = world;
	await world.looked();
	const restricted = someOtherRole(stage.simulator);
	stage.join("nora", { roles: [restricted] });
	stage.join("omar");
	await world.gets("omar");
	expect(world.has("nora")).toBe(false);
	stage.simulator.world.members.edit(stage.guild, stage.member("nora"), {
		roles: [],
	});
	await world.gets("nora");
});
onBoth((databases) => {
	test("who joins while the bot is away gets it when it is back, and nobody is given it twice", async () => {
		await using world = await stageOn({ place: await databases.place() });
		const { stage } = world;
		await world.looked();
		stage.join("nora");
		await world.gets("nora");
		for (const how of ["stop", "kill"] as const) {
			await stage[how]();
			stage.join(`late-${how}`);
			stage.join(`greeted-${how}`, { roles: [someOtherRole(stage.simulator)] });
			await stage.start();
			await world.gets(`late-${how}`);
		}
		expect(world.given()).toEqual(["nora", "late-stop", "late-kill"]);
	});

	test("who lost the role by hand is not given it again at the next start", async () => {
		await using world = await stageOn({ place: await databases.place() });
		const { stage } = world;
		await world.looked();
		stage.join("nora", {
			joined_at: new Date(Date.now() - 60_000).toISOString(),
		});
		stage.join("omar");
		await world.gets("nora", "omar");
		await stage.stop();
		stage.simulator.world.members.edit(stage.guild, stage.member("nora"), {
			roles: [],
		});
		await stage.start();
		stage.join("petra");
		await world.gets("petra");
		expect(world.has("nora")).toBe(false);
	});

	test("the role is given when the membership screening is passed, also while the bot is away", async () => {
		await using world = await stageOn({ place: await databases.place() });
		const { stage } = world;
		const { world: discord } = stage.simulator;
		await world.looked();
		for (const name of ["nora", "omar"]) stage.join(name, { pending: true });
		stage.join("petra");
		await world.gets("petra");
		expect(world.given()).toEqual(["petra"]);
		discord.members.edit(stage.guild, stage.member("nora"), { pending: false });
		await world.gets("nora");
		await until("it is noted who is owed", async () => {
			const rows = await stage.store.sql<{ user_id: string }>`
				SELECT user_id FROM join_roles_owed`;
			return (
				rows.length === 1 && rows[0]?.user_id === stage.member("omar").user.id
			);
		});
		await stage.kill();
		discord.members.edit(stage.guild, stage.member("omar"), { pending: false });
		await stage.start();
		await world.gets("omar");
		expect(world.given()).toEqual(["petra", "nora", "omar"]);
		await until("nobody is owed any more", async () => {
			const rows = await stage.store.sql`SELECT user_id FROM join_roles_owed`;
			return rows.length === 0;
		});
	});

	test("100 who join at once get it within Discord's rate limits, oldest first, also over a restart", async () => {
		await using world = await stageOn({
			place: await databases.place(),
			simulator: {
				rateLimits: {
					global: { requests: 10_000, perMs: 1_000 },
					each: { requests: 20, perMs: 50 },
				},
			},
		});
		const { stage } = world;
		await world.looked();
		const names = Array.from({ length: 100 }, (_, at) => `raider${at}`);
		for (const name of names) stage.join(name);
		await until("some have it", () => world.given().length > 20);
		await stage.stop();
		expect(world.given().length).toBeLessThan(100);
		await stage.start();
		await world.gets(...names);
		expect(world.given()).toEqual(names);
		const refused = stage.simulator.requests
			.list()
			.filter(({ status }) => status === 429);
		expect(refused).toEqual([]);
	});

	test("the last who joined before the first start is not given the role at the second", async () => {
		await using world = await stageOn({
			place: await databases.place(),
			prepare(simulator) {
				const guild = simulator.guild("The Cooks");
				const user = simulator.world.users.add({ username: "just_before" });
				simulator.world.members.add(guild, user);
			},
		});
		const { stage } = world;
		await world.looked();
		await stage.stop();
		await stage.start();
		stage.join("nora", {
			joined_at: new Date(Date.now() + 60_000).toISOString(),
		});
		await world.gets("nora");
		expect(world.given()).toEqual(["nora"]);
	});
});

function someOtherRole(simulator: Simulator): string {
	for (const role of simulator.guild("The Cooks").roles.values())
		if (role.name === "Regular") return role.id;
	throw new Error("there is no such role");
}
