// Guilds that require two-factor authentication for moderation.

import { expect, test } from "bun:test";
import { demoSeed } from "../../src/simulator/seed.ts";
import { channelNamed, memberNamed, startWorld } from "../support/world.ts";

const refusal = "Discord API error: Two factor is required for this operation (code 60003). The account";

/** A bot in a guild that requires it, whose developer lacks it. */
function startRequiring() {
	const seed = demoSeed();
	const guilds = seed.guilds.map((guild) => ({ ...guild, mfa_level: 1 }));
	return startWorld({ seed: { ...seed, guilds, developerHasMfa: false } });
}

test("a bot without it is refused with advice, until it is enabled", async () => {
	await using world = await startRequiring();
	const { simulator, guild, call } = world;
	const user_id = memberNamed(world, "zoe").user.id;
	const refused = await call("ban", { user_ids: [user_id] });
	expect(refused.isError).toBe(true);
	expect(refused.text).toStartWith(refusal);
	expect(guild.bans.size).toBe(0);
	const report = await call("run_setup_check");
	expect(report.text).toContain(
		"\nerror: two-factor authentication: the guild requires two-factor authentication for moderation, but the bot's owner has not enabled it. Next step: The account",
	);
	const channel_id = channelNamed(world, "general").id;
	const content = "no permission that requires it";
	expect((await call("send_message", { channel_id, content })).isError).toBe(false);
	simulator.world.users.withoutMfa.clear();
	expect((await call("ban", { user_ids: [user_id] })).isError).toBe(false);
	expect((await call("run_setup_check")).text).toContain(
		"\nok: two-factor authentication: required by the guild, and enabled",
	);
});
