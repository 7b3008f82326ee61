// What the routes for channels, roles, members and bans do, and whom they refuse: permissions and the order of roles.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { as, type Simulator, startSimulator } from "../../support.ts";

const { Administrator, BanMembers, ManageChannels, ManageRoles, ViewChannel } =
	PermissionFlagsBits;

function cooks(simulator: Simulator) {
	const guild = simulator.guild("The Cooks");
	const role = (name: string) => {
		for (const one of guild.roles.values()) if (one.name === name) return one;
		throw new Error(`no role is called ${name}`);
	};
	const member = (username: string) => {
		const found = guild.members.get(simulator.user(username).id);
		if (!found) throw new Error(`${username} is no member`);
		return found;
	};
	const channel = (name: string) => {
		for (const one of guild.channels.values())
			if (one.name === name) return one;
		throw new Error(`no channel is called ${name}`);
	};
	return {
		guild,
		role,
		member,
		channel,
		path: `/guilds/${guild.id}`,
		alpha: as(simulator, simulator.bot("alpha")),
		/** The owner. */
		ada: as(simulator, simulator.user("ada")),
		/** Holds the role Staff. */
		jose: as(simulator, simulator.user("jose.garcia")),
		/** Holds no role of weight. */
		zoe: as(simulator, simulator.user("zoe")),
	};
}

describe("channels", () => {
	test("a hidden channel is refused, and missing from a person's list", async () => {
		await using simulator = await startSimulator();
		const { path, zoe, jose, alpha, channel } = cooks(simulator);
		const names = async (who: typeof zoe) =>
			(await who("GET", `${path}/channels`))
				.json<{ name: string }[]>()
				.map(({ name }) => name);
		expect((await zoe("GET", `/channels/${channel("staff").id}`)).code).toBe(
			50001,
		);
		expect(await names(zoe)).toEqual(["Talk", "general", "Lounge"]);
		expect(await names(jose)).toContain("staff");
		expect(await names(alpha)).toContain("staff");
	});

	test.each([
		["text", ChannelType.GuildText],
		["voice", ChannelType.GuildVoice],
		["category", ChannelType.GuildCategory],
		["announcement", ChannelType.GuildAnnouncement],
		["stage", ChannelType.GuildStageVoice],
		["forum", ChannelType.GuildForum],
	])("a %s channel is created", async (name, type) => {
		await using simulator = await startSimulator();
		const { path, alpha } = cooks(simulator);
		const answer = await alpha("POST", `${path}/channels`, { name, type });
		expect(answer.status).toBe(201);
		expect(answer.json()).toMatchObject({ name, type });
	});

	test("a text channel's name loses its capitals and blanks", async () => {
		await using simulator = await startSimulator();
		const { path, alpha } = cooks(simulator);
		const answer = await alpha("POST", `${path}/channels`, {
			name: "Fresh Fish",
		});
		expect(answer.json().name).toBe("fresh-fish");
	});

	test("a channel inherits the overwrites of its category", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, guild, channel } = cooks(simulator);
		const parent = channel("Talk");
		simulator.world.channels.setOverwrite(parent, {
			id: guild.id,
			type: 0,
			allow: "0",
			deny: "2048",
		});
		const answer = await alpha("POST", `${path}/channels`, {
			name: "inside",
			parent_id: parent.id,
		});
		expect(answer.json()).toMatchObject({
			parent_id: parent.id,
			permission_overwrites: [{ id: guild.id, deny: "2048" }],
		});
	});

	test("limits and types are checked, each at its field", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, channel } = cooks(simulator);
		const faults = async (body: object) =>
			(await alpha("POST", `${path}/channels`, body)).faults;
		expect(await faults({})).toEqual({ name: "BASE_TYPE_REQUIRED" });
		expect(await faults({ name: " " })).toEqual({ name: "BASE_TYPE_REQUIRED" });
		expect(
			await faults({
				name: "",
				type: 99,
				rate_limit_per_user: 21_601,
				bitrate: 7999,
				parent_id: "x",
				nsfw: 1,
			}),
		).toEqual({
			name: "BASE_TYPE_BAD_LENGTH",
			type: "BASE_TYPE_CHOICES",
			rate_limit_per_user: "NUMBER_TYPE_MAX",
			bitrate: "NUMBER_TYPE_MIN",
			parent_id: "NUMBER_TYPE_COERCE",
			nsfw: "BOOLEAN_TYPE_CONVERT",
		});
		expect(await faults({ name: "x", topic: "x".repeat(1025) })).toEqual({
			topic: "BASE_TYPE_MAX_LENGTH",
		});
		expect(
			await faults({ name: "x", parent_id: channel("general").id }),
		).toEqual({ parent_id: "CHANNEL_PARENT_INVALID_TYPE" });
		expect(await faults({ name: "x", parent_id: "1" })).toEqual({
			parent_id: "CHANNEL_PARENT_INVALID",
		});
	});

	test("a category takes 50 channels, and a guild 500", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, guild, channel } = cooks(simulator);
		const parent_id = channel("Talk").id;
		const inside = [...guild.channels.values()].filter(
			(one) => one.parent_id === parent_id,
		).length;
		for (let number = inside; number < 50; number += 1)
			simulator.world.channels.add(guild, { name: `c${number}`, parent_id });
		const full = await alpha("POST", `${path}/channels`, {
			name: "x",
			parent_id,
		});
		expect(full.faults).toEqual({ parent_id: "CHANNEL_PARENT_MAX_CHANNELS" });
		while (guild.channels.size < 500)
			simulator.world.channels.add(guild, { name: "more" });
		const more = await alpha("POST", `${path}/channels`, { name: "x" });
		expect(more.code).toBe(30013);
	});

	test("editing changes what is given and leaves the rest", async () => {
		await using simulator = await startSimulator();
		const { alpha, zoe, channel } = cooks(simulator);
		const general = channel("general");
		const path = `/channels/${general.id}`;
		const answer = await alpha("PATCH", path, {
			topic: "Soups",
			rate_limit_per_user: 5,
		});
		expect(answer.json()).toMatchObject({
			name: "general",
			topic: "Soups",
			rate_limit_per_user: 5,
		});
		await alpha("PATCH", path, { parent_id: null, topic: null });
		expect(general).toMatchObject({ parent_id: null, topic: null });
		expect((await zoe("PATCH", path, { topic: "x" })).code).toBe(50013);
	});

	test("a category that is deleted leaves its channels behind", async () => {
		await using simulator = await startSimulator();
		const { alpha, zoe, channel } = cooks(simulator);
		const { id } = channel("Talk");
		expect((await zoe("DELETE", `/channels/${id}`)).code).toBe(50013);
		expect((await alpha("DELETE", `/channels/${id}`)).json().id).toBe(id);
		expect(channel("general").parent_id).toBeNull();
		expect((await alpha("GET", `/channels/${id}`)).code).toBe(10003);
	});

	test("positions are set in one request, and at most one parent", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, channel } = cooks(simulator);
		const [general, staff, parent] = [
			channel("general"),
			channel("staff"),
			channel("Talk"),
		];
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
});

