// Channels, roles, members and bans: permissions and the role hierarchy.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { testWith } from "../../support.ts";

const { Administrator, BanMembers, ManageChannels, ManageRoles, ViewChannel } = PermissionFlagsBits;

const test = testWith(({ guild, as }) => ({
	path: `/guilds/${guild.id}`,
	/** The owner. */
	asAda: as("ada"),
	/** Has the role Staff. */
	jose: as("jose.garcia"),
	/** Has no role with permissions. */
	zoe: as("zoe"),
}));

test("a hidden channel gets 50001, and is not in a person's list", async ({ path, zoe, jose, alpha, channelNamed }) => {
	const names = async (who: typeof zoe) =>
		(await who("GET", `${path}/channels`)).json<{ name: string }[]>().map(({ name }) => name);
	expect((await zoe("GET", `/channels/${channelNamed("staff").id}`)).code).toBe(50001);
	expect(await names(zoe)).toEqual(["Talk", "general", "Lounge"]);
	expect(await names(jose)).toContain("staff");
	expect(await names(alpha)).toContain("staff");
});

test("a channel of each type is created in a community", async ({ path, alpha, guild, world }) => {
	world.guilds.edit(guild, { features: ["COMMUNITY"] });
	for (const [name, type] of [
		["text", ChannelType.GuildText],
		["voice", ChannelType.GuildVoice],
		["category", ChannelType.GuildCategory],
		["announcement", ChannelType.GuildAnnouncement],
		["stage", ChannelType.GuildStageVoice],
		["forum", ChannelType.GuildForum],
	] as const) {
		const answer = await alpha("POST", `${path}/channels`, { name, type });
		expect(answer.status).toBe(201);
		expect(answer.json()).toMatchObject({ name, type });
	}
});

test("stage and announcement channels need a community, or for the latter NEWS", async (given) => {
	const { path, alpha, guild, world } = given;
	const make = (type: ChannelType) => alpha("POST", `${path}/channels`, { name: "x", type });
	const { GuildAnnouncement, GuildStageVoice } = ChannelType;
	expect((await make(GuildStageVoice)).code).toBe(50024);
	expect((await make(GuildAnnouncement)).faults).toEqual({ type: "BASE_TYPE_CHOICES" });
	world.guilds.edit(guild, { features: ["NEWS"] });
	expect((await make(GuildStageVoice)).code).toBe(50024);
	expect((await make(GuildAnnouncement)).status).toBe(201);
});

test("the boost level limits bitrates, except on stages", async ({ path, alpha, guild, world }) => {
	const { GuildStageVoice, GuildVoice } = ChannelType;
	/** Whether a new voice channel, and one that is edited, may have it. */
	const takes = async (bitrate: number, type: ChannelType = GuildVoice) => {
		const made = await alpha("POST", `${path}/channels`, { name: "x", type, bitrate });
		const { id } = world.channels.add(guild, { name: "y", type: 2 });
		const edited = await alpha("PATCH", `/channels/${id}`, { bitrate });
		if (type === GuildVoice) expect(edited.faults).toEqual(made.faults);
		return made.faults.bitrate ?? made.status;
	};
	for (const [level, limit] of [96_000, 128_000, 256_000, 384_000].entries()) {
		world.guilds.edit(guild, { premium_tier: level, features: ["COMMUNITY"] });
		expect(await takes(limit)).toBe(201);
		expect(await takes(limit + 1)).toBe("NUMBER_TYPE_MAX");
	}
	expect(await takes(64_000, GuildStageVoice)).toBe(201);
	expect(await takes(64_001, GuildStageVoice)).toBe("NUMBER_TYPE_MAX");
	world.guilds.edit(guild, { premium_tier: 0, features: ["VIP_REGIONS"] });
	expect(await takes(384_000)).toBe(201);
});

test("a text channel's name becomes lower case with hyphens", async ({ path, alpha }) => {
	const answer = await alpha("POST", `${path}/channels`, { name: "Fresh Fish" });
	expect(answer.json().name).toBe("fresh-fish");
});

test("a channel inherits the overwrites of its category", async ({ path, alpha, guild, channelNamed, simulator }) => {
	const parent = channelNamed("Talk");
	simulator.world.channels.setOverwrite(parent, { id: guild.id, type: 0, allow: "0", deny: "2048" });
	const answer = await alpha("POST", `${path}/channels`, { name: "inside", parent_id: parent.id });
	expect(answer.json()).toMatchObject({
		parent_id: parent.id,
		permission_overwrites: [{ id: guild.id, deny: "2048" }],
	});
});

