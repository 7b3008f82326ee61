// A guild as a document, through the tools.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { until } from "../../support/until.ts";
import { addToBakers, giveRole, startWorld, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

const staffArea = {
	roles: [{ name: "Mods", color: "#ff0000", permissions: ["Kick Members"] }],
	categories: [
		{
			name: "Staff area",
			overwrites: [
				{ role: "@everyone", deny: ["VIEW_CHANNEL"] },
				{ role: "Mods", allow: ["VIEW_CHANNEL"] },
				{ role: "alpha", allow: ["VIEW_CHANNEL"] },
			],
			channels: [
				{ name: "Mod Chat", topic: "For <mods>" },
				{ name: "Voice", kind: "voice" },
			],
		},
	],
};

/** Plans a document, and returns the plan's text and hash. */
async function plan(world: TestWorld, args: Record<string, unknown>) {
	const { text, isError } = await world.call("plan_guild", args);
	expect({ text, isError }).toMatchObject({ isError: false });
	return { text, hash: /plan_hash=(\w+)/.exec(text)?.[1] ?? "" };
}

/** Carries out a plan, and returns the text of its job at the end. */
async function apply(world: TestWorld, plan_hash: string): Promise<string> {
	const { text } = await world.call("apply_guild", { plan_hash });
	const job_id = /Job ([0-9a-f]{12})/.exec(text)?.[1];
	let progress = "";
	await until("the job has ended", async () => {
		progress = (await world.call("get_job", { job_id })).text;
		return !progress.includes("running");
	});
	return progress;
}

const categoryNamed = ({ guild }: TestWorld, name: string) =>
	[...guild.channels.values()].find((channel) => channel.name === name);

worldTest("a document is planned, carried out and exported again", async (world) => {
	const { text, hash } = await plan(world, { document: staffArea });
	expect(text).toContain("create 4");
	expect(text).toContain("+ role Mods: color #FF0000, permissions KICK_MEMBERS");
	expect(text).toContain("+ channel #mod-chat");
	expect(text).toContain("\nNew channels have the access of their category, unless theirs is shown.\n");
	expect(categoryNamed(world, "Staff area")).toBeUndefined();

	expect(await apply(world, hash)).toContain("done, ");
	const category = categoryNamed(world, "Staff area");
	expect(category?.permission_overwrites).toHaveLength(3);
	const { text: latest } = await world.call("get_job");
	expect(latest).toMatch(/^Job [0-9a-f]{12} in The Cooks .*: done/);

	const { text: again } = await plan(world, { document: staffArea });
	expect(again).toContain("no changes");
	const exported = await world.call("export_guild", { parts: ["categories"] });
	const document = JSON.parse(exported.text);
	expect(document.categories.at(-1)).toMatchObject({
		name: "Staff area",
		channels: [
			{ name: "mod-chat", topic: "For <mods>" },
			{ name: "Voice", kind: "voice" },
		],
	});
	expect(document.roles).toBeUndefined();
	// A document may also come as a text.
	const asText = await plan(world, { document: exported.text });
	expect(asText.text).toContain("no changes");
});

worldTest("an event and an AutoMod rule that exist need only what changes", async (world) => {
	const night = {
		name: "Quiz",
		entity_type: "external",
		location: "Hall",
		scheduled_start_time: "2099-01-31T18:00Z",
		scheduled_end_time: "2099-01-31T20:00Z",
	};
	const rule = { name: "Words", trigger: "keyword", keyword_filter: ["bad"], actions: ["block_message"] };
	const first = await plan(world, { document: { events: [night], automod: [rule] } });
	expect(first.text).toContain("New AutoMod rules are on, unless");
	expect(await apply(world, first.hash)).toContain("done, ");
	const { events } = JSON.parse((await world.call("export_guild", { parts: ["events"] })).text);
	const { hash } = await plan(world, { document: { roles: [{ name: "Mods" }] } });
	const changes = { events: [{ id: events[0].id, name: "Quiz night" }], automod: [{ name: "Words", enabled: false }] };
	const { text } = await plan(world, { plan_hash: hash, changes });
	expect(text).toContain('~ event Quiz: name Quiz → "Quiz night"\n');
	expect(text).toContain("~ automod Words: enabled true → false\n");
	const scheduled_start_time = "2099-02-01T18:00Z";
	const places = [{ location: "Park", scheduled_end_time: "2099-02-01T20:00Z" }, { channel: "Lounge" }];
	const made = places.map((place, index) => ({ name: `Made ${index}`, scheduled_start_time, ...place }));
	const inferred = await plan(world, { document: { events: made } });
	expect(inferred.text).toMatch(
		/event Made 0: location Park, .*, entity_type external\n.*event Made 1: .*, entity_type voice\n/,
	);
	const other = await world.call("plan_guild", { plan_hash: hash, changes: { events: [{ name: "Ball" }] } });
	expect(other.text).toContain(
		'event "Ball": entity_type is required, unless the guild has one of this id, or just one of',
	);
});

worldTest("changes are laid over an earlier plan", async (world) => {
	const first = await plan(world, { document: staffArea });
	const { text } = await plan(world, { plan_hash: first.hash, changes: { roles: [{ name: "Mods", hoist: true }] } });
	expect(text).toContain(`3 steps as in the plan ${first.hash}, and:`);
	expect(text).toContain("+ role Mods: color #FF0000, permissions KICK_MEMBERS, hoist true");
	expect(text).not.toContain("#Voice");
});

worldTest("changes can remove a part, and a call that changes nothing says so", async (world) => {
	const id = userNamed(world, "zoe").id;
	const bans = [{ id: "999999999999999999" }];
	const members = [{ id, roles: ["Mods"] }];
	const first = await plan(world, { document: { ...staffArea, members, bans } });
	for (const changes of [{}, { members: [] }, { emojis: null }]) {
		const same = await plan(world, { plan_hash: first.hash, changes });
		expect(same.hash).toBe(first.hash);
		expect(same.text).toContain(`This call changed nothing in the document of the plan ${first.hash}.`);
	}
	for (const changes of [{ members: null }, '{"members":null}', "members:"]) {
		const less = await plan(world, { plan_hash: first.hash, changes });
		expect(less.text).toContain("\nRemoved from the plan: members.\n");
		expect(less.text).not.toContain("changed nothing");
		expect(less.text).not.toContain("assign");
		expect(less.text).toContain("ban 1\n");
	}
	const other = await plan(world, { plan_hash: first.hash, changes: { members: null, bans: null } });
	expect(other.text).toContain("Removed from the plan: members, bans.");
	const { text } = await world.call("plan_guild", { plan_hash: first.hash, changes: { roles: null } });
	expect(text).toContain('role "Mods": neither the document nor the guild');
	const unknown = await world.call("plan_guild", { plan_hash: first.hash, changes: { rolls: null, bans: null } });
	expect(unknown.text).toContain("rolls: is not a known key");
});

worldTest("keep_bot_access: false leaves the bot's own overwrite out, also of an earlier plan", async (world) => {
	const hidden = { categories: [{ name: "Hidden", overwrites: [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }] }] };
	const kept = await plan(world, { document: hidden });
	expect(kept.text).toContain("access of alpha (this bot) VIEW_CHANNEL");
	expect(kept.text).toContain("keep_bot_access: false in the document leaves it out.");
	const changes = { keep_bot_access: false };
	const left = await plan(world, { plan_hash: kept.hash, changes });
	expect(left.text).not.toContain("this bot");
	expect(left.text).not.toContain("keeps its own access");
	expect(left.text).toContain("note: category Hidden: The bot creates this, but cannot change it afterwards");
	expect(await apply(world, left.hash)).toContain("done, 1 of 1");
	expect(categoryNamed(world, "Hidden")?.permission_overwrites).toEqual([
		expect.objectContaining({ id: world.guild.id }),
	]);
	// An applied plan can still be changed.
	const again = await plan(world, { document: hidden });
	await world.call("apply_guild", { plan_hash: again.hash });
	const later = await plan(world, { plan_hash: again.hash, changes });
	expect(later.text).not.toContain("this bot");
});