describe("overwrites", () => {
	test("one is set as a whole, and removed", async () => {
		await using simulator = await startSimulator();
		const { alpha, channel, role } = cooks(simulator);
		const general = channel("general");
		const regular = role("Regular");
		const path = `/channels/${general.id}/permissions/${regular.id}`;
		await alpha("PUT", path, { type: 0, allow: "1024", deny: "2048" });
		expect((await alpha("PUT", path, { type: 0, deny: "64" })).status).toBe(
			204,
		);
		expect(general.permission_overwrites).toEqual([
			{ id: regular.id, type: 0, allow: "0", deny: "64" },
		]);
		expect((await alpha("DELETE", path)).status).toBe(204);
		expect(general.permission_overwrites).toEqual([]);
	});

	test("it takes MANAGE_ROLES, a type and a role that exists", async () => {
		await using simulator = await startSimulator();
		const { alpha, jose, channel, role } = cooks(simulator);
		const path = `/channels/${channel("general").id}/permissions`;
		const regular = `${path}/${role("Regular").id}`;
		expect((await jose("PUT", regular, { type: 0 })).code).toBe(50013);
		expect((await alpha("PUT", regular, {})).faults).toEqual({
			type: "BASE_TYPE_REQUIRED",
		});
		expect((await alpha("PUT", `${path}/1`, { type: 0 })).code).toBe(10011);
		expect(
			(await alpha("PUT", regular, { type: 0, allow: "many" })).faults,
		).toEqual({ allow: "NUMBER_TYPE_COERCE" });
	});

	test("nobody hands out what they do not have, nor MANAGE_ROLES itself", async () => {
		await using simulator = await startSimulator();
		const { alpha, ada, channel, role } = cooks(simulator);
		const path = `/channels/${channel("general").id}/permissions/${role("Regular").id}`;
		const allow = async (who: typeof ada, bits: bigint) =>
			(await who("PUT", path, { type: 0, allow: String(bits) })).status;
		expect(await allow(alpha, BanMembers)).toBe(204);
		expect(await allow(alpha, Administrator)).toBe(403);
		expect(await allow(alpha, ManageRoles)).toBe(403);
		expect(await allow(ada, ManageRoles)).toBe(204);
	});

	test("a member's overwrite beats its roles', and those beat everyone's", async () => {
		await using simulator = await startSimulator();
		const { guild, zoe, channel, role } = cooks(simulator);
		const general = channel("general");
		const visible = async () =>
			(await zoe("GET", `/channels/${general.id}`)).status === 200;
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
});

describe("roles", () => {
	test("a role is made at the bottom, changed and deleted", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, guild, member } = cooks(simulator);
		const made = await alpha("POST", `${path}/roles`, {
			name: "Tasters",
			color: 255,
			permissions: "1024",
		});
		expect(made.json()).toMatchObject({
			name: "Tasters",
			color: 255,
			position: 1,
		});
		const id = made.json<{ id: string }>().id;
		const role = `${path}/roles/${id}`;
		await alpha("PATCH", role, { name: "Gourmets", hoist: true });
		expect((await alpha("GET", role)).json()).toMatchObject({
			name: "Gourmets",
			hoist: true,
			color: 255,
			permissions: "1024",
		});
		await alpha(
			"PUT",
			`${path}/members/${simulator.user("zoe").id}/roles/${id}`,
		);
		expect(member("zoe").roles).toContain(id);
		expect((await alpha("DELETE", role)).status).toBe(204);
		expect(guild.roles.has(id)).toBe(false);
		expect(member("zoe").roles).not.toContain(id);
		expect(
			(await alpha("GET", `${path}/roles`)).json<unknown[]>(),
		).toHaveLength(5);
	});

	test("roles at or above one's own are out of reach", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, ada, guild, role } = cooks(simulator);
		const above = simulator.world.roles.add(guild, {
			name: "Above",
			position: 99,
		});
		const change = async (who: typeof ada, id: string) =>
			(await who("PATCH", `${path}/roles/${id}`, { hoist: true })).status;
		expect(await change(alpha, above.id)).toBe(403);
		expect(await change(alpha, role("alpha").id)).toBe(403);
		expect(await change(alpha, role("Staff").id)).toBe(200);
		expect(await change(ada, above.id)).toBe(200);
		expect((await alpha("DELETE", `${path}/roles/${above.id}`)).code).toBe(
			50013,
		);
	});

	test("nobody gives a role what they do not have; what it had may stay", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, role } = cooks(simulator);
		const staff = role("Staff");
		const change = async (bits: bigint) =>
			(
				await alpha("PATCH", `${path}/roles/${staff.id}`, {
					permissions: String(bits),
				})
			).status;
		expect(await change(Administrator)).toBe(403);
		simulator.world.roles.edit(simulator.guild("The Cooks"), staff, {
			permissions: String(Administrator),
		});
		expect(await change(Administrator | ManageChannels)).toBe(200);
		const made = await alpha("POST", `${path}/roles`, {
			permissions: String(Administrator),
		});
		expect(made.code).toBe(50013);
	});

	test("a bot's own role and @everyone cannot be deleted", async () => {
		await using simulator = await startSimulator();
		const { path, ada, guild, role } = cooks(simulator);
		for (const id of [guild.id, role("alpha").id])
			expect((await ada("DELETE", `${path}/roles/${id}`)).code).toBe(50028);
	});

	test("roles are put in order as far as one reaches", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, guild, role } = cooks(simulator);
		const newcomer = role("Newcomer");
		await alpha("PATCH", `${path}/roles`, [{ id: newcomer.id, position: 3 }]);
		const order = [...guild.roles.values()]
			.sort((a, b) => b.position - a.position)
			.map(({ name }) => name);
		expect(order).toEqual([
			"alpha",
			"Newcomer",
			"Staff",
			"Regular",
			"@everyone",
		]);
		const tooHigh = await alpha("PATCH", `${path}/roles`, [
			{ id: newcomer.id, position: 4 },
		]);
		expect(tooHigh.code).toBe(50013);
	});

	test("a guild has at most 250 roles", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, guild } = cooks(simulator);
		while (guild.roles.size < 250)
			simulator.world.roles.add(guild, { name: "more" });
		expect((await alpha("POST", `${path}/roles`, {})).code).toBe(30005);
	});

	test("managed roles are not given to members", async () => {
		await using simulator = await startSimulator();
		const { path, ada, role } = cooks(simulator);
		const zoe = simulator.user("zoe").id;
		const answer = await ada(
			"PUT",
			`${path}/members/${zoe}/roles/${role("alpha").id}`,
		);
		expect(answer.code).toBe(50013);
	});
});

