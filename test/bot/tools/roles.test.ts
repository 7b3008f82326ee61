// The role tools.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { shareWorld } from "../../support/shared-world.ts";
import { giveRole, memberNamed, roleNamed, startWorld, worldTest, writes } from "../../support/world.ts";

const shared = shareWorld();

const {
	AddReactions,
	Administrator,
	BanMembers,
	KickMembers,
	ManageMessages,
	ModerateMembers,
	SendMessages,
	ViewChannel,
} = PermissionFlagsBits;
const patch = "PATCH /guilds/:guild_id/roles/:role_id";

test.each([
	[{ name: "Chef" }, { name: "Chef" }, ["name: Staff → Chef"]],
	[{ color: "#8E44ad" }, { color: 0x8e44ad }, ["color: #E67E22 → #8E44AD"]],
	[{ color: "gold" }, { color: 0xffd700 }, ["color: #E67E22 → #FFD700"]],
	[{ color: 0xffffff }, { color: 0xffffff }, ["color: #E67E22 → #FFFFFF"]],
	[{ color: "none" }, { color: 0 }, ["color: #E67E22 → #000000"]],
	[{ hoist: false }, { hoist: false }, ["hoist: true → false"]],
	[{ mentionable: true }, { mentionable: true }, ["mentionable: false → true"]],
	[
		{ remove_permissions: `${KickMembers | ModerateMembers}` },
		{ permissions: String(ManageMessages) },
		["permissions removed: KICK_MEMBERS, MODERATE_MEMBERS"],
	],
	[
		{ add_permissions: ["BAN_MEMBERS", "KICK_MEMBERS"] },
		{ permissions: String(BanMembers | KickMembers | ManageMessages | ModerateMembers) },
		["permissions added: BAN_MEMBERS"],
	],
	[
		{ add_permissions: ["BAN_MEMBERS"], remove_permissions: ["KICK_MEMBERS", "ADMINISTRATOR"] },
		{ permissions: String(BanMembers | ManageMessages | ModerateMembers) },
		["permissions added: BAN_MEMBERS", "permissions removed: KICK_MEMBERS"],
	],
] as [object, object, string[]][])("edit_role with %j changes only %j", async (args, expected, changes) => {
	const world = await shared();
	const { id, position, tags, icon, ...staff } = roleNamed(world, "Staff");
	const role = world.simulator.world.roles.add(world.guild, structuredClone(staff));
	await world.heard();
	const { colors: _, ...before } = structuredClone(role);
	const { text } = await world.call("edit_role", { role_id: role.id, ...args });
	expect(text.split("\n")).toEqual([`Changed the role @${role.name} (ID: ${role.id}):`, ...changes]);
	const { colors, ...after } = role;
	expect(after).toEqual({ ...before, ...expected });
	expect(colors.primary_color).toBe(role.color);
	world.simulator.world.roles.remove(world.guild, role);
});

worldTest("edit_role puts a role below another one, also as its only change", async (world) => {
	const { guild } = world;
	const [staff, regular, newcomer] = ["Staff", "Regular", "Newcomer"].map((name) => roleNamed(world, name));
	const edit = (args: object) => world.call("edit_role", { role_id: newcomer?.id, ...args });
	const place = `It stands right below @Staff (ID: ${staff?.id}) and right above @Regular (ID: ${regular?.id}).`;
	const below_role_id = staff?.id;
	const moved = await edit({ below_role_id });
	expect(moved.text).toBe(`Moved the role @Newcomer (ID: ${newcomer?.id}). ${place}`);
	const order = () =>
		[...guild.roles.values()]
			.sort((a, b) => b.position - a.position)
			.map(({ name }) => name)
			.join(" ");
	expect(order()).toBe("alpha Staff Newcomer Regular @everyone");
	const again = await edit({ below_role_id, hoist: false });
	expect(again.text).toStartWith("Nothing would change: @Newcomer");
	expect(again.text).toContain("already has the given hoist, place.");
	const both = await edit({ below_role_id: regular?.id, name: "Guest" });
	expect(both.text).toBe(
		`Changed the role @Guest (ID: ${newcomer?.id}):\nname: Newcomer → Guest\nIt stands right below @Regular (ID: ${regular?.id}) and right above @everyone (ID: ${guild.id}).`,
	);
	const above = world.simulator.world.roles.add(guild, { name: "Above", position: 99 });
	await world.heard();
	const before = writes(world).length;
	const refused = await edit({ below_role_id: above.id, name: "Boss" });
	expect(refused.text).toContain("would no longer rank below the bot's");
	expect(writes(world)).toHaveLength(before);
});

