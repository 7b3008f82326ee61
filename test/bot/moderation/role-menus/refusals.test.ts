// What role menus refuse: when a menu is made, and at each press, because roles and people change later.

import { describe, expect, test } from "bun:test";
import { GuildMemberFlags, PermissionFlagsBits as Permission } from "discord.js";
import { reservedRoles } from "../../../../src/bot/moderation/role-menus/choice.ts";
import { menuComponents } from "../../../../src/discord/role-menu.ts";
import type { Role, User } from "../../../../src/simulator/world/state/entities.ts";
import { sayIn } from "../../../../src/texts/texts.ts";
import { settingsOf } from "../../../support/guild-settings.ts";
import { channelNamed, roleNamed, startWorld } from "../../../support/world.ts";
import { colors, type MenuWorld, menuTest, startMenuWorld } from "./menu-world.ts";

type Trap = (world: MenuWorld, red: Role) => void;

function permit(bits: bigint): Trap {
	return ({ simulator, guild }, red) => simulator.world.roles.edit(guild, red, { permissions: String(bits) });
}

function move(position: number): Trap {
	return ({ simulator, guild }, red) => simulator.world.roles.move(guild, new Map([[red, position]]));
}

const allowInChannel: Trap = ({ simulator, channel }, { id }) => {
	const allow = String(Permission.ManageMessages);
	const overwrite = { id, type: 0, allow, deny: "0" } as const;
	simulator.world.channels.setOverwrite(channel, overwrite);
};

/** What makes Red unfit for menus, and the start of what the tool and the press say. */
const traps: [string, Trap, string][] = [
	["Administrator", permit(Permission.Administrator), "gives permissions"],
	["Manage Roles", permit(Permission.ManageRoles), "gives permissions"],
	["Kick", permit(Permission.KickMembers), "gives permissions"],
	["Ban", permit(Permission.BanMembers), "gives permissions"],
	["Time out", permit(Permission.ModerateMembers), "gives permissions"],
	["Manage Webhooks", permit(Permission.ManageWebhooks), "gives permissions"],
	[
		"Mention everyone",
		permit(Permission.MentionEveryone | Permission.SendMessages),
		"gives permissions of moderators (",
	],
	["Manage Messages in one channel", allowInChannel, "gives permissions of moderators in the channel"],
	["View Insights", permit(Permission.ViewGuildInsights), "gives permissions"],
	["a place above the bot", move(99), "does not rank below"],
];

for (const [what, trap, problem] of traps)
	menuTest(`a role with ${what} is refused in a new menu, and at the press if it got that later`, async (world) => {
		const menus = [await world.menu(), await world.menu({ style: "select" })];
		await world.press("zoe", menus[0] as never, "Red");
		const red = world.roleNamed("Red");
		trap(world, red);
		await world.heard();
		const made = await world.create({ role_ids: world.ids("Red") });
		expect(made.isError).toBe(true);
		expect(made.text).toContain(problem);
		expect(made.text).toEndWith("Nothing was done.");
		for (const [name, menu] of [
			["liwei", menus[0]],
			["zoe", menus[0]],
		] as const)
			expect(await world.press(name, menu as never, "Red")).toStartWith(`The role <@&${red.id}> ${problem}`);
		expect(await world.select("liwei", menus[1] as never, "Red")).toStartWith(`The role <@&${red.id}> ${problem}`);
		expect(world.rolesOf("liwei")).toEqual([]);
		expect(world.rolesOf("zoe")).toEqual(["Newcomer", "Red"]);
		// The other roles of the menu are still to be had.
		await world.press("liwei", menus[0] as never, "Blue");
		expect(world.rolesOf("liwei")).toEqual(["Blue"]);
	});

menuTest("a permission that everyone has makes no role elevated", async (world) => {
	const { simulator, guild } = world;
	const bits = String(Permission.MentionEveryone);
	const everyone = guild.roles.get(guild.id) as Role;
	const before = everyone.permissions;
	const more = String(BigInt(before) | Permission.MentionEveryone);
	simulator.world.roles.edit(guild, everyone, { permissions: more });
	const red = world.roleNamed("Red");
	simulator.world.roles.edit(guild, red, { permissions: bits });
	await world.heard();
	const menu = await world.menu();
	expect(await world.press("zoe", menu, "Red")).toStartWith("Added");
	simulator.world.roles.edit(guild, everyone, { permissions: before });
	await world.heard();
	const made = await world.create({ role_ids: world.ids("Red") });
	expect(made.text).toContain("gives permissions of moderators (MENTION_EVERYONE), so it cannot be in a role menu.");
	expect(await world.press("liwei", menu, "Red")).toContain("(Mention @everyone, @here, and All Roles)");
});

