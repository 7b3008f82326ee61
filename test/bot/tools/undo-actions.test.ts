// undo_actions: what an account or a key did, as a plan, and set back.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { compareIds } from "../../../src/guild-document/names/ids.ts";
import { until } from "../../support/until.ts";
import {
	channelNamed,
	giveRole,
	memberNamed,
	memberOverwrite,
	roleNamed,
	roleOverwrite,
	startWorld,
	type TestWorld,
	userNamed,
	worldTest,
	writes,
} from "../../support/world.ts";

const bits = (...names: (keyof typeof PermissionFlagsBits)[]) =>
	String(names.reduce((all, name) => all | PermissionFlagsBits[name], 0n));

const byZoe = ({ simulator }: TestWorld) => ({ actor: simulator.user("zoe").id });

async function plan(world: TestWorld, args: object = {}) {
	const { text, isError } = await world.call("undo_actions", { user_id: "@zoe", after: "3h", ...args });
	expect({ text, isError }).toMatchObject({ isError: false });
	const lines = text.split("\n");
	const whole = lines.filter((line) => /^([-+~^] |cannot: |note: )/.test(line));
	const steps = whole.map((line) => line.replace(/ \(\d\d-\d\d \d\d:\d\d(?: to \d\d-\d\d \d\d:\d\d)? UTC\)$/, ""));
	const timed = steps.filter((line, index) => line !== whole[index]);
	return { text, steps, timed, hash: /plan_hash=(\w+)/.exec(text)?.[1] };
}

/** Carries a plan out, and returns the text of its job at the end. */
async function carryOut(world: TestWorld, plan_hash: string | undefined): Promise<string> {
	const { text } = await world.call("undo_actions", { plan_hash });
	const job_id = /Job ([0-9a-f]{12})/.exec(text)?.[1];
	return until("the job has ended", async () => {
		const progress = (await world.call("get_job", { job_id })).text;
		return !progress.includes(": running") && progress;
	});
}

async function undo(world: TestWorld, args: object = {}): Promise<string> {
	return carryOut(world, (await plan(world, args)).hash);
}

/** What there is of the things that the tests change, by names. */
function shown({ guild, simulator }: TestWorld) {
	const roleName = (id: string) => (id === guild.id ? "@everyone" : guild.roles.get(id)?.name);
	return {
		settings: [guild.name, guild.verification_level],
		channels: [...guild.channels.values()].map(({ name, topic, rate_limit_per_user, parent_id, ...rest }) => [
			name,
			topic,
			rate_limit_per_user,
			guild.channels.get(parent_id ?? "")?.name,
			rest.permission_overwrites.map(({ id, allow, deny }) => [roleName(id), allow, deny]).sort(),
		]),
		roles: [...guild.roles.values()].map(({ name, permissions, color }) => [name, permissions, color]).sort(),
		members: [...guild.members.values()].map(({ user, nick, roles }) => [
			user.username,
			user.username === "alpha" ? "" : nick,
			roles.map(roleName).sort(),
		]),
		timeouts: [...guild.members.values()].filter((one) => one.communication_disabled_until !== null).length,
		bans: [...guild.bans.keys()],
		webhooks: simulator.world.webhooks.list({ guild_id: guild.id }).length,
		invites: simulator.world.invites.list({ guild_id: guild.id }).length,
		emojis: [...guild.emojis.values()].map(({ name }) => name),
		rules: simulator.world.autoModeration.in(guild).map(({ name, enabled }) => [name, enabled]),
	};
}

/** Channels in the order of Discord's clients. */
const places = ({ guild }: TestWorld) =>
	[...guild.channels.values()]
		.sort((a, b) => a.position - b.position || compareIds(a.id, b.id))
		.map(({ name, type, parent_id }) => [type, guild.channels.get(parent_id ?? "")?.name, name])
		.sort(([a], [b]) => Number(a) - Number(b));