worldTest("edit_role reports an edit that took effect when the move after it fails", async (world) => {
	const { guild, simulator } = world;
	const staff = roleNamed(world, "Staff");
	const newcomer = roleNamed(world, "Newcomer");
	const edit = (name: string) => world.call("edit_role", { role_id: newcomer.id, below_role_id: staff.id, name });
	simulator.faults.refuse(`PATCH /guilds/${guild.id}/roles`, 50013);
	const refused = await edit("Guest");
	expect(refused.isError).toBe(false);
	expect(refused.text).toContain(
		`:\nname: Newcomer → Guest\nIt may not stand right below @Staff (ID: ${staff.id}): Discord API error: Missing Permissions`,
	);
	simulator.faults.clear();
	simulator.faults.drop(`PATCH /guilds/${guild.id}/roles`, { when: "before", times: 1 });
	const unknown = await edit("Visitor");
	expect(unknown.text).toContain(`\nIt may not stand right below @Staff (ID: ${staff.id}): `);
});

worldTest("edit_role refuses an edit without a change", async (world) => {
	const role = roleNamed(world, "Staff");
	const same = await world.expectError("edit_role", {
		role_id: role.id,
		name: "Staff",
		color: role.color,
		hoist: true,
		mentionable: false,
		add_permissions: String(ManageMessages | KickMembers | ModerateMembers),
	});
	expect(same).toStartWith(
		`Nothing would change: @Staff (ID: ${role.id}) already has the given name, color, permissions, hoist, mentionable.`,
	);
	expect(world.simulator.requests.list(patch)).toEqual([]);
});

worldTest("edit_role refuses to give or remove permissions that the bot lacks", async (world) => {
	const { world: platform } = world.simulator;
	const powerful = platform.roles.add(world.guild, { name: "Powerful", permissions: String(Administrator) });
	await world.heard();
	for (const args of [
		{ role_id: roleNamed(world, "Staff").id, add_permissions: ["ADMINISTRATOR"] },
		{ role_id: powerful.id, remove_permissions: ["ADMINISTRATOR"] },
	]) {
		const text = await world.expectError("edit_role", args);
		expect(text).toContain("it lacks ADMINISTRATOR. The owner, or anyone");
	}
	// It keeps what it has.
	await world.expectResult("edit_role", { role_id: powerful.id, name: "Mighty" });
	expect(powerful.permissions).toBe(String(Administrator));
});

worldTest("edit_role refuses the bot's own role and those above it, also of the same position", async (world) => {
	const { simulator, guild } = world;
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	await world.heard();
	for (const role of [roleNamed(world, "alpha"), above]) {
		const text = await world.expectError("edit_role", { role_id: role.id, name: "lowered" });
		expect(text).toContain(`@${role.name} (ID: ${role.id}) does not rank below the bot's highest role`);
		expect(text).toContain("a member with a higher role can move");
	}
	expect(simulator.requests.list(patch)).toEqual([]);
});

worldTest("edit_role can remove permissions from @everyone, and then knows what the bot lost", async (world) => {
	const everyone = world.guild.roles.get(world.guild.id);
	const edit = (args: object) => world.call("edit_role", { role_id: world.guild.id, ...args });
	expect((await edit({ remove_permissions: ["CHANGE_NICKNAME"] })).isError).toBe(false);
	await world.heard();
	// The bot had it only as one of everyone.
	const { text, isError } = await edit({ add_permissions: ["CHANGE_NICKNAME"] });
	expect(isError).toBe(true);
	expect(text).toContain("it lacks CHANGE_NICKNAME. The owner, or anyone");
	await world.expectResult("edit_role", { role_id: world.guild.id, mentionable: true });
	expect(everyone?.mentionable).toBe(true);
});

worldTest("consecutive edit_role calls build on one another, however late their events are", async (world) => {
	const role = roleNamed(world, "Staff");
	world.simulator.sockets.holdEvents(true);
	const answers = [];
	for (const name of ["A", "B", "A", "B", "A", "A"])
		answers.push(await world.call("edit_role", { role_id: role.id, name }));
	expect(answers.map(({ isError }) => isError)).toEqual([...Array(5).fill(false), true]);
	expect(role.name).toBe("A");
});

