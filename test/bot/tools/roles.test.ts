// The role tools.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { pagesOf } from "../../support/pages.ts";
import { shareWorld } from "../../support/shared-world.ts";
import {
	memberNamed,
	roleNamed,
	startWorld,
	writes,
} from "../../support/world.ts";

const shared = shareWorld();

const {
	Administrator,
	KickMembers,
	ManageMessages,
	ModerateMembers,
	ViewChannel,
} = PermissionFlagsBits;
const patch = "PATCH /guilds/:guild_id/roles/:role_id";

test.each([
	["name", "Chef", { name: "Chef" }],
	["color", 0xffffff, { color: 0xffffff }],
	["color", 0, { color: 0 }],
	["hoist", false, { hoist: false }],
	["mentionable", true, { mentionable: true }],
	[
		"permissions",
		String(ManageMessages),
		{ permissions: String(ManageMessages) },
	],
	[
		"permission_names",
		["MANAGE_MESSAGES", "kick_members"],
		{ permissions: String(ManageMessages | KickMembers) },
	],
	["permission_names", [], { permissions: "0" }],
])(
	"edit_role changes %s to %j and nothing else",
	async (field, value, expected) => {
		const world = await shared();
		const { id, position, tags, ...staff } = roleNamed(world, "Staff");
		const role = world.simulator.world.roles.add(
			world.guild,
			structuredClone(staff),
		);
		await world.heard();
		const { colors: _, ...before } = structuredClone(role);
		const { text, isError } = await world.call("edit_role", {
			role_id: role.id,
			[field]: value,
		});
		const said = field === "permission_names" ? "permissions" : field;
		expect(text).toStartWith(
			`Changed ${said} of @${role.name} (ID: ${role.id}).`,
		);
		expect(isError).toBe(false);
		const { colors, ...after } = role;
		expect(after).toEqual({ ...before, ...expected });
		expect(colors.primary_color).toBe(role.color);
	},
);

test("edit_role names the permissions that a role gained and lost", async () => {
	await using world = await startWorld();
	const { text } = await world.call("edit_role", {
		role_id: roleNamed(world, "Staff").id,
		permissions: String(ManageMessages),
		permission_names: ["BAN_MEMBERS"],
	});
	expect(text.split("\n").slice(1)).toEqual([
		"Newly permitted: BAN_MEMBERS",
		"No longer permitted: KICK_MEMBERS, MODERATE_MEMBERS",
	]);
});

test("edit_role refuses an edit without fields or without a change", async () => {
	await using world = await startWorld();
	const role = roleNamed(world, "Staff");
	const same = await world.call("edit_role", {
		role_id: role.id,
		name: "Staff",
		color: role.color,
		hoist: true,
		mentionable: false,
		permissions: String(ManageMessages | KickMembers | ModerateMembers),
	});
	expect(same.isError).toBe(true);
	expect(same.text).toStartWith(
		`Nothing would change: @Staff (ID: ${role.id}) already has this name, color, permissions, hoist, mentionable.`,
	);
	const none = await world.call("edit_role", { role_id: role.id });
	expect(none.code).toBe(-32602);
	expect(world.simulator.requests.list(patch)).toEqual([]);
});

test.each([
	[
		{ permissions: String(1n << 63n) },
		"permissions: Discord has no permission for the bits",
	],
	[
		{ permission_names: ["KICK"] },
		'permission_names: Discord has no permission "KICK"',
	],
	[{ color: 0x1000000 }, "color: expected an integer from 0 to 16777215"],
	[{ color: -1 }, "color: expected an integer"],
	[{ color: "#ff0000" }, "color: expected number"],
	[{ name: "" }, "name: expected 1 to 100 characters"],
	[{ name: "😀".repeat(101) }, "received 101"],
	[{ hoist: "yes" }, "hoist: expected boolean"],
])("edit_role refuses %j before Discord sees it", async (args, fault) => {
	const world = await shared();
	const { code, text } = await world.call("edit_role", {
		role_id: roleNamed(world, "Staff").id,
		...args,
	});
	expect(code).toBe(-32602);
	expect(text).toContain(fault);
	expect(world.simulator.requests.list(patch)).toEqual([]);
});