/** All kinds of things that a hijacked moderator does, of which all but the bans of members can be set back. */
async function harm(world: TestWorld) {
	const { simulator, guild } = world;
	const platform = simulator.world;
	const by = byZoe(world);
	const [general, regular] = [channelNamed(world, "general"), roleNamed(world, "Regular")];
	const outsiders = ["victim", "target"].map((username) => platform.users.add({ username }));
	const spammer = platform.users.add({ username: "spammer" });
	platform.bans.add(guild, spammer);
	platform.channels.setOverwrite(general, roleOverwrite(guild.id, { deny: PermissionFlagsBits.MentionEveryone }));
	const emoji = platform.emojis.add(guild, userNamed(world, "ada"), { name: "soup" });
	const rule = await world.call("set_automod_rule", {
		name: "Words",
		trigger_type: "keyword",
		keyword_filter: ["evil"],
		actions: ["block_message"],
	});
	expect(rule).toMatchObject({ isError: false });
	await world.heard();
	const before = shown(world);
	for (const user of outsiders) platform.bans.add(guild, user, 0, by);
	const ban = guild.bans.get(spammer.id);
	if (ban) platform.bans.remove(guild, ban, by);
	const liwei = memberNamed(world, "liwei");
	const until = new Date(Date.now() + 3_600_000).toISOString();
	platform.members.edit(guild, liwei, { nick: "fool", communication_disabled_until: until }, by);
	platform.members.edit(guild, liwei, { roles: [roleNamed(world, "Staff").id] }, by);
	platform.members.edit(guild, memberNamed(world, "mona_lisa"), { roles: [] }, by);
	platform.channels.edit(general, { name: "owned", topic: "ha" }, by);
	platform.channels.edit(general, { name: "owned-again", rate_limit_per_user: 600, parent_id: null }, by);
	platform.channels.setOverwrite(general, roleOverwrite(guild.id, { deny: PermissionFlagsBits.SendMessages }), by);
	platform.channels.setOverwrite(general, roleOverwrite(regular.id, { allow: PermissionFlagsBits.ManageMessages }), by);
	const [access] = channelNamed(world, "staff").permission_overwrites;
	if (access) platform.channels.removeOverwrite(channelNamed(world, "staff"), access, by);
	platform.roles.edit(guild, roleNamed(world, "Newcomer"), { permissions: bits("BanMembers") }, by);
	platform.webhooks.add(general, { name: "hook" }, by);
	platform.invites.add(general, { inviter: userNamed(world, "zoe") }, by);
	platform.emojis.edit(guild, emoji, { name: "mud" }, by);
	const [words] = platform.autoModeration.in(guild);
	if (words) platform.autoModeration.edit(words, { enabled: false }, by);
	platform.guilds.edit(guild, { name: "Owned", verification_level: 4 }, by);
	await world.heard();
	return { before: { ...before, bans: [spammer.id] }, outsiders };
}

