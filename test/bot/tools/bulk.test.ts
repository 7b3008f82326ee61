// The bulk tools.

import { expect } from "bun:test";
import { GuildFeature, PermissionFlagsBits } from "discord.js";
import type { Member, Role } from "../../../src/simulator/world/state/entities.ts";
import { addToBakers, channelNamed, roleNamed, type TestWorld, worldTest, writes } from "../../support/world.ts";

const done = { dry_run: false };

/** New members, by id. */
function newMembers({ simulator, guild }: TestWorld, count: number): Member[] {
	const { world } = simulator;
	return Array.from({ length: count }, (_, index) =>
		world.members.add(guild, world.users.add({ username: `new-${index}` })),
	);
}

const idsOf = (members: readonly Member[]) => members.map(({ user }) => user.id);

const holders = (members: readonly Member[], { id }: Role) =>
	members.flatMap(({ roles }, index) => (roles.includes(id) ? [index] : []));

async function giving(world: TestWorld, count: number) {
	const role = roleNamed(world, "Newcomer");
	const members = newMembers(world, count);
	await world.heard();
	const [first] = idsOf(members);
	const args = { role_id: role.id, action: "add", user_ids: idsOf(members) };
	return {
		role,
		members,
		args,
		first,
		give: (more: Record<string, unknown> = {}) => world.call("bulk_role_update", { ...args, ...done, ...more }),
		requestFor: (index: number) => `PUT /guilds/${world.guild.id}/members/${members[index]?.user.id}/roles/${role.id}`,
	};
}

worldTest("bulk_role_update changes only members who need it", async (world) => {
	const { role, members, args, give } = await giving(world, 7);
	const [, , third] = members;
	if (third) world.simulator.world.members.edit(world.guild, third, { roles: [role.id] });
	await world.heard();
	const dry = await world.call("bulk_role_update", { ...args, dry_run: true });
	expect(dry.text).toStartWith(
		`Dry run: nothing was done.\nWould give 6 of the 7 members who match the role @Newcomer (ID: ${role.id}):\n@new-0 | ID: `,
	);
	expect(dry.text.split("\n")).toHaveLength(8);
	expect(writes(world)).toEqual([]);
	const { text, isError } = await give();
	expect(isError).toBe(false);
	expect(text).toMatch(/^Gave 6 of 6 members the role @Newcomer \(ID: \d+\)\. 1 already had it: @new-2 \(ID: \d+\)\.$/);
	expect(holders(members, role)).toHaveLength(7);
	expect(writes(world)).toHaveLength(6);
	await world.heard();
	const again = await give();
	expect(again).toMatchObject({ isError: false });
	expect(again.text).toStartWith("Nothing to do: 7 members match, and none of them lacks @Newcomer");
	expect(writes(world)).toHaveLength(6);
});

worldTest("bulk_role_update shows whom where means, and changes nothing yet", async (world) => {
	const { simulator, guild } = world;
	const { world: platform } = simulator;
	const [role, regular] = [roleNamed(world, "Newcomer"), roleNamed(world, "Regular")];
	const members = newMembers(world, 4);
	for (const [index, joined_at] of [
		"2020-01-01T00:00:00.000Z",
		"2020-01-31T00:00:00.000Z",
		"2020-02-01T00:00:00.000Z",
	].entries()) {
		const member = members[index];
		if (!member) continue;
		member.joined_at = joined_at;
		platform.members.edit(guild, member, { roles: [regular.id] });
	}
	await world.heard();
	const fit = async (where: string) => {
		const { text } = await world.call("bulk_role_update", { role_id: role.id, action: "add", where });
		return Array.from(text.matchAll(/@new-(\d)/g), ([, index]) => index).join();
	};
	const ours = "name:new-";
	expect(await fit("role:@Regular and not bot")).toContain("0,1,2");
	expect(await fit(ours)).toBe("0,1,2,3");
	expect(await fit(`${ours} and joined before 2020-01-31`)).toBe("0");
	expect(await fit(`${ours} and joined since 2020-01-31`)).toBe("1,2,3");
	expect(await fit("joined >= 2020-01-01 and joined < 2020-02-01")).toBe("0,1");
	expect(await fit(`${ours} and not role:@Regular`)).toBe("3");
	expect(await fit(`${ours} and bot`)).toBe("");
	expect(writes(world)).toEqual([]);
});

worldTest("bulk_role_update names each refused member and continues with the others", async (world) => {
	const { role, members, give, requestFor } = await giving(world, 4);
	world.simulator.faults.refuse(requestFor(1), 50013);
	world.simulator.faults.refuse(requestFor(2), 10007);
	const { text, isError } = await give();
	expect(isError).toBe(false);
	expect(holders(members, role)).toEqual([0, 3]);
	expect(text).toStartWith("Gave 2 of 4 members");
	expect(text).toContain("\n2 refused by Discord:\n@new-1 | ID: ");
	expect(text).toContain("Missing Permissions (code 50013). The bot lacks");
	expect(text).toContain("(code 10007). This person is not a member");
	expect(text).not.toContain("next_after");
});

