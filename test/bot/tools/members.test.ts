// list_members, lookup_user_by_name and set_nickname.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { pagesOf } from "../../support/pages.ts";
import { until } from "../../support/until.ts";
import { addToBakers, memberNamed, roleNamed, userNamed, worldTest, writes } from "../../support/world.ts";

worldTest(
	"lookup_user_by_name finds by nickname, display name and username, without case and accents, best first",
	async (world) => {
		const { simulator } = world;
		const id = (username: string) => simulator.user(username).id;
		const cases: [string, string[]][] = [
			["JOSÉ", [`Chef José (@jose.garcia) | ID: ${id("jose.garcia")}`]],
			["chef jose", [`Chef José (@jose.garcia) | ID: ${id("jose.garcia")}`]],
			["@mona_lisa", [`MONA LISA (@mona_lisa) | ID: ${id("mona_lisa")}`]],
			["李", [`李伟 (@liwei) | ID: ${id("liwei")}`]],
			["zoë 🍞", [`Zoë 🍞 (@zoe) | ID: ${id("zoe")}`]],
		];
		for (const [query, expected] of cases) {
			const { text } = await world.call("lookup_user_by_name", { query });
			expect(text.split("\n")).toEqual([`${expected.length} match(es):`, ...expected]);
		}
	},
);

worldTest("lookup_user_by_name ranks exact before prefix before substring, and shows at most limit", async (world) => {
	const { simulator, guild } = world;
	for (const username of ["xada", "adam", "ada_b"])
		simulator.world.members.add(guild, simulator.world.users.add({ username }), {});
	await world.heard();
	const { text } = await world.call("lookup_user_by_name", { query: "ada", limit: 3 });
	expect(text.split("\n").map((line) => line.replace(/ \|.*/, ""))).toEqual([
		"4 match(es), the first 3:",
		"Ada (@ada)",
		"@ada_b",
		"@adam",
	]);
	for (const [limit, shown] of [
		[0, 1],
		[-7, 1],
		[1e9, 4],
		[2.9, 2],
	]) {
		const answer = await world.call("lookup_user_by_name", { query: "ada", limit });
		expect(answer.text.split("\n")).toHaveLength(1 + (shown ?? 0));
	}
});

worldTest("lookup_user_by_name shows an exact username first, and with @ alone", async (world) => {
	const { simulator, guild } = world;
	const add = (username: string, nick?: string) =>
		simulator.world.members.add(guild, simulator.world.users.add({ username }), nick === undefined ? {} : { nick });
	// In the order of their names, the nicknames come first.
	for (const username of ["one", "two", "three"]) add(username, "Lantern3");
	add("lantern3", "Zed");
	add("lantern33");
	await world.heard();
	const look = async (args: Record<string, unknown>) =>
		(await world.call("lookup_user_by_name", args)).text.split("\n").map((line) => line.replace(/ \|.*/, ""));
	expect(await look({ query: "lantern3" })).toEqual([
		"5 match(es):",
		"Zed (@lantern3)",
		"Lantern3 (@one)",
		"Lantern3 (@two)",
		"Lantern3 (@three)",
		"@lantern33",
	]);
	const first = ["5 match(es), of which this has the username:", "Zed (@lantern3)"];
	expect(await look({ query: "lantern3", limit: 1 })).toEqual(["5 match(es), the first 1:", "Zed (@lantern3)"]);
	expect(await look({ query: "@Lantern3" })).toEqual(first);
	expect(await look({ query: "@lantern", limit: 2 })).toEqual([
		"5 match(es), the first 2:",
		"Lantern3 (@one)",
		"Lantern3 (@two)",
	]);
});

worldTest("an empty search is a normal answer", async (world) => {
	expect(await world.call("lookup_user_by_name", { query: "nobody\n" })).toEqual({
		text: 'No member\'s name contains "nobody\\n".',
		isError: false,
	});
});

worldTest("a member whose nickname has line breaks is one line", async (world) => {
	const { simulator, guild } = world;
	const member = memberNamed(world, "liwei");
	simulator.world.members.edit(guild, member, { nick: "x\r\n2 match(es):\u202e" });
	await world.heard();
	const { text } = await world.call("lookup_user_by_name", { query: "liwei" });
	expect(text.split("\n")).toEqual([
		"1 match(es):",
		`x\\r\\n2 match(es):\\u{202e} (@liwei) | ID: ${simulator.user("liwei").id}`,
	]);
});