worldTest("all that a hijacked moderator changed is set back, once, and marked as undone", async (world) => {
	const { before } = await harm(world);
	const sent = writes(world).length;
	const { text, steps, timed, hash } = await plan(world);
	expect(text).toContain("Undoes 17 actions of @zoe");
	expect(/^Plan for .*, of what was done \d\d-\d\d \d\d:\d\d UTC\n/.test(text) ? steps : timed).toEqual(steps);
	expect(steps.filter((line) => line.startsWith("cannot"))).toEqual([]);
	// Several changes of one thing are one step.
	expect(steps.filter((line) => line.includes("#owned"))).toEqual([
		'~ channel #owned-again: name owned-again → general, slowmode_seconds 600 → 0, category none → Talk, topic ha → "Everything and nothing", access of @everyone -SEND_MESSAGES → -MENTION_EVERYONE, access of Regular MANAGE_MESSAGES → none',
	]);
	expect(writes(world)).toHaveLength(sent);
	const done = await carryOut(world, hash);
	expect(done).toMatch(/: done, (\d+) of \1 steps done\n/);
	expect(shown(world)).toEqual(before);
	const after = writes(world).length;
	const again = await plan(world);
	expect(again.text).toContain("17 were undone before.");
	expect(again.text).toContain("There is nothing to do.");
	expect(await world.call("undo_actions", { plan_hash: again.hash })).toMatchObject({ isError: false });
	expect(writes(world)).toHaveLength(after);
	const log = (await world.call("get_audit_log", { user_ids: "@zoe" })).text.split("\n").slice(1);
	expect(log.filter((line) => !/ \| undone(?: \||$)/.test(line))).toEqual([]);
	// The steps of one job share a line where they did the same.
	const steady = (await world.call("get_audit_log", { user_ids: world.simulator.bot("alpha").id })).text;
	expect(steady).toMatch(/ \| unbanned 2 users: .* \| reason: guild document \w+: undo_actions/);
	// What the bot did itself is not undone by undoing it.
	const own = await plan(world, { user_id: world.simulator.bot("alpha").id });
	expect(own.steps.filter((line) => !/automod/.test(line))).toEqual([]);
});

worldTest("what others changed since, or what is as before, is left alone", async (world) => {
	const { simulator, guild } = world;
	const general = channelNamed(world, "general");
	const [talk, { id: lounge }] = [channelNamed(world, "Talk"), channelNamed(world, "Lounge")];
	const edit = simulator.world.channels.edit.bind(simulator.world.channels);
	edit(general, { name: "owned", topic: "ha" }, byZoe(world));
	edit(talk, { name: "owned" }, byZoe(world));
	simulator.world.channels.edit(channelNamed(world, "Lounge"), { name: "owned" }, byZoe(world));
	const ada = { actor: simulator.user("ada").id };
	edit(general, { topic: "New rules" }, ada);
	edit(talk, { name: "Talk" }, ada);
	// In between, somebody else renamed it: that stays.
	const room = guild.channels.get(lounge);
	if (room) edit(room, { name: "Bar" }, ada);
	if (room) edit(room, { name: "owned twice" }, byZoe(world));
	await world.heard();
	const { steps } = await plan(world);
	expect(steps).toEqual([
		'~ channel "#owned twice": name "owned twice" → Bar'.replace(/"#owned twice"/, "#owned twice"),
		"~ channel #owned: name owned → general",
		"cannot: channel owned: topic is now New rules: others have changed it since, so it is left alone (overwrite_changes: true sets it back, too)",
		"note: category Talk: already as before",
	]);
	expect((await plan(world, { overwrite_changes: true })).text).toContain(
		'topic "New rules" → "Everything and nothing"',
	);
	expect(await undo(world)).toContain(": done, 2 of 2 steps done");
	expect([general.name, general.topic, room?.name]).toEqual(["general", "New rules", "Bar"]);
});

worldTest("a plan is refused once the guild has changed, and shows the conflict", async (world) => {
	const general = channelNamed(world, "general");
	world.simulator.world.channels.edit(general, { name: "owned" }, byZoe(world));
	await world.heard();
	const { hash } = await plan(world);
	world.simulator.world.channels.edit(general, { name: "lobby" });
	await world.heard();
	const text = await world.expectError("undo_actions", { plan_hash: hash });
	expect(text).toContain("The guild has changed since the plan");
	expect(text).toContain("name is now lobby: others have changed it since");
	expect(general.name).toBe("lobby");
	const changed = await world.call("plan_guild", { plan_hash: hash, changes: { roles: [{ name: "x" }] } });
	expect(changed.text).toContain("A plan of undo_actions cannot be changed");
});

worldTest("the account gets no role back that it took from itself", async (world) => {
	giveRole(world, "zoe", { permissions: PermissionFlagsBits.BanMembers });
	world.simulator.world.members.edit(world.guild, memberNamed(world, "zoe"), { roles: [] }, byZoe(world));
	await world.heard();
	const { text } = await plan(world);
	expect(text).toContain("the account that is undone gets nothing back");
	expect(text).not.toContain("~ role");
});