worldTest("bulk_role_update stops at an unknown outcome, and continues after it", async (world) => {
	const { role, members, give, requestFor } = await giving(world, 4);
	world.simulator.faults.drop(requestFor(1), { when: "before", times: 1 });
	const { text, isError } = await give();
	expect(isError).toBe(false);
	expect(holders(members, role)).toEqual([0]);
	const after = members[1]?.user.id;
	expect(text).toContain("1 of unknown outcome:\n@new-1 | ID: ");
	expect(text).toContain("2 not started: check the outcome of the previous one");
	expect(text).toEndWith(`\nnext_after=${after}`);
	const rest = await give({ after });
	expect(rest.text).toStartWith("Gave 2 of 2 members");
	expect(holders(members, role)).toEqual([0, 2, 3]);
	const requests = writes(world);
	expect(new Set(requests).size).toBe(requests.length);
});

worldTest("bulk_role_update ends at once when Discord's rate limit takes longer than its time", async (world) => {
	const { role, members, give, requestFor } = await giving(world, 4);
	world.simulator.faults.rateLimit(requestFor(2), { retryAfterMs: 60_000, times: 1 });
	const { text } = await give();
	expect(holders(members, role)).toEqual([0, 1]);
	expect(text).toContain("2 not started: Discord API error: Discord's rate limit");
	expect(text).toEndWith(`\nnext_after=${members[1]?.user.id}`);
});

worldTest(
	"bulk_role_update refuses unassignable roles and roles above the bot, regardless of the members' ranks",
	async (world) => {
		const { simulator, guild } = world;
		const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
		const { give, role, members } = await giving(world, 1);
		for (const [role_id, refusal] of [
			[above.id, "does not rank below the bot's highest role"],
			[guild.id, "is the role of all members"],
		] as const) {
			const { text, isError } = await give({ role_id });
			expect(isError).toBe(true);
			expect(text).toContain(refusal);
		}
		const [member] = members;
		if (member) simulator.world.members.edit(guild, member, { roles: [above.id] });
		await world.heard();
		expect((await give()).isError).toBe(false);
		expect(holders(members, role)).toEqual([0]);
	},
);

worldTest("bulk tools wait until all members are known, and do nothing before", async (world) => {
	const { simulator } = world;
	simulator.sockets.holdMembers(true);
	const guild = addToBakers(world);
	const role = simulator.world.roles.add(guild, { name: "Cake" });
	await world.heard();
	const guild_id = guild.id;
	const user_ids = [simulator.user("liwei").id];
	const update = { guild_id, role_id: role.id, action: "add", ...done };
	const waiting = Promise.all([
		world.call("ban", { guild_id, user_ids: [...user_ids, "2".repeat(18)], dry_run: true }),
		world.call("bulk_role_update", { ...update, user_ids: [...user_ids, simulator.bot("alpha").id] }),
		world.call("bulk_role_update", { ...update, where: "not bot" }),
	]);
	// A single member is fetched.
	const one = await world.call("bulk_role_update", { ...update, user_ids });
	expect(one.text).toStartWith("Gave 李伟 (@liwei, ID: ");
	expect(writes(world)).toHaveLength(1);
	simulator.sockets.holdMembers(false);
	const [banned, given, chosen] = await waiting;
	expect(banned.text).toContain("does not rank below the bot");
	expect([given.isError, chosen.isError]).toEqual([false, false]);
});

