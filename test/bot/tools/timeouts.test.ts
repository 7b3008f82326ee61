// Timeouts, nicknames, kicks and bans.

import { afterEach, expect, setSystemTime, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { shareWorld } from "../../support/shared-world.ts";
import { giveRole, memberNamed, roleNamed, worldTest } from "../../support/world.ts";

const shared = shareWorld();

afterEach(() => {
	setSystemTime();
});

const patch = "PATCH /guilds/:guild_id/members/:user_id";

test.each([
	["90s", 90],
	["10", 600],
	["10m", 600],
	["2H", 7200],
	["3 d", 259_200],
	["4w", 2_419_140],
	["28d", 2_419_140],
	["1h30m", 5400],
	["2 hours", 7200],
])("timeout for %j is %d seconds", async (duration, seconds) => {
	const world = await shared();
	const { world: platform } = world.simulator;
	const member = platform.members.add(world.guild, platform.users.add({ username: `quiet ${duration}` }));
	await world.heard();
	const before = Date.now();
	const text = await world.expectResult("timeout", { user_ids: [member.user.id], duration });
	const until = Date.parse(member.communication_disabled_until ?? "");
	expect(until).toBeGreaterThanOrEqual(before + seconds * 1000);
	expect(until).toBeLessThanOrEqual(Date.now() + seconds * 1000);
	expect(text).toContain(`until ${new Date(until).toISOString().slice(0, 19)}Z; now is `);
});

worldTest("a timeout replaces the previous one, and is removed once", async (world) => {
	const zoe = memberNamed(world, "zoe");
	const args = { user_ids: [zoe.user.id] };
	await world.call("timeout", { ...args, duration: "1h" });
	const again = await world.call("timeout", { ...args, duration: "2h" });
	expect(again.text).toMatch(/ until \S+Z, instead of until \S+Z; now is \S+Z\.$/);
	const ended = await world.call("remove_timeout", args);
	expect(ended.text).toMatch(/^Ended the timeout of .* until \S+Z\.$/);
	expect(zoe.communication_disabled_until).toBeNull();
	const none = await world.expectError("remove_timeout", args);
	expect(none).toContain("is not timed out. Nothing was done.");
	expect(world.simulator.journal.entries()).toHaveLength(3);
});

worldTest("administrators and the owner are refused before Discord is asked", async (world) => {
	const { simulator } = world;
	giveRole(world, "zoe", { permissions: PermissionFlagsBits.Administrator });
	await world.heard();
	for (const [name, said] of [
		["zoe", "has ADMINISTRATOR"],
		["ada", "owns the guild"],
		["alpha", "is the bot itself"],
	] as const) {
		const { id } = name === "alpha" ? simulator.bot(name) : simulator.user(name);
		const text = await world.expectError("timeout", { user_ids: [id], duration: "1m" });
		expect(text).toContain(said);
	}
	expect(simulator.requests.list(patch)).toEqual([]);
});

worldTest.each(["timeout", "remove_timeout", "set_nickname", "kick"])(
	"%s refuses a member who ranks above the bot",
	async (world, tool) => {
		const { simulator } = world;
		const zoe = memberNamed(world, "zoe");
		giveRole(world, "zoe", { name: "Above", position: 99 });
		await world.heard();
		const text = await world.expectError(tool, {
			user_ids: [zoe.user.id],
			...(tool === "timeout" && { duration: "1m" }),
		});
		expect(text).toContain("does not rank below the bot: @Above");
		expect(simulator.journal.entries()).toEqual([]);
	},
);

worldTest("a nickname is set, changed and cleared, and each result shows the old one", async (world) => {
	const zoe = memberNamed(world, "zoe");
	const set = async (nickname?: string) =>
		(await world.call("set_nickname", { user_ids: zoe.user.id, ...(nickname !== undefined && { nickname }) })).text;
	expect(await set("Baker")).toBe(
		`Zoë 🍞 (@zoe, ID: ${zoe.user.id}) now has the nickname "Baker", and had no nickname.`,
	);
	expect(await set("Baker")).toContain("Nothing would change");
	expect(await set("")).toContain('now has no nickname, and had the nickname "Baker"');
	expect(await set()).toContain("Nothing would change");
	expect(zoe.nick).toBeNull();
	expect(world.simulator.journal.entries(patch)).toHaveLength(2);
});

worldTest("bans are listed page by page with their reasons, and nobody banned is a sentence", async (world) => {
	const { simulator, guild, call } = world;
	const empty = await call("get_bans");
	expect(empty.text).toBe(`Nobody is banned from the guild ${guild.id}.`);
	const users = ["a", "b", "c"].map((username) => simulator.world.users.add({ username }));
	for (const { id, username } of users) await call("ban", { user_ids: [id], reason: `for ${username}` });
	const first = await call("get_bans", { limit: 2 });
	const banned = ({ username, id }: { username: string; id: string }) =>
		expect.stringMatching(
			new RegExp(`^@${username} \\| ID: ${id} \\| banned \\S+Z by @alpha \\(ID: \\d+\\) \\| reason: for ${username}$`),
		);
	expect(first.text.split("\n")).toEqual([
		"2 ban(s), and maybe more, by user id:",
		...users.slice(0, 2).map(banned),
		`next_after=${users[1]?.id}`,
	]);
	const rest = await call("get_bans", { after: users[1]?.id });
	expect(rest.text).toContain("1 ban(s)");
	expect(rest.text).not.toContain("next_after");
	const none = await call("get_bans", { after: users[2]?.id });
	expect(none.text).toStartWith(`Nobody with an id above ${users[2]?.id}`);
});

worldTest("get_member shows labels, timeout and roles from the highest down", async (world) => {
	const { simulator, guild } = world;
	const zoe = memberNamed(world, "zoe");
	const until = new Date(Date.now() + 600_000).toISOString();
	const staff = roleNamed({ guild }, "Staff");
	simulator.world.members.edit(guild, zoe, {
		nick: "Bread",
		roles: [...zoe.roles, staff.id],
		communication_disabled_until: until,
	});
	await world.heard();
	const { text } = await world.call("get_member", { user_ids: zoe.user.id });
	const lines = text.split("\n");
	expect(lines[0]).toBe(`Bread (@zoe, ID: ${zoe.user.id})`);
	expect(lines).toContain("Nickname: Bread");
	expect(lines).toContain("Global display name: Zoë 🍞");
	expect(lines).toContain("Is: a member");
	expect(lines).toContain(`Timed out until: ${until.slice(0, 19)}Z`);
	expect(text).toMatch(/^Permissions beyond those of @everyone: KICK_MEMBERS\b(?!.*VIEW_CHANNEL)/m);
	expect(lines.slice(-3)).toEqual([
		"2 role(s), the highest first:",
		`@Staff (ID: ${staff.id})`,
		`@Newcomer (ID: ${zoe.roles[0]})`,
	]);
	const owner = await world.call("get_member", { user_ids: simulator.user("ada").id });
	expect(owner.text).toMatch(/^Is: owner of the guild$.*^Permissions: all \(owner\)$/ms);
	giveRole(world, "liwei", { permissions: PermissionFlagsBits.Administrator });
	await world.heard();
	const liwei = await world.call("get_member", { user_ids: "@liwei" });
	expect(liwei.text).toContain("Permissions: all (ADMINISTRATOR)");
	const bot = await world.call("get_member", { user_ids: simulator.bot("alpha").id });
	expect(bot.text).toContain("Is: bot");
});

worldTest("several members are timed out until a time, and their timeouts ended", async (world) => {
	const { simulator, guild } = world;
	const { users, members } = simulator.world;
	const made = [1, 2].map((n) => members.add(guild, users.add({ username: `loud-${n}` })));
	const outsider = users.add({ username: "outsider" });
	await world.heard();
	setSystemTime(new Date("2026-03-01T12:00:00Z"));
	const user_ids = [...made.map(({ user }) => user.id), outsider.id];
	const until = "2026-03-02T12:00:00Z";
	const args = { user_ids, duration: until };
	const dry = await world.call("timeout", { ...args, dry_run: true });
	expect(dry.text).toStartWith(
		`Dry run: nothing was done.\nWould time out 2 member(s) until ${until}, now is 2026-03-01T12:00:00Z:\n@loud-1 | ID: `,
	);
	const { text } = await world.call("timeout", args);
	expect(text).toStartWith(`Timed out 2 of 2 member(s) until ${until}, now is 2026-03-01T12:00:00Z:\n@loud-1 `);
	expect(text).toEndWith(`\n1 not in the guild: ${outsider.id}`);
	for (const { communication_disabled_until } of made)
		expect(Date.parse(communication_disabled_until ?? "")).toBe(Date.parse(until));
	await world.heard();
	const by = String.raw`${until}, since \S+Z by @alpha \(ID: ${simulator.bot("alpha").id}\)`;
	const listed = await world.call("list_members", { where: "timeout" });
	expect(listed.text.match(new RegExp(` \\| timed out until ${by}$`, "gm"))).toHaveLength(2);
	const one = await world.call("get_member", { user_ids: user_ids.slice(0, 1) });
	expect(one.text).toMatch(new RegExp(`^Timed out until: ${by}$`, "m"));
	const ended = await world.call("remove_timeout", { user_ids });
	expect(ended.text).toStartWith("Ended 2 of 2 timeout(s):\n@loud-1 ");
	expect(made.every((member) => !member.communication_disabled_until)).toBe(true);
	await world.heard();
	const none = await world.call("remove_timeout", { user_ids });
	expect(none.text).toContain("None of these members is timed out.");
});

worldTest("several members are refused together if one is an administrator", async (world) => {
	const { simulator, guild } = world;
	const { users, members, roles } = simulator.world;
	const role = roles.add(guild, { name: "Admin", permissions: String(PermissionFlagsBits.Administrator) });
	const made = [1, 2].map((n) => members.add(guild, users.add({ username: `loud-${n}` })));
	const [first] = made;
	if (first) members.edit(guild, first, { roles: [role.id] });
	await world.heard();
	const user_ids = made.map(({ user }) => user.id);
	const { text } = await world.call("timeout", { user_ids, duration: "1h" });
	expect(text).toContain("has ADMINISTRATOR");
	expect(simulator.requests.list(patch)).toEqual([]);
});

worldTest(
	"timeout names the members that it did not start with, since the same call would begin again",
	async (world) => {
		const { world: platform } = world.simulator;
		const members = ["one", "two", "three", "four"].map((username) =>
			platform.members.add(world.guild, platform.users.add({ username })),
		);
		await world.heard();
		const [, second, third, fourth] = members.map(({ user }) => user.id);
		world.simulator.faults.rateLimit(`PATCH /guilds/${world.guild.id}/members/${third}`, {
			retryAfterMs: 60_000,
			times: 1,
		});
		const { text } = await world.call("timeout", { user_ids: members.map(({ user }) => user.id), duration: "1h" });
		expect(text).toStartWith("Timed out 2 of 4 member(s) until ");
		expect(text).toContain(`ID: ${second}`);
		expect(text).toEndWith(` To continue, call again with user_ids ${third}, ${fourth}.`);
	},
);
