// Two guilds side by side, and parts of one copied into the other, through the tools of one bot.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import { until } from "../../support/until.ts";
import {
	addToBakers,
	memberNamed,
	memberOverwrite,
	roleOverwrite,
	startWorld,
	type TestWorld,
	userNamed,
} from "../../support/world.ts";

let world: TestWorld;
let bakers: Guild;

beforeAll(async () => {
	world = await startWorld({}, { mcpToken: "a-token" });
	const { simulator, guild: cooks } = world;
	bakers = addToBakers(world);
	const { members, roles, channels, bans } = simulator.world;
	const judge = roles.add(cooks, { name: "Judge", permissions: "0", hoist: true });
	members.edit(cooks, memberNamed(world, "liwei"), { roles: [judge.id] });
	roles.add(cooks, { name: "Taster", permissions: "8192" });
	roles.add(bakers, { name: "Taster", permissions: "0" });
	const permission_overwrites = [
		roleOverwrite(cooks.id, { deny: PermissionFlagsBits.ViewChannel }),
		roleOverwrite(judge.id, { allow: PermissionFlagsBits.ViewChannel }),
		memberOverwrite(userNamed(world, "alpha").id, { allow: PermissionFlagsBits.ViewChannel }),
	];
	const contest = channels.add(cooks, { name: "Contest", type: 4, permission_overwrites });
	channels.add(cooks, { name: "entries", type: 0, parent_id: contest.id, topic: "One each", permission_overwrites });
	for (const guild of [cooks, bakers]) bans.add(guild, userNamed(world, "ada"));
	await until("the bot has both guilds", async () => {
		const { text } = await world.call("list_guilds");
		return world.bot.loaded && text.startsWith("2 guild(s)");
	});
	await world.heard();
});
afterAll(() => world[Symbol.asyncDispose]());

describe("compare_guilds", () => {
	test("shows what differs, and who is in both", async () => {
		const { text } = await world.call("compare_guilds", { guild_id: world.guild.id, with: bakers.id });
		const named = (name: string) => `@${name} (${userNamed(world, name).id})`;
		const lines = text.split("\n");
		expect(lines[0]).toBe(`A: The Cooks (ID: ${world.guild.id})`);
		expect(lines[1]).toBe(`B: The Bakers (ID: ${bakers.id})`);
		expect(lines[2]).toStartWith("Not compared: B: channels: the bot cannot see 1 of its channels");
		expect(lines).toContain("roles: 4 in both, 1 of them differ; only A: Judge");
		expect(lines).toContain("  Taster: permissions only A: MANAGE_MESSAGES");
		expect(lines).toContain("categories: 1 in both, equal, with their access; only A: Contest");
		expect(text).toContain("only A: Talk/staff, Contest/entries");
		const both = [named("alpha").replace(")", ", bot)"), named("zoe"), named("liwei")].join(", ");
		expect(lines).toContain(`members: 3 in both: ${both}; 2 only in A, 2 only in B`);
		expect(lines).toContain(`bans: 1 in both: ${named("ada")}`);
		expect(text).not.toContain("automod");
	});

	test("of some parts, also with what is equal", async () => {
		const args = { guild_id: world.guild.id, with: bakers.id, parts: ["categories", "roles"], all: ["categories"] };
		const { text } = await world.call("compare_guilds", args);
		const lines = text.split("\n");
		const at = lines.indexOf("categories: 1 in both, equal, with their access; only A: Contest");
		expect(lines[at + 1]).toBe("  equal: Talk");
		expect(lines.filter((line) => line.includes("  equal: "))).toHaveLength(1);
	});

	test("without another guild, gives what a bot of that guild needs", async () => {
		const facts = await world.call("compare_guilds", { guild_id: bakers.id });
		const given = { guild_id: bakers.id, document: facts.text };
		const args = { guild_id: world.guild.id, parts: ["roles", "members"] };
		const direct = await world.call("compare_guilds", { ...args, with: bakers.id });
		const { text } = await world.call("compare_guilds", { ...args, with: given });
		expect(text.split("\n").slice(3)).toEqual(direct.text.split("\n").slice(2));
		const outsiders = JSON.parse(facts.text);
		Object.assign(outsiders, {
			members: "300000000000000001 300000000000000002",
			people: { "300000000000000001": ["eve"] },
		});
		const theirs = { ...given, document: JSON.stringify(outsiders) };
		const named = await world.call("compare_guilds", { ...args, with: theirs, all: ["members"] });
		expect(named.text).toContain("only B: @eve (300000000000000001), 300000000000000002");
		const liwei = userNamed(world, "liwei");
		outsiders.document.bans = [{ id: liwei.id }];
		const banned = { parts: ["members", "bans"], with: { ...given, document: JSON.stringify(outsiders) } };
		const { text: shared } = await world.call("compare_guilds", { ...args, ...banned });
		expect(shared).toEndWith(`\nbanned in B, member of A: @liwei (${liwei.id}) with Judge`);
		const wrong = await world.call("compare_guilds", { ...args, with: { ...given, document: "no" } });
		expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining("could not be read: no") });
	});

	test("shows settings of the bot by names", async () => {
		const settings = { "welcome.channel": "#entries", "auto_role.min_messages": 5 };
		await world.call("set_settings", { guild_id: world.guild.id, settings });
		const args = { guild_id: world.guild.id, with: bakers.id, parts: ["bot"] };
		expect((await world.call("compare_guilds", args)).text).toEndWith(
			'\nbot: welcome.channel "entries" | default; auto_role.min_messages 5 | default',
		);
	});

	test("needs ADMINISTRATOR in both guilds", async () => {
		const person = { id: userNamed(world, "zoe").id, name: "zoe", signedIn: false };
		const zoe = world.mcp.as({ id: "key:zoe", name: "zoe", access: "all", person });
		const { text } = await zoe.call("compare_guilds", { guild_id: bakers.id, with: world.guild.id });
		expect(text).toContain("You lack ADMINISTRATOR");
	});

	test("is refused for the same guild, and for one that the bot is not in", async () => {
		const same = await world.call("compare_guilds", { guild_id: bakers.id, with: bakers.id });
		expect(same.text).toContain("with: expected another guild than guild_id");
		const unknown = await world.call("compare_guilds", { guild_id: bakers.id, with: "999999999999999999" });
		expect(unknown).toMatchObject({ isError: true });
	});
});

