// A pause of invites that Discord ends while raid mode is on.

import { expect, test } from "bun:test";
import { nextMove } from "../../../../src/bot/moderation/raid/raid-rules.ts";
import type { RaidMode } from "../../../../src/bot/store/tables/raid-modes.ts";

const hourMs = 3_600_000;
const end = Date.UTC(2026, 0, 1);
const mode: RaidMode = {
	guild_id: "1",
	wanted: "on",
	run: 1,
	moderator_id: null,
	ends_at: null,
	told: 1,
	mark: "",
	slowmode: 30,
	asked_at: end - 23 * hourMs,
	ended_at: end - hourMs,
};

test.each([
	["before its end is somebody's change", -1, undefined, "changed"],
	["at its end is renewed", 0, end + 23 * hourMs, "asked"],
	["after its end is renewed", 1, end + 23 * hourMs, "asked"],
] as const)("a pause that is over %s", (_, ms, send, state) => {
	const move = nextMove({
		mode,
		thing: "invites",
		value: 0,
		now: end + ms,
		step: {
			guild_id: "1",
			thing: "invites",
			run: 1,
			state: "set",
			value_before: 0,
			value_asked: end,
			value_set: end,
			note: null,
		},
		refusal: () => undefined,
	});
	expect(move?.send).toBe(send);
	expect(move?.step.state).toBe(state);
});
