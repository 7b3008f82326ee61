// ban.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { memberNamed, roleNamed, userNamed, worldTest, writes } from "../../support/world.ts";

const put = "PUT /guilds/:guild_id/bans/:user_id";
const daySeconds = 86_400;

worldTest("ban bans a user who is not a member, and the dry run says so", async (world) => {
	const { id } = world.simulator.user("bob_the_baker");
	const dry = await world.call("ban", { user_ids: [id], dry_run: true });
	expect(dry.text).toBe(`Dry run: nothing was done.\nWould ban @bob_the_baker (ID: ${id}), who is not a member.`);
	const { text } = await world.call("ban", { user_ids: [id] });
	expect(text).toBe(`Banned @bob_the_baker (ID: ${id}).`);
	expect(world.guild.bans.has(id)).toBe(true);
});

worldTest.each([
	["the owner", "ada", "owns the guild"],
	["the bot itself", "alpha", "is the bot itself"],
])("ban refuses %s before Discord sees it, also in a dry run", async (world, _, name, said) => {
	const { id } = world.simulator.user(name);
	for (const dry_run of [false, true]) {
		const text = await world.expectError("ban", { user_ids: [id], dry_run });
		expect(text).toContain(said);
		expect(text).toContain(id);
	}
	expect(world.guild.members.has(id)).toBe(true);
	expect(world.simulator.requests.list(put)).toEqual([]);
});

worldTest("ban refuses a member who ranks as high as the bot, or higher", async (world) => {
	const { simulator, guild } = world;
	const zoe = memberNamed(world, "zoe");
	const own = roleNamed({ guild }, "alpha");
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	for (const role of [own, above]) {
		simulator.world.members.edit(guild, zoe, { roles: [role?.id ?? ""] });
		await world.heard();
		const text = await world.expectError("ban", { user_ids: [zoe.user.id] });
		expect(text).toContain(
			`Zoë 🍞 (@zoe, ID: ${zoe.user.id}) does not rank below the bot: @${role?.name} (ID: ${role?.id}) is not below @alpha`,
		);
	}
	expect(simulator.requests.list(put)).toEqual([]);
});

worldTest("ban of a banned user says that nothing was done", async (world) => {
	const { id } = world.simulator.user("zoe");
	await world.call("ban", { user_ids: [id] });
	const text = await world.expectError("ban", { user_ids: [id] });
	expect(text).toBe(`@zoe (ID: ${id}) is already banned from the guild. Nothing was done.`);
	expect(world.simulator.requests.list(put)).toHaveLength(1);
});

worldTest.each([
	[{}, ["new", "3 hours", "2 days", "6 days", "8 days"]],
	[{ delete_messages: "none" }, ["new", "3 hours", "2 days", "6 days", "8 days"]],
	[{ delete_messages: "1h" }, ["3 hours", "2 days", "6 days", "8 days"]],
	[{ delete_messages: "1d" }, ["2 days", "6 days", "8 days"]],
	[{ delete_messages: "7d" }, ["8 days"]],
])("ban with %j leaves the messages of these ages: %j", async (world, args, left) => {
	const { simulator } = world;
	const zoe = userNamed(world, "zoe");
	const { id: channelId } = simulator.channel("The Cooks/general");
	const channel = world.guild.channels.get(channelId);
	if (!channel) throw new Error("it was just found");
	const ages = { "8 days": 8, "6 days": 6, "2 days": 2, "3 hours": 1 / 8, new: 0 };
	for (const [content, days] of Object.entries(ages))
		simulator.world.messages.add(channel, zoe, {
			content,
			id: simulator.world.state.newId(Date.now() - days * daySeconds * 1000),
		});
	const ada = userNamed(world, "ada");
	simulator.world.messages.add(channel, ada, { content: "ada's" });
	const dry = await world.call("ban", { user_ids: [zoe.id], ...args, dry_run: true });
	const count = 5 - left.length;
	expect(/, and delete about (\d+) message/.exec(dry.text)?.[1]).toBe(count > 0 ? String(count) : undefined);
	const banned = await world.expectResult("ban", { user_ids: [zoe.id], ...args });
	expect(/Discord deletes about (\d+) message/.exec(banned)?.[1]).toBe(count > 0 ? String(count) : undefined);
	const contents = simulator.world.messages.in(channel.id).map(({ content }) => content);
	expect(contents.toSorted()).toEqual([...left, "ada's"].toSorted());
});

