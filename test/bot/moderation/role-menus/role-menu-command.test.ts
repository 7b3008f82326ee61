// The command /rolemenu: the tool create_role_menu, in the name of the person.

import { expect, test } from "bun:test";
import { PermissionFlagsBits as Permission } from "discord.js";
import { until } from "../../../support/until.ts";
import { general, type MenuWorld, startMenuWorld } from "./menu-world.ts";

/** Lets Staff manage roles, so that José may post menus of roles below Staff. */
async function letStaffManageRoles(world: MenuWorld): Promise<void> {
	const { simulator, guild } = world;
	const staff = world.roleNamed("Staff");
	const bits = BigInt(staff.permissions) | Permission.ManageRoles;
	simulator.world.roles.edit(guild, staff, { permissions: String(bits) });
	await world.heard();
	await until("the command is registered", () =>
		simulator
			.user("jose.garcia")
			.commands(general)
			.some(({ name }) => name === "rolemenu"),
	);
}

test("/rolemenu posts a menu in the channel, with labels and emoji in the order of the roles, and replaces it", async () => {
	await using world = await startMenuWorld();
	await letStaffManageRoles(world);
	const { simulator, channel } = world;
	const [red = "", blue = "", regular = ""] = world.ids("Red", "Blue", "Regular");
	const jose = simulator.user("jose.garcia");
	const asked = await jose.run(general, "rolemenu", {
		role1: red,
		role2: blue,
		title: "Colors",
		text: "Pick one",
		max: 1,
		requires: regular,
		labels: "Hot, ",
		emojis: "🔴 -",
	});
	const reply = await asked.reply();
	expect(reply.ephemeral).toBe(true);
	const [, id = ""] = /\/(\d+)$/m.exec(reply.content) ?? [];
	const menu = simulator.world.messages.get(channel.id, id);
	if (!menu) throw new Error(reply.content);
	expect(menu.content).toBe("## Colors\nPick one");
	expect(world.labels(menu)).toEqual(["Hot", "Blue"]);
	expect(await world.press("zoe", menu, "Blue")).toStartWith("Only people");
	expect(await world.press("mona_lisa", menu, "Hot")).toStartWith("Added");
	expect(await world.press("mona_lisa", menu, "Blue")).toStartWith("Added");
	expect(world.rolesOf("mona_lisa")).toEqual(["Blue", "Regular"]);
	const again = await jose.run(general, "rolemenu", {
		role1: red,
		style: "select",
		replace: `https://discord.com/channels/${world.guild.id}/${channel.id}/${id}`,
	});
	expect((await again.reply()).content).toStartWith("The role menu is replaced: https://");
	expect(menu.content).toBe("## Colors\nPick one");
	expect(await world.select("zoe", menu, "Red")).toStartWith("Added");
});

test("/rolemenu answers with what is wrong, and posts nothing", async () => {
	await using world = await startMenuWorld();
	await letStaffManageRoles(world);
	const jose = world.simulator.user("jose.garcia");
	const answer = async (options: Record<string, string | number>) => {
		const asked = await jose.run(general, "rolemenu", options);
		return (await asked.reply()).content;
	};
	const [staff = "", red = "", own = ""] = world.ids("Staff", "Red", "alpha");
	expect(await answer({ role1: staff })).toContain("does not rank below your");
	expect(await answer({ role1: own })).toContain("does not rank below your");
	const asked = await world.simulator.user("ada").run(general, "rolemenu", { role1: staff });
	expect((await asked.reply()).content).toContain("gives permissions of moderators (");
	expect((await asked.reply()).content).not.toContain("_MESSAGES");
	expect(await answer({ role1: red, labels: "a,b" })).toContain("Labels given: 2, for 1 role.");
	expect(await answer({ role1: red, emojis: "red" })).toBe("“red” is not an emoji. Nothing was done.");
	expect(await answer({ role1: red, emojis: "<:a:12345678901234567>" })).toContain("does not have the emoji");
	expect(await answer({ role1: red, replace: "*abc" })).toStartWith("“\\*abc” is not a link to a message.");
	expect(world.simulator.world.messages.in(world.channel.id)).toEqual([]);
});