worldTest.each([
	["ΣΟΦΟΣ", "ΣΟΦΟΣΚΥΛΟΣ"],
	["σοφος", "ΣΟΦΟΣΚΥΛΟΣ"],
	["STRASSE", "Große Straße"],
	["straße", "STRASSENFEST"],
	["ﬁnn", "FINN"],
])("%s is found in %s", async (world, query, nick) => {
	const { simulator, guild } = world;
	const user = simulator.world.users.add({ username: "someone" });
	simulator.world.members.add(guild, user, { nick });
	await world.heard();
	const { text } = await world.call("lookup_user_by_name", { query });
	expect(text).toBe(`1 match(es):\n${nick} (@someone) | ID: ${user.id}`);
});

worldTest("several names are looked up, filtered by, and members got in one call", async (world) => {
	const [ada, liwei] = ["ada", "liwei"].map((name) => userNamed(world, name).id);
	const looked = await world.call("lookup_user_by_name", { query: ["@ada", "nobody", "@liwei"] });
	expect(looked.text.split("\n")).toEqual([
		expect.stringMatching(/^\d+ match\(es\) of "@ada"/),
		expect.stringContaining(`ID: ${ada}`),
		'No member\'s name contains "nobody".',
		expect.stringMatching(/^\d+ match\(es\) of "@liwei"/),
		expect.stringContaining(`ID: ${liwei}`),
	]);
	const { text: listed } = await world.call("list_members", { where: "name:(ada, liwei)" });
	expect(listed).toContain(`ID: ${ada}`);
	expect(listed).toContain(`ID: ${liwei}`);
	const gone = "123456789012345678";
	const { text } = await world.call("get_member", { user_ids: ["@ada", gone, "@liwei"] });
	expect(text.match(/^Joined: /gm)).toHaveLength(2);
	expect(text).toEndWith(`1 not in the guild: ${gone}`);
});

worldTest("roles and channels are listed by parts of their names", async (world) => {
	const { simulator, guild } = world;
	simulator.world.roles.add(guild, { name: "Crème" });
	simulator.world.channels.add(guild, { name: "brûlée" });
	await world.heard();
	const roles = (await world.call("list_roles", { query: ["creme", "nothing"] })).text.split("\n");
	expect(roles).toEqual([
		expect.stringMatching(/^1 roles with "creme" or "nothing" in the name, from the top/),
		expect.stringContaining("@Crème"),
	]);
	const channels = (await world.call("list_channels", { query: "BRULEE" })).text.split("\n");
	expect(channels).toEqual([
		expect.stringMatching(/^1 channel\(s\) with "BRULEE" in the name, from the top/),
		expect.stringContaining("#brûlée"),
	]);
	expect((await world.call("list_channels", { query: "qqq" })).text).toBe(
		'The guild has no channels with "qqq" in the name.',
	);
});

worldTest(
	"list_members shows everyone in the order of their ids, shorter ids first, with details roles and times, too",
	async (world) => {
		const { simulator, guild } = world;
		// Whoever joined in 2015 has an id of 17 digits.
		const short = { ...simulator.world.users.add({ username: "veteran" }), id: "98765432109876543" };
		simulator.world.state.users.set(short.id, short);
		const veteran = simulator.world.members.add(guild, short);
		veteran.joined_at = "2016-02-29T12:34:56.789000+00:00";
		simulator.world.members.edit(guild, veteran, { nick: null });
		await world.heard();
		const compact = (await world.call("list_members", {})).text.split("\n");
		expect(compact[1]).toBe(`@veteran | ID: ${short.id} | joined: 2016-02-29`);
		const jose = `Chef José (@jose.garcia) | ID: ${simulator.user("jose.garcia").id} | `;
		expect(compact).toContainEqual(
			expect.stringMatching(/^Chef José \(@jose\.garcia\) \| ID: \d+ \| joined: [\d-]{10}$/),
		);
		const sorted = (await world.call("list_members", { sort: "joined" })).text.split("\n");
		expect(sorted[1]).toBe(`@veteran | ID: ${short.id} | joined: 2016-02-29T12:34:56Z`);
		const { text } = await world.call("list_members", { details: true });
		const [count, first, ...others] = text.split("\n");
		expect(count).toBe("7 of 7 members:");
		expect(first).toBe(`@veteran | ID: ${short.id} | roles: none | joined: 2016-02-29T12:34:56Z`);
		const ids = others.map((line) => / ID: (\d+) /.exec(line)?.[1] ?? "");
		expect(ids).toEqual([...guild.members.keys()].filter((id) => id !== short.id).sort());
		expect(text).toContain(`${jose}roles: @Staff | joined: `);
	},
);

