// What a model sees of the supporters' roles, and what it can have done.

import { describe, expect, test } from "bun:test";
import { connectTo } from "../../support/mcp.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { addToBakers, memberNamed } from "../../support/world.ts";
import { type GameWorldOptions, startGameWorld } from "./game-world.ts";

const donatorTest = testWith(startDonatorWorld);

const names = ["list_donators", "sync_donators"];
const changing = /members\/:user_id\/roles/;

/** Tiers gold and silver; the first run is over, with nobody on the list. */
async function startDonatorWorld(options: GameWorldOptions = {}) {
	const ids: Record<string, string> = {};
	const world = await startGameWorld({
		...options,
		settings: (simulator) => {
			for (const name of ["gold", "silver"])
				ids[name] = simulator.world.roles.add(simulator.guild("The Cooks"), { name }).id;
			return { donator_sync: true, tiers: ids, ...(typeof options.settings === "object" && options.settings) };
		},
	});
	await world.compared();
	const { simulator, game } = world;
	return Object.assign(world, {
		ids,
		list(...entries: [name: string | null, tier: string, username: string][]) {
			game.donators.length = 0;
			for (const [name, tier, username] of entries)
				game.addDonator({
					chat_id: name === null ? null : simulator.user(name).id,
					tier,
					username,
					uuid: `uuid of ${username}`,
				});
		},
		changes: () => simulator.journal.entries().filter(({ route }) => changing.test(route)),
	});
}

describe.concurrent("the two tools", () => {
	test("are not there when the feature is off", async () => {
		await using world = await startGameWorld({ features: { game: false } });
		expect(await world.listTools()).not.toContain("list_donators");
		for (const name of names) expect((await world.call(name)).code).toBe(-32601);
	});

	test.each([
		["donator_sync is off", { settings: { tiers: { gold: "123456789012345678" } } }],
		["there are no tiers", { settings: { donator_sync: true } }],
		["the game server is another guild's", { settings: { donator_sync: true, guilds: ["123456789012345678"] } }],
	])("say so when %s", async (_, options) => {
		await using world = await startGameWorld(options);
		for (const name of names)
			expect((await world.call(name)).text).toContain("Supporters of the game server get no roles in The Cooks");
		expect(world.game.requests).toEqual([]);
	});

	donatorTest("take the guild_id that a gateway routed by, and no other argument", async (world) => {
		for (const name of names) {
			const routed = await world.call(name, { guild_id: world.guild.id });
			expect(routed.isError).toBe(false);
			const wrong = await world.call(name, { nothing: 1 });
			expect(wrong.code).toBe(-32602);
		}
	});

	test("are refused where the operator does not let tools touch the guild", async () => {
		await using world = await startDonatorWorld({ mcp: { guilds: ["123456789012345678"] } });
		world.list(["zoe", "gold", "Steve"]);
		for (const args of [{}, { dry_run: false }]) {
			const { text, isError } = await world.call("sync_donators", args);
			expect(isError).toBe(true);
			expect(text).toContain("has not enabled tools for the guild");
		}
		expect((await world.call("list_donators")).isError).toBe(true);
		expect(world.changes()).toEqual([]);
	});

	donatorTest("say so when the game server cannot be reached", async (world) => {
		world.game.misbehave("500");
		for (const name of names)
			expect(await world.call(name)).toEqual({
				isError: true,
				text: "Could not reach the game server: the game server answered HTTP 500. Nothing was done; try again later.",
			});
	});
});

test("each guild has tiers of its own", async () => {
	const ids: Record<string, string> = {};
	const inBoth = ["The Cooks", "The Bakers"] as const;
	await using world = await startGameWorld({
		prepare(simulator) {
			addToBakers(simulator);
			for (const name of inBoth) ids[name] = simulator.world.roles.add(simulator.guild(name), { name: "Supporter" }).id;
		},
		settings: () => ({ donator_sync: true, tiers: { gold: ids["The Cooks"] } }),
		others: ({ guild }) => ({
			[guild("The Bakers").id]: { "game.donator_sync": true, "game.tiers": { silver: ids["The Bakers"] } },
		}),
	});
	const { simulator, game } = world;
	const { id } = simulator.user("zoe");
	for (const tier of ["gold", "silver"]) game.addDonator({ chat_id: id, tier });
	const bakers = simulator.guild("The Bakers").id;
	await world.call("sync_donators", { dry_run: false });
	await until("she has both roles", async () => {
		await world.call("sync_donators", { guild_id: bakers, dry_run: false });
		return inBoth.every((name) =>
			simulator
				.guild(name)
				.members.get(id)
				?.roles.includes(ids[name] ?? ""),
		);
	});
	const { text } = await world.call("list_donators", { guild_id: bakers });
	expect(text).toContain('Problem: game.tiers has no role for "gold".');
});

donatorTest("the two tools are listed with what they do", { mcp: { toolsets: "all" } }, async (world) => {
	const all = await (await connectTo(world.bot.url)).listTools();
	const listed = all.filter(({ name }) => names.includes(name));
	expect(listed).toMatchSnapshot();
	expect(listed.map(({ annotations }) => annotations)).toMatchObject([
		{ readOnlyHint: true },
		{ destructiveHint: true },
	]);
	for (const { description, annotations } of listed) {
		const { readOnlyHint = false } = annotations as Record<string, boolean>;
		expect(String(description).startsWith("PRIVILEGED — ")).toBe(!readOnlyHint);
	}
});

