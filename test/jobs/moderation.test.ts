// What a moderator asks an assistant for, by the tools that find_tools names for it.

import { expect, test } from "bun:test";
import { startJob } from "./job.ts";
import { show } from "./sizes.ts";

test("a spammer is banned for days, a raid is ended, and the week is summed up", async () => {
	await using job = await startJob(30, { features: { moderation: true } });
	const { call, guild, people, world } = job;
	const { world: discord } = world.simulator;
	// Discord requires this of guilds with the feature COMMUNITY.
	discord.guilds.edit(guild, { verification_level: 1 });
	const [spammer] = people.slice(20);
	const general = job.channel("general");
	if (!spammer || !general) throw new Error("the guild has both");
	for (let number = 0; number < 4; number += 1) {
		const user = discord.users.add({ username: `wolf_${number}` });
		discord.members.add(guild, user);
		for (const content of ["howl", "howl again"]) discord.messages.add(general, user, { content });
	}
	await world.heard();

	const found = await call("find_tools", {
		query:
			"ban for three days; switch raid mode on; delete what people wrote who joined lately; who of my moderators acted most",
	});
	for (const name of ["temp_ban", "raid_mode", "purge", "list_cases"]) expect(found).toContain(`${name} (call it with`);

	const user_ids = [spammer.user.id];
	const ban = { user_ids, duration: "3d", delete_messages: "1d" };
	const preview = await call("temp_ban", { ...ban, dry_run: true });
	expect(preview).toContain(", and delete ");
	await call("temp_ban", { ...ban, reason: "advertising" });
	expect(guild.bans.has(spammer.user.id)).toBe(true);

	await call("raid_mode", { mode: "on" });
	expect(await call("raid_status")).toContain("In slow mode: #");
	const purged = await call("purge", { joined_after: "10m" });
	expect(purged).toContain("Deleted 8 message(s)");
	await call("raid_mode", { mode: "off" });
	expect(guild.verification_level).toBe(1);

	const week = await call("list_cases", { since: "7d" });
	expect(week.split("\n")[2]).toMatch(/^4 \| by .* \| 1 purge, 1 raid_off, /);
	show("job", job.cost);
	expect(job.cost.errors).toBe(0);
	expect(job.cost.calls).toBeLessThanOrEqual(8);
	expect(job.cost.bytes).toBeLessThanOrEqual(8_000);
});