describe("plan_guild with copy_from", () => {
	const plan = (copy_from: object) =>
		world.call("plan_guild", { guild_id: bakers.id, copy_from: { guild_id: world.guild.id, ...copy_from } });

	test("copies a category with its channels, access and roles, by names", async () => {
		const { text } = await plan({ categories: ["contest"] });
		expect(text).toContain("+ role Judge: hoist true");
		expect(text).toContain("+ category Contest");
		expect(text).toContain("+ channel #entries");
		expect(text).toContain("The bot keeps its own access");
		expect(text).toMatch(/^Not copied: overwrite of member \d+ \([A-Z_, -]+\) in Contest\n/);
		expect(text).not.toContain("Taster");
		expect(text).toContain("create 3");
	});

	test("copies settings of the bot, with the channels that they name", async () => {
		const settings = { "welcome.channel": "#entries", "auto_role.min_messages": 5 };
		await world.call("set_settings", { guild_id: world.guild.id, settings });
		const { text } = await plan({ parts: ["bot"], categories: ["Contest"] });
		expect(text).toContain("\n~ bot: welcome.channel default → entries, auto_role.min_messages default → 5\n");
		expect((await plan({ parts: ["bot"] })).text).toContain('channel "entries": neither the document nor the guild');
	});

	test("merges changes by name", async () => {
		const copy_from = { guild_id: world.guild.id, categories: ["Contest"] };
		const changes = { categories: [{ name: "Contest", channels: [{ name: "entries", topic: "Bread only" }] }] };
		const { text } = await world.call("plan_guild", { guild_id: bakers.id, copy_from, changes });
		expect(text).toContain('+ channel #entries in Contest: topic "Bread only"');
	});

	test("leaves roles of the same name as they are, unless they are named", async () => {
		expect((await plan({ categories: ["Contest"], roles: ["Taster"] })).text).toContain(
			'~ role Taster: permissions "" → MANAGE_MESSAGES',
		);
	});

	test("takes a document of another bot's guild", async () => {
		const { text: document } = await world.call("export_guild", { guild_id: world.guild.id, categories: ["Contest"] });
		const { text } = await plan({ categories: ["Contest"], document });
		expect(text).toContain("create 3");
	});

	test("is refused without a choice, and for what there is not", async () => {
		expect((await plan({})).text).toContain("copy_from: expected parts, categories or roles");
		expect((await plan({ roles: ["Nobody"] })).text).toContain('no role is called "Nobody"; there are ');
		const two = await world.call("plan_guild", {
			guild_id: bakers.id,
			document: {},
			copy_from: { guild_id: world.guild.id, roles: ["Judge"] },
		});
		expect(two.text).toContain("expected exactly one of these");
	});
});

test("export_guild narrows to categories and roles", async () => {
	const exported = async (args: object) => {
		const { text } = await world.call("export_guild", { guild_id: world.guild.id, ...args });
		const { version: _, omitted: __, id: ___, ...document } = JSON.parse(text);
		return document as Record<string, { name: string }[]>;
	};
	const names = (things: { name: string }[] = []) => things.map(({ name }) => name);
	const contest = await exported({ categories: ["Contest"] });
	expect(Object.keys(contest)).toEqual(["roles", "categories"]);
	expect(names(contest.roles)).toEqual(["Judge"]);
	expect(names(contest.categories)).toEqual(["Contest"]);
	expect(names((await exported({ roles: ["taster"] })).roles)).toEqual(["Taster"]);
});
