// The tools of guilds.

import { expect } from "bun:test";
import { channelNamed, worldTest } from "../../support/world.ts";

worldTest("get_guild_info shows a guild's facts and settings in a few lines", async (world) => {
	const { simulator, guild } = world;
	const text = async () => (await world.call("get_guild_info")).text;
	expect((await text()).split("\n")).toEqual([
		expect.stringMatching(
			new RegExp(
				`^The Cooks \\(ID: ${guild.id}\\) \\| owner: Ada \\(@ada, ID: ${simulator.user("ada").id}\\) \\| created: \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$`,
			),
		),
		"members: 6, 1 of them bot(s), about 6 online | channels: 4 (1 category, 2 text, 1 voice) | roles: 5",
		"boosts: 0, level 0 | features: none",
		"two-factor authentication for moderation: not required | pauses: none",
		expect.stringContaining("settings: verification_level: NONE | default_message_notifications: "),
	]);
	const until = new Date(Date.now() + 3_600_000).toISOString();
	const rules = channelNamed(world, "general");
	simulator.world.guilds.edit(guild, {
		description: "We cook.",
		mfa_level: 1,
		verification_level: 3,
		features: ["COMMUNITY"],
		rules_channel_id: rules.id,
		incidents_data: { invites_disabled_until: until, dms_disabled_until: null },
	});
	await world.heard();
	const changed = await text();
	expect(changed).toContain("\ndescription: We cook.\n");
	expect(changed).toContain(
		`\ntwo-factor authentication for moderation: required | invites paused until ${until.replace(/\.\d+/, "")} | now is `,
	);
	expect(changed).toContain("verification_level: HIGH");
	expect(changed).toContain(`rules_channel_id: #general (ID: ${rules.id})`);
});