test("edit_role refuses to give or remove permissions that the bot lacks", async () => {
	await using world = await startWorld();
	const { world: platform } = world.simulator;
	const powerful = platform.roles.add(world.guild, {
		name: "Powerful",
		permissions: String(Administrator),
	});
	await world.heard();
	for (const args of [
		{
			role_id: roleNamed(world, "Staff").id,
			permission_names: ["ADMINISTRATOR"],
		},
		{ role_id: powerful.id, permission_names: [] },
	]) {
		const { text, isError } = await world.call("edit_role", args);
		expect(isError).toBe(true);
		expect(text).toContain("it lacks ADMINISTRATOR. The owner, or anyone");
	}
	// It keeps what it has.
	const renamed = await world.call("edit_role", {
		role_id: powerful.id,
		name: "Mighty",
	});
	expect(renamed.isError).toBe(false);
	expect(powerful.permissions).toBe(String(Administrator));
});

test("edit_role refuses the bot's own role and those above it, also of the same position", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const above = simulator.world.roles.add(guild, {
		name: "Above",
		position: 99,
	});
	await world.heard();
	for (const role of [roleNamed(world, "alpha"), above]) {
		const { text, isError } = await world.call("edit_role", {
			role_id: role.id,
			name: "lowered",
		});
		expect(isError).toBe(true);
		expect(text).toContain(
			`@${role.name} (ID: ${role.id}) does not rank below the bot's highest role`,
		);
		expect(text).toContain("Someone who ranks above both can move");
	}
	expect(simulator.requests.list(patch)).toEqual([]);
});

test("edit_role can remove permissions from @everyone, and then knows what the bot lost", async () => {
	await using world = await startWorld();
	const everyone = world.guild.roles.get(world.guild.id);
	const edit = (permission_names: string[]) =>
		world.call("edit_role", { role_id: world.guild.id, permission_names });
	expect((await edit(["VIEW_CHANNEL"])).isError).toBe(false);
	expect(everyone?.permissions).toBe(String(ViewChannel));
	await world.heard();
	// The bot had it only as one of everyone.
	const { text, isError } = await edit(["VIEW_CHANNEL", "CHANGE_NICKNAME"]);
	expect(isError).toBe(true);
	expect(text).toContain("it lacks CHANGE_NICKNAME. The owner, or anyone");
	const renamed = await world.call("edit_role", {
		role_id: world.guild.id,
		mentionable: true,
	});
	expect(renamed.isError).toBe(false);
	expect(everyone?.mentionable).toBe(true);
});

test("consecutive edit_role calls build on one another, however late their events are", async () => {
	await using world = await startWorld();
	const role = roleNamed(world, "Staff");
	world.simulator.sockets.holdEvents(true);
	const answers = [];
	for (const name of ["A", "B", "A", "B", "A", "A"])
		answers.push(await world.call("edit_role", { role_id: role.id, name }));
	expect(answers.map(({ isError }) => isError)).toEqual([
		...Array(5).fill(false),
		true,
	]);
	expect(role.name).toBe("A");
});

test("of concurrent equal edits one changes the role, and the others are refused", async () => {
	await using world = await startWorld();
	const { id: role_id } = roleNamed(world, "Staff");
	const answers = await Promise.all(
		Array.from({ length: 5 }, () =>
			world.call("edit_role", { role_id, name: "Chef" }),
		),
	);
	expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
	expect(world.simulator.journal.entries(patch)).toHaveLength(1);
});