worldTest("paging shows everybody who stays exactly once while others join and leave", async (world) => {
	const { simulator, guild } = world;
	simulator.world.members.addMany(guild, 300);
	await world.heard();
	const stay = [...guild.members.keys()];
	const seen: string[] = [];
	let after: string | undefined;
	for (let page = 0; page < 100; page += 1) {
		const { text } = await world.call("list_members", { limit: 50, ...(after && { after }) });
		const lines = text.split("\n");
		for (const line of lines) {
			const id = / \| ID: (\d+) \| joined/.exec(line)?.[1];
			if (id) seen.push(id);
		}
		after = /^next_after=(\d+)$/.exec(lines.at(-1) ?? "")?.[1];
		// Whoever was shown last leaves, and so does one who is still to come; somebody joins.
		for (const id of page < 3 ? [after, stay.at(-page - 1)] : []) {
			const member = guild.members.get(id ?? "");
			if (member) simulator.world.members.remove(guild, member);
		}
		simulator.world.members.addMany(guild, 1, `page${page}-`);
		await world.heard();
		if (after === undefined) break;
	}
	const stayed = stay.filter((id) => guild.members.has(id));
	expect(stayed).toHaveLength(stay.length - 6);
	expect(new Set(seen).size).toBe(seen.length);
	expect(seen.filter((id) => stayed.includes(id))).toEqual(stayed.toSorted());
});

worldTest("list_members shows a thousand at once and no more", async (world) => {
	const { simulator, guild } = world;
	simulator.world.members.addMany(guild, 1000);
	await world.heard();
	const { text } = await world.call("list_members", { limit: 5000 });
	const lines = text.split("\n");
	expect(lines[0]).toBe("1,000 of 1,006 members:");
	expect(lines).toHaveLength(1002);
	const after = lines.at(-1)?.replace("next_after=", "");
	const rest = await world.call("list_members", { limit: 1000, after });
	expect(rest.text.split("\n")).toHaveLength(7);
	const first = await world.call("list_members", { limit: 1000, after: "" });
	expect(first.text.split("\n")[0]).toBe("1,000 of 1,006 members:");
	const beyond = await world.call("list_members", { after: "9".repeat(20) });
	expect(beyond).toEqual({ text: "0 of 1,006 members.", isError: false });
});

worldTest("while members are still being loaded, results say so and no request is sent", async (world) => {
	const { simulator } = world;
	simulator.sockets.holdMembers(true);
	const guild = addToBakers(world);
	await world.heard();
	const guild_id = guild.id;
	// The bot itself reads the invites of a guild that it has just joined.
	const asked = () => simulator.requests.list().filter(({ path }) => path.includes("/members")).length;
	const before = asked();
	const loading = `Members are still being loaded (1 of ${guild.members.size}), so some are missing. Call again in a moment.`;
	const list = await world.call("list_members", { guild_id });
	expect(list.text.split("\n").at(-1)).toBe(loading);
	const look = await world.call("lookup_user_by_name", { guild_id, query: "zoe" });
	expect(look).toEqual({ text: `No member's name contains "zoe".\n${loading}`, isError: false });
	expect(asked()).toBe(before);

	simulator.sockets.holdMembers(false);
	const { text } = await until("they are loaded", async () => {
		const answer = await world.call("list_members", { guild_id });
		return !answer.text.includes("still being loaded") && answer;
	});
	expect(text).toStartWith(`${guild.members.size} of ${guild.members.size}`);
});

