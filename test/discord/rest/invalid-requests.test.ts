import { expect, test } from "bun:test";
import { InvalidRequests } from "../../../src/discord/rest/invalid-requests.ts";
import { startWorld } from "../../support/world.ts";

const minute = 60_000;

test("401, 403 and 429 count for 10 minutes, except a 429 of a shared limit", () => {
	const clock = { now: -5 };
	const invalid = new InvalidRequests(3, () => clock.now);
	for (const [status, scope] of [
		[200, null],
		[400, null],
		[404, null],
		[500, null],
		[429, "shared"],
	] as const)
		invalid.note(status, scope);
	expect(invalid.count).toBe(0);
	invalid.note(401, null);
	clock.now += minute;
	invalid.note(403, null);
	expect([invalid.count, invalid.waitMs]).toEqual([2, 0]);
	invalid.note(429, "user");
	expect([invalid.count, invalid.waitMs]).toEqual([3, 9 * minute]);
	clock.now += 9 * minute;
	expect([invalid.count, invalid.waitMs]).toEqual([2, 0]);
	invalid.note(429, "global");
	expect([invalid.count, invalid.waitMs]).toEqual([3, minute]);
});

test("a tool fails at once with the wait if a rate limit outlasts its deadline, and does nothing", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const channel_id = simulator.channel("The Cooks/general").id;
	const route = "POST /channels/:channel_id/messages";
	const limit = simulator.faults.rateLimit(route, { retryAfterMs: 61_000 });
	const { text, isError } = await world.call("send_message", { channel_id, content: "too much" });
	expect(isError).toBe(true);
	expect(text).toMatch(
		/^Discord API error: Discord's rate limit allows this request again in 6[12] s\. Nothing was done\. Call again after this time, not before\.$/,
	);
	expect(limit.hits).toBe(1);
	expect(simulator.journal.entries()).toEqual([]);
});
