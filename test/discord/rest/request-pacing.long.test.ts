// A bot whose requests Discord refuses, again and again.

import { expect, test } from "bun:test";
import { startWorld } from "../../support/world.ts";

test("a bot stops after 1,000 refused requests, and its tools report the wait", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const channel_id = simulator.channel("The Cooks/general").id;
	simulator.faults.refuse("* *", 50013);
	const ask = () => world.call("send_message", { channel_id, content: "in a storm" });
	for (let round = 0; round < 11; round += 1) await Promise.all(Array.from({ length: 100 }, ask));
	expect((await ask()).text).toMatch(
		/^Discord API error: Discord has refused so many of the bot's requests that the bot sends none for \d+ s, to avoid an IP ban\. Nothing was done\./,
	);
	expect(simulator.requests.invalid).toBe(1_000);
});