describe("the tool refuses", () => {
	const rows: [string, (world: MenuWorld) => Record<string, unknown>, string][] = [
		["@everyone", ({ guild }) => ({ role_ids: [guild.id] }), "all members"],
		[
			"managed roles",
			({ ids }) => ({ role_ids: ids("Red", "Booster") }),
			"is managed by Discord, so it cannot be in a role menu",
		],
		[
			"roles of another guild",
			({ simulator }) => {
				const [id] = simulator.guild("The Bakers").roles.keys();
				return { role_ids: [id] };
			},
			"There is no role",
		],
		["no role", () => ({ role_ids: [] }), "at least 1"],
		[
			"26 roles",
			() => ({ role_ids: Array.from({ length: 26 }, (_, at) => `1000000000000000${10 + at}`) }),
			"at most 25",
		],
		[
			"@everyone as a requirement",
			({ ids, guild }) => ({ role_ids: ids("Red"), requires_role_id: guild.id }),
			"Leave it out",
		],
		[
			"fewer labels than roles",
			({ ids }) => ({ role_ids: ids("Red", "Blue"), labels: ["One"] }),
			"labels: expected one for each of the 2 roles, received 1",
		],
		[
			"a label that is too long for a button",
			({ ids }) => ({ role_ids: ids("Red"), labels: ["x".repeat(81)] }),
			"at most 80 characters with style=buttons",
		],
		["a label with a line break", ({ ids }) => ({ role_ids: ids("Red"), labels: ["a\nb"] }), "expected one line"],
		["a text that is no emoji", ({ ids }) => ({ role_ids: ids("Red"), emojis: ["red"] }), "expected a Unicode emoji"],
		[
			"an emoji of another guild",
			({ ids }) => ({ role_ids: ids("Red"), emojis: ["<:x:123456789012345678>"] }),
			"There is no emoji",
		],
		[
			"a text that is too long with its title",
			({ ids }) => ({ role_ids: ids("Red"), title: "T", content: "x".repeat(1999) }),
			"expected at most 2000 characters together, received 2004",
		],
		[
			"a message of someone else",
			({ ids, guild }) => ({ role_ids: ids("Red"), message_id: guild.id }),
			"no such message",
		],
	];
	for (const [what, args, problem] of rows)
		test(what, async () => {
			await using world = await startMenuWorld();
			world.simulator.world.roles.add(world.guild, { name: "Booster", managed: true });
			await world.heard();
			const before = world.simulator.world.messages.in(world.channel.id).length;
			const { text, isError } = await world.create(args(world));
			expect(text).toContain(problem);
			expect(isError).toBe(true);
			expect(world.simulator.world.messages.in(world.channel.id)).toHaveLength(before);
		});
});

test("people in whose name a menu is made need Manage Roles, and rank above its roles", async () => {
	const mcpToken = "a-token-of-enough-length";
	await using world = await startWorld(
		{},
		{ mcpToken, toml: { mcp: { toolsets: "all" }, features: { moderation: true } } },
	);
	const { simulator, guild } = world;
	const person = simulator.user("jose.garcia");
	const jose = world.mcp.as({
		id: "person:1",
		name: "José",
		person: { id: person.id, name: "José", signedIn: false },
		access: "all",
	});
	const create = (name: string, more = {}) =>
		jose.call("create_role_menu", {
			...more,
			guild_id: guild.id,
			channel_id: simulator.channel("The Cooks/general").id,
			role_ids: [roleNamed(world, name).id],
		});
	expect((await create("Regular")).text).toContain("You lack MANAGE_ROLES");
	simulator.world.roles.edit(guild, roleNamed(world, "Staff"), { permissions: String(Permission.ManageRoles) });
	const high = simulator.world.roles.add(guild, { name: "High", position: 5 });
	await world.heard();
	expect((await create(high.name)).text).toContain("does not rank below your highest role");
	const { text } = await create("Regular");
	expect(text).toStartWith("Role menu sent (ID: ");
	const [, message_id] = /\(ID: (\d+)\)/.exec(text) ?? [];
	const overwrite = { id: roleNamed(world, "Staff").id, type: 0, allow: "0" } as const;
	const deny = String(Permission.ManageMessages);
	const channel = channelNamed(world, "general");
	simulator.world.channels.setOverwrite(channel, { ...overwrite, deny });
	await world.heard();
	expect((await create("Regular", { message_id })).text).toContain("You lack MANAGE_MESSAGES");
});