worldTest("a plan tells things of the same name apart, and says what deleting channels loses", async (world) => {
	const { guild, simulator } = world;
	const { channels } = simulator.world;
	for (const name of ["A", "B"]) {
		const category = channels.add(guild, { name, type: 4 });
		channels.add(guild, { name: "chat", type: 0, parent_id: category.id });
	}
	const document = { categories: [{ name: "A", channels: [] }] };
	const { text } = await plan(world, { document, prune: true });
	expect(text).toContain("- channel #A/chat\n- channel #B/chat\n");
	expect(text).toContain("\nThe messages of deleted channels are lost.\n");
});

worldTest("the bot keeps its access to channels that a document hides", async (world) => {
	const document = {
		categories: [
			{ name: "Hidden", overwrites: [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }], channels: [{ name: "inside" }] },
		],
	};
	const { text, hash } = await plan(world, { document });
	expect(text).toContain("The bot keeps its own access: an overwrite for it was added to Hidden.");
	expect(text).toContain("+ channel #inside in Hidden\n");
	expect(await apply(world, hash)).toMatch(/created channel: inside \(ID: \d+\)/);
	const bot = userNamed(world, "alpha").id;
	for (const name of ["Hidden", "inside"])
		expect(categoryNamed(world, name)?.permission_overwrites).toEqual([
			expect.objectContaining({ id: world.guild.id }),
			expect.objectContaining({ id: bot, allow: "1024" }),
		]);
	expect((await plan(world, { document })).text).toContain("no changes");
});