describe.concurrent("list_donators", () => {
	donatorTest("a line each, with who they are on Discord, and what roles are missing or superfluous", async (world) => {
		const { simulator, guild, ids } = world;
		world.list(
			["zoe", "gold", "Steve"],
			["zoe", "silver", "Steve"],
			[null, "gold", "Alex\n| forged"],
			["bob_the_baker", "gold", "Bob"],
			["liwei", "diamond", "Li"],
		);
		const mona = memberNamed({ guild }, "mona_lisa");
		simulator.world.members.edit(guild, mona, { roles: [ids.gold ?? ""] });
		const id = (name: string) => simulator.user(name).id;
		const expected = [
			"5 supporter(s):",
			`gold | Steve | uuid: uuid of Steve | Zoë 🍞 (@zoe) | ID: ${id("zoe")} | missing: @gold (ID: ${ids.gold}), @silver (ID: ${ids.silver})`,
			`silver | Steve | uuid: uuid of Steve | Zoë 🍞 (@zoe) | ID: ${id("zoe")} | missing: @gold (ID: ${ids.gold}), @silver (ID: ${ids.silver})`,
			"gold | Alex\\n\\| forged | uuid: uuid of Alex\\n\\| forged | no Discord account",
			`gold | Bob | uuid: uuid of Bob | not a member | ID: ${id("bob_the_baker")}`,
			`diamond | Li | uuid: uuid of Li | 李伟 (@liwei) | ID: ${id("liwei")}`,
			"1 member(s) with a role that they are not listed for:",
			`MONA LISA (@mona_lisa) | ID: ${id("mona_lisa")} | superfluous: @gold (ID: ${ids.gold})`,
			"No roles are removed: this is the first list; the next one is compared with it.",
			'Problem: game.tiers has no role for "diamond".',
		].join("\n");
		await until("the bot has heard", async () => (await world.call("list_donators")).text.includes("superfluous"));
		const { text } = await world.call("list_donators");
		expect(text).toBe(expected);
		expect(world.changes()).toEqual([]);
	});

	donatorTest("as many as are asked for, and how to go on", async (world) => {
		for (let number = 1; number <= 5; number++) world.game.addDonator({ chat_id: null, tier: "gold", uuid: "u" });
		const page = async (args: object) =>
			(await world.call("list_donators", { limit: 2, ...args })).text
				.split("\n")
				.filter((line) => !line.startsWith("No roles"));
		const line = (number: number) => `gold | player${number} | uuid: u | no Discord account`;
		expect(await page({})).toEqual(["5 supporter(s), 2 of them here:", ...[line(1), line(2), "next_offset=2"]]);
		expect(await page({ offset: 4 })).toEqual(["5 supporter(s), 1 of them here:", line(5)]);
	});
});

describe.concurrent("sync_donators", () => {
	donatorTest("does what it said it would do in a dry run", async (world) => {
		const { simulator, ids } = world;
		world.list(["zoe", "gold", "Steve"]);
		const zoe = simulator.user("zoe").id;
		const preview = [
			"Dry run: nothing was done.",
			"Would give 1 role(s) and remove 0:",
			`give @gold (ID: ${ids.gold}) to Zoë 🍞 (@zoe) | ID: ${zoe} | supporter of tier gold`,
			"No roles are removed: this is the first list; the next one is compared with it.",
		].join("\n");
		const dry = await world.call("sync_donators", { dry_run: true });
		expect(dry.text).toBe(preview);
		expect(world.changes()).toEqual([]);

		const { text } = await world.call("sync_donators", { dry_run: false });
		expect(text).toBe(
			"Gave 1 role(s), removed 0.\nNo roles are removed: this is the first list; the next one is compared with it.",
		);
		expect(world.changes()).toMatchObject([
			{
				method: "PUT",
				path: `/guilds/${world.guild.id}/members/${zoe}/roles/${ids.gold}`,
				reason: "supporter of tier gold",
			},
		]);
		await until(
			"the bot has heard",
			async () =>
				(await world.call("sync_donators", { dry_run: true })).text ===
				"Dry run: nothing was done.\nNothing would change.",
		);

		world.list(["mona_lisa", "gold", "Alex"], ["zoe", "silver", "Steve"]);
		await world.call("sync_donators", { dry_run: false });
		const last = await world.call("sync_donators", { dry_run: true });
		expect(last.text).toContain(
			`remove @gold (ID: ${ids.gold}) from Zoë 🍞 (@zoe) | ID: ${zoe} | no longer supporter of tier gold`,
		);
		expect((await world.call("sync_donators", { dry_run: false })).text).toStartWith("Gave 0 role(s), removed 1.");
	});

	donatorTest("says what failed, and that it is tried again", async (world) => {
		world.list(["zoe", "gold", "Steve"], ["liwei", "silver", "Li"]);
		world.simulator.faults.refuse("PUT /guilds/*/members/*/roles/*", 50013, { times: 1 });
		const { text } = await world.call("sync_donators", { dry_run: false });
		expect(text).toContain("Gave 1 role(s), removed 0.");
		expect(text).toContain("1 change(s) failed; the next run retries them:");
		expect(text).toContain("Missing Permissions (code 50013)");
	});

	donatorTest("is counted, and is in the audit log", { mcp: { toolsets: "all" } }, async (world) => {
		world.list(["zoe", "gold", "Steve"]);
		await world.call("sync_donators", { dry_run: false });
		const answer = await fetch(new URL("/metrics", world.bot.url));
		const text = await answer.text();
		expect(text).toContain('guildhall_bot_donator_changes_total{outcome="given"} 1');
		expect(text).toContain('guildhall_bot_donator_runs_total{outcome="done"} 1');
		const audit = await until("it is written", async () => {
			const { text } = await world.call("list_recent_tool_calls");
			return text.includes("sync_donators") && text;
		});
		expect(audit).toContain('{"dry_run":false}');
	});
});