worldTest("ban looks up the ban first, and bans nobody if that fails", async (world) => {
	const { id: user_id } = world.simulator.user("zoe");
	world.simulator.faults.drop("GET /guilds/*/bans/*", { when: "before" });
	const text = await world.expectError("ban", { user_ids: [user_id] });
	expect(text).toContain("nothing was changed");
	expect(world.guild.members.has(user_id)).toBe(true);
});

worldTest(
	"a dry run names the member with what tells them apart, and a ban does without the number of messages",
	async (world) => {
		const { simulator, guild } = world;
		const zoe = memberNamed(world, "zoe");
		const role = roleNamed(world, "Regular");
		zoe.joined_at = "2026-01-31T12:00:00.000Z";
		simulator.world.members.edit(guild, zoe, { roles: [role.id] });
		await world.heard();
		const args = { user_ids: [zoe.user.id], delete_messages: "1m" };
		simulator.faults.fail("GET /guilds/*/messages/search", 403);
		const dry = await world.call("ban", { ...args, dry_run: true });
		expect(dry.text).toContain(
			", and delete an unknown number of messages of the last 60 s (Discord's search failed: ",
		);
		expect(dry.text).toMatch(
			new RegExp(
				`\\nZoë 🍞 \\(@zoe\\) \\| ID: ${zoe.user.id} \\| joined: 2026-01-31T12:00:00Z \\| highest role: @Regular \\| now is \\S+Z$`,
			),
		);
		simulator.faults.clear();
		simulator.faults.indexing("GET /guilds/*/messages/search", { retryAfterSeconds: 2 });
		const text = await world.expectResult("ban", args);
		expect(text).toContain("(Discord is still indexing the guild's messages)");
		expect(text).toStartWith(`Banned Zoë 🍞 (@zoe, ID: ${zoe.user.id}). Discord deletes an unknown`);
	},
);

worldTest("kick and unban take several users, and say who was left out", async (world) => {
	const { simulator, guild } = world;
	const { users, members, bans } = simulator.world;
	const made = [1, 2].map((n) => members.add(guild, users.add({ username: `raider-${n}` })));
	const outsider = users.add({ username: "outsider" });
	await world.heard();
	const user_ids = [...made.map(({ user }) => user.id), outsider.id];
	const dry = await world.call("kick", { user_ids, dry_run: true });
	expect(dry.text).toMatch(
		/^Dry run: nothing was done\.\nWould kick 2 member\(s\); now is \S+Z:\n@raider-1 \| ID: \d+ \| joined: \S+Z\n@raider-2 /,
	);
	expect(writes(world)).toEqual([]);
	const { text, isError } = await world.call("kick", { user_ids });
	expect(isError).toBe(false);
	expect(text).toStartWith("Kicked 2 of 2 member(s):\n@raider-1 | ID: ");
	expect(text).toEndWith(`\n1 not in the guild: ${outsider.id}`);
	expect(made.some(({ user }) => guild.members.has(user.id))).toBe(false);
	await world.heard();
	const again = await world.expectError("kick", { user_ids });
	expect(again).toContain("None of the users ");

	for (const { user } of made) bans.add(guild, user);
	const lifted = await world.call("unban", { user_ids });
	expect(lifted.text).toStartWith("Lifted 2 of 2 ban(s):\n@raider-1 | ID: ");
	expect(lifted.text).toEndWith(`\n1 not banned: ${outsider.id}`);
	expect(guild.bans.size).toBe(0);
});