worldTest("a plan of which somebody did a part meanwhile does the rest", async (world) => {
	const { channels } = world.simulator.world;
	const [general, bar] = [channelNamed(world, "general"), channels.add(world.guild, { name: "bar" })];
	for (const channel of [general, bar]) channels.edit(channel, { name: `owned-${channel.name}` }, byZoe(world));
	await world.heard();
	const { hash } = await plan(world);
	channels.edit(general, { name: "general" });
	await world.heard();
	const { text } = await world.call("undo_actions", { plan_hash: hash });
	expect(text).toContain(": done, 1 of 1 step done");
	expect(text).toContain(" was done meanwhile (channel #owned-general); what is left is ");
	expect([general.name, bar.name]).toEqual(["general", "bar"]);
});

worldTest("what was created is deleted only if asked for", async (world) => {
	const { simulator, guild } = world;
	const platform = simulator.world;
	const role = platform.roles.add(guild, { name: "evil", permissions: bits("BanMembers") }, byZoe(world));
	platform.members.edit(guild, memberNamed(world, "liwei"), { roles: [role.id] }, byZoe(world));
	platform.channels.add(guild, { name: "scam" }, byZoe(world));
	const gone = platform.channels.add(guild, { name: "for a moment" }, byZoe(world));
	platform.channels.remove(gone, byZoe(world));
	await world.heard();
	const created = "was created or added; delete_created: true deletes it with all that others put there";
	expect((await plan(world)).steps).toEqual([
		"- role evil from 1 member: @liwei",
		`cannot: channel scam, role evil: ${created}`,
	]);
	expect(await undo(world)).toContain(": done, 1 of 1 step done".replace("1 steps", "1 step"));
	expect((await plan(world, { delete_created: true })).steps).toEqual(["- channel #scam", "- role evil"]);
	await undo(world, { delete_created: true });
	expect([...guild.channels.values()].filter(({ name }) => name === "scam")).toEqual([]);
	expect(guild.roles.has(role.id)).toBe(false);
});

worldTest("a created role is taken from its members by deleting it, and all counts as done", async (world) => {
	const { simulator, guild } = world;
	const { members, roles } = simulator.world;
	const role = roles.add(guild, { name: "evil" }, byZoe(world));
	for (const name of ["liwei", "mona_lisa"]) {
		const member = memberNamed(world, name);
		members.edit(guild, member, { roles: [...member.roles, role.id] }, byZoe(world));
	}
	await world.heard();
	const { steps, hash } = await plan(world, { delete_created: true });
	expect(steps).toEqual(["- role evil"]);
	expect(await carryOut(world, hash)).toMatch(/: done, 1 of 1 step done\n/);
	const again = await plan(world, { delete_created: true });
	expect([again.steps, again.text]).toEqual([[], expect.stringContaining("Undoes 0 actions")]);
});

worldTest("roles that an account had keep their power, and the plan names them", async (world) => {
	const { members, roles } = world.simulator.world;
	const [zoe, own] = [memberNamed(world, "zoe"), roleNamed(world, "Staff")];
	const [old, plain, raised] = ["BanMembers", "SendMessages", "SendMessages"].map((name, index) =>
		roles.add(world.guild, { name: `Old ${index}`, permissions: bits(name as "BanMembers") }),
	);
	if (!old || !plain || !raised) throw new Error("no roles");
	const had = [old, plain, raised].map(({ id }) => id);
	members.edit(world.guild, zoe, { roles: had });
	members.edit(world.guild, zoe, { roles: [...had, own.id] }, byZoe(world));
	roles.edit(world.guild, raised, { permissions: bits("Administrator") }, byZoe(world));
	await world.heard();
	const { text } = await plan(world);
	expect(text).toMatch(/ keeps powerful roles, which it had not given itself: @Old 0 \(ID: \d+\)\. bulk_role_update/);
});

