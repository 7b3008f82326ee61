// The request guildhall/settings of the gateway's console.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { allKeys } from "../../../src/bot/settings/keys.ts";
import { type Principal, rootPrincipal } from "../../../src/lib/principal.ts";
import { consoleClient } from "../../../src/mcp/console.ts";
import { testWith } from "../../support/test-with.ts";
import { channelNamed, giveRole, roleNamed, startWorld } from "../../support/world.ts";
import { grant } from "./running-feature.ts";

interface SettingsForm {
	version: number;
	calls: object;
	problems: { key: string }[];
	warnings: { key: string }[];
	previews: Record<string, string>;
	sections?: {
		note?: string;
		fields: {
			key: string;
			label: string;
			help: string;
			kind: string;
			list?: string;
			value: unknown;
			default: unknown;
		}[];
	}[];
	lists?: Record<string, { id: string; name: string }[]>;
}

interface SettingRevision {
	version: number;
	by: string | null;
	door: string;
	changes: object[];
}

const config = { features: { moderation: true } };

async function startScene(given: object = {}) {
	const world = await startWorld(
		{},
		{ mcpToken: "a-token", toml: { ...config, features: { game: true, chat: true }, ...given } },
	);
	const { simulator, guild, mcp } = world;
	grant(simulator, "Staff", PermissionFlagsBits.ManageGuild, PermissionFlagsBits.ManageRoles);
	await world.heard();
	const at = (name: string): Principal => {
		const { id } = simulator.user(name);
		const person = { id, name, signedIn: true };
		return { id: `console:${id}`, name: consoleClient, client: consoleClient, person, access: "all" };
	};
	const ask = <Result = SettingsForm>(more: object = {}, who?: Principal) =>
		(who ? mcp.as(who) : mcp).request("guildhall/settings", { guild_id: guild.id, ...more }) as Promise<Result>;
	return {
		world,
		at,
		ask,
		set: (who: Principal, args: Record<string, unknown>) => mcp.as(who).call("set_settings", args),
		fields: async () => (await ask()).sections?.flatMap(({ fields }) => fields) ?? [],
		[Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
	};
}

const sceneTest = testWith(() => startScene());

sceneTest("the form has a field for each key, with lists to choose from", async ({ world, ask, fields }) => {
	const form = await ask();
	const note = "Today: 0 questions, 0 tokens. This month: 0 tokens.";
	expect(form.sections?.find((section) => section.note)).toMatchObject({ title: "AI chat", note });
	const shown = await fields();
	expect(shown.map(({ key }) => key).toSorted()).toEqual([...allKeys].toSorted());
	expect(shown.filter(({ label, help }) => label === "" || help === "")).toEqual([]);
	expect(shown.find(({ key }) => key === "spam.timeout")).toEqual({
		key: "spam.timeout",
		label: expect.any(String),
		help: expect.any(String),
		kind: "text",
		value: null,
		default: "1d",
	});
	const { lists = {}, calls, version, previews } = form;
	expect([version, calls]).toEqual([0, { change: "set_settings", menu: "create_role_menu" }]);
	expect(lists.channel).toContainEqual({ id: channelNamed(world, "general").id, name: "#general" });
	expect(lists.role).toContainEqual({ id: roleNamed(world, "Newcomer").id, name: "@Newcomer" });
	for (const { kind, list } of shown) expect([kind, list !== undefined]).toEqual([kind, /one|many/.test(kind)]);
	for (const { kind, default: standard } of shown)
		if (kind === "lines") expect([kind, standard]).toEqual([kind, expect.any(Array)]);
	for (const { list } of shown) if (list) expect(lists[list]?.length).toBeGreaterThan(0);
	expect(previews["welcome.message"]).toContain("@");
});

sceneTest("what is entered is checked, and nothing is stored", async ({ ask, fields }) => {
	const values = {
		"welcome.message": "Hi {user} in {guild}",
		"spam.timeout": "long",
		"welcome.channel": "1".repeat(18),
	};
	const { problems, previews, sections } = await ask({ values });
	expect(problems.map(({ key }) => key)).toEqual(["spam.timeout", "welcome.channel"]);
	expect(previews["welcome.message"]).toBe("Hi @newcomer in The Cooks");
	expect(sections).toBeUndefined();
	const { warnings } = await ask({ values: { "auto_role.min_messages": 5, "spam.on": true } });
	expect(warnings.map(({ key }) => key)).not.toContain("spam.timeout");
	expect((await fields()).every(({ value }) => value === null)).toBe(true);
});

sceneTest("only who may manage the server sees it, and sees no hidden channel", async ({ world, ask, at }) => {
	await expect(ask({}, at("liwei"))).rejects.toThrow("MANAGE_GUILD");
	await expect(
		ask({}, { ...at("jose.garcia"), person: { ...at("jose.garcia").person, signedIn: false } as never }),
	).rejects.toThrow();
	expect((await ask({}, at("jose.garcia"))).version).toBe(0);
	giveRole(world, "zoe", { permissions: PermissionFlagsBits.ManageGuild });
	await world.heard();
	const channels = async (who?: Principal) => (await ask({}, who)).lists?.channel?.map(({ name }) => name);
	expect([await channels(), await channels(at("zoe"))]).toEqual([
		expect.arrayContaining(["#staff"]),
		expect.not.arrayContaining(["#staff"]),
	]);
});

sceneTest("a change has the console as its door, and is refused after another one", async ({ at, ask, set }) => {
	const jose = at("jose.garcia");
	expect((await set(jose, { settings: { "welcome.ai": false }, if_version: 0 })).isError).toBe(false);
	const late = await set(jose, { settings: { "welcome.ai": true }, if_version: 0 });
	expect([late.isError, late.text]).toEqual([true, expect.stringContaining("meanwhile: they are version 1 now")]);
	const root = { ...rootPrincipal, client: consoleClient };
	await set(root, { settings: { "welcome.message": "Hello" } });
	await set({ id: "key:a", name: "a", access: "all", client: consoleClient }, { settings: { "spam.on": true } });
	const { revisions } = await ask<{ revisions: SettingRevision[] }>({ history: true }, jose);
	expect(revisions.map(({ version, by, door }) => [version, by, door])).toEqual([
		[3, null, "set_settings"],
		[2, null, "console"],
		[1, "Chef José", "console"],
	]);
	expect(revisions[1]?.changes).toEqual([{ key: "welcome.message", after: "Hello" }]);
});

sceneTest("what is an object in the store is lines in the form", async ({ ask, fields, set }) => {
	const root = { ...rootPrincipal, client: consoleClient };
	expect((await set(root, { settings: { "game.tiers": ["gold: @Newcomer"] } })).isError).toBe(false);
	expect((await fields()).find(({ key }) => key === "game.tiers")?.value).toEqual(["gold: @Newcomer"]);
	const { revisions } = await ask<{ revisions: SettingRevision[] }>({ history: true });
	expect(revisions[0]?.changes).toEqual([{ key: "game.tiers", after: ["gold: @Newcomer"] }]);
});

test("tools that the operator does not allow are not offered", async () => {
	await using scene = await startScene({ features: {}, mcp: { tools: { deny: ["create_role_menu"] } } });
	expect((await scene.ask()).calls).toEqual({ change: "set_settings" });
	await using other = await startScene({ mcp: { tools: { deny: ["set_settings"] } } });
	await expect(other.ask()).rejects.toThrow("the operator of this bot denies set_settings");
});
