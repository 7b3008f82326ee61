// Role menus through the simulator: what presses give and remove, what is refused at the press, and what survives.

import { describe, expect, test } from "bun:test";
import { colors, menuTest, startMenuWorld } from "./menu-world.ts";

describe("a menu of buttons", () => {
	test("gives a role, and removes it with the next press, with a reason in the audit log and no case", async () => {
		await using world = await startMenuWorld();
		const menu = await world.menu({ title: "Colors", content: "Pick **one**" });
		const [red, green] = world.ids("Red", "Green");
		expect(menu.content).toBe("## Colors\nPick **one**");
		expect(world.labels(menu)).toEqual([...colors]);
		expect(await world.press("liwei", menu, "Red")).toBe(`Added <@&${red}>. Your roles from this menu: <@&${red}>.`);
		expect(await world.press("liwei", menu, "Green")).toBe(
			`Added <@&${green}>. Your roles from this menu: <@&${red}>, <@&${green}>.`,
		);
		expect(world.rolesOf("liwei")).toEqual(["Green", "Red"]);
		expect(await world.press("liwei", menu, "Red")).toBe(
			`Removed <@&${red}>. Your roles from this menu: <@&${green}>.`,
		);
		expect(world.rolesOf("liwei")).toEqual(["Green"]);
		const entries = world.guild.auditLog.filter(({ target_id }) => target_id === world.member("liwei").user.id);
		expect(entries.map(({ reason }) => reason)).toEqual(Array(3).fill(`chosen by the member in role menu ${menu.id}`));
		const cases = await world.call("list_cases");
		expect(cases.text).toStartWith("No case matches");
	});

	test("of which one role is allowed replaces it in one request, also when two presses come at once", async () => {
		await using world = await startMenuWorld();
		const menu = await world.menu({ max: 1 });
		await world.press("zoe", menu, "Red");
		await world.press("zoe", menu, "Blue");
		expect(world.rolesOf("zoe")).toEqual(["Blue", "Newcomer"]);
		expect(world.roleWrites()).toHaveLength(2);
		for (let round = 0; round < 5; round++) {
			await Promise.all([
				world.press("zoe", menu, "Red"),
				world.press("zoe", menu, "Green"),
				world.press("zoe", menu, "Blue"),
			]);
			const held = world.rolesOf("zoe").filter((name) => name !== "Newcomer");
			expect(held.length).toBeLessThanOrEqual(1);
		}
	});

	menuTest("of which at most two roles are allowed refuses a third", async (world) => {
		const menu = await world.menu({ max: 2 });
		await world.press("zoe", menu, "Red");
		await world.press("zoe", menu, "Blue");
		expect(await world.press("zoe", menu, "Green")).toStartWith("You can have at most 2 of these roles, and you have ");
		expect(world.rolesOf("zoe")).toEqual(["Blue", "Newcomer", "Red"]);
	});

	menuTest("that requires a role is only for people who have it now", async (world) => {
		const [regular] = world.ids("Regular");
		const menu = await world.menu({ requires_role_id: regular });
		const refusal = `Only people with the role <@&${regular}> can use this menu. Nothing was done.`;
		expect(await world.press("zoe", menu, "Red")).toBe(refusal);
		expect(await world.press("mona_lisa", menu, "Red")).toStartWith("Added");
		world.simulator.world.roles.remove(world.guild, world.roleNamed("Regular"));
		await world.heard();
		expect(await world.press("mona_lisa", menu, "Red")).toBe(
			"The role that this menu requires was deleted. A moderator has to update the menu. Nothing was done.",
		);
	});
});

menuTest("a select menu gives the selected roles and removes the others in one request", async (world) => {
	const menu = await world.menu({ style: "select" });
	await world.select("zoe", menu, "Red", "Green");
	expect(world.rolesOf("zoe")).toEqual(["Green", "Newcomer", "Red"]);
	await world.select("zoe", menu, "Blue");
	expect(world.rolesOf("zoe")).toEqual(["Blue", "Newcomer"]);
	expect(world.roleWrites()).toHaveLength(2);
	expect(await world.select("zoe", menu, "Blue")).toStartWith("Nothing changed.");
	expect(await world.select("zoe", menu)).toEndWith("You have no role from this menu.");
	expect(world.rolesOf("zoe")).toEqual(["Newcomer"]);
});

menuTest("a menu speaks the language of its guild, and answers in that of the person", async (world) => {
	const { simulator, guild } = world;
	simulator.world.guilds.edit(guild, { preferred_locale: "de" });
	await world.heard();
	const menu = await world.menu({ style: "select", max: 2 });
	expect(menu.content).toBe("Wähle deine Rollen:");
	expect(JSON.stringify(menu.components)).toContain("Wähle bis zu 2 Rollen");
	const [red, staff] = world.ids("Red", "Staff");
	simulator.world.users.locales.set(simulator.user("zoe").id, "de");
	expect(await world.select("zoe", menu, "Red")).toBe(
		`Hinzugefügt: <@&${red}>. Deine Rollen aus diesem Menü: <@&${red}>.`,
	);
	expect(await world.select("liwei", menu, "Red")).toBe(`Added <@&${red}>. Your roles from this menu: <@&${red}>.`);
	const closed = await world.menu({ requires_role_id: staff });
	expect(await world.press("zoe", closed, "Red")).toBe(
		`Dieses Menü ist nur für Mitglieder mit der Rolle <@&${staff}>. Es ist nichts passiert.`,
	);
});

menuTest("a person who presses 100 times at once is held back, and others are not", async (world) => {
	const menu = await world.menu();
	const { simulator } = world;
	const flood = Array.from({ length: 100 }, () => simulator.user("liwei").press(menu, "Red"));
	await Promise.all(flood);
	expect(await world.press("zoe", menu, "Blue")).toStartWith("Added");
	await world.heard();
	// At most three of one person's presses are carried out or wait at the same time.
	expect(world.roleWrites().length).toBeLessThanOrEqual(20);
});
