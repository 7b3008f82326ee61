// The command /rolemenu: the tool create_role_menu, in the name of the person.

import { expect } from "bun:test";
import { PermissionFlagsBits as Permission } from "discord.js";
import { present, until } from "../../../support/until.ts";
import { channelNamed } from "../../../support/world.ts";
import { general, type MenuWorld, menuTest } from "./menu-world.ts";

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

/** The builder that José opens, and what he does with it: each resolves when the builder shows it. */
async function openBuilder(world: MenuWorld) {
	const jose = world.simulator.user("jose.garcia");
	const reply = await (await jose.run(general, "rolemenu")).reply();
	const shown = () => JSON.stringify([reply.content, reply.embeds, reply.menus, reply.buttons]);
	const changed = async (act: () => Promise<unknown>) => {
		const before = shown();
		await act();
		await until("the builder changes", () => shown() !== before);
	};
	return {
		reply,
		select: (menu: string, ...values: string[]) => changed(() => jose.select(reply, `menubuilder:${menu}`, ...values)),
		type: (fields: { title: string; content: string }) =>
			changed(async () => {
				const used = await jose.press(reply, "Title and text");
				await used.modal();
				await jose.submit(used, fields);
			}),
		async post(button = "Post") {
			await changed(() => jose.press(reply, button));
			return reply.content;
		},
	};
}

menuTest("/rolemenu opens a builder, which keeps what is chosen and typed, and posts the menu", async (world) => {
	await letStaffManageRoles(world);
	const { simulator, channel } = world;
	const { reply, select, type, post } = await openBuilder(world);
	expect(reply.ephemeral).toBe(true);
	expect(reply.embeds).toMatchObject([{ description: "Choose your roles:" }]);
	expect(reply.buttons.find(({ label }) => label === "Post")?.disabled).toBe(true);
	await select("roles", ...world.ids("Red", "Blue"));
	await select("form", "select_one");
	await type({ title: "Colors", content: "Pick one" });
	await type({ title: "Colors", content: "" });
	expect(reply.embeds).toMatchObject([{ title: "Colors" }]);
	await type({ title: "Colors", content: " Pick *one*\n" });
	await select("form", "buttons_one");
	const posted = await post();
	expect(posted).toStartWith("The role menu is here: https://");
	expect([reply.embeds, reply.buttons, reply.menus]).toEqual([[], [], []]);
	const menu = present(simulator.world.messages.get(channel.id, /\/(\d+)$/m.exec(posted)?.[1] ?? ""));
	expect(menu.content).toBe("## Colors\nPick *one*");
	expect(world.labels(menu)).toEqual(["Red", "Blue"]);
	expect(await world.press("mona_lisa", menu, "Red")).toStartWith("Added");
	expect(await world.press("mona_lisa", menu, "Blue")).toStartWith("Added");
	expect(world.rolesOf("mona_lisa")).toEqual(["Blue", "Regular"]);
});

menuTest("a refusal is said, the builder stays, and the menu goes to the channel that is chosen", async (world) => {
	await letStaffManageRoles(world);
	const { simulator, guild } = world;
	simulator.world.users.locales.set(simulator.user("jose.garcia").id, "de");
	const { reply, select, post } = await openBuilder(world);
	const [staff = "", red = ""] = world.ids("Staff", "Red");
	await select("roles", red, staff);
	const everywhere = () => [...guild.channels.values()].flatMap(({ id }) => [...simulator.world.messages.in(id)]);
	const before = everywhere().length;
	expect(await post("Posten")).toContain("steht nicht unter deiner höchsten Rolle");
	expect(everywhere()).toHaveLength(before);
	expect(reply.embeds).toMatchObject([{ description: "Choose your roles:" }]);
	await select("roles", red);
	await select("form", "select_any");
	const target = channelNamed(world, "staff");
	await select("channel", target.id);
	expect(await post("Posten")).toStartWith("Hier ist das Rollenmenü: ");
	const menu = present([...simulator.world.messages.in(target.id)].at(-1));
	expect(menu.content).toBe("Choose your roles:");
	expect(await world.select("jose.garcia", menu, "Red")).toStartWith("Hinzugefügt: ");
});

menuTest("without Manage Roles, nobody opens the builder, whoever may see the command", async (world) => {
	await letStaffManageRoles(world);
	const { commands } = world.simulator.world;
	for (const command of commands.in({ application_id: world.simulator.bot("alpha").id }))
		command.default_member_permissions = null;
	const asked = await world.simulator.user("zoe").run(general, "rolemenu");
	expect((await asked.reply()).content).toContain("You need the permission Manage Roles for this.");
});