describe("members", () => {
	test("the list is ordered by id and goes on after one", async () => {
		await using simulator = await startSimulator();
		const { path, alpha } = cooks(simulator);
		const ids = async (query: string) =>
			(await alpha("GET", `${path}/members?${query}`))
				.json<{ user: { id: string } }[]>()
				.map(({ user }) => user.id);
		const all = await ids("limit=1000");
		expect(all).toEqual([...all].sort());
		expect(all).toHaveLength(6);
		expect(await ids("")).toEqual(all.slice(0, 1));
		expect(await ids(`limit=2&after=${all[2]}`)).toEqual(all.slice(3, 5));
		expect((await alpha("GET", `${path}/members?limit=1001`)).code).toBe(50035);
	});

	test("a search finds beginnings of names, whatever their case", async () => {
		await using simulator = await startSimulator();
		const { path, alpha } = cooks(simulator);
		const found = async (query: string) =>
			(
				await alpha(
					"GET",
					`${path}/members/search?limit=9&query=${encodeURIComponent(query)}`,
				)
			)
				.json<{ user: { username: string } }[]>()
				.map(({ user }) => user.username);
		expect(await found("mona")).toEqual(["mona_lisa"]);
		expect(await found("chef j")).toEqual(["jose.garcia"]);
		expect(await found("李")).toEqual(["liwei"]);
		expect(await found("garcia")).toEqual([]);
		expect((await alpha("GET", `${path}/members/search`)).faults).toEqual({
			query: "BASE_TYPE_REQUIRED",
		});
	});

	test("nicknames, roles and time-outs are changed in one request", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, member, role } = cooks(simulator);
		const until = new Date(Date.now() + 60_000).toISOString();
		const id = simulator.user("zoe").id;
		const answer = await alpha("PATCH", `${path}/members/${id}`, {
			nick: "Z",
			roles: [role("Regular").id],
			communication_disabled_until: until,
		});
		expect(answer.status).toBe(200);
		expect(member("zoe")).toMatchObject({
			nick: "Z",
			roles: [role("Regular").id],
			communication_disabled_until: until,
		});
		const own = await alpha("PATCH", `${path}/members/@me`, { nick: "A" });
		expect(own.json().nick).toBe("A");
		expect((await alpha("GET", `${path}/members/${id}`)).json().nick).toBe("Z");
	});

	test("who is in time-out reads, and writes nothing", async () => {
		await using simulator = await startSimulator();
		const { guild, zoe, member, channel } = cooks(simulator);
		simulator.world.members.edit(guild, member("zoe"), {
			communication_disabled_until: new Date(Date.now() + 60_000).toISOString(),
		});
		const path = `/channels/${channel("general").id}/messages`;
		expect((await zoe("GET", path)).status).toBe(200);
		expect((await zoe("POST", path, { content: "x" })).code).toBe(50013);
	});

	test("a time-out has 28 days at most, and administrators get none", async () => {
		await using simulator = await startSimulator();
		const { path, guild, alpha, member, role } = cooks(simulator);
		const timeOut = (days: number) =>
			alpha("PATCH", `${path}/members/${simulator.user("zoe").id}`, {
				communication_disabled_until: new Date(
					Date.now() + days * 24 * 3600 * 1000,
				).toISOString(),
			});
		expect(Object.keys((await timeOut(29)).faults)).toEqual([
			"communication_disabled_until",
		]);
		expect((await timeOut(28)).status).toBe(200);
		const newcomer = role("Newcomer");
		expect(member("zoe").roles).toContain(newcomer.id);
		simulator.world.roles.edit(guild, newcomer, {
			permissions: String(Administrator),
		});
		expect((await timeOut(1)).code).toBe(50013);
	});

	test("members at or above one's own highest role are out of reach", async () => {
		await using simulator = await startSimulator();
		const { path, guild, alpha, jose, member } = cooks(simulator);
		const above = simulator.world.roles.add(guild, {
			name: "Above",
			position: 99,
		});
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
		expect((await jose("DELETE", `${path}/members/${id("alpha")}`)).code).toBe(
			50013,
		);
		expect((await jose("DELETE", `${path}/members/${id("zoe")}`)).status).toBe(
			204,
		);
		expect(guild.members.has(id("zoe"))).toBe(false);
	});

	test("roles above one's own are neither given nor taken", async () => {
		await using simulator = await startSimulator();
		const { path, guild, alpha } = cooks(simulator);
		const above = simulator.world.roles.add(guild, {
			name: "Above",
			position: 99,
		});
		const member = `${path}/members/${simulator.user("zoe").id}`;
		expect((await alpha("PUT", `${member}/roles/${above.id}`)).code).toBe(
			50013,
		);
		expect((await alpha("DELETE", `${member}/roles/${above.id}`)).code).toBe(
			50013,
		);
		expect((await alpha("PATCH", member, { roles: [above.id] })).code).toBe(
			50013,
		);
	});

	test("a bot leaves a guild, and an owner cannot", async () => {
		await using simulator = await startSimulator();
		const { guild, alpha, ada } = cooks(simulator);
		const list = async (query = "") =>
			(await alpha("GET", `/users/@me/guilds${query}`)).json<
				{ name: string }[]
			>();
		expect(await list("?with_counts=true")).toMatchObject([
			{ name: "The Cooks", owner: false, approximate_member_count: 6 },
		]);
		expect((await ada("DELETE", `/users/@me/guilds/${guild.id}`)).status).toBe(
			400,
		);
		expect(
			(await alpha("DELETE", `/users/@me/guilds/${guild.id}`)).status,
		).toBe(204);
		expect(await list()).toEqual([]);
	});
});

