// get_settings and set_settings.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { saidDestructive } from "../../../src/bot/tool/titles.ts";
import type { Permission } from "../../../src/discord/permissions.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import { render } from "../../../src/texts/texts.ts";
import type { McpCaller } from "../../support/mcp.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import {
	addToBakers,
	channelNamed,
	giveRole,
	memberNamed,
	memberOverwrite,
	roleNamed,
	roleOverwrite,
	startWorld,
	userNamed,
} from "../../support/world.ts";
import { clientOf } from "../person-cast.ts";

const token = "the-token-of-this-mcp-server";

async function startScene() {
	const world = await startWorld({}, { mcpToken: token, toml: { commands: "off", mcp: { toolsets: "all" } } });
	const set = (settings: Record<string, unknown>, more = {}) => world.call("set_settings", { settings, ...more });
	const get = async (args = {}) => (await world.call("get_settings", args)).text;
	return { world, set, get, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const sceneTest = testWith(startScene);

/** Plans a document, and applies the plan. */
async function apply({ call }: McpCaller, document: object): Promise<string> {
	const { text } = await call("plan_guild", { document });
	const plan_hash = /plan_hash=(\w+)/.exec(text)?.[1];
	return (await call("apply_guild", { plan_hash })).text;
}

/** Calls as this member. */
const asPerson = ({ world }: Awaited<ReturnType<typeof startScene>>, name: string) =>
	clientOf({ world, guild: world.guild, other: world.guild }, world.simulator.user(name).id);

sceneTest("what is set takes effect at once, is described with names, and survives a wrong call", async (scene) => {
	const { world, set, get } = scene;
	const general = channelNamed(world, "general");
	expect(await get({ query: "welcome" })).toContain("welcome.channel: not set. Channel in which everybody");
	const { text, isError } = await set({ "welcome.channel": "#general", "welcome.message": "Hi {user}" });
	expect([text, isError]).toEqual([
		`welcome.channel: not set → #general (ID: ${general.id})\nwelcome.message: not set → "Hi {user}"\nChecked: the bot can use these channels and roles, and what is for staff is not public.`,
		false,
	]);
	const { users, members, messages } = world.simulator.world;
	members.add(world.guild, users.add({ username: "nora" }));
	await until("she is greeted", () => messages.in(general.id).some(({ content }) => content.startsWith("Hi <@")));
	const linked = await set({ "welcome.message": "Hi {user}, see #general! Not #nowhere, a#general or <#123>." });
	expect(linked.text).toEndWith(`"Hi {user}, see <#${general.id}>! Not #nowhere, a#general or <#123>."`);
	await set({ "welcome.channel": "nowhere" });
	expect(await get({ query: "welcome" })).toContain(`welcome.channel: #general (ID: ${general.id}).`);
	await set({ "welcome.channel": null });
	expect(await get({ query: "welcome.channel" })).toContain("welcome.channel: not set.");
});

sceneTest("a dry run says what would change, and changes nothing", async ({ set, get }) => {
	const { text } = await set({ "welcome.ai": false }, { dry_run: true });
	expect(text).toBe("Dry run: nothing was done.\nwelcome.ai: not set → false");
	expect(await get({ query: "welcome.ai" })).toContain("welcome.ai: true (default).");
	const several = (await get({ query: ["welcome.ai", "JOIN_ROLE"] })).split("\n").slice(1);
	expect(several.map((line) => line.split(":")[0])).toEqual(["welcome.ai", "join_role.role"]);
});

sceneTest("what is so already changes nothing", async ({ set, get }) => {
	await set({ "welcome.ai": false });
	expect(await get({ query: "welcome.ai" })).toContain("welcome.ai: false (default: true). ");
	expect((await set({ "welcome.ai": false })).text).toBe("Nothing to change: all of it is so already.");
	expect((await get({ history: true })).split("\n")).toHaveLength(1);
});

sceneTest("the last changes can be read, and a former state restored", async ({ world, set, get }) => {
	await set({ "welcome.ai": false, "auto_role.min_messages": 5 });
	await set({ "auto_role.min_messages": 9 });
	const lines = (await get({ history: true })).split("\n");
	expect(lines).toEqual([
		expect.stringMatching(/^version 2, \d{4}-.+, by an assistant with set_settings: auto_role\.min_messages: 5 → 9$/),
		expect.stringContaining("welcome.ai: not set → false; auto_role.min_messages: not set → 5"),
	]);
	const restored = await world.call("set_settings", { restore_version: 1 });
	expect(restored.text).toBe("auto_role.min_messages: 9 → 5");
	expect((await get({ history: true })).split("\n")).toHaveLength(3);
	expect((await world.call("set_settings", { restore_version: 9 })).text).toContain("There is no version 9");
});

describe("refuses, and stores nothing of the call:", () => {
	const nobody = "12345678901234567";
	test.each<[what: string, settings: Record<string, unknown>, said: RegExp]>([
		[
			"an unknown key and a wrong kind, both of which it says",
			{ "welcome.ai": "yes", "welcom.ai": true },
			/^welcom\.ai: is not a known key; did you mean welcome\.ai\?\nwelcome\.ai: expected true or false, received "yes"$/m,
		],
		[
			"an unknown channel",
			{ "welcome.channel": "#nowhere" },
			/^welcome\.channel: "#nowhere": there is no channel of this name$/m,
		],
		[
			"an id that nothing has",
			{ "welcome.channel": nobody },
			/^welcome\.channel: there is no channel 12345678901234567 in The Cooks/m,
		],
		["a channel for voice", { "welcome.channel": "#Lounge" }, /^welcome\.channel: #Lounge .* is not a text channel$/m],
		["a role above the bot", { "join_role.role": "@Owner" }, /^join_role\.role: .*does not rank below/m],
		[
			"a text that is too long",
			{ "welcome.message": "x".repeat(2_001) },
			/^welcome\.message: expected at most 2000 characters/m,
		],
		["other braces", { "welcome.message": "Hi {usr}" }, /^welcome\.message: expected no other braces than \{user\}/m],
		[
			"other braces in the summary",
			{ "welcome.summary": "{user}" },
			/^welcome\.summary: expected no other braces than \{count\}/m,
		],
		["no duration", { "auto_role.min_age": "three days" }, /^auto_role\.min_age: expected a duration such as/m],
		[
			"a number out of range",
			{ "auto_role.min_messages": -1 },
			/^auto_role\.min_messages: expected a whole number from 0/m,
		],
	])("%s", async (_, settings, said) => {
		await using scene = await startScene();
		const { world, set, get } = scene;
		world.simulator.world.roles.add(world.guild, { name: "Owner", position: 99 });
		await world.heard();
		const { text, isError } = await set({ "welcome.ai": false, ...settings });
		expect(isError).toBe(true);
		expect(text).toMatch(said);
		expect(text).toEndWith("Nothing was done.");
		expect(await get({ history: true })).toBe("Nothing was ever set.");
		const { text: planned } = await world.call("plan_guild", { document: { bot: settings } });
		expect(planned).toMatch(/\bbot\.[a-z_.]+: |neither the document nor the guild has one/);
		expect(planned).not.toContain("~ bot");
	});

	sceneTest("both arguments, and none", async (scene) => {
		for (const args of [{}, { settings: {}, restore_version: 1 }])
			expect((await scene.world.call("set_settings", args)).text).toContain("expected one of the two");
	});
});

sceneTest("what has no effect yet is said", async ({ set, get }) => {
	const { text } = await set({ "auto_role.to_role": "@Regular" });
	const problem = "Problem with auto_role.to_role: has no effect without auto_role.min_age or auto_role.min_messages.";
	expect(text).toEndWith(problem);
	expect(await get({ query: "auto_role" })).toContain(problem);
	expect((await set({ "auto_role.min_messages": 3 })).text).not.toContain("Problem");
});

sceneTest("a role that is gone is a problem, and does no harm", async ({ world, set, get }) => {
	const role = world.simulator.world.roles.add(world.guild, { name: "Brief" });
	await world.heard();
	await set({ "join_role.role": role.id });
	world.simulator.world.roles.remove(world.guild, role);
	await world.heard();
	expect(await get({ query: "join_role" })).toContain(
		`Problem with join_role.role: there is no role ${role.id} in The Cooks`,
	);
	expect((await world.call("run_setup_check")).text).toContain(`warning: join_role.role: there is no role ${role.id}`);
	// Other settings can be changed still.
	expect((await set({ "welcome.ai": false })).isError).toBe(false);
});

sceneTest("a version is restored without the keys whose channel or role is gone, which are named", async (scene) => {
	const { world, set, get } = scene;
	const { roles, channels } = world.simulator.world;
	const role = roles.add(world.guild, { name: "Brief" });
	const channel = channels.add(world.guild, { name: "brief" });
	await world.heard();
	await set({
		"join_role.role": role.id,
		"spam.exempt_roles": [role.id],
		"welcome.channel": channel.id,
		"welcome.ai": false,
	});
	const newcomer = roleNamed(world, "Newcomer").id;
	await set({ "join_role.role": newcomer, "spam.exempt_roles": null, "welcome.channel": null, "welcome.ai": true });
	roles.remove(world.guild, role);
	channels.remove(channel);
	await world.heard();
	for (const more of [{ dry_run: true }, {}])
		expect((await world.call("set_settings", { restore_version: 1, ...more })).text.split("\n")).toEqual([
			...("dry_run" in more ? ["Dry run: nothing was done."] : []),
			"welcome.ai: true → false",
			`Not restored: join_role.role: role ${role.id} does not exist any more.`,
			`Not restored: spam.exempt_roles: role ${role.id} does not exist any more.`,
			`Not restored: welcome.channel: channel ${channel.id} does not exist any more.`,
		]);
	expect(await get({ query: ["role.role", "exempt"] })).toMatch(/: @Newcomer .*\n.*: none \(default\)/);
});

sceneTest("each guild has its own", async ({ world, set }) => {
	const bakers = addToBakers(world);
	await world.heard();
	await set({ "welcome.ai": false });
	const { text } = await world.call("get_settings", { guild_id: bakers.id, query: "welcome.ai" });
	expect(text).toContain("welcome.ai: true (default)");
	const foreign = await world.call("set_settings", {
		guild_id: bakers.id,
		settings: { "welcome.channel": channelNamed(world, "general").id },
	});
	expect(foreign.text).toMatch(/there is no channel \d+ in The Bakers/);
});

describe("in a person's name", () => {
	test.each<[what: string, settings: Record<string, unknown>, lacks: string]>([
		["spam protection", { "spam.honeypots": ["#general"], "spam.on": true }, "MODERATE_MEMBERS"],
		["a rule that bans", { "moderation.escalate": ["1 warnings in 1d: ban"] }, "BAN_MEMBERS"],
	])("%s takes what the bot then does, and counts as destructive", async (_, settings, lacks) => {
		await using scene = await startScene();
		const { world, set } = scene;
		giveRole(world, "zoe", { permissions: PermissionFlagsBits.ManageGuild });
		await world.heard();
		const { text, isError } = await asPerson(scene, "zoe").call("set_settings", { settings });
		expect([text, isError]).toEqual([expect.stringContaining(lacks), true]);
		expect((await asPerson(scene, "ada").call("set_settings", { settings })).isError).toBe(false);
		await set({ "spam.on": null, "moderation.escalate": null });
		await set(settings);
		expect(world.logged.findLast((line) => line.includes('tool="set_settings"'))).toContain('effect="destructive"');
	});

	sceneTest("it takes Manage Server", async (scene) => {
		const { call } = asPerson(scene, "zoe");
		expect((await call("get_settings", {})).text).toContain("MANAGE_GUILD");
		expect((await call("set_settings", { settings: { "welcome.ai": false } })).text).toContain("MANAGE_GUILD");
	});

	sceneTest.each(["audit.channel", "approval.channel", "approval.roles", "sign_in.roles"])(
		"%s takes Administrator, and nobody else changes it",
		async (scene, key) => {
			const { world, set } = scene;
			const isRoles = key.endsWith("roles");
			const first = isRoles ? ["@Staff"] : "#general";
			const owner = asPerson(scene, "ada");
			const call = async (mcp: typeof owner, args: Record<string, unknown>) =>
				(await mcp.call("set_settings", args)).text;
			expect(await call(owner, { settings: { [key]: first } })).toContain(`${key}: `);
			expect(await call(owner, { settings: { [key]: null } })).toContain("→ ");
			giveRole(world, "zoe", { permissions: PermissionFlagsBits.ManageGuild });
			await world.heard();
			const refusal = `${key}: only a person with ADMINISTRATOR can change it`;
			const person = asPerson(scene, "zoe");
			for (const args of [
				{ settings: { [key]: first } },
				{ settings: { [key]: first }, dry_run: true },
				{ restore_version: 1 },
			]) {
				// The holder of the token is nobody in particular.
				expect((await world.call("set_settings", args)).text).toContain(refusal);
				expect(await call(person, args)).toContain(refusal);
			}
			// Other settings of the same call are not stored either.
			expect((await set({ [key]: first, "welcome.ai": false })).isError).toBe(true);
			expect(await scene.get({ query: "welcome.ai" })).toContain("true (default)");
		},
	);

	sceneTest("a role must rank below the person, and a channel must be visible to them", async (scene) => {
		const { world } = scene;
		const { channels } = world.simulator.world;
		const permissions = PermissionFlagsBits.ManageGuild | PermissionFlagsBits.ManageRoles;
		const lead = giveRole(world, "zoe", { permissions });
		const staff = channelNamed(world, "staff");
		channels.edit(staff, {
			permission_overwrites: [
				roleOverwrite(world.guild.id, { deny: PermissionFlagsBits.ViewChannel }),
				roleOverwrite(roleNamed(world, "Staff").id, { allow: PermissionFlagsBits.ViewChannel }),
			],
		});
		await world.heard();
		const mcp = asPerson(scene, "zoe");
		const call = async (settings: object) => (await mcp.call("set_settings", { settings })).text;
		expect(await call({ "join_role.role": roleNamed(world, "Regular").id })).toMatch(/join_role\.role: .*(rank|below)/);
		expect(await call({ "welcome.channel": staff.id })).toContain("welcome.channel: there is no channel");
		expect(await call({ "welcome.channel": "#staff" })).toContain("there is no channel of this name");
		expect(await call({ "welcome.ai": false })).toBe("welcome.ai: not set → false");
		const general = channelNamed(world, "general");
		const deny = PermissionFlagsBits.SendMessages;
		channels.edit(general, { permission_overwrites: [roleOverwrite(lead.id, { deny })] });
		const allow = PermissionFlagsBits.ViewChannel;
		channels.setOverwrite(staff, memberOverwrite(world.simulator.bot("alpha").id, { allow }));
		await world.heard();
		// The bot would post their text where they may not.
		for (const key of ["welcome.channel", "moderation.log_channel"])
			expect(await call({ [key]: general.id })).toMatch(
				key === "welcome.channel" ? /^welcome\.channel: You lack SEND_MESSAGES in #general/ : /→ #general/,
			);
		for (const [channel, why] of [
			[general.id, "You lack SEND_MESSAGES in #general"],
			[staff.id, `there is no channel ${staff.id} that you can see`],
		] as const) {
			await scene.set({ "welcome.channel": channel });
			for (const key of ["welcome.message", "welcome.summary"]) {
				expect(await call({ [key]: "Hi" })).toStartWith(`${key}: ${why}`);
				expect(await call({ [key]: null })).toStartWith("Nothing to change");
			}
		}
		const history = (await mcp.call("get_settings", { history: true })).text;
		expect(history).toContain(`by user ${world.simulator.user("zoe").id} with set_settings`);
	});
});

describe("who may do what", () => {
	/** Zoe has the role Lead; @Helper ranks below it, and @Chief above. */
	async function startLead(permissions: readonly Permission[] = []) {
		const scene = await startScene();
		const { world } = scene;
		const { roles } = world.simulator.world;
		const helper = roles.add(world.guild, { name: "Helper", position: 2 });
		const bits = permissions.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
		const lead = giveRole(world, "zoe", { name: "Lead", permissions: bits, position: 3 });
		roles.add(world.guild, { name: "Chief", position: 4 });
		await world.heard();
		return { ...scene, helper, lead, zoe: memberNamed(world, "zoe"), mcp: asPerson(scene, "zoe") };
	}

	test.each<[what: string, permissions: readonly Permission[], settings: object, said: RegExp]>([
		[
			"the action's permission",
			["ManageGuild", "BanMembers"],
			{ "may.ban": ["@Helper"] },
			/^may\.ban: not set → @Helper/,
		],
		[
			"not the action's permission",
			["ManageGuild"],
			{ "may.ban": ["@Helper"] },
			/may\.ban: only a person with BAN_MEMBERS/,
		],
		[
			"not all of several",
			["ManageGuild"],
			{ "may.cases": ["@Helper"] },
			/may\.cases: only a person with .*MODERATE_MEMBERS/,
		],
		[
			"a grant of the settings",
			[],
			{ "may.raid_mode": ["@Helper"] },
			/only a person with MANAGE_CHANNELS, MANAGE_GUILD/,
		],
		["a grant, for what it covers", [], { "welcome.ai": false }, /^welcome\.ai: not set → false/],
		["a grant, for a role that the bot gives", [], { "join_role.role": "@Newcomer" }, /You lack MANAGE_ROLES/],
		["no administrator", ["ManageGuild"], { "may.settings": [] }, /only a person with ADMINISTRATOR/],
		[
			"an administrator",
			["Administrator"],
			{ "may.settings": ["@Lead", "@Helper"] },
			/^may\.settings: .* → @Lead .*, @Helper/,
		],
		["a role above", ["Administrator"], { "may.kick": ["@Chief"] }, /may\.kick: @Chief .*does not rank below/],
		["a role above that loses it", ["Administrator"], { "may.warn": null }, /may\.warn: @Chief .*does not rank below/],
		["everyone", ["Administrator"], { "may.kick": ["@everyone"] }, /may\.kick: not for @everyone/],
	])("a person who sets it has %s", async (_, permissions, settings, said) => {
		await using scene = await startLead(permissions);
		await scene.set({ "may.settings": ["@Lead"], "may.warn": ["@Chief"] });
		expect((await scene.mcp.call("set_settings", { settings })).text).toMatch(said);
	});

	test("for assistants it is destructive, also to restore it", async () => {
		await using scene = await startLead();
		const { world, set, helper } = scene;
		const { text } = await set({ "may.ban": ["@Helper"] }, { dry_run: true });
		const why = `adds @Helper (ID: ${helper.id}) to may.ban`;
		expect(text).toContain(`Counts as destructive: it ${why}.`);
		expect(render(saidDestructive(`lets the bot give members @x; ${why}; ${why}`), "de")).toBe(
			`Gilt als schwerwiegend: lässt den Bot Mitgliedern @x geben, ${`gibt @Helper (ID: ${helper.id}) das Recht „Bannen“, `.repeat(2).slice(0, -2)}.`,
		);
		await set({ "may.ban": ["@Helper"] });
		await set({ "may.ban": null });
		const writer = world.mcp.as({ id: "key:test", name: "test", access: "write" });
		for (const args of [{ settings: { "may.ban": ["@Helper"] } }, { restore_version: 1 }])
			expect((await writer.call("set_settings", args)).text).toContain("may.ban");
		expect(await scene.get({ query: "may.ban" })).toContain("may.ban: none (default)");
		expect((await writer.call("set_settings", { settings: { "may.ban": [] } })).isError).toBe(false);
	});

	test("each guild has its own", async () => {
		await using scene = await startLead();
		const { world, set, mcp, zoe } = scene;
		const { members, roles } = world.simulator.world;
		const bakers = world.simulator.guild("The Bakers");
		const alpha = userNamed(world.simulator, "alpha");
		const baker = roles.add(bakers, { name: "Baker" });
		for (const user of [alpha, zoe.user]) members.add(bakers, user, { roles: [baker.id] });
		roles.edit(bakers, baker, { permissions: String(PermissionFlagsBits.BanMembers) });
		const mates = roles.add(bakers, { name: "Mates" });
		members.edit(bakers, memberNamed({ guild: bakers }, "zoe"), { roles: [mates.id] });
		await world.heard();
		await set({ "may.ban": ["@Lead"] });
		const read = async (guild_id: string) => (await mcp.call("get_bans", { guild_id })).text;
		expect(await read(world.guild.id)).not.toContain("BAN_MEMBERS");
		expect(await read(bakers.id)).toContain("You lack BAN_MEMBERS");
		await set({ "may.ban": [mates.id] }, { guild_id: bakers.id });
		await set({ "may.ban": [] });
		expect(await read(world.guild.id)).toContain("You lack BAN_MEMBERS");
		expect(await read(bakers.id)).not.toContain("BAN_MEMBERS");
	});

	test("a channel's permissions and timeouts hold", async () => {
		await using scene = await startLead();
		const { world, set, mcp, lead, zoe } = scene;
		const { channels, members, messages } = world.simulator.world;
		const general = channelNamed(world, "general");
		const { id } = messages.add(general as never, userNamed(world, "ada"), { content: "x" });
		await set({ "may.purge": ["@Lead"] });
		const remove = async () => (await mcp.call("delete_messages", { channel_id: general.id, message_ids: [id] })).text;
		channels.setOverwrite(general, { ...roleOverwrite(lead.id, { deny: PermissionFlagsBits.ManageMessages }) });
		await world.heard();
		expect(await remove()).toContain("You lack MANAGE_MESSAGES");
		channels.edit(general, { permission_overwrites: [] });
		members.edit(world.guild, zoe, { communication_disabled_until: new Date(Date.now() + 3_600_000).toISOString() });
		await world.heard();
		expect(await remove()).toContain("You are timed out");
		members.edit(world.guild, zoe, { communication_disabled_until: null });
		await world.heard();
		expect(await remove()).toContain("Deleted the message");
	});
});

sceneTest("a plan in a person's name sets only what they may set, and says who it was", async (scene) => {
	const { world, get } = scene;
	giveRole(world, "zoe", { permissions: PermissionFlagsBits.Administrator });
	await world.heard();
	const document = { bot: { "join_role.role": "Regular", "welcome.ai": false } };
	const planAs = async (name: string) => (await asPerson(scene, name).call("plan_guild", { document })).text;
	const byZoe = await planAs("zoe");
	expect(byZoe).toMatch(/\ncannot: bot\.join_role\.role: .*(rank|below)/);
	expect(byZoe).toContain("\n~ bot: welcome.ai default → false\n");
	// Without a person, nobody changes who has a say, also not with something new.
	const powers = { channels: [{ name: "audit" }], bot: { "audit.channel": "audit", "welcome.channel": "audit" } };
	const { text } = await world.call("plan_guild", { document: powers });
	expect(text).toContain("\ncannot: bot.audit.channel: only a person with ADMINISTRATOR can change it");
	expect(text).toContain("\n~ bot: welcome.channel default → audit\n");
	const byOwner = await planAs("ada");
	expect(byOwner).toContain("\n~ bot: join_role.role default → Regular, welcome.ai default → false\n");
	expect(await apply(asPerson(scene, "ada"), document)).toContain(": done, ");
	expect(await get({ history: true })).toContain(`by user ${world.guild.owner_id} with apply_guild`);
});

describe("a setting that names what the same document creates", () => {
	const reports = "moderation.reports";
	const isPrivate = { overwrites: [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }] };
	test.each<[what: string, channel: object, ends: RegExp, value: RegExp]>([
		[
			"is not set to a public channel if it is for staff",
			{},
			/, 1 of 2 steps done, 1 failed.*moderation\.reports: @everyone can see #new/s,
			/: not set/,
		],
		["is set to a private one", isPrivate, /: done, 2 of 2/, /: #new/],
	])("%s", async (_, channel, ends, value) => {
		await using scene = await startScene();
		const document = { channels: [{ name: "new", ...channel }], bot: { [reports]: "new" } };
		expect(await apply(scene.world.mcp, document)).toMatch(ends);
		expect(await scene.get({ query: reports })).toMatch(value);
	});

	test("is refused in the plan without the intent that it needs", async () => {
		const bots = [{ username: "alpha", privilegedIntents: [] }, { username: "beta" }];
		await using world = await startWorld({ seed: { ...demoSeed(), bots } });
		const document = { channels: [{ name: "new" }], bot: { "welcome.channel": "new" } };
		const { text } = await world.call("plan_guild", { document });
		expect(text).toContain("cannot: bot.welcome.channel: needs the Server Members Intent");
		expect(text).not.toContain("~ bot");
	});
});

test.each<[what: string, lost: "roles" | "membership"]>([
	["lost their permissions", "roles"],
	["left", "membership"],
])("a job sets nothing for a person who has %s meanwhile", async (_, lost) => {
	await using scene = await startScene();
	const { world, get } = scene;
	const { members } = world.simulator.world;
	giveRole(world, "zoe", { permissions: PermissionFlagsBits.Administrator, position: 99 });
	const zoe = memberNamed(world, "zoe");
	await world.heard();
	const held = world.simulator.faults.stall("POST /guilds/:guild_id/channels", { times: 1 });
	const document = { channels: [{ name: "new" }], bot: { "welcome.ai": false } };
	const applied = apply(asPerson(scene, "zoe"), document);
	await until("the job makes the channel", () => held.hits > 0);
	if (lost === "roles") members.edit(world.guild, zoe, { roles: [] });
	else members.remove(world.guild, zoe);
	await world.heard();
	held.release();
	await applied;
	const [job_id] = /\b[0-9a-f]{12}\b/.exec((await world.call("get_job")).text) ?? [];
	const job = async () => (await world.call("get_job", { job_id })).text;
	await until("the job has ended", async () => (await job()).includes("1 of 2 steps done, 1 failed"));
	expect(await job()).toContain("failed: edit bot: who began the job is not an administrator of the guild any more");
	expect(await get({ query: "welcome.ai" })).toContain("true (default)");
});

test("settings survive a restart, and what only another version knows is kept and shown", async () => {
	const stored = { "welcome.ai": false, "future.key": [1], "auto_role.min_messages": "many" };
	await using world = await startWorld({ seed: demoSeed() }, { settings: () => stored });
	const { text } = await world.call("get_settings");
	expect(text).toContain("welcome.ai: false (default: true).");
	expect(text).toContain("Problem with future.key: is unknown to this version of the bot, and kept.");
	expect(text).toContain('Problem with auto_role.min_messages: expected a number, received "many"');
	await world.call("set_settings", { settings: { "welcome.ai": true } });
	expect((await world.call("get_settings")).text).toContain("Problem with future.key");
	await world.call("set_settings", { settings: { "future.key": null } });
	expect((await world.call("get_settings")).text).not.toContain("future.key");
	// A version with what cannot be set is restored as far as that is possible.
	const { text: restored } = await world.call("set_settings", { restore_version: 2 });
	expect(restored).not.toContain("future.key");
});

test("a setting of a feature that the operator has switched off is not shown, and is refused by the feature's name", async () => {
	await using world = await startWorld({}, { toml: { features: { moderation: false } } });
	expect((await world.call("get_settings")).text).not.toMatch(/^(?:spam|moderation)\./m);
	const { text, isError } = await world.call("set_settings", { settings: { "spam.on": true, "welcome.ai": false } });
	expect([text.split("\n")[0], isError]).toEqual([
		"spam.on: the operator has switched off features.moderation in config.toml",
		true,
	]);
	expect((await world.call("get_settings")).text).toContain("welcome.ai: true (default)");
});

test("an intent that the operator leaves out is not used, and a setting that needs it is refused by its name", async () => {
	await using world = await startWorld({}, { toml: { intents: ["GUILD_MEMBERS"] } });
	const set = (settings: object) => world.call("set_settings", { settings });
	expect((await set({ "spam.on": true })).text).toMatch(
		/^spam\.on: needs the Message Content Intent: the bot's operator switches it on at .* in intents of config\.toml/,
	);
	expect(await set({ "spam.on": false, "welcome.channel": "#general" })).toMatchObject({ isError: false });
	expect((await world.call("get_bot_info")).text).toContain("Message Content Intent: switched on, not used");
});