test("list_roles lists from the top, with members, colour, flags and permissions by name", async () => {
	await using world = await startWorld();
	const { text } = await world.call("list_roles");
	const lines = text.split("\n");
	const id = (name: string) => roleNamed(world, name).id;
	expect(lines[0]).toBe("5 role(s), from the top:");
	expect(lines.slice(1).map((line) => line.split(" | ")[0])).toEqual([
		"@alpha",
		"@Staff",
		"@Regular",
		"@Newcomer",
		"@everyone",
	]);
	expect(lines[1]).toContain(" | 1 member(s) | managed | permits: ");
	expect(lines.slice(2, 5)).toEqual([
		`@Staff | ID: ${id("Staff")} | 1 member(s) | colour: #e67e22 | hoist | permits: KICK_MEMBERS, MANAGE_MESSAGES, MODERATE_MEMBERS`,
		`@Regular | ID: ${id("Regular")} | 1 member(s) | colour: #2ecc71 | mentionable | permits: none`,
		`@Newcomer | ID: ${id("Newcomer")} | 1 member(s) | permits: none`,
	]);
	expect(lines[5]).toContain(`| ID: ${world.guild.id} | 6 member(s) | `);
});

test("get_role_members gives pages that end with where the next one begins", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const role = simulator.world.roles.add(guild, { name: "Crowd" });
	for (const number of [1, 2, 3, 4, 5])
		simulator.world.members.add(
			guild,
			simulator.world.users.add({ username: `crowd${number}` }),
			{ roles: [role.id] },
		);
	await world.heard();
	const args = { role_id: role.id, limit: 2 };
	const pages = await pagesOf(world.call, "get_role_members", args);
	const names = pages.map((page) => page.match(/^crowd\d/gm) ?? []);
	expect(names).toEqual([
		["crowd1", "crowd2"],
		["crowd3", "crowd4"],
		["crowd5"],
	]);
	for (const [index, { length }] of names.entries())
		expect(pages[index]).toStartWith(
			`${length} of 5 member(s) with @Crowd (ID: ${role.id}), by id:\n`,
		);
	const after = "9".repeat(19);
	const end = await world.call("get_role_members", { ...args, after });
	expect(end.text).toBe(
		`No member with an id above ${after} has @Crowd (ID: ${role.id}).`,
	);
});

test("get_role_members of @everyone is all members", async () => {
	await using world = await startWorld();
	const { text } = await world.call("get_role_members", {
		role_id: world.guild.id,
	});
	expect(text).toStartWith("6 of 6 member(s) with @everyone");
});

describe("create_role", () => {
	test("makes a role with all its fields, and says what it permits", async () => {
		await using world = await startWorld();
		const { text } = await world.call("create_role", {
			...{ name: "Cook", color: 0x123456, hoist: true, mentionable: true },
			...{ permissions: String(KickMembers) },
			permission_names: ["MANAGE_MESSAGES"],
		});
		const role = roleNamed(world, "Cook");
		expect(text).toBe(
			`Created the role @Cook (ID: ${role.id}), which permits: KICK_MEMBERS, MANAGE_MESSAGES.`,
		);
		expect(role).toMatchObject({
			...{ color: 0x123456, hoist: true, mentionable: true, position: 1 },
			permissions: String(KickMembers | ManageMessages),
		});
	});

	test("permits nothing by default", async () => {
		await using world = await startWorld();
		const { text } = await world.call("create_role", { name: "Plain" });
		expect(text).toEndWith(", which permits: none.");
		expect(roleNamed(world, "Plain")).toMatchObject({
			...{ permissions: "0", color: 0, hoist: false, mentionable: false },
		});
	});

	test("refuses permissions that the bot lacks or that do not exist", async () => {
		await using world = await startWorld();
		const create = (permission_names: string[]) =>
			world.call("create_role", { name: "Mighty", permission_names });
		expect((await create(["ADMINISTRATOR"])).text).toContain(
			"it lacks ADMINISTRATOR",
		);
		expect((await create(["KICK"])).code).toBe(-32602);
		expect(writes(world)).toEqual([]);
	});

	test("a guild without free role slots is refused, with how to make room", async () => {
		await using world = await startWorld();
		world.simulator.faults.refuse("POST /guilds/*/roles", 30005);
		const { text } = await world.call("create_role", { name: "One more" });
		expect(text).toContain("delete_role makes room");
	});
});