describe("bans", () => {
	test("a member is banned with a reason, and their last messages go", async () => {
		await using simulator = await startSimulator();
		const { path, guild, alpha } = cooks(simulator);
		const { id } = simulator.user("zoe");
		await simulator.user("zoe").say("The Cooks/general", "spam");
		await simulator.user("ada").say("The Cooks/general", "hm");
		const answer = await alpha(
			"PUT",
			`${path}/bans/${id}`,
			{ delete_message_seconds: 3600 },
			{ "x-audit-log-reason": "spam" },
		);
		expect(answer.status).toBe(204);
		expect(guild.members.has(id)).toBe(false);
		expect(simulator.channel("The Cooks/general").transcript()).toBe("ada: hm");
		expect((await alpha("GET", `${path}/bans/${id}`)).json()).toMatchObject({
			reason: "spam",
			user: { username: "zoe" },
		});
		expect((await alpha("DELETE", `${path}/bans/${id}`)).status).toBe(204);
		expect((await alpha("DELETE", `${path}/bans/${id}`)).code).toBe(10026);
	});

	test("those who are no members are banned too, and the list has pages", async () => {
		await using simulator = await startSimulator();
		const { path, alpha, zoe } = cooks(simulator);
		const ids = ["a", "b", "c"].map(
			(username) => simulator.world.users.add({ username }).id,
		);
		for (const id of ids) await alpha("PUT", `${path}/bans/${id}`);
		const page = async (query: string) =>
			(await alpha("GET", `${path}/bans?${query}`))
				.json<{ user: { username: string } }[]>()
				.map(({ user }) => user.username)
				.join("");
		expect(await page("")).toBe("abc");
		expect(await page("limit=2")).toBe("ab");
		expect(await page(`after=${ids[0]}`)).toBe("bc");
		expect(await page(`before=${ids[2]}&limit=1`)).toBe("b");
		expect((await zoe("GET", `${path}/bans`)).code).toBe(50013);
		expect(
			(
				await alpha("PUT", `${path}/bans/${ids[0]}`, {
					delete_message_seconds: 604_801,
				})
			).faults,
		).toEqual({ delete_message_seconds: "NUMBER_TYPE_MAX" });
	});
});

