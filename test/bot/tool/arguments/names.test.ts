// Names in place of ids in the arguments of tool calls.

import { expect, test } from "bun:test";
import { until } from "../../../support/until.ts";
import { channelNamed, startWorld, type TestWorld, userNamed, worldTest, writes } from "../../../support/world.ts";
import { key, pendingId, startApprovalWorld } from "../../approval/approval-world.ts";
import { startCast } from "../../person-cast.ts";

/** Adds a member of the bot's guild. */
function join({ simulator, guild }: TestWorld, username: string, nick?: string) {
	const { users, members } = simulator.world;
	const member = members.add(guild, users.add({ username }));
	if (nick !== undefined) members.edit(guild, member, { nick });
	return member.user;
}

test("a username, a role's and a channel's name stand for their ids, in lists and nested objects, too", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const zoe = join(world, "zoe_1");
	const role = simulator.world.roles.add(guild, { name: "Chefs" });
	await world.heard();
	expect((await world.call("get_member", { user_ids: "@ZOE_1" })).text).toContain(`ID: ${zoe.id}`);
	await world.call("bulk_role_update", { role_id: "@Chefs", action: "add", user_ids: ["@zoe_1"], dry_run: false });
	expect([...(guild.members.get(zoe.id)?.roles ?? [])]).toEqual([role.id]);
	const { id } = channelNamed(world, "general");
	expect((await world.call("get_channel", { channel_id: "#general" })).text).toContain(id);
	expect((await world.call("get_channel", { channel_id: `<#${id}>` })).text).toContain(id);
	await world.call("create_channel", {
		name: "den",
		permission_overwrites: [
			{ id: "@everyone", deny: ["VIEW_CHANNEL"] },
			{ id: "@Chefs", allow: ["VIEW_CHANNEL"] },
			{ id: `<@${zoe.id}>`, allow: ["VIEW_CHANNEL"] },
		],
	});
	const ids = channelNamed(world, "den").permission_overwrites.map((one) => one.id);
	expect(ids).toEqual(expect.arrayContaining([guild.id, role.id, zoe.id]));
});

worldTest("through use_tool, names stand for ids as well", async (world) => {
	const { id } = userNamed(world, "liwei");
	const { text } = await world.call("use_tool", {
		name: "set_nickname",
		arguments: { user_ids: "@liwei", nickname: "Countess" },
	});
	expect(text).toContain(`ID: ${id}`);
	expect(world.guild.members.get(id)?.nick).toBe("Countess");
});

worldTest("an exact display name counts only if no username equals it, and one member has it", async (world) => {
	const named = join(world, "first_one", "Chef Bo");
	const owner = join(world, "bobby");
	join(world, "second_one", "bobby");
	const twins = [join(world, "third_one", "Twin"), join(world, "fourth_one", "Twin")];
	await world.heard();
	expect((await world.call("get_member", { user_ids: "@chef bo" })).text).toContain(`ID: ${named.id}`);
	expect((await world.call("get_member", { user_ids: "@bobby" })).text).toContain(`ID: ${owner.id}`);
	const { text: ambiguous } = await world.call("get_member", { user_ids: "@twin" });
	expect(ambiguous).toContain('2 have the name "@twin"');
	const { text, isError } = await world.call("ban", { user_ids: ["@Twin"] });
	expect({ text, isError }).toEqual({
		text: expect.stringMatching(/^user_ids: 2 have the name "@Twin"\. Give an id: .*\nNothing was done\.$/),
		isError: true,
	});
	for (const { id } of twins) expect(text).toContain(`ID: ${id}`);
	expect(writes(world).filter((one) => one.includes("/bans"))).toEqual([]);
});

test("a tool that changes something takes a user's name only if it is a username and nobody's display name", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const chef = join(world, "first_one", "Chef Bo");
	const owner = join(world, "bobby");
	const other = join(world, "second_one", "Bobby");
	const same = join(world, "third_one", "third_one");
	const waiter = join(world, "fourth_one", "Waiters");
	const role = simulator.world.roles.add(guild, { name: "Waiters" });
	await world.heard();
	const nickname = async (user_ids: string) => (await world.call("set_nickname", { user_ids, nickname: "X" })).text;
	expect(await nickname("@Chef Bo")).toBe(
		`user_ids: "@Chef Bo" is a display name, but a change needs a username. Give an id: Chef Bo (@first_one, ID: ${chef.id}).\nNothing was done.`,
	);
	const ambiguous = await nickname("@bobby");
	expect(ambiguous).toContain('2 have the name "@bobby". Give an id: ');
	for (const { id } of [owner, other]) expect(ambiguous).toContain(`ID: ${id}`);
	expect(writes(world)).toEqual([]);
	expect(await nickname("@Third_One")).toContain(`ID: ${same.id}`);
	const { text } = await world.call("set_channel_permissions", {
		channel_ids: ["#general"],
		target_ids: ["@Waiters"],
		deny: ["SEND_MESSAGES"],
	});
	expect(text).toContain('target_ids: 2 have the name "@Waiters"');
	for (const { id } of [waiter, role]) expect(text).toContain(`ID: ${id}`);
});