const limits = [
	["is timed out", { communication_disabled_until: "2100-01-01T00:00:00.000Z" }, "You are timed out until <t:"],
	["has not completed the membership screening", { pending: true }, "You have not accepted the rules of this server"],
	[
		"is quarantined by AutoMod",
		{ flags: GuildMemberFlags.AutomodQuarantinedUsernameOrGuildNickname },
		"AutoMod has restricted your account",
	],
] as const;

for (const [what, changes, answer] of limits)
	menuTest(`a member who ${what} gets no role and keeps the others`, async (world) => {
		const menu = await world.menu();
		const { simulator, guild } = world;
		simulator.world.members.edit(guild, world.member("zoe"), changes);
		await world.heard();
		expect(await world.press("zoe", menu, "Red")).toStartWith(answer);
		expect(world.rolesOf("zoe")).toEqual(["Newcomer"]);
		expect(world.roleWrites()).toEqual([]);
	});

test("a role that approves calls is refused in a new menu, and at the press of an older one", async () => {
	await using world = await startWorld(
		{},
		{
			toml: { mcp: { toolsets: "all" }, features: { moderation: true } },
			settings: (simulator) => ({ "approval.roles": [roleNamed(simulator, "Regular").id] }),
		},
	);
	const { simulator, guild } = world;
	const { id } = roleNamed(simulator, "Regular");
	const channel = channelNamed(world, "general");
	const text = await world.expectError("create_role_menu", { channel_id: channel.id, role_ids: [id] });
	expect(text).toContain("is in the setting approval.roles of this bot");
	const entry = { roleId: id, label: "Regular", isNamed: true };
	const rules = { max: undefined, requires: undefined };
	const [row] = menuComponents("buttons", [entry], rules, sayIn("en"));
	const buttons = row?.components.map((one) => ({ ...one, id: 2 }));
	const alpha = simulator.world.users.get(simulator.bot("alpha").id) as User;
	const menu = simulator.world.messages.add(channel, alpha, {
		content: "Roles",
		components: [{ ...row, id: 1, components: buttons }] as never,
	});
	const pressed = await simulator.user("liwei").press(menu, "Regular");
	expect((await pressed.reply()).content).toStartWith(`The role <@&${id}> is in the setting approval.roles`);
	expect(guild.members.get(simulator.user("liwei").id)?.roles).toEqual([]);
});

test("roles with rights or a restriction in the guild's settings are reserved", async () => {
	const one = (last: number) => `12345678901234567${last}`;
	const reserved = reservedRoles(
		await settingsOf({
			here: {
				"sign_in.roles": [one(1)],
				"approval.roles": [one(2)],
				"spam.exempt_roles": [one(3)],
				"may.ban": [one(6)],
				"game.restricted_role": one(4),
				"game.staff_roles": [one(5)],
			},
		}),
	);
	expect(Object.fromEntries(reserved("here"))).toEqual({
		[one(1)]: "sign_in.roles",
		[one(2)]: "approval.roles",
		[one(6)]: "may.ban",
		[one(3)]: "spam.exempt_roles",
		[one(4)]: "game.restricted_role",
		[one(5)]: "game.staff_roles",
	});
	expect([...reserved("elsewhere").values()]).not.toContain("spam.exempt_roles");
});

menuTest("without Manage Roles the bot asks Discord nothing, and says so", async (world) => {
	const menu = await world.menu();
	const { simulator, guild } = world;
	const own = world.roleNamed("alpha");
	const permissions = String(BigInt(own.permissions) & ~Permission.ManageRoles);
	simulator.world.roles.edit(guild, own, { permissions });
	await world.heard();
	expect(await world.press("zoe", menu, "Red")).toBe(
		"The bot lacks the permission Manage Roles. Tell a moderator. Nothing was done.",
	);
	expect(world.roleWrites()).toEqual([]);
	expect(colors).toHaveLength(3);
});