worldTest("ban bans several members and others, and says who was not banned", async (world) => {
	const { simulator, guild } = world;
	const members = newMembers(world, 2);
	const outsider = simulator.world.users.add({ username: "outsider" });
	const banned = simulator.world.users.add({ username: "banned" });
	simulator.world.bans.add(guild, banned);
	await world.heard();
	const user_ids = [...idsOf(members), outsider.id, banned.id];
	const [author] = members;
	if (author) simulator.world.messages.add(channelNamed(world, "general"), author.user, { content: "spam" });
	const args = { user_ids, delete_messages: "1m" };
	const dry = await world.call("ban", { ...args, dry_run: true });
	expect(dry.text).toMatch(
		/\nWould ban 3 user\(s\), 2 of them members, and delete about 1 message\(s\) of the last 60 s \(Discord's search, where the bot can read\); now is \S+Z:\n@new-0 \| ID: \d+ \| joined: \S+Z\n@new-1 /,
	);
	expect(dry.text).toEndWith(
		`\n@outsider | ID: ${outsider.id} | not a member\n1 already banned:\n@banned | ID: ${banned.id}`,
	);
	expect(writes(world)).toEqual([]);
	const { text, isError } = await world.call("ban", { ...args, ...done });
	expect(isError).toBe(false);
	expect(text).toStartWith(
		"Banned 3 of 4 user(s); Discord deletes about 1 message(s) of the last 60 s (Discord's search, where the bot can read):\n@new-0 | ID: ",
	);
	expect(text).toContain("\n1 not banned:\n");
	expect(text).toEndWith(`ID: ${banned.id} | not a member | already banned`);
	expect([...guild.bans.keys()].sort()).toEqual(user_ids.sort());
	const again = await world.expectError("ban", { user_ids: [banned.id, outsider.id], ...done });
	expect(again).toContain("(code 500000). None of the users was banned");
});

worldTest("a dry run of ban finds who is banned among thousands", async (world) => {
	const { simulator, guild } = world;
	const users = Array.from({ length: 2005 }, (_, n) => simulator.world.users.add({ username: `banned-${n}` }));
	for (const user of users) simulator.world.bans.add(guild, user);
	const free = simulator.world.users.add({ username: "free" });
	await world.heard();
	const user_ids = [free, users[0], users[1999], users[2004]].map((user) => user?.id ?? "");
	const { text } = await world.call("ban", { user_ids, dry_run: true });
	expect(text).toContain("\nWould ban 1 user(s), 0 of them members; now is ");
	expect(text).toContain("\n3 already banned:");
});

worldTest("one refusal names all members who rank too high, and nobody is banned", async (world) => {
	const { simulator, guild } = world;
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	const members = newMembers(world, 14);
	for (const member of members.slice(2)) simulator.world.members.edit(guild, member, { roles: [above.id] });
	await world.heard();
	const ban = (user_ids: string[]) => world.call("ban", { user_ids, ...done });
	const some = await ban([...idsOf(members.slice(0, 3)), guild.owner_id, simulator.bot("alpha").id]);
	expect(some.isError).toBe(true);
	expect(some.text).toStartWith("3 of 5 member(s) out of the bot's reach: ");
	expect(some.text).toContain("@new-2 (ID: ");
	expect(some.text).toContain("owns the guild");
	expect(some.text).toContain("is the bot itself");
	expect(some.text).toEndWith("Nothing was done.");
	const many = await ban(idsOf(members));
	expect(many.text).toStartWith("12 of 14 member(s) out of the bot's reach: ");
	expect(many.text).toContain("; and 2 more. The bot can only act on roles and members that rank below it");
	expect(many.text).not.toContain("new-12");
	expect(writes(world)).toEqual([]);
});

worldTest(
	"prune_members removes the members that a dry run counts, and reports the number only if requested",
	async (world) => {
		const { simulator, guild } = world;
		const members = newMembers(world, 3);
		for (const member of members) simulator.world.members.setLastSeen(member, new Date(Date.now() - 8 * 86_400_000));
		const count = async (args = {}) => (await world.call("prune_members", { ...args, dry_run: true })).text;
		const who = "have been inactive for 7 day(s) and have no roles";
		expect(await count()).toBe(
			`Dry run: nothing was done.\nWould remove 3 member(s) of the guild ${guild.id} who ${who}.`,
		);
		expect(await count({ inactive: "9d" })).toContain("Would remove 0 member(s)");
		const dry = await world.call("prune_members", { dry_run: true });
		expect(dry.text).toContain(`Would remove 3 member(s) of the guild`);
		expect(writes(world)).toEqual([]);
		const { text } = await world.call("prune_members", { ...done, compute_prune_count: false });
		expect(text).toBe(`Discord removes the members who ${who}; their number was not requested.`);
		for (const id of idsOf(members)) expect(guild.members.has(id)).toBe(false);
		const none = await world.call("prune_members", done);
		expect(none.text).toBe(`Removed 0 member(s) who ${who}.`);
	},
);

worldTest(
	"where only administrators may prune, a bot that is none is refused before Discord is asked",
	async (world) => {
		const { simulator, guild } = world;
		const features = [GuildFeature.PruneRequiresAdmin];
		simulator.world.guilds.edit(guild, { features });
		await world.heard();
		simulator.requests.clear();
		for (const dry_run of [false, true])
			expect((await world.call("prune_members", { dry_run })).text).toContain(
				`The bot lacks ADMINISTRATOR in the guild ${guild.id} as a whole. The guild lets only administrators prune members (PRUNE_REQUIRES_ADMIN).`,
			);
		expect(simulator.requests.list()).toEqual([]);
		simulator.world.roles.edit(guild, roleNamed(world, "alpha"), {
			permissions: String(PermissionFlagsBits.Administrator),
		});
		await world.heard();
		const { text } = await world.call("prune_members", { dry_run: true });
		expect(text).toContain("Would remove 0 member(s)");
	},
);