test("the audit log tells who did what to whom, and why", async () => {
	await using simulator = await startSimulator();
	const { path, alpha, zoe, channel } = cooks(simulator);
	const reason = { "x-audit-log-reason": "tidying" };
	const general = channel("general").id;
	await alpha("PATCH", `/channels/${general}`, { topic: "new" }, reason);
	await alpha("PUT", `${path}/bans/${simulator.user("zoe").id}`, {}, reason);
	const log = (await alpha("GET", `${path}/audit-logs?limit=10`)).json<{
		audit_log_entries: Record<string, unknown>[];
		users: { username: string }[];
	}>();
	expect(log.audit_log_entries).toMatchObject([
		{ action_type: 22, target_id: simulator.user("zoe").id, reason: "tidying" },
		{
			action_type: 11,
			user_id: simulator.bot("alpha").id,
			target_id: general,
			changes: [
				{ key: "topic", old_value: "Everything and nothing", new_value: "new" },
			],
			reason: "tidying",
		},
	]);
	expect(log.users.map(({ username }) => username).sort()).toEqual([
		"alpha",
		"zoe",
	]);
	const bans = await alpha("GET", `${path}/audit-logs?action_type=22`);
	expect(bans.json<typeof log>().audit_log_entries).toHaveLength(1);
	expect((await zoe("GET", `${path}/audit-logs`)).code).toBe(50001);
});