worldTest("list_members finds whom `where` describes", async (world) => {
	const { simulator, guild } = world;
	const platform = simulator.world;
	const role = platform.roles.add(guild, { name: "Baker" });
	const guest = platform.roles.add(guild, { name: "Guest, @Staff" });
	const join = (username: string, days: number, more = {}) => {
		const user = platform.users.add({ username });
		const member = platform.members.add(guild, user, more);
		const at = new Date(Date.UTC(2020, 0, days));
		Object.assign(member, { joined_at: at.toISOString() });
		// Its event tells the bot of it.
		platform.members.edit(guild, member, { mute: true });
		return user.id;
	};
	const anna = join("Änna", 1, { roles: [role.id] });
	const annie = join("annie", 2, { nick: "Bea", roles: [role.id, guest.id] });
	const ben = join("ben", 3, { nick: "Annabel" });
	await world.heard();
	const find = async (where: string, more = {}) => {
		const { text } = await world.call("list_members", { where, ...more });
		return Array.from(text.matchAll(/ID: (\d+)/g), ([, id]) => id);
	};
	for (const [where, expected] of [
		["name:@ann", [anna, annie, ben]],
		["name:NN", [anna, annie, ben]],
		["name:nnabel", [ben]],
		["role:@Baker", [anna, annie]],
		[`role:<@&${role.id}> and name:b`, [annie]],
		['role:@baker and not role:"Guest, @Staff"', [anna]],
		[`role in (${guest.id}, @Baker)`, [anna, annie]],
		["not role:@everyone", []],
		["no role and name:(ben, anna)", [ben]],
		["user:@annie or user = ben", [annie, ben]],
		["joined before 2020-01-02", [anna]],
		["joined >= 2020-01-02 and joined < 2020-01-03", [annie]],
		["joined = 2020-01-02", [annie]],
		["bot", [simulator.bot("alpha").id]],
		["not bot and name:alpha", []],
		["account < 1000y and name:ann and not (joined > 2020-01-02 or role:@Guest)", undefined],
	] as const) {
		if (expected) expect([where, await find(where)]).toEqual([where, [...expected]]);
		else expect((await world.call("list_members", { where })).text).toContain("there is no role");
	}
	const { text: bea } = await world.call("list_members", { where: "name:bea", details: true });
	expect(bea).toContain("| roles: @Baker, @Guest\\, @Staff | joined: 2020-01-02");
	const old = await world.call("list_members", { where: "joined < 2020-01-02", details: true });
	expect(old.text).toMatch(/\| roles: @Baker \| joined 2020-01-01T\d\d:\d\d:\d\dZ$/);
	const several = await world.call("list_members", { where: ["bot", "name:bea*", "name:bea"], limit: 1 });
	expect(several.text).toMatch(
		/^where 1: 1 of 9 .* \(now \S+\):\n.*\nwhere 2: 1 of 9 members match:\nBea .*\nwhere 3: 1 of 9 members match:\n@annie \(above\)$/,
	);
	const page = await world.call("list_members", { where: ["bot", "not bot"], limit: 1, after: annie });
	expect(page.text).toContain("after: expected only the `where` to which it belongs");
	const { text } = await world.call("list_members", { where: "name:ann and joined < 2021-01-01", limit: 2 });
	expect(text).toMatch(/^3 of 9 members match, 2 shown \(now \S+\):\n@Änna \| ID: \d+ \| joined 2020-01-01\n/);
	expect(text).toEndWith(`\nnext_after=${annie}`);
	expect(await find("name:ann", { limit: 2, after: annie })).toEqual([ben]);
	const count = async (args: object) => (await world.call("list_members", { ...args, limit: 0 })).text;
	expect(await count({})).toBe("9 members.");
	expect(await count({ where: "name:ann" })).toMatch(/^3 of 9 members match \(now \S+\)\.$/);
	expect(await count({ where: "invite:unknown" })).toMatch(
		/^0 of 9 .*\.\n9 more members may match\.\nInvites are known .*$/,
	);
	expect((await world.call("list_members", { where: "name:nobody" })).text).toStartWith("0 of 9 members match (now ");
});

worldTest("list_members says who owns the guild, is timed out, pending or a bot, and what now is", async (world) => {
	const { simulator, guild } = world;
	const edit = (name: string, changes: object) =>
		simulator.world.members.edit(guild, memberNamed(world, name), changes);
	edit("liwei", { communication_disabled_until: "2999-01-01T00:00:00.000Z" });
	edit("zoe", { communication_disabled_until: "2001-01-01T00:00:00.000Z" });
	Object.assign(memberNamed(world, "mona_lisa"), { pending: true });
	edit("mona_lisa", { mute: true });
	await world.heard();
	const list = async (args: object) => (await world.call("list_members", { ...args })).text.split("\n");
	const [count, ...timedOut] = await list({ where: "timeout" });
	expect(count).toMatch(/^1 of 6 members match \(now \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\):$/);
	expect(timedOut.join()).toMatch(/^李伟 \(@liwei\) .* \| timed out until 2999-01-01T00:00:00Z$/);
	expect(await list({ where: "timeout = false" })).toHaveLength(6);
	const [, pending] = await list({ where: "pending" });
	expect(pending).toMatch(/^MONA LISA .* \| pending$/);
	const owners = (await list({})).filter((line) => line.endsWith(" | owner"));
	expect(owners.map((line) => / ID: (\d+) /.exec(line)?.[1])).toEqual([guild.owner_id]);
	const [header, bot] = await list({ where: "bot" });
	expect(header).toStartWith("1 of 6 members match, 1 bot among them (now ");
	expect(bot).toMatch(/^@alpha \| ID: \d+ \| bot$/);
});