worldTest(
	"kick of several stops before the first if one ranks too high, and names who Discord refused",
	async (world) => {
		const { simulator, guild } = world;
		const { users, members } = simulator.world;
		const [one, two] = [1, 2].map((n) => members.add(guild, users.add({ username: `raider-${n}` })));
		await world.heard();
		const user_ids = [one?.user.id ?? "", two?.user.id ?? ""];
		const high = await world.call("kick", { user_ids: [...user_ids, guild.owner_id] });
		expect(high.text).toContain("1 of 3 member(s) out of the bot's reach: ");
		expect(writes(world)).toEqual([]);
		simulator.faults.fail(`DELETE /guilds/${guild.id}/members/${user_ids[0]}`, 403);
		const { text } = await world.call("kick", { user_ids });
		expect(text).toStartWith("Kicked 1 of 2 member(s):\n@raider-2 ");
		expect(text).toContain("\n1 refused by Discord:\n@raider-1 ");
	},
);

worldTest("bans are searched by name over all pages", async (world) => {
	const { simulator, guild } = world;
	const { users, bans } = simulator.world;
	const add = (username: string, global_name: string | null = null) => {
		const user = users.add({ username, global_name });
		bans.add(guild, user);
		return user;
	};
	add("first_mallory", "Mällory");
	for (let n = 0; n < 1001; n += 1) add(`other-${n}`);
	const last = add("someone", "Mallory II");
	const search = (args: Record<string, unknown>) => world.call("get_bans", args);
	const found = (await search({ query: "MALLORY" })).text.split("\n");
	expect(found[0]).toBe("2 of 1003 ban(s) match, by user id:");
	expect(found[1]).toStartWith("Mällory (@first_mallory) | ID: ");
	expect(found[2]).toBe(`Mallory II (@someone) | ID: ${last.id} | no reason given`);
	const page = (await search({ query: "mallory", limit: 1 })).text.split("\n");
	expect(page).toHaveLength(4);
	const after = page[3]?.replace("next_after=", "");
	const next = (await search({ query: "mallory", limit: 1, after })).text;
	expect(next).toContain("Mallory II");
	expect(next).not.toContain("next_after");
	expect((await search({ query: "nobody" })).text).toBe("0 of 1003 ban(s) match, by user id:");
});

worldTest("bans whose date is not in the audit log are counted, and why", async (world) => {
	const { users, bans, roles } = world.simulator.world;
	const [known, unknown] = ["late", "early"].map((username) => users.add({ username }));
	if (!known || !unknown) throw new Error("both were made");
	bans.add(world.guild, unknown);
	bans.add(world.guild, known, 0, { actor: userNamed(world, "ada").id });
	const list = async () => (await world.call("get_bans")).text;
	const text = await list();
	expect(text).toMatch(/\n@late \| ID: \d+ \| banned \S+Z by @ada \(ID: \d+\) \| no reason given\n/);
	expect(text).toContain(`\n@early | ID: ${unknown.id} | no reason given\n`);
	expect(text).toEndWith(
		"\nDate and author are unknown for 1: more than 45 days ago, or beyond the audit log's last 500 entries.",
	);
	const role = roleNamed(world, "alpha");
	roles.edit(world.guild, role, { permissions: String(BigInt(role.permissions) & ~PermissionFlagsBits.ViewAuditLog) });
	await world.heard();
	expect(await list()).toEndWith("\nDate and author are unknown for 2: the audit log needs VIEW_AUDIT_LOG.");
});

worldTest("a dry run of a ban of several users does not count ids that belong to no user", async (world) => {
	const { id } = world.simulator.user("bob_the_baker");
	const nobody = "123456789012345678";
	const { text } = await world.call("ban", { user_ids: [nobody, id], dry_run: true });
	expect(text).toMatch(/\nWould ban 1 user\(s\), 0 of them members; now is /);
	expect(text).toEndWith(`\n1 unknown to Discord: ${nobody}`);
	const real = await world.call("ban", { user_ids: [nobody, id] });
	expect(real.text).toStartWith("Banned 1 of 2 user(s)");
});