worldTest("of concurrent equal edits one changes the role, and the others are refused", async (world) => {
	const { id: role_id } = roleNamed(world, "Staff");
	const answers = await Promise.all(
		Array.from({ length: 5 }, () => world.call("edit_role", { role_id, name: "Chef" })),
	);
	expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
	expect(world.simulator.journal.entries(patch)).toHaveLength(1);
});

worldTest("list_roles lists from the top, with members, color, flags and what @everyone lacks", async (world) => {
	const { simulator, guild } = world;
	const everyone = roleNamed(world, "@everyone");
	simulator.world.roles.edit(guild, everyone, { permissions: String(ViewChannel | SendMessages | ManageMessages) });
	simulator.world.roles.edit(guild, roleNamed(world, "Newcomer"), {
		permissions: String(ViewChannel | AddReactions | ManageMessages),
	});
	const boss = simulator.world.roles.add(guild, {
		name: "Boss",
		permissions: String(Administrator | KickMembers),
		colors: { primary_color: 0x112233, secondary_color: 0x445566, tertiary_color: null },
	});
	await world.heard();
	const { text } = await world.call("list_roles");
	const lines = text.split("\n");
	const id = (name: string) => roleNamed(world, name).id;
	expect(lines[0]).toBe("6 roles, from the top, with permissions beyond @everyone's:");
	expect(lines[1]).toMatch(/^@alpha \| ID: \d+ \| 1 member \| managed \| permits: /);
	expect(lines.slice(2)).toEqual([
		`@Staff | ID: ${id("Staff")} | 1 member | #E67E22 | hoisted | permits: KICK_MEMBERS, MANAGE_MESSAGES, MODERATE_MEMBERS`,
		`@Regular | ID: ${id("Regular")} | 1 member | #2ECC71 | mentionable | permits: none`,
		`@Newcomer | ID: ${id("Newcomer")} | 1 member | permits: ADD_REACTIONS, MANAGE_MESSAGES`,
		`@Boss | ID: ${boss.id} | 0 members | #112233 to #445566 | permits: ADMINISTRATOR`,
		`@everyone | ID: ${guild.id} | 6 members | permits: VIEW_CHANNEL, SEND_MESSAGES, MANAGE_MESSAGES`,
	]);
});

test("list_roles says to a person without MANAGE_ROLES that it leaves out permissions", async () => {
	await using world = await startWorld({}, { mcpToken: "a-token" });
	const { id } = memberNamed(world, "zoe").user;
	const { text } = await world.mcp
		.as({ id: "key:zoe", name: "zoe", access: "read", person: { id, name: "", signedIn: false } })
		.call("list_roles");
	expect(text).toStartWith("5 roles, from the top; only people with MANAGE_ROLES see their permissions:");
	expect(text).not.toContain("permits:");
});