test("a role's name never stands for a user, and for a user or role, one in another case is ambiguous", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const zoe = join(world, "zoe_1");
	await world.heard();
	const change = { role_id: "@zoe_1", action: "add", user_ids: ["@zoe_1"], dry_run: false };
	const { text } = await world.call("bulk_role_update", change);
	expect(text).toBe(`role_id: The Cooks (ID: ${guild.id}) has no role "@zoe_1".\nNothing was done.`);
	const role = simulator.world.roles.add(guild, { name: "ZOE_1" });
	await world.heard();
	await world.call("bulk_role_update", change);
	expect([...(guild.members.get(zoe.id)?.roles ?? [])]).toEqual([role.id]);
	for (const name of ["@zoe_1", "@ZOE_1"]) {
		const { text } = await world.call("set_channel_permissions", {
			channel_ids: ["#general"],
			target_ids: [name],
			deny: ["SEND_MESSAGES"],
		});
		expect(text).toContain(`target_ids: 2 have the name "${name}"`);
		for (const { id } of [role, zoe]) expect(text).toContain(`ID: ${id}`);
	}
});

worldTest("a thread has a channel's name only if no channel has it, in whatever case", async (world) => {
	const { threads, channels } = world.simulator.world;
	const general = channelNamed(world, "general");
	const ada = userNamed(world, "ada");
	threads.add(general, ada, { name: "GENERAL" });
	const soup = threads.add(general, ada, { name: "Soup" });
	await world.heard();
	const send = async (channel_id: string) => (await world.call("send_message", { channel_id, content: "Hello" })).text;
	expect(await send("#GENERAL")).toContain(general.id);
	expect(await send("#soup")).toContain(soup.id);
	const other = threads.add(general, ada, { name: "soup" });
	await world.heard();
	const ambiguous = await send("#soup");
	expect(ambiguous).toContain('channel_id: 2 have the name "#soup"');
	for (const { id } of [soup, other]) expect(ambiguous).toContain(`ID: ${id}`);
	const channel = channels.add(world.guild, { name: "sOUP", type: 0 });
	await world.heard();
	expect(await send("#soup")).toContain(channel.id);
});

worldTest("a call has at most 100 names, and tells of at most 10 of them", async (world) => {
	const names = Array.from({ length: 101 }, (_, index) => `@qqq${index}`);
	const many = await world.call("get_member", { user_ids: names });
	expect(many).toEqual({ text: "101 names in one call: at most 100. Give ids. Nothing was done.", isError: true });
	const mention = `<@${userNamed(world, "ada").id}>`;
	const most = await world.call("get_member", { user_ids: [...names.slice(1), mention] });
	expect(most.text).toContain("and 90 more unknown names");
	const { text } = await world.call("get_member", { user_ids: names.slice(0, 25) });
	const lines = text.split("\n");
	expect(lines).toHaveLength(12);
	expect(lines[9]).toContain('has no user "@qqq9"');
	expect(lines.slice(10)).toEqual(["and 15 more unknown names", "Nothing was done."]);
});

worldTest("an unknown name is an error with similar names, all of a call in one", async (world) => {
	const { id } = join(world, "zacharias");
	await world.heard();
	const text = await world.expectError("ban", { user_ids: ["@zachary", "@qqqqq"] });
	expect(text.split("\n")).toEqual([
		`user_ids: The Cooks (ID: ${world.guild.id}) has no user "@zachary". Give the id of someone who is not a member. Similar: @zacharias (ID: ${id}).`,
		`user_ids: The Cooks (ID: ${world.guild.id}) has no user "@qqqqq". Give the id of someone who is not a member.`,
		"Nothing was done.",
	]);
});

worldTest("confusable names stand for nothing else", async (world) => {
	const { simulator, guild } = world;
	const ada = userNamed(world, "ada");
	// Cyrillic letters, the name of everyone, another one's id, and a line break.
	for (const nick of ["аdа", "everyone", ada.id, "one\ntwo"]) join(world, `user_${nick.length}`, nick);
	simulator.world.roles.add(guild, { name: "ada" });
	await world.heard();
	expect((await world.call("get_member", { user_ids: "@ada" })).text).toContain(`ID: ${ada.id}`);
	expect((await world.call("get_member", { user_ids: ada.id })).text).toContain(`ID: ${ada.id}`);
	expect((await world.call("get_member", { user_ids: "@everyone" })).text).toContain('has no user "@everyone"');
	expect((await world.call("get_member", { user_ids: "@one" })).text).toContain("Similar: one\\ntwo (");
	const { text } = await world.call("set_channel_permissions", {
		channel_ids: ["#general"],
		target_ids: ["@everyone"],
		deny: ["SEND_MESSAGES"],
	});
	expect(text).toContain(`ID: ${guild.id}`);
	const both = await world.call("set_channel_permissions", {
		channel_ids: ["#general"],
		target_ids: ["@ada"],
		deny: ["SEND_MESSAGES"],
	});
	expect(both.text).toContain('target_ids: 2 have the name "@ada"');
});

