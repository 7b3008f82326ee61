// The messages of role menus: their limits, hostile names, replacing them, and labels that follow the roles.

import { expect, test } from "bun:test";
import { type APIMessage, EmbedType } from "discord.js";
import { isMenu, maxRoles, menuComponents, readMenu, readMenuId } from "../../../../src/discord/role-menu.ts";
import { sayIn } from "../../../../src/texts/texts.ts";
import { until } from "../../../support/until.ts";
import { userNamed } from "../../../support/world.ts";
import { colors, menuTest, startMenuWorld } from "./menu-world.ts";

test("the largest menus keep Discord's limits, and are read back", () => {
	const entries = Array.from({ length: maxRoles }, (_, at) => ({
		roleId: String(10n ** 19n + BigInt(at)),
		label: "x",
		isNamed: true,
	}));
	const rules = { max: 24, requires: String(10n ** 19n) };
	for (const style of ["buttons", "select"] as const) {
		const rows = menuComponents(style, entries, rules, sayIn("en"));
		expect(rows.length).toBeLessThanOrEqual(5);
		for (const { components } of rows)
			for (const part of components) {
				const id = "custom_id" in part ? part.custom_id : "";
				expect(id.length).toBeLessThanOrEqual(100);
				expect(readMenuId(id.slice("rolemenu:".length))).toMatchObject(rules);
			}
		const components = rows as APIMessage["components"];
		expect(isMenu(components)).toBe(true);
		expect(readMenu(components)?.roleIds).toEqual(entries.map(({ roleId }) => roleId));
	}
});

menuTest("25 roles fit into a menu, with long, hostile and custom labels and emoji", async (world) => {
	const { simulator, guild } = world;
	const hostile = [
		"@everyone",
		"**bold** [link](https://example.com)",
		"<@&1> \\` ~~~",
		`${"x".repeat(78)}😀😀`,
		"y".repeat(100),
	];
	const made = Array.from({ length: 25 }, (_, at) =>
		simulator.world.roles.add(guild, { name: hostile[at] ?? `Role ${at}` }),
	);
	await world.heard();
	const role_ids = made.map(({ id }) => id);
	const emojis = role_ids.map((_, at) => (at === 7 ? "🔥" : ""));
	const labels = role_ids.map((_, at) => (at === 6 ? "Six" : ""));
	for (const style of ["buttons", "select"]) {
		const menu = await world.menu({ role_ids, style, labels, emojis });
		expect(JSON.stringify(menu.components)).toContain("🔥");
		const descriptions = role_ids.map((_, at) => (at === 5 ? "Hot" : ""));
		const described = await world.create({ role_ids, style, descriptions });
		expect(described.text).toContain(style === "select" ? "25 roles" : "descriptions: only with style=select");
		if (style === "select") continue;
		const shown = world.labels(menu);
		expect(shown[0]).toBe("@everyone");
		expect(shown[3]).toBe(`${"x".repeat(78)}…`);
		expect(shown[6]).toBe("Six");
		expect(menu.mentions).toEqual([]);
		expect(menu.mention_everyone).toBe(false);
		expect(await world.press("zoe", menu, "@everyone")).toStartWith("Added <@&");
	}
	const text = "@everyone <@&1> hello";
	const loud = await world.menu({ content: text });
	expect(loud.content).toBe(text);
	expect(loud.mention_everyone).toBe(false);
});

menuTest("a menu is replaced by its id, and keeps its text; other messages with buttons are not", async (world) => {
	const menu = await world.menu({ title: "Colors", max: 1 });
	const [red] = world.ids("Red");
	const replaced = await world.create({ role_ids: [red], message_id: menu.id, style: "select" });
	expect(replaced.text).toStartWith(`Replaced the role menu ${menu.id} in `);
	expect(menu.content).toBe("## Colors");
	expect(await world.select("zoe", menu, "Red")).toStartWith("Added");
	const { simulator, channel } = world;
	const alpha = userNamed(simulator, "alpha");
	const button = { type: 2, style: 1, custom_id: "approve:1", label: "Approve" };
	const other = simulator.world.messages.add(channel, alpha, {
		content: "Approve?",
		components: [{ type: 1, id: 1, components: [{ ...button, id: 2 }] }] as never,
	});
	const refused = await world.create({ role_ids: [red], message_id: other.id });
	expect(refused.text).toContain("is not a role menu");
	expect(other.content).toBe("Approve?");
	const plain = simulator.world.messages.add(channel, alpha, { content: "Hi" });
	await world.create({ role_ids: [red], message_id: plain.id });
	expect(plain.content).toBe("Hi");
	expect(world.labels(plain)).toEqual(["Red"]);
	const rich = simulator.world.messages.add(channel, alpha, {
		content: "",
		embeds: [{ type: EmbedType.Rich, title: "Colors" }],
	});
	await world.create({ role_ids: [red], message_id: rich.id });
	expect(rich.embeds).toHaveLength(1);
	expect(world.labels(rich)).toEqual(["Red"]);
});