describe("create_role", () => {
	worldTest("makes a role with all its fields, and says what it permits", async (world) => {
		const { text } = await world.call("create_role", {
			name: "Cook",
			color: 0x123456,
			hoist: true,
			mentionable: true,
			permissions: [String(KickMembers), "MANAGE_MESSAGES"],
		});
		const role = roleNamed(world, "Cook");
		expect(text).toBe(
			`Created the role @Cook (ID: ${role.id}), #123456, hoisted, mentionable, which permits: KICK_MEMBERS, MANAGE_MESSAGES.`,
		);
		expect(role).toMatchObject({
			color: 0x123456,
			hoist: true,
			mentionable: true,
			position: 1,
			permissions: String(KickMembers | ManageMessages),
		});
	});

	worldTest("says how many keep the color of a role above", async (world) => {
		const user_ids = ["zoe", "liwei"].map((name) => world.simulator.user(name).id);
		const create = async (name: string, color?: string) => {
			const { text } = await world.call("create_role", { name, color, user_ids });
			await world.heard();
			return text.split("\n").slice(2);
		};
		await create("Star", "gold");
		expect(await create("Later", "teal")).toEqual(["@zoe, @liwei", "2 of them keep the color of a higher role."]);
		expect(await create("Plain")).toEqual(["@zoe, @liwei"]);
	});

	worldTest("puts the role below another one, and gives it to members", async (world) => {
		const { simulator, guild } = world;
		const [staff, regular] = ["Staff", "Regular"].map((name) => roleNamed(world, name));
		const user_ids = ["zoe", "liwei"].map((name) => simulator.user(name).id);
		const { text } = await world.call("create_role", {
			name: "Cook",
			color: "teal",
			below_role_id: staff?.id,
			user_ids,
		});
		const role = roleNamed(world, "Cook");
		expect(text.split("\n")).toEqual([
			`Created the role @Cook (ID: ${role.id}), #008080, which permits: none.`,
			`It stands right below @Staff (ID: ${staff?.id}) and right above @Regular (ID: ${regular?.id}).`,
			"Gave 2 of 2 members the role:",
			"@zoe, @liwei",
		]);
		expect(role.color).toBe(0x008080);
		for (const id of user_ids) expect(guild.members.get(id)?.roles).toContain(role.id);
	});

	worldTest("checks place and members before it creates the role", async (world) => {
		const { simulator, guild } = world;
		const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
		await world.heard();
		for (const [args, refusal] of [
			[{ below_role_id: above.id }, "can place roles only below its own highest"],
			[{ below_role_id: guild.id }, "@everyone always stays below"],
			[{ below_role_id: "1".repeat(18) }, "There is no role 1"],
			[{ user_ids: [simulator.user("zoe").id, "1".repeat(18)] }, "is not a member of the guild"],
		] as const) {
			const text = await world.expectError("create_role", { name: "Cook", ...args });
			expect(text).toContain(refusal);
		}
		expect(writes(world)).toEqual([]);
		// Right below the bot's own role is possible.
		const { text } = await world.call("create_role", { name: "Cook", below_role_id: roleNamed(world, "alpha").id });
		expect(text).toContain("\nIt stands right below @alpha (ID: ");
	});

	worldTest("is created once even if moving it and giving it fail", async (world) => {
		const { simulator, guild } = world;
		const user_ids = ["zoe", "liwei"].map((name) => simulator.user(name).id);
		simulator.faults.refuse(`PATCH /guilds/${guild.id}/roles`, 50013);
		simulator.faults.refuse(`PUT /guilds/${guild.id}/members/${user_ids[0]}/roles/*`, 10007);
		const create = (ids: string[]) =>
			world.call("create_role", { name: "Cook", user_ids: ids, below_role_id: roleNamed(world, "Staff").id });
		const { text, isError } = await create(user_ids);
		expect(isError).toBe(false);
		expect(text).toContain("\nIt may not stand right below @Staff (ID: ");
		expect(text).toContain("\nGave 1 of 2 members the role:\n@liwei\n");
		expect(text).toContain("\n1 refused by Discord:\nZoë 🍞 (@zoe) | ID: ");
		const alone = await create(user_ids.slice(0, 1));
		expect(alone.isError).toBe(false);
		expect(alone.text).toContain("\nGave 0 of 1 member the role:\n1 refused");
		const posts = simulator.requests.list().filter(({ method }) => method === "POST");
		expect(posts).toHaveLength(2);
		simulator.faults.drop(`PUT /guilds/${guild.id}/members/${user_ids[1]}/roles/*`, { when: "before", times: 1 });
		const unknown = await create(user_ids.toReversed());
		expect(unknown.text).toContain("\n1 of unknown outcome:\n李伟");
		expect(unknown.text).toMatch(
			/1 not started: check .* To continue, call bulk_role_update with role_id=\d+ and their user_ids\.$/,
		);
	});

	worldTest("permits nothing by default", async (world) => {
		const { text } = await world.call("create_role", { name: "Plain" });
		expect(text).toEndWith(", which permits: none.");
		expect(roleNamed(world, "Plain")).toMatchObject({ permissions: "0", color: 0, hoist: false, mentionable: false });
	});

	worldTest("refuses permissions that the bot lacks", async (world) => {
		const create = (permission_names: string[]) =>
			world.call("create_role", { name: "Mighty", permissions: permission_names });
		expect((await create(["ADMINISTRATOR"])).text).toContain("it lacks ADMINISTRATOR");
		expect(writes(world)).toEqual([]);
	});

	worldTest("a guild without free role slots is refused, with how to make room", async (world) => {
		world.simulator.faults.refuse("POST /guilds/*/roles", 30005);
		const { text } = await world.call("create_role", { name: "One more" });
		expect(text).toContain("delete_role makes room");
	});
});