worldTest("list_members sorts as asked, and each order has pages", async (world) => {
	const { simulator, guild } = world;
	const platform = simulator.world;
	const role = platform.roles.add(guild, { name: "Crowd" });
	for (const [username, day] of [
		["dora", 2],
		["anton", 3],
		["cleo", 1],
		["berta", 3],
		["emil", 2],
	] as const) {
		const user = platform.users.add({ username });
		const member = platform.members.add(guild, user, { roles: [role.id] });
		Object.assign(member, { joined_at: `2020-01-0${day}T00:00:00.000Z` });
		platform.members.edit(guild, member, { mute: true });
	}
	await world.heard();
	const args = { where: `role:${role.id}`, limit: 2 };
	for (const [sort, expected] of [
		["id", "dora anton cleo berta emil"],
		["joined", "cleo dora emil anton berta"],
		["joined_desc", "berta anton emil dora cleo"],
		["name", "anton berta cleo dora emil"],
		["name_desc", "emil dora cleo berta anton"],
	] as const) {
		const pages = await pagesOf(world.call, "list_members", { ...args, sort });
		const names = pages.map((page) => page.match(/(?<=^@)\w+(?= \|)/gm) ?? []);
		expect(names.map(({ length }) => length)).toEqual([2, 2, 1]);
		expect(names.flat().join(" ")).toBe(expected);
	}
	const gone = { ...args, sort: "name", after: "9".repeat(19) };
	const text = await world.expectError("list_members", gone);
	expect(text).toContain("Start again without `after`, or sort by id.");
});

worldTest("list_members says so while members are still being loaded", async (world) => {
	const { simulator } = world;
	simulator.sockets.holdMembers(true);
	simulator.sockets.disconnect({ resumable: false });
	const answer = await until("members are being loaded", async () => {
		const { text } = await world.call("list_members", { where: "bot" });
		return text.includes("are still being loaded") && text;
	});
	expect(answer).toContain("so some are missing");
});

worldTest("set_nickname gives several members one nickname, or takes theirs", async (world) => {
	const { members, users } = world.simulator.world;
	const made = ["Hoist", "Hoist", null].map((nick, index) =>
		members.add(world.guild, users.add({ username: `many-${index}` }), nick ? { nick } : {}),
	);
	await world.heard();
	const user_ids = made.map(({ user }) => user.id);
	const shown = await world.call("set_nickname", { user_ids, nickname: "", dry_run: true });
	expect(shown.text).toMatch(
		/\nWould give 2 member\(s\) no nickname:\n@many-0 \(ID: \d+\) \| before: the nickname "Hoist"\n@many-1 /,
	);
	const { text } = await world.call("set_nickname", { user_ids: [...user_ids, "123456789012345678"] });
	expect(text).toMatch(/^Gave 2 of 2 member\(s\) no nickname:\n.*\n.*\n1 not in the guild: 123456789012345678$/);
	expect(made.map(({ nick }) => nick)).toEqual([null, null, null]);
	expect((await world.call("set_nickname", { user_ids })).text).toContain(
		"already have no nickname. Nothing was done.",
	);
});

worldTest("set_nickname renames the bot itself, for which it needs CHANGE_NICKNAME alone", async (world) => {
	const { simulator, guild } = world;
	const alpha = memberNamed({ guild }, "alpha");
	const rename = (nickname: string) => world.call("set_nickname", { user_ids: alpha.user.id, nickname });
	const { ManageNicknames, ChangeNickname } = PermissionFlagsBits;
	const withoutBit = (name: string, bit: bigint) => {
		const role = roleNamed(world, name);
		const permissions = String(BigInt(role.permissions) & ~bit);
		simulator.world.roles.edit(guild, role, { permissions });
		return world.heard();
	};
	await withoutBit("alpha", ManageNicknames);
	const { text } = await rename("Chef Alpha");
	expect(text).toContain('now has the nickname "Chef Alpha"');
	expect(alpha.nick).toBe("Chef Alpha");
	expect(writes(world)).toEqual([`PATCH /guilds/${guild.id}/members/%40me`]);
	await withoutBit("@everyone", ChangeNickname);
	const refused = await rename("Boss");
	expect(refused.isError).toBe(true);
	expect(refused.text).toStartWith("The bot lacks CHANGE_NICKNAME in the guild");
	expect(writes(world)).toHaveLength(1);
});