worldTest("without a backup a plan says that the category of a deleted channel is unknown", async (world) => {
	world.simulator.world.channels.remove(channelNamed(world, "general"), byZoe(world));
	await world.heard();
	expect((await plan(world)).text).toMatch(
		/no backup is from before \S+Z, so such channels are made as the last, outside of categories\./,
	);
});

worldTest("deleted things come back as far as the audit log and a backup of before know them", async (world) => {
	const { simulator, guild } = world;
	const platform = simulator.world;
	const [regular, general, talk] = [
		roleNamed(world, "Regular"),
		channelNamed(world, "general"),
		channelNamed(world, "Talk"),
	];
	const add = (name: string) => platform.channels.add(guild, { name, parent_id: talk.id });
	const [, second, third] = [add("first"), add("second"), add("third"), add("last")] as const;
	const allowed = roleOverwrite(regular.id, { allow: PermissionFlagsBits.ManageMessages });
	platform.channels.setOverwrite(general, allowed);
	platform.members.edit(guild, memberNamed(world, "zoe"), { roles: [] });
	await world.heard();
	const { text: json } = await world.call("export_guild", { parts: ["roles", "channels", "categories", "members"] });
	using database = new Database(join(world.dataDirectory, "store.sqlite"));
	database.run(
		"INSERT INTO guild_backups (guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, document) VALUES (?, 1, ?, 'The Cooks', ?, '', 1, 1, '', ?)",
		// After the time since when it is undone, before the first action.
		[guild.id, Date.now() - 60_000, json.length, json],
	);
	const before = shown(world);
	const placesBefore = places(world);
	for (const channel of [second, general, talk, third]) platform.channels.remove(channel, byZoe(world));
	platform.roles.remove(guild, regular, byZoe(world));
	platform.bans.add(guild, userNamed(world, "mona_lisa"), 0, byZoe(world));
	platform.members.remove(guild, memberNamed(world, "liwei"), byZoe(world));
	await world.heard();
	const { text, steps, hash } = await plan(world);
	expect(steps).toContain(
		`cannot: kicked user @liwei (${simulator.user("liwei").id}): they have to rejoin; invite them`,
	);
	expect(text).toContain("Messages of deleted channels do not come back");
	expect(text).toMatch(
		/Banned and kicked people have to rejoin, without roles; backup 1 of .*: .*@mona_lisa.* had Regular/,
	);
	expect(await carryOut(world, hash)).toContain(": done, ");
	const now = shown(world);
	expect(now.roles).toEqual(before.roles);
	const sorted = (channels: typeof before.channels) => channels.map((one) => JSON.stringify(one)).sort();
	expect(sorted(now.channels)).toEqual(sorted(before.channels));
	expect(places(world)).toEqual(placesBefore);
	expect((await plan(world)).steps.filter((line) => !line.startsWith("cannot"))).toEqual([]);
});

test("what one key did through the bot is undone, and marked in the record of calls", async () => {
	await using world = await startWorld({}, { mcpToken: "test-token-test-token-test-token" });
	const key = (name: string) => world.mcp.as({ id: `key:${name}:1a2b`, name, access: "all" });
	const { id } = channelNamed(world, "general");
	expect(await key("bad").call("edit_channel", { channel_id: id, name: "owned" })).toMatchObject({ isError: false });
	await key("bad").call("send_message", { channel_id: id, content: "ha" });
	await key("good").call("edit_channel", { channel_id: id, topic: "Soup" });
	const found = await plan(world, { user_id: undefined, key: "bad" });
	expect(found.steps).toEqual([
		"~ channel #owned: name owned → general",
		"cannot: send_message 1×: no entry was found in Discord's audit log, as of messages that they sent; what they did stays",
	]);
	expect(await carryOut(world, found.hash)).toContain(": done, 1 of 1 step done");
	const { topic, name } = channelNamed(world, "general");
	expect([name, topic]).toEqual(["general", "Soup"]);
	const calls = (await world.call("list_recent_tool_calls", { tool: "edit_channel" })).text.split("\n");
	expect(calls.filter((line) => line.includes("| undone |"))).toEqual([expect.stringContaining("key: key:bad:1a2b")]);
	for (const one of ["bad", "good", "ba", "%"])
		expect((await plan(world, { user_id: undefined, key: one })).steps.join()).not.toContain("owned");
});