describe("delete_role", () => {
	worldTest("the dry run names members with the role, and counts channels with overwrites for it", async (world) => {
		const staff = roleNamed(world, "Staff");
		const args = { role_id: staff.id };
		const dry = await world.call("delete_role", { ...args, dry_run: true });
		expect(dry.text.split("\n").slice(1)).toEqual([
			`Would delete the role @Staff (ID: ${staff.id}), which 1 member(s) have, and for which 1 channel(s) have overwrites.`,
			`Chef José (@jose.garcia) | ID: ${world.simulator.user("jose.garcia").id}`,
		]);
		const { text } = await world.call("delete_role", args);
		expect(text).toBe(`Deleted the role @Staff (ID: ${staff.id}). 1 member(s) had it.`);
		expect(memberNamed(world, "jose.garcia").roles).toEqual([]);
	});

	worldTest("the dry run says how to see the members that it does not show", async (world) => {
		const { simulator, guild } = world;
		const crew = simulator.world.roles.add(guild, { name: "Crew" });
		for (let index = 0; index < 51; index += 1) {
			const user = simulator.world.users.add({ username: `cook${index}` });
			simulator.world.members.add(guild, user, { roles: [crew.id] });
		}
		await world.heard();
		const { text } = await world.call("delete_role", { role_id: crew.id, dry_run: true });
		const lines = text.split("\n");
		expect(lines.filter((line) => line.includes("@cook"))).toHaveLength(50);
		expect(lines.at(-1)).toBe('Not all are shown: list_members with where="role:ID" lists them.');
	});

	worldTest("@everyone, managed roles, and those above the bot are refused before Discord sees it", async (world) => {
		const { simulator, guild } = world;
		const other = simulator.world.roles.add(guild, { name: "Integration", bot_id: simulator.bot("beta").id });
		const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
		await world.heard();
		const remove = async (role_id: string) => (await world.call("delete_role", { role_id })).text;
		expect(await remove(guild.id)).toContain("is the role of all members");
		expect(await remove(other.id)).toContain("is managed by Discord");
		expect(await remove(above.id)).toContain("does not rank below the bot's");
		expect(writes(world)).toEqual([]);
	});
});

describe("bulk_role_update for one member", () => {
	worldTest("a dry run of one member says what would change", async (world) => {
		const role_id = roleNamed(world, "Regular").id;
		const user_id = memberNamed(world, "zoe").user.id;
		const dry = await world.call("bulk_role_update", { role_id, user_ids: [user_id], action: "add", dry_run: true });
		expect(dry.text).toEndWith(`Would give Zoë 🍞 (@zoe, ID: ${user_id}) the role @Regular (ID: ${role_id}).`);
		expect(writes(world)).toEqual([]);
	});

	worldTest("add and remove one role, and keep the others, also for members above the bot", async (world) => {
		const regular = roleNamed(world, "Regular").id;
		const boss = memberNamed(world, "zoe");
		giveRole(world, "zoe", { position: 99 });
		const { roles } = boss;
		await world.heard();
		const args = { user_ids: [boss.user.id], role_id: regular };
		const given = await world.call("bulk_role_update", { ...args, action: "add" });
		expect(given.text).toBe(`Gave Zoë 🍞 (@zoe, ID: ${boss.user.id}) the role @Regular (ID: ${regular}).`);
		expect(boss.roles).toEqual([...roles, regular]);
		const taken = await world.call("bulk_role_update", { ...args, action: "remove" });
		expect(taken.text).toStartWith(`Took the role @Regular (ID: ${regular})`);
		expect(boss.roles).toEqual(roles);
	});

	worldTest("build on one another, however late their events are, and refuse calls without a change", async (world) => {
		const args = { user_ids: [memberNamed(world, "liwei").user.id], role_id: roleNamed(world, "Regular").id };
		world.simulator.sockets.holdEvents(true);
		const outcomes = [];
		for (const action of ["add", "add", "remove", "remove", "add"])
			outcomes.push((await world.call("bulk_role_update", { ...args, action })).text.split(":")[0]);
		expect(outcomes).toEqual([
			"Gave 李伟 (@liwei, ID",
			"Nothing would change",
			"Took the role @Regular (ID",
			"Nothing would change",
			"Gave 李伟 (@liwei, ID",
		]);
		expect(writes(world)).toHaveLength(3);
	});

	worldTest("a role above the bot's, a managed one and @everyone are refused before Discord sees it", async (world) => {
		const { simulator, guild } = world;
		const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
		const managed = simulator.world.roles.add(guild, { name: "Integration", bot_id: simulator.bot("beta").id });
		await world.heard();
		const user_ids = [memberNamed(world, "zoe").user.id];
		for (const action of ["add", "remove"])
			for (const [role_id, said] of [
				[above.id, "does not rank below the bot's highest role"],
				[managed.id, "is managed by Discord"],
				[guild.id, "is the role of all members"],
			] as const)
				expect((await world.call("bulk_role_update", { user_ids, role_id, action })).text).toContain(said);
		expect(writes(world)).toEqual([]);
	});
});
