// edit_guild and move_roles.

import { describe, expect } from "bun:test";
import { channelNamed, roleNamed, type TestWorld, worldTest, writes } from "../../support/world.ts";

describe("edit_guild", () => {
	worldTest("changes only the given settings, and shows old and new values", async (world) => {
		const { guild } = world;
		const [general, lounge] = [channelNamed(world, "general"), channelNamed(world, "Lounge")];
		const text = await world.expectResult("edit_guild", {
			name: "The\nChefs",
			description: "We cook.",
			verification_level: "VERY_HIGH",
			default_message_notifications: "ONLY_MENTIONS",
			afk_channel_id: lounge.id,
			afk_timeout: "1h",
			system_channel_id: general.id,
			premium_progress_bar_enabled: true,
		});
		expect(text.split("\n")).toEqual([
			`Changed 8 setting(s) of the guild The\\nChefs (ID: ${guild.id}):`,
			'name: "The Cooks" → "The\\nChefs"',
			'description: none → "We cook."',
			"verification_level: NONE → VERY_HIGH",
			"default_message_notifications: ALL_MESSAGES → ONLY_MENTIONS",
			`afk_channel_id: none → #Lounge (ID: ${lounge.id})`,
			"afk_timeout: 5m → 1h",
			`system_channel_id: none → #general (ID: ${general.id})`,
			"premium_progress_bar_enabled: false → true",
		]);
		expect(guild).toMatchObject({
			verification_level: 4,
			default_message_notifications: 1,
			afk_channel_id: lounge.id,
			system_channel_id: general.id,
		});
		const cleared = await world.call("edit_guild", {
			description: "",
			afk_channel_id: "",
			system_channel_id: general.id,
		});
		expect(cleared.text.split("\n")).toEqual([
			`Changed 2 setting(s) of the guild The\\nChefs (ID: ${guild.id}):`,
			'description: "We cook." → none',
			`afk_channel_id: #Lounge (ID: ${lounge.id}) → none`,
		]);
		expect(guild).toMatchObject({ description: null, afk_channel_id: null });
		expect(world.simulator.journal.entries().at(-1)?.body).toEqual({ description: null, afk_channel_id: null });
	});

	worldTest("builds on Discord's current state, however late its event is", async (world) => {
		world.simulator.sockets.holdEvents(true);
		const errors = [];
		for (const name of ["AA", "BB", "AA", "AA"]) errors.push((await world.call("edit_guild", { name })).isError);
		expect(errors).toEqual([false, false, false, true]);
	});

	worldTest("sets community settings only in communities", async (world) => {
		const { simulator, guild } = world;
		const rules_channel_id = channelNamed(world, "general").id;
		const edit = () =>
			world.call("edit_guild", {
				rules_channel_id,
				safety_alerts_channel_id: rules_channel_id,
				preferred_locale: "fr",
				name: "The Chefs",
			});
		const { text, isError } = await edit();
		expect(isError).toBe(true);
		expect(text).toStartWith(
			"Only communities have the setting rules_channel_id, safety_alerts_channel_id, preferred_locale, and the guild",
		);
		expect(writes(world)).toEqual([]);
		simulator.world.guilds.edit(guild, { features: ["COMMUNITY"] });
		expect((await edit()).isError).toBe(false);
		expect(guild).toMatchObject({ rules_channel_id, preferred_locale: "fr" });
	});
});

describe("move_roles", () => {
	const order = ({ guild }: TestWorld) =>
		[...guild.roles.values()]
			.sort((a, b) => b.position - a.position)
			.map(({ name }) => name)
			.join(" ");
	const mover = (world: TestWorld) => (names: string[], where: object) =>
		world.call("move_roles", { role_ids: names.map((name) => roleNamed(world, name).id), ...where });

	worldTest(
		"puts roles below or above another one in one request, and answers with the order around them",
		async (world) => {
			const { guild } = world;
			const move = mover(world);
			const id = (name: string) => roleNamed(world, name).id;
			expect(order(world)).toBe("alpha Staff Regular Newcomer @everyone");
			const { text } = await move(["Newcomer", "Regular"], { below_role_id: id("alpha") });
			expect(order(world)).toBe("alpha Newcomer Regular Staff @everyone");
			expect(text.split("\n")).toEqual([
				"Moved 2 of 5 roles. With the roles next to them, from the top:",
				...["alpha", "Newcomer", "Regular", "Staff"].map((name) => `@${name} | ID: ${id(name)}`),
			]);
			await move(["Newcomer"], { above_role_id: guild.id });
			expect(order(world)).toBe("alpha Regular Staff Newcomer @everyone");
			await move(["Newcomer", "Regular"], { above_role_id: id("Staff") });
			expect(order(world)).toBe("alpha Newcomer Regular Staff @everyone");
			expect(writes(world)).toEqual(Array(3).fill(`PATCH /guilds/${guild.id}/roles`));
			// Regular was where it is now, and is not mentioned.
			const { body } = world.simulator.journal.entries().at(-1) ?? {};
			expect(body).toEqual([
				{ id: id("Staff"), position: 1 },
				{ id: id("Regular"), position: 2 },
				{ id: id("Newcomer"), position: 3 },
			]);
		},
	);

	worldTest("gives roles with equal positions distinct ones, and does not change those above", async (world) => {
		const role = (name: string) => roleNamed(world, name);
		const [staff, regular] = [role("Staff"), role("Regular")];
		regular.position = staff.position = 2;
		role("alpha").position = 7;
		await mover(world)(["Newcomer"], { above_role_id: regular.id });
		expect(world.simulator.journal.entries().at(-1)?.body).toEqual([
			{ id: regular.id, position: 1 },
			{ id: role("Newcomer").id, position: 2 },
			{ id: staff.id, position: 3 },
		]);
		expect(order(world)).toBe("alpha Staff Newcomer Regular @everyone");
	});

	worldTest("refuses calls that change nothing or are impossible", async (world) => {
		const { simulator, guild } = world;
		const above = simulator.world.roles.add(guild, { name: "Above", position: 9 });
		await world.heard();
		const move = mover(world);
		const id = (name: string) => roleNamed(world, name).id;
		for (const [names, where, refusal] of [
			[["Staff", "Regular"], { below_role_id: id("alpha") }, "Nothing would"],
			[["Staff"], {}, "expected exactly one of the two"],
			[["Staff"], { below_role_id: id("Staff") }, "next to itself"],
			[["@everyone"], { above_role_id: id("Staff") }, "always stays below"],
			[["Staff"], { below_role_id: guild.id }, "always stays below"],
			[["Staff"], { above_role_id: id("alpha") }, "would no longer rank below"],
			[["Staff"], { below_role_id: above.id }, "would no longer rank below"],
			[["Staff", "alpha", "Above"], { above_role_id: guild.id }, "2 of 3 role(s) out of the bot's reach: @alpha (ID: "],
		] as const) {
			const { text, isError } = await move([...names], where);
			expect(isError).toBe(true);
			expect(text).toContain(refusal);
		}
		expect(writes(world)).toEqual([]);
	});
});
