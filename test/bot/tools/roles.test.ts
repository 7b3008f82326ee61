// edit_role, seen on the platform.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Role } from "../../../src/simulator/entities.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

const {
	Administrator,
	KickMembers,
	ManageMessages,
	ModerateMembers,
	ViewChannel,
} = PermissionFlagsBits;
const patch = "PATCH /guilds/:guild_id/roles/:role_id";

function roleNamed({ guild }: TestWorld, name: string): Role {
	for (const role of guild.roles.values()) if (role.name === name) return role;
	throw new Error(`no role is called ${name}`);
}

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
		await using world = await startWorld();
		const role = roleNamed(world, "Staff");
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

test("edit_role says by name what a role permits now, and no longer", async () => {
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

test("edit_role refuses an edit that would change nothing, or says nothing", async () => {
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
		`Nothing would change: @Staff (ID: ${role.id}) has name, color, permissions, hoist, mentionable as given already.`,
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
	await using world = await startWorld();
	const { code, text } = await world.call("edit_role", {
		role_id: roleNamed(world, "Staff").id,
		...args,
	});
	expect(code).toBe(-32602);
	expect(text).toContain(fault);
	expect(world.simulator.requests.list(patch)).toEqual([]);
});

test("edit_role refuses permissions that the bot lacks, to give and to take away", async () => {
	await using world = await startWorld();
	const { world: platform } = world.simulator;
	const powerful = platform.addRole(world.guild, {
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
	const above = simulator.world.addRole(guild, { name: "Above", position: 99 });
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

test("edit_role may take from everyone, and then knows what the bot has lost with it", async () => {
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

test("edit_role back to back builds on the edit before, however late its event is", async () => {
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

test("of equal edits at the same time one changes something, and the others say that they would not", async () => {
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