test("invalid channel settings are refused at their field", async ({ path, alpha, channelNamed }) => {
	const faults = async (body: object) => (await alpha("POST", `${path}/channels`, body)).faults;
	expect(await faults({})).toEqual({ name: "BASE_TYPE_REQUIRED" });
	expect(await faults({ name: " " })).toEqual({ name: "BASE_TYPE_REQUIRED" });
	expect(
		await faults({ name: "", type: 99, rate_limit_per_user: 21_601, bitrate: 7999, parent_id: "x", nsfw: 1 }),
	).toEqual({
		name: "BASE_TYPE_BAD_LENGTH",
		type: "BASE_TYPE_CHOICES",
		rate_limit_per_user: "NUMBER_TYPE_MAX",
		bitrate: "NUMBER_TYPE_MIN",
		parent_id: "NUMBER_TYPE_COERCE",
		nsfw: "BOOLEAN_TYPE_CONVERT",
	});
	expect(await faults({ name: "x", topic: "x".repeat(1025) })).toEqual({ topic: "BASE_TYPE_MAX_LENGTH" });
	expect(await faults({ name: "x", parent_id: channelNamed("general").id })).toEqual({
		parent_id: "CHANNEL_PARENT_INVALID_TYPE",
	});
	expect(await faults({ name: "x", parent_id: "1" })).toEqual({ parent_id: "CHANNEL_PARENT_INVALID" });
});

test("channels with text can be spoiler channels, unless they are age-restricted", async ({ alpha, guild, world }) => {
	const flags = 1 << 21;
	for (const [type, expected] of [
		[ChannelType.GuildText, flags],
		[ChannelType.GuildVoice, flags],
		[ChannelType.GuildAnnouncement, flags],
		[ChannelType.GuildForum, flags],
		[ChannelType.GuildStageVoice, 0],
		[ChannelType.GuildCategory, 0],
	] as const) {
		const channel = world.channels.add(guild, { name: "plot", type });
		const path = `/channels/${channel.id}`;
		const edited = await alpha("PATCH", path, { flags: flags | (1 << 5) });
		expect(edited.json()).toMatchObject({ flags: expected });
		const refused = await alpha("PATCH", path, { nsfw: true });
		expect(refused.code).toBe(expected ? 50035 : undefined);
		const both = await alpha("PATCH", path, { nsfw: true, flags: 0 });
		expect(both.status).toBe(200);
	}
});

test("a category has at most 50 channels, and a guild 500", async ({ path, alpha, guild, channelNamed, simulator }) => {
	const parent_id = channelNamed("Talk").id;
	const inside = [...guild.channels.values()].filter((one) => one.parent_id === parent_id).length;
	for (let number = inside; number < 50; number += 1)
		simulator.world.channels.add(guild, { name: `c${number}`, parent_id });
	const full = await alpha("POST", `${path}/channels`, { name: "x", parent_id });
	expect(full.faults).toEqual({ parent_id: "CHANNEL_PARENT_MAX_CHANNELS" });
	while (guild.channels.size < 500) simulator.world.channels.add(guild, { name: "more" });
	const more = await alpha("POST", `${path}/channels`, { name: "x" });
	expect(more.code).toBe(30013);
});

test("deleting a category keeps its channels", async ({ alpha, zoe, channelNamed }) => {
	const { id } = channelNamed("Talk");
	expect((await zoe("DELETE", `/channels/${id}`)).code).toBe(50013);
	expect((await alpha("DELETE", `/channels/${id}`)).json().id).toBe(id);
	expect(channelNamed("general").parent_id).toBeNull();
	expect((await alpha("GET", `/channels/${id}`)).code).toBe(10003);
});

test("one request sets many positions and at most one parent", async ({ path, alpha, channelNamed }) => {
	const [general, staff, parent] = [channelNamed("general"), channelNamed("staff"), channelNamed("Talk")];
	const answer = await alpha("PATCH", `${path}/channels`, [
		{ id: general.id, position: 5 },
		{ id: staff.id, position: 4, parent_id: null },
	]);
	expect(answer.status).toBe(204);
	expect([general.position, staff.position]).toEqual([5, 4]);
	expect(staff.parent_id).toBeNull();
	const two = await alpha("PATCH", `${path}/channels`, [
		{ id: general.id, parent_id: null },
		{ id: staff.id, parent_id: parent.id },
	]);
	expect(two.code).toBe(40009);
});