worldTest("of an overwrite only the half is taken back that others left, and only that is marked", async (world) => {
	const { channels } = world.simulator.world;
	const [general, { id }] = [channelNamed(world, "general"), roleNamed(world, "Regular")];
	const [allow, deny] = [PermissionFlagsBits.ManageMessages, PermissionFlagsBits.SendMessages];
	channels.setOverwrite(general, roleOverwrite(id, { allow }), byZoe(world));
	channels.setOverwrite(general, roleOverwrite(id, { allow, deny }), { actor: world.simulator.user("ada").id });
	await world.heard();
	const { steps } = await plan(world);
	expect(steps).toContainEqual(expect.stringContaining("deny of Regular is now SEND_MESSAGES: others have changed it"));
	expect(await undo(world)).toContain(": done, 1 of 1 step done");
	expect(general.permission_overwrites).toContainEqual(roleOverwrite(id, { deny }));
	expect((await world.call("get_audit_log", { user_ids: ["@zoe"] })).text).not.toContain("undone");
	await undo(world, { overwrite_changes: true });
	expect(general.permission_overwrites.filter((one) => one.id === id)).toEqual([]);
	expect((await world.call("get_audit_log", { user_ids: ["@zoe"] })).text).toContain("undone");
});

worldTest("a plan is carried out only by the tool whose plan it is", async (world) => {
	world.simulator.world.channels.edit(channelNamed(world, "general"), { topic: "ha" }, byZoe(world));
	await world.heard();
	const planned = await world.call("plan_guild", { document: { roles: [{ name: "x" }] } });
	const plan_hash = /plan_hash=(\w+)/.exec(planned.text)?.[1];
	for (const [tool, hash, own] of [
		["undo_actions", plan_hash, "apply_guild"],
		["apply_guild", (await plan(world)).hash, "undo_actions"],
	] as const) {
		const { text, isError } = await world.call(tool, { plan_hash: hash });
		expect([isError, text]).toEqual([true, expect.stringContaining(`Use ${own} with this plan_hash`)]);
	}
});

worldTest("the account gets no access back, and keeps none that it took", async (world) => {
	const { channels } = world.simulator.world;
	const [general, lounge] = [channelNamed(world, "general"), channelNamed(world, "Lounge")];
	const { id } = world.simulator.user("zoe");
	const own = memberOverwrite(id, { allow: PermissionFlagsBits.ManageMessages });
	for (const channel of [general, lounge]) channels.setOverwrite(channel, own);
	channels.removeOverwrite(general, own, byZoe(world));
	channels.edit(general, { topic: "ha" }, byZoe(world));
	channels.remove(lounge, byZoe(world));
	channels.setOverwrite(channelNamed(world, "staff"), own, byZoe(world));
	await world.heard();
	const { steps } = await plan(world);
	const nothing = "access of zoe: the account that is undone gets nothing back";
	expect(steps.filter((line) => line.startsWith("cannot"))).toEqual([
		`cannot: channel Lounge, channel general: ${nothing}`,
	]);
	await undo(world);
	const all = [...world.guild.channels.values()];
	expect(all.filter((channel) => channel.permission_overwrites.some((one) => one.id === id))).toEqual([]);
	expect([all.some(({ name }) => name === "Lounge"), general.topic]).toEqual([true, "Everything and nothing"]);
});