worldTest("a plan is refused with the new plan when the guild has changed", async (world) => {
	const { hash } = await plan(world, { document: staffArea });
	world.simulator.world.roles.add(world.guild, { name: "Mods" });
	const text = await world.expectError("apply_guild", { plan_hash: hash });
	expect(text).toContain("has changed since the plan");
	expect(text).toContain("~ role Mods: ");
	expect(categoryNamed(world, "Staff area")).toBeUndefined();
});

worldTest("a job is cancelled after its running step", async (world) => {
	const { hash } = await plan(world, { document: staffArea });
	const held = world.simulator.faults.stall(`POST /guilds/${world.guild.id}/channels`, { after: true });
	// It waits for the end of its job.
	const started = world.call("apply_guild", { plan_hash: hash });
	await until("the category is being created", () => held.hits > 0);
	const { text } = await world.call("get_job");
	const job_id = /Job ([0-9a-f]{12})/.exec(text)?.[1];
	await world.call("cancel_job", { job_id });
	held.release();
	expect((await started).text).toContain(": cancelled, ");
	expect(categoryNamed(world, "Voice")).toBeUndefined();
});

describe("refuses", () => {
	test.each<[string, Record<string, unknown>, string]>([
		["nothing to compare with", {}, "expected exactly one of these"],
		["two things to compare with", { document: {}, backup: "latest" }, "expected exactly one of these"],
		["changes of nothing", { document: {}, changes: {} }, "changes: expected only together with plan_hash"],
		[
			"an unknown field",
			{ document: { roles: [{ name: "x", colr: "" }] } },
			"roles[0].colr: is not a known key; did you mean color?",
		],
		["what is no YAML", { document: "roles: [" }, "neither JSON nor YAML"],
		["an unknown backup", { backup: "7" }, 'There is no backup "7"'],
		["an unknown plan", { plan_hash: "0".repeat(32) }, "Plans are kept for a day"],
		[
			"a name that the guild has elsewhere",
			{ document: { channels: [{ name: "general" }] } },
			'the guild has a channel with this name elsewhere (in "Talk", id ',
		],
	])("%s", async (_, args, expected) => {
		await using world = await startWorld();
		const text = await world.expectError("plan_guild", args);
		expect(text).toContain(expected);
	});

	worldTest("the plan and the job of another guild", async (world) => {
		const { hash } = await plan(world, { document: staffArea });
		const { simulator } = world;
		const other = simulator.guild("The Bakers");
		const bot = simulator.world.accounts.get(simulator.bot("alpha").token);
		if (bot) simulator.world.members.add(other, bot.user);
		await world.heard();
		const text = await world.expectError("apply_guild", { guild_id: other.id, plan_hash: hash });
		expect(text).toContain(`Pass guild_id=${world.guild.id}`);
	});
});