test("a position needs MANAGE_CHANNELS in guild or category, a new category needs it there and on the channel", async (given) => {
	const { path, alpha, channelNamed, deny, guild, world, role, user } = given;
	const { ManageChannels, ManageRoles, ViewChannel } = PermissionFlagsBits;
	const general = channelNamed("general");
	const box = world.channels.add(guild, { name: "Box", type: 4 });
	const allow = (channel: typeof box) =>
		world.channels.setOverwrite(channel, { id: user("alpha").id, type: 1, deny: "0", allow: String(ManageChannels) });
	const move = async (more: object) => {
		const body = [{ id: general.id, ...more }];
		return (await alpha("PATCH", `${path}/channels`, body)).code;
	};
	deny(general, ViewChannel);
	expect(await move({ position: 3 })).toBeUndefined();
	expect(await move({ parent_id: box.id })).toBe(50001);
	deny(general, ManageRoles);
	deny(box, ManageChannels);
	expect(await move({ parent_id: box.id })).toBe(50001);
	deny(box, 0n);
	const locked = { parent_id: box.id, lock_permissions: true };
	expect(await move(locked)).toBe(50013);
	expect(await move({ parent_id: box.id })).toBeUndefined();
	const own = role("alpha");
	const permissions = String(BigInt(own.permissions) & ~ManageChannels);
	world.roles.edit(guild, own, { permissions });
	expect(await move({ position: 4 })).toBe(50013);
	allow(box);
	allow(general);
	expect(await move({ position: 4 })).toBeUndefined();
	expect(await move({ parent_id: null })).toBe(50001);
	const edited = await alpha("PATCH", `/channels/${general.id}`, { position: 9 });
	expect(edited.status).toBe(200);
	world.guilds.edit(guild, { mfa_level: 1 });
	world.users.withoutMfa.add(world.users.developer.id);
	expect(await move({ position: 5 })).toBe(60003);
	expect(guild.auditLog).toEqual([]);
});

test("channels synced with a category follow its overwrites, with events after the category's", async (given) => {
	const { alpha, guild, role, world } = given;
	const { channels } = world;
	const regular = role("Regular").id;
	const add = (name: string, parent_id: string | null = null, type = 0) =>
		channels.add(guild, { name, parent_id, type });
	const box = add("Box", null, ChannelType.GuildCategory);
	const [one, two, apart, elsewhere] = [add("one", box.id), add("two", box.id), add("apart", box.id), add("elsewhere")];
	channels.setOverwrite(apart, { id: guild.id, type: 0, allow: "0", deny: "2048" });
	const updated: string[] = [];
	const reader = { id: guild.id, seesContent: true };
	world.state.subscribe(({ type, data }) => {
		if (type === "CHANNEL_UPDATE") updated.push((data(reader) as { id: string }).id);
	});
	const denies = ({ permission_overwrites }: typeof one) => permission_overwrites.map(({ deny }) => deny).join();
	const all = () => [box, one, two, apart, elsewhere].map(denies);
	const path = `/channels/${box.id}/permissions/${regular}`;
	await alpha("PUT", path, { type: 0, deny: "64" });
	expect(all()).toEqual(["64", "64", "64", "2048", ""]);
	expect(updated).toEqual([box.id, one.id, two.id]);
	await alpha("DELETE", `/channels/${two.id}/permissions/${regular}`);
	const overwrite = { id: regular, type: 0, deny: "128" };
	await alpha("PATCH", `/channels/${box.id}`, { permission_overwrites: [overwrite] });
	expect(all()).toEqual(["128", "128", "", "2048", ""]);
	await alpha("DELETE", path);
	expect(all()).toEqual(["", "", "", "2048", ""]);
	const targets = guild.auditLog.map(({ target_id }) => target_id);
	expect(new Set(targets)).toEqual(new Set([box.id, two.id]));
});

test("an overwrite needs MANAGE_ROLES, a type and a known role", async ({ alpha, jose, channelNamed, role }) => {
	const path = `/channels/${channelNamed("general").id}/permissions`;
	const regular = `${path}/${role("Regular").id}`;
	expect((await jose("PUT", regular, { type: 0 })).code).toBe(50013);
	expect((await alpha("PUT", regular, {})).faults).toEqual({ type: "BASE_TYPE_REQUIRED" });
	expect((await alpha("PUT", `${path}/1`, { type: 0 })).code).toBe(10011);
	expect((await alpha("PUT", regular, { type: 0, allow: "many" })).faults).toEqual({ allow: "NUMBER_TYPE_COERCE" });
});

