// set_incident_actions.

import { expect } from "bun:test";
import { type TestWorld, worldTest, writes } from "../../support/world.ts";

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

const set = (world: TestWorld, args: Record<string, unknown>) => world.call("set_incident_actions", args);

worldTest("invites and DMs are paused separately, and resumed together", async (world) => {
	const { guild } = world;
	const first = inMinutes(60);
	const { text } = await set(world, { invites_disabled_until: first });
	expect(text.split("\n")).toEqual([
		expect.stringMatching(/^In The Cooks \(ID: \d+\), times in UTC, now is \S+Z:$/),
		`Invites: paused until ${first.replace(/\.\d+Z/, "Z")}`,
		"Direct messages between members: open",
	]);
	const second = inMinutes(24 * 60 - 1);
	await set(world, { dms_disabled_until: second });
	expect(guild.incidents_data).toEqual({ invites_disabled_until: first, dms_disabled_until: second });
	const opened = await set(world, { invites_disabled_until: "", dms_disabled_until: "" });
	expect(opened.text).toContain("Invites: open");
	expect(guild.incidents_data?.dms_disabled_until).toBeNull();
});

worldTest("resuming what is not paused is refused", async (world) => {
	const { guild } = world;
	world.simulator.world.guilds.edit(guild, {
		incidents_data: { invites_disabled_until: inMinutes(-1), dms_disabled_until: null },
	});
	const { text } = await set(world, { invites_disabled_until: "", dms_disabled_until: "" });
	expect(text).toContain("Nothing would change");
	expect(writes(world)).toEqual([]);
});
