// Guilds that require two-factor authentication for moderation.

import { expect, test } from "bun:test";
import { demoSeed } from "../../src/simulator/seed.ts";
import { channelNamed, memberNamed, startWorld } from "../support/world.ts";

const ban = "PUT /guilds/:guild_id/bans/:user_id";

/** A bot in a guild that requires it, and whether the bot's developer has it. */
function startRequiring(developerHasMfa: boolean) {
	const seed = demoSeed();
	const guilds = seed.guilds.map((guild) => ({ ...guild, mfa_level: 1 }));
	return startWorld({ seed: { ...seed, guilds, developerHasMfa } });
}

test("a bot without it is refused before Discord is asked, with advice, until it is enabled", async () => {
	await using world = await startRequiring(false);
	const { simulator, guild, call } = world;
	const user_id = memberNamed(world, "zoe").user.id;
	const refused = await call("ban", { user_ids: [user_id] });
	expect(refused.isError).toBe(true);
	expect(refused.text).toStartWith(
		`The guild ${guild.id} requires two-factor authentication for moderation. The account that owns the bot's application has to enable`,
	);
	const report = await call("run_setup_check");
	expect(report.text).toContain(
		"\nerror: two-factor authentication: the guild requires two-factor authentication for moderation, but the bot's owner has not enabled it. Next step: The account",
	);
	const channel_id = channelNamed(world, "general").id;
	const content = "no permission that requires it";
	expect((await call("send_message", { channel_id, content })).isError).toBe(false);
	expect(simulator.requests.list(ban)).toEqual([]);

	simulator.world.users.withoutMfa.clear();
	expect((await call("ban", { user_ids: [user_id] })).isError).toBe(false);
	expect((await call("run_setup_check")).text).toContain(
		"\nok: two-factor authentication: required by the guild, and enabled",
	);
});

test("a bot that lost it shows Discord's refusal, with advice", async () => {
	await using world = await startRequiring(true);
	const { users } = world.simulator.world;
	users.withoutMfa.add(users.developer.id);
	const user_id = memberNamed(world, "zoe").user.id;
	const { text } = await world.call("ban", { user_ids: [user_id] });
	expect(text).toStartWith("Discord API error: Two factor is required for this operation (code 60003). The account");
	expect(world.guild.bans.size).toBe(0);
});