test("an overwrite cannot allow MANAGE_ROLES or permissions that the actor lacks", async (given) => {
	const { alpha, asAda, channelNamed, role } = given;
	const path = `/channels/${channelNamed("general").id}/permissions/${role("Regular").id}`;
	const allow = async (who: typeof asAda, bits: bigint) =>
		(await who("PUT", path, { type: 0, allow: String(bits) })).status;
	expect(await allow(alpha, BanMembers)).toBe(204);
	expect(await allow(alpha, Administrator)).toBe(403);
	expect(await allow(alpha, ManageRoles)).toBe(403);
	expect(await allow(asAda, ManageRoles)).toBe(204);
});

test("a member's overwrite beats those of roles, and these beat @everyone's", async (given) => {
	const { guild, zoe, channelNamed, role, simulator } = given;
	const general = channelNamed("general");
	const visible = async () => (await zoe("GET", `/channels/${general.id}`)).status === 200;
	const set = (id: string, type: 0 | 1, allowed: boolean) =>
		simulator.world.channels.setOverwrite(general, {
			id,
			type,
			allow: allowed ? String(ViewChannel) : "0",
			deny: allowed ? "0" : String(ViewChannel),
		});
	set(guild.id, 0, false);
	expect(await visible()).toBe(false);
	set(role("Newcomer").id, 0, true);
	expect(await visible()).toBe(true);
	set(simulator.user("zoe").id, 1, false);
	expect(await visible()).toBe(false);
});

test("roles at or above the actor's own cannot be changed", async ({ path, alpha, asAda, guild, role, simulator }) => {
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	const change = async (who: typeof asAda, id: string) =>
		(await who("PATCH", `${path}/roles/${id}`, { hoist: true })).status;
	expect(await change(alpha, above.id)).toBe(403);
	expect(await change(alpha, role("alpha").id)).toBe(403);
	expect(await change(alpha, role("Staff").id)).toBe(200);
	expect(await change(asAda, above.id)).toBe(200);
	expect((await alpha("DELETE", `${path}/roles/${above.id}`)).code).toBe(50013);
});

test("a role cannot get permissions that the actor lacks, but can keep them", async (given) => {
	const { path, alpha, role, simulator } = given;
	const staff = role("Staff");
	const change = async (bits: bigint) =>
		(await alpha("PATCH", `${path}/roles/${staff.id}`, { permissions: String(bits) })).status;
	expect(await change(Administrator)).toBe(403);
	simulator.world.roles.edit(simulator.guild("The Cooks"), staff, { permissions: String(Administrator) });
	expect(await change(Administrator | ManageChannels)).toBe(200);
	const made = await alpha("POST", `${path}/roles`, { permissions: String(Administrator) });
	expect(made.code).toBe(50013);
});

test("a bot's own role and @everyone cannot be deleted", async ({ path, asAda, guild, role }) => {
	for (const id of [guild.id, role("alpha").id])
		expect((await asAda("DELETE", `${path}/roles/${id}`)).code).toBe(50028);
});

test("a guild has at most 250 roles", async ({ path, alpha, guild, simulator }) => {
	while (guild.roles.size < 250) simulator.world.roles.add(guild, { name: "more" });
	expect((await alpha("POST", `${path}/roles`, {})).code).toBe(30005);
});

test("managed roles cannot be given to members", async ({ path, asAda, role, simulator }) => {
	const zoe = simulator.user("zoe").id;
	const answer = await asAda("PUT", `${path}/members/${zoe}/roles/${role("alpha").id}`);
	expect(answer.code).toBe(50013);
});

test("members are listed in pages, ordered by id", async ({ path, alpha }) => {
	const ids = async (query: string) =>
		(await alpha("GET", `${path}/members?${query}`)).json<{ user: { id: string } }[]>().map(({ user }) => user.id);
	const all = await ids("limit=1000");
	expect(all).toEqual([...all].sort());
	expect(all).toHaveLength(6);
	expect(await ids("")).toEqual(all.slice(0, 1));
	expect(await ids(`limit=2&after=${all[2]}`)).toEqual(all.slice(3, 5));
	expect((await alpha("GET", `${path}/members?limit=1001`)).code).toBe(50035);
});

