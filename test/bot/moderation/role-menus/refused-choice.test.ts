// A choice that Discord refuses, however many roles it changes.

import { expect } from "bun:test";
import { menuTest } from "./menu-world.ts";

const member = "/guilds/:guild_id/members/:user_id";

menuTest.each([
	["one role", `PUT ${member}/roles/:role_id`, ["Red"]],
	["two roles", `PATCH ${member}`, ["Red", "Blue"]],
])("of %s that Discord refuses, nothing is said to be added", async (world, _, route, chosen) => {
	const menu = await world.menu({ style: "select" });
	const { faults } = world.simulator;
	faults.refuse(route, 50013, { times: 1 });
	const refused = await world.select("zoe", menu, ...chosen);
	expect(refused).toContain("Nothing was done.");
	expect(refused).not.toContain("Added");
	expect(world.rolesOf("zoe")).toEqual(["Newcomer"]);
	expect(await world.select("zoe", menu, ...chosen)).toStartWith("Added");
});