menuTest("a menu cannot be changed by edit_message", async (world) => {
	const menu = await world.menu({ title: "Colors" });
	const { text } = await world.call("edit_message", {
		channel_id: world.channel.id,
		message_id: menu.id,
		content: "Press for a prize",
	});
	expect(text).toContain("cannot be changed");
});

for (const style of ["buttons", "select"] as const)
	menuTest(`after a press, ${style} of renamed and deleted roles are updated once`, async (world) => {
		const menu = await world.menu({ style, labels: ["", "My green", ""] });
		const { simulator, guild } = world;
		const { roles } = simulator.world;
		roles.edit(guild, world.roleNamed("Red"), { name: "Crimson" });
		roles.edit(guild, world.roleNamed("Green"), { name: "Lime" });
		roles.remove(guild, world.roleNamed("Blue"));
		await world.heard();
		const act = (label: string) =>
			style === "buttons" ? world.press("zoe", menu, label) : world.select("zoe", menu, label);
		expect(await act("Blue")).toBe("This role was deleted. Nothing was done.");
		const shown = () => JSON.stringify(menu.components);
		await until("it is updated", () => shown().includes("Crimson"));
		expect(shown()).toContain("My green");
		expect(shown()).not.toContain("Lime");
		expect(shown()).not.toContain("Blue");
		expect(await act("My green")).toStartWith("Added");
		expect(world.rolesOf("zoe")).toEqual(["Lime", "Newcomer"]);
		const edits = simulator.requests.list().filter(({ method, path }) => method === "PATCH" && path.endsWith(menu.id));
		expect(edits).toHaveLength(1);
		expect(colors).toContain("Blue");
	});

menuTest("a menu that is deleted while its labels are updated is left alone", async (world) => {
	const menu = await world.menu();
	const { simulator, guild, channel } = world;
	simulator.world.roles.edit(guild, world.roleNamed("Red"), { name: "Crimson" });
	await world.heard();
	const read = "GET /channels/:channel_id/messages/:message_id";
	const stall = simulator.faults.stall(read);
	await world.press("zoe", menu, "Green");
	simulator.world.messages.remove(channel, menu, { actor: guild.owner_id });
	stall.release();
	await until("it is logged", () => world.logged.some((line) => line.includes("could not update a role menu")));
	expect(simulator.requests.list().filter(({ method }) => method === "PATCH")).toSatisfy((all) =>
		all.every(({ path }) => !path.endsWith(menu.id)),
	);
});

menuTest("a role that is taken out of the menu while a press waits is not given", async (world) => {
	const menu = await world.menu();
	const { simulator } = world;
	const [red, green] = world.ids("Red", "Green");
	const read = "GET /guilds/:guild_id/members/:user_id";
	const stall = simulator.faults.stall(read);
	const pressed = world.press("zoe", menu, "Green");
	await until("it is asked for", () => simulator.requests.list().some(({ path }) => path.includes("/members/")));
	await world.create({ role_ids: [red], message_id: menu.id });
	await world.heard();
	stall.release();
	expect(await pressed).toBe(`The role <@&${green}> is no longer in this menu. Nothing was done.`);
	expect(world.rolesOf("zoe")).toEqual(["Newcomer"]);
});

menuTest("a menu whose response is lost is posted once, and works", async (world) => {
	const { simulator, channel } = world;
	const post = "POST /channels/:channel_id/messages";
	simulator.faults.drop(post, { when: "after", times: 1 });
	await world.menu();
	const menus = simulator.world.messages.in(channel.id);
	expect(menus).toHaveLength(1);
	const [menu] = menus;
	if (menu) expect(await world.press("zoe", menu, "Red")).toStartWith("Added");
});

test("a replacement whose response is lost is reported as unknown, and the menu works either way", async () => {
	await using world = await startMenuWorld();
	const menu = await world.menu();
	const { simulator } = world;
	const patch = "PATCH /channels/:channel_id/messages/:message_id";
	for (const when of ["before", "after"] as const) {
		simulator.faults.drop(patch, { when, times: 1 });
		const { text, isError } = await world.create({ role_ids: world.ids("Blue"), message_id: menu.id });
		expect(isError).toBe(true);
		expect(text).toContain("unknown");
		expect(world.labels(menu)).toEqual(when === "before" ? [...colors] : ["Blue"]);
		await world.press("zoe", menu, "Blue");
	}
	expect(world.rolesOf("zoe")).toEqual(["Newcomer"]);
});