worldTest("a text that is neither id nor name is refused with what is expected", async (world) => {
	expect(await world.call("get_member", { user_ids: "ada" })).toMatchObject({
		text: 'Invalid parameters: user_ids: expected an id of 17 to 20 digits or @name, received "ada"',
		code: -32602,
	});
});

test("of channels with one name, the type or the case of the name decides, or the error says where each one is", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { channels } = simulator.world;
	const category = channels.add(guild, { name: "Den", type: 4 });
	const inside = channels.add(guild, { name: "den", type: 0, parent_id: category.id });
	await world.heard();
	expect((await world.call("list_channels", { category_id: "#den" })).text).toContain(category.id);
	expect((await world.call("get_channel", { channel_id: "#den" })).text).toContain(inside.id);
	channels.add(guild, { name: "den", type: 2 });
	await world.heard();
	const { text } = await world.call("get_channel", { channel_id: "#den" });
	expect(text).toContain('channel_id: 2 have the name "#den"');
	expect(text).toContain(`#den (ID: ${inside.id}) in #Den`);
});

test("in a person's name, only channels that the person sees are found", async () => {
	await using cast = await startCast();
	const { world, guild, client } = cast;
	const { channels } = world.simulator.world;
	const hidden = channels.add(guild, { name: "vault", type: 0 });
	channels.setOverwrite(hidden, { id: guild.id, type: 0, allow: "0", deny: "1024" });
	await world.heard();
	expect((await world.call("get_channel", { channel_id: "#vault" })).isError).toBe(false);
	const { text } = await client.call("get_channel", { channel_id: "#vault" });
	expect(text).toStartWith("channel_id: The Cooks");
	expect(text).not.toContain(hidden.id);
});

worldTest("while members are being loaded, Discord is asked for the name", async (world) => {
	const { simulator } = world;
	simulator.sockets.holdMembers(true);
	simulator.sockets.disconnect({ resumable: false });
	await until("the bot loads members again", async () => {
		const { text } = await world.call("list_members", { limit: 1 });
		return text.includes("still being loaded");
	});
	const late = join(world, "latecomer");
	expect((await world.call("get_member", { user_ids: "@latecomer" })).text).toContain(`ID: ${late.id}`);
	const { text } = await world.call("get_member", { user_ids: "@nobody_here" });
	expect(text).toContain('has no user "@nobody_here"');
	const names = Array.from({ length: 11 }, (_, index) => `@qqq${index}`);
	const searches = () => simulator.requests.list().filter(({ path }) => path.includes("/members/search")).length;
	const before = searches();
	expect(before).toBeGreaterThan(0);
	expect((await world.call("get_member", { user_ids: names })).text).toContain(
		"give ids: the members are still loading",
	);
	expect(searches()).toBe(before);
	expect((await world.call("get_member", { user_ids: names.slice(1) })).text).toContain('has no user "@qqq1"');
});

worldTest("the audit log has ids, not names", async (world) => {
	const { id } = userNamed(world, "ada");
	await world.call("get_member", { user_ids: "@ada" });
	await until("the call is recorded", async () => {
		const { text } = await world.call("list_recent_tool_calls", { tool: "get_member" });
		return text.includes(`"user_ids":"${id}"`);
	});
});

test("a name does not tell a caller of a guild that is hidden from them", async () => {
	await using cast = await startCast();
	const { other, client, world } = cast;
	await world.heard();
	const { text } = await client.call("get_member", { guild_id: other.id, user_ids: "@ada" });
	expect(text).toBe(`The bot is not in a guild ${other.id}. Use list_guilds to find its guilds.`);
});

test("an approved call does what was asked about, whoever has the name by then", async () => {
	await using world = await startApprovalWorld();
	const { simulator, guild } = world;
	const { users, members } = simulator.world;
	const { id } = simulator.user("zoe");
	pendingId(await world.call(key("k"), "ban", { user_ids: ["@zoe"] }));
	const other = members.add(guild, users.add({ username: "somebody" }));
	members.edit(guild, other, { nick: "zoe" });
	await world.press("ada", "Approve");
	await until("the ban is there", () => guild.bans.has(id));
	expect(guild.bans.size).toBe(1);
});

test("who may not use the tool is not told of names", async () => {
	await using cast = await startCast();
	const { world } = cast;
	const reader = world.mcp.as({ id: "key:read", name: "read", access: "read" });
	const { text } = await reader.call("ban", { user_ids: ["@zo"] });
	expect(text).not.toContain("zoe");
	expect(text).toContain("read");
});