worldTest("the format is described without asking Discord", async (world) => {
	world.simulator.requests.clear();
	const { text } = await world.call("export_guild", { format: true });
	expect(text).toContain("\ncategories: [{");
	const { text: bot } = await world.call("export_guild", { format: true, parts: ["bot"] });
	expect(bot).toContain("\n welcome.channel: Channel in which");
	const { text: roles } = await world.call("export_guild", { format: true, parts: ["roles"] });
	expect(roles).toContain("\n hoist: bool (List");
	expect(roles).not.toContain("\ncategories: ");
	expect(world.simulator.requests.list()).toEqual([]);
});

worldTest("a tool's reason does not look like that of a job", async (world) => {
	const [role] = await world
		.call("create_role", { name: "Mods", reason: "Guild document 0123456789ab 1.1: x" })
		.then(() => [...world.guild.roles.values()].filter(({ name }) => name === "Mods"));
	expect(world.guild.auditLog.find(({ target_id }) => target_id === role?.id)?.reason).toBe(
		"reason: Guild document 0123456789ab 1.1: x",
	);
});

test("parts are not read whose tools the operator denies", async () => {
	const deny = ["get_bans", "list_members", "list_webhooks"];
	const mcp = { tools: { deny } };
	await using world = await startWorld({}, { toml: { mcp } });
	const parts = ["bans", "webhooks", "members", "automod"];
	const { text } = await world.call("export_guild", { parts });
	expect(text).toContain(
		"Missing: bans: the operator of this bot does not allow get_bans, which reads the same (config.toml)",
	);
	const document = JSON.parse(text.slice(text.indexOf("{")));
	expect(Object.keys(document).toSorted()).toEqual(["automod", "id", "omitted", "version"]);
	const { text: shown } = await plan(world, { document: { bans: [{ id: userNamed(world, "zoe").id }] } });
	expect(shown).toContain("cannot: bans: the operator of this bot does not allow get_bans");
});

test("administrators reach no backups, plans or jobs of guilds in which they are not, by any form of the name", async () => {
	await using world = await startWorld({}, { mcpToken: "a-token" });
	const { simulator } = world;
	const { members, users } = simulator.world;
	const other = world.guild;
	using file = new Database(join(world.dataDirectory, "store.sqlite"));
	file.run(
		"INSERT INTO guild_backups (guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, document) VALUES (?, 1, 0, 'The Cooks', 2, '', 1, 1, '', '{}')",
		[other.id],
	);
	const { text } = await world.call("list_backups");
	expect(text).toStartWith("1 backup(s)");
	const guild = addToBakers(world);
	const user = users.add({ username: "a_baker" });
	members.add(guild, user);
	giveRole({ simulator, guild }, "a_baker", { permissions: PermissionFlagsBits.Administrator });
	await world.heard();
	const baker = world.mcp.as({
		id: "key:baker",
		name: "baker",
		access: "all",
		person: { id: user.id, name: "baker", signedIn: false },
	});
	const errorOf = async (tool: string, args: object, secret: string) => {
		const { text, isError } = await baker.call(tool, { guild_id: guild.id, ...args });
		expect({ tool, args, text, isError }).toMatchObject({ isError: true });
		return text.replaceAll(secret, "ID");
	};
	const unknown = "123456789012345678";
	for (const form of ["ID/1", "ID/latest", "backup ID/1", " BACKUP ID/1 "])
		for (const tool of ["export_guild", "plan_guild"]) {
			const call = (guildId: string) => errorOf(tool, { backup: form.replace("ID", guildId) }, guildId);
			const text = await call(other.id);
			expect(text).toContain("There is no backup");
			expect(text).toBe(await call(unknown));
		}
	const document = { roles: [{ name: "New" }] };
	const planned = await world.call("plan_guild", { guild_id: other.id, document });
	const hash = /plan_hash=(\w+)/.exec(planned.text)?.[1] ?? "";
	const wrong = [...hash].reverse().join("");
	const applied = await world.call("apply_guild", { guild_id: other.id, plan_hash: hash });
	const job = /\bjob (\w{12})\b/i.exec(applied.text)?.[1] ?? "";
	for (const tool of ["plan_guild", "get_job", "cancel_job"]) {
		const isJob = tool !== "plan_guild";
		const call = (secret: string) =>
			errorOf(tool, isJob ? { job_id: secret } : { plan_hash: secret, changes: {} }, secret);
		const missing = isJob ? [...job].reverse().join("") : wrong;
		expect(await call(isJob ? job : hash)).toBe(await call(missing));
	}
});