describe("delete_role", () => {
	test("the dry run names members with the role, and counts channels with overwrites for it", async () => {
		await using world = await startWorld();
		const staff = roleNamed(world, "Staff");
		const args = { role_id: staff.id };
		const dry = await world.call("delete_role", { ...args, dry_run: true });
		expect(dry.text.split("\n").slice(1)).toEqual([
			`Would delete the role @Staff (ID: ${staff.id}), which 1 member(s) have, and for which 1 channel(s) have overwrites.`,
			"The first 1 by id:",
			`Chef José (@jose.garcia) | ID: ${world.simulator.user("jose.garcia").id}`,
		]);
		const { text } = await world.call("delete_role", args);
		expect(text).toBe(
			`Deleted the role @Staff (ID: ${staff.id}). 1 member(s) had it.`,
		);
		expect(memberNamed(world, "jose.garcia").roles).toEqual([]);
	});

	test("@everyone, managed roles, and those above the bot are refused before Discord sees it", async () => {
		await using world = await startWorld();
		const { simulator, guild } = world;
		const other = simulator.world.roles.add(guild, {
			...{ name: "Integration", bot_id: simulator.bot("beta").id },
		});
		const above = simulator.world.roles.add(guild, {
			...{ name: "Above", position: 99 },
		});
		await world.heard();
		const remove = async (role_id: string) =>
			(await world.call("delete_role", { role_id })).text;
		expect(await remove(guild.id)).toContain("is the role of all members");
		expect(await remove(other.id)).toContain("is managed by Discord");
		expect(await remove(above.id)).toContain("does not rank below the bot's");
		expect(writes(world)).toEqual([]);
	});
});

describe("assign_role and remove_role", () => {
	test("add and remove one role, and keep the others, also for members above the bot", async () => {
		await using world = await startWorld();
		const { simulator, guild } = world;
		const above = simulator.world.roles.add(guild, {
			...{ name: "Above", position: 99 },
		});
		const regular = roleNamed(world, "Regular").id;
		const boss = memberNamed(world, "zoe");
		simulator.world.members.edit(guild, boss, { roles: [above.id] });
		await world.heard();
		const args = { user_id: boss.user.id, role_id: regular };
		const given = await world.call("assign_role", args);
		expect(given.text).toBe(
			`Gave Zoë 🍞 (@zoe, ID: ${boss.user.id}) the role @Regular (ID: ${regular}).`,
		);
		expect(boss.roles).toEqual([above.id, regular]);
		const taken = await world.call("remove_role", args);
		expect(taken.text).toStartWith(`Took the role @Regular (ID: ${regular})`);
		expect(boss.roles).toEqual([above.id]);
	});

	test("build on one another, however late their events are, and refuse calls without a change", async () => {
		await using world = await startWorld();
		const args = {
			user_id: memberNamed(world, "liwei").user.id,
			role_id: roleNamed(world, "Regular").id,
		};
		world.simulator.sockets.holdEvents(true);
		const outcomes = [];
		for (const tool of [
			"assign_role",
			"assign_role",
			"remove_role",
			"remove_role",
			"assign_role",
		])
			outcomes.push((await world.call(tool, args)).text.split(":")[0]);
		expect(outcomes).toEqual([
			"Gave 李伟 (@liwei, ID",
			"Nothing would change",
			"Took the role @Regular (ID",
			"Nothing would change",
			"Gave 李伟 (@liwei, ID",
		]);
		expect(writes(world)).toHaveLength(3);
	});

	test("a role above the bot's, a managed one and @everyone are refused before Discord sees it", async () => {
		await using world = await startWorld();
		const { simulator, guild } = world;
		const above = simulator.world.roles.add(guild, {
			...{ name: "Above", position: 99 },
		});
		const managed = simulator.world.roles.add(guild, {
			...{ name: "Integration", bot_id: simulator.bot("beta").id },
		});
		await world.heard();
		const user_id = memberNamed(world, "zoe").user.id;
		for (const tool of ["assign_role", "remove_role"])
			for (const [role_id, said] of [
				[above.id, "does not rank below the bot's highest role"],
				[managed.id, "is managed by Discord"],
				[guild.id, "is the role of all members"],
			] as const)
				expect((await world.call(tool, { user_id, role_id })).text).toContain(
					said,
				);
		expect(writes(world)).toEqual([]);
	});
});