worldTest("what others decided later about bans and roles stays, and new bans are remarked", async (world) => {
	const { simulator, guild } = world;
	const { bans, members, users } = simulator.world;
	const ada = { actor: simulator.user("ada").id };
	const [banned, pardoned, spammer] = ["banned", "pardoned", "spammer"].map((username) => users.add({ username }));
	if (!banned || !pardoned || !spammer) throw new Error("no users");
	const unban = (user: typeof banned, by?: typeof ada) => {
		const ban = guild.bans.get(user.id);
		if (ban) bans.remove(guild, ban, by);
	};
	for (const user of [pardoned, spammer]) {
		bans.add(guild, user);
		unban(user, byZoe(world));
	}
	bans.add(guild, pardoned, 0, ada);
	unban(pardoned, ada);
	bans.add(guild, banned, 0, byZoe(world));
	unban(banned, ada);
	bans.add(guild, banned, 0, ada);
	const [liwei, staff] = [memberNamed(world, "liwei"), roleNamed(world, "Staff")];
	const before = liwei.roles;
	for (const [roles, by] of [
		[[...before, staff.id], byZoe(world)],
		[before, ada],
		[[...before, staff.id], ada],
	] as const)
		members.edit(guild, liwei, { roles: [...roles] }, by);
	await world.heard();
	const { text, steps } = await plan(world);
	expect(steps.filter((line) => line.startsWith("cannot")).join("\n")).toMatch(/not undone, because @ada/);
	expect(steps.filter((line) => /^[-+~^]/.test(line))).toEqual([expect.stringContaining("spammer")]);
	expect(text).toContain("Unbanned people are banned again");
	await undo(world);
	expect([...guild.bans.keys()].sort()).toEqual([banned.id, spammer.id].sort());
	expect(liwei.roles).toContain(staff.id);
	expect((await plan(world, { overwrite_changes: true })).steps.filter((line) => /^[-+~^]/.test(line))).toHaveLength(3);
});

worldTest("what has no step is named", async (world) => {
	const { roles } = world.simulator.world;
	const position = [...world.guild.roles.values()].length - 1;
	roles.move(world.guild, new Map([[roleNamed(world, "Newcomer"), position]]), byZoe(world));
	await world.heard();
	const { steps } = await plan(world);
	expect(steps).toContainEqual(expect.stringContaining("cannot be undone, because there is no step for the order"));
});

test("a call in a person's name is found though the reason has another name", async () => {
	const settings = { mcp: { toolsets: "all" }, features: { moderation: true } };
	const options = { mcpToken: "test-token-test-token-test-token", toml: settings };
	await using world = await startWorld({}, options);
	const { guild, simulator } = world;
	const zoe = memberNamed(world, "zoe");
	giveRole(world, "zoe", { permissions: PermissionFlagsBits.Administrator, position: 99 });
	await world.heard();
	const person = { id: zoe.user.id, name: "Somebody else", signedIn: false };
	const caller = world.mcp.as({ id: "key:app:1a2b", name: "app", access: "all", person });
	for (const [tool, args] of [
		["edit_channel", { channel_id: channelNamed(world, "general").id, name: "owned" }],
		["temp_ban", { user_ids: [simulator.user("liwei").id], duration: "1d" }],
	] as const)
		expect(await caller.call(tool, args)).toMatchObject({ isError: false });
	await world.heard();
	const { steps } = await plan(world);
	expect(steps).toEqual([expect.stringContaining("liwei"), expect.stringContaining("#owned: name owned → general")]);
	expect(guild.bans.size).toBe(1);
});

worldTest("which account and since when, or a plan, is needed", async (world) => {
	for (const args of [{}, { user_id: "@zoe" }, { user_id: "@zoe", key: "a", after: "3h" }]) {
		const { code, text } = await world.call("undo_actions", args);
		expect([code, text]).toEqual([-32602, expect.stringContaining("expected after and one of user_id and key")]);
	}
});
