// Pictures that are posted again and again in one channel.

import { expect } from "bun:test";
import { until } from "../../../support/until.ts";
import { advert, picture, spamTest } from "./spam-world.ts";

spamTest("a picture is spam at the fifth time in a channel, and not before", async (world) => {
	const { user: often } = world.join("often");
	const { user: seldom } = world.join("seldom");
	for (let number = 0; number < 4; number += 1) world.post(seldom, 0, "", [picture(number)]);
	for (let number = 0; number < 5; number += 1) world.post(often, 1, "", [picture(10 + number)]);
	await until("the log entry", () => world.entries().length > 0);
	expect(world.isTimedOut(often)).toBe(true);
	expect(world.messagesOf(often)).toEqual([]);

	// Everything before another detection has been looked at.
	const { user: last } = world.join("last");
	for (const channel of [0, 1, 2]) world.post(last, channel, advert);
	await until("the other entry", () => world.entries().length > 1);
	expect(world.isTimedOut(seldom)).toBe(false);
	expect(world.messagesOf(seldom)).toHaveLength(4);
});