test("where moderation requires two-factor authentication, elevated permissions need that of the developer", async (given) => {
	const { path, guild, alpha, channel, simulator } = given;
	const { users, guilds } = simulator.world;
	const tries = async () => {
		const id = simulator.user("zoe").id;
		const answers = [
			await alpha("PUT", `/channels/${channel.id}/permissions/${id}`, { type: 1, allow: "0", deny: "0" }),
			await alpha("POST", `/channels/${channel.id}/messages`, { content: "x" }),
		];
		return answers.map(({ status, code }) => code ?? status);
	};
	guilds.edit(guild, { mfa_level: 1 });
	expect((await alpha("GET", path)).json().mfa_level).toBe(1);
	expect(await tries()).toEqual([204, 200]);
	users.withoutMfa.add(users.developer.id);
	const self = await alpha("GET", "/users/@me");
	expect(self.json().mfa_enabled).toBe(false);
	const kick = await alpha("DELETE", `${path}/members/${self.json().id}`);
	expect(kick).toMatchObject({ status: 403, code: 60003 });
	expect(await tries()).toEqual([60003, 200]);
	guilds.edit(guild, { mfa_level: 0 });
	expect(await tries()).toEqual([204, 200]);
});

test("a timeout has at most 28 days, and administrators cannot be timed out", async (given) => {
	const { path, guild, alpha, member, role, simulator } = given;
	const timeOut = (days: number) =>
		alpha("PATCH", `${path}/members/${simulator.user("zoe").id}`, {
			communication_disabled_until: new Date(Date.now() + days * 24 * 3600 * 1000).toISOString(),
		});
	expect((await timeOut(28.001)).faults).toEqual({
		communication_disabled_until: "INVALID_COMMUNICATION_DISABLED_TIMESTAMP",
	});
	expect((await timeOut(28)).status).toBe(200);
	const newcomer = role("Newcomer");
	expect(member("zoe").roles).toContain(newcomer.id);
	simulator.world.roles.edit(guild, newcomer, { permissions: String(Administrator) });
	expect((await timeOut(1)).code).toBe(50013);
});

test("members at or above the actor's highest role cannot be changed", async (given) => {
	const { path, guild, alpha, jose, member, simulator } = given;
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	simulator.world.members.edit(guild, member("liwei"), { roles: [above.id] });
	const id = (username: string) => simulator.user(username).id;
	for (const [method, path_, body] of [
		["DELETE", `${path}/members/${id("liwei")}`],
		["DELETE", `${path}/members/${id("ada")}`],
		["PUT", `${path}/bans/${id("liwei")}`, {}],
		["PUT", `${path}/bans/${id("ada")}`, {}],
		["PATCH", `${path}/members/${id("liwei")}`, { nick: "x" }],
	] as const)
		expect((await alpha(method, path_, body)).code).toBe(50013);
	expect((await jose("DELETE", `${path}/members/${id("alpha")}`)).code).toBe(50013);
	expect((await jose("DELETE", `${path}/members/${id("zoe")}`)).status).toBe(204);
	expect(guild.members.has(id("zoe"))).toBe(false);
});

test("roles above the actor's own cannot be given or taken", async ({ path, guild, alpha, simulator }) => {
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	const member = `${path}/members/${simulator.user("zoe").id}`;
	expect((await alpha("PUT", `${member}/roles/${above.id}`)).code).toBe(50013);
	expect((await alpha("DELETE", `${member}/roles/${above.id}`)).code).toBe(50013);
	expect((await alpha("PATCH", member, { roles: [above.id] })).code).toBe(50013);
});

test("a bot can leave a guild, its owner cannot", async ({ guild, alpha, asAda }) => {
	const list = async (query = "") => (await alpha("GET", `/users/@me/guilds${query}`)).json<{ name: string }[]>();
	expect(await list("?with_counts=true")).toMatchObject([
		{ name: "The Cooks", owner: false, approximate_member_count: 6 },
	]);
	expect((await asAda("DELETE", `/users/@me/guilds/${guild.id}`)).status).toBe(400);
	expect((await alpha("DELETE", `/users/@me/guilds/${guild.id}`)).status).toBe(204);
	expect(await list()).toEqual([]);
});

test("a ban reads delete_message_seconds from its query, too", async ({ path, alpha, simulator }) => {
	const { id } = simulator.user("zoe");
	await simulator.user("zoe").say("The Cooks/general", "spam");
	const ban = `${path}/bans/${id}?delete_message_seconds=3600`;
	expect((await alpha("PUT", ban)).status).toBe(204);
	expect(simulator.channel("The Cooks/general").transcript()).toBe("");
});
