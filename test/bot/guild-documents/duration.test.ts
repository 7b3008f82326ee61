import { expect, test } from "bun:test";
import { durationText, estimate } from "../../../src/bot/guild-documents/plans/plans.ts";
import type { Step } from "../../../src/guild-document/steps.ts";

function steps(count: number, given: Partial<Step>): Step[] {
	return Array.from({ length: count }, (_, index) => ({
		id: String(index),
		action: "create",
		kind: "role",
		name: "x",
		changes: [],
		needs: [],
		guard: {},
		request: () => ({ method: "POST", path: "/" }),
		...given,
	}));
}

const hour = 3600;
const renames: Partial<Step> = { action: "edit", kind: "channel", targetId: "1", guard: { fields: ["name"] } };

test.each([
	["nothing", [], 0],
	["40 steps", steps(40, { kind: "channel" }), 40],
	["as many roles as are allowed", steps(250, {}), 250],
	["one role more", steps(251, {}), 50 * hour + 1],
	["channels of two days", steps(501, { kind: "channel" }), 24 * hour + 1],
	["60 emoji", steps(60, { kind: "emoji" }), hour + 10],
	["three names of one channel", steps(3, renames), 601],
	["names of several channels", steps(30, renames).map((step, index) => ({ ...step, targetId: `${index}` })), 30],
	["20 members' roles", steps(20, { kind: "member", action: "assign" }), 20],
	["deletions", steps(300, { action: "delete" }), 300],
])("%s", (_, plan, seconds) => {
	expect(estimate(plan).seconds).toBe(seconds);
});

test("the text says what it assumes", () => {
	expect(durationText(steps(40, { kind: "channel" }))).toBe(
		"Estimated time: up to 40 s for 40 steps, sent as fast as Discord's rate limits allow.",
	);
	expect(durationText([...steps(260, {}), ...steps(60, { kind: "emoji" })])).toBe(
		"Estimated time: about 3 days for 320 steps, because Discord allows 250 new roles in 50 hours, and 50 new emoji in an hour (observed, not documented).",
	);
});

test.each([
	[119, "up to 119 s"],
	[120, "up to 2 minutes"],
	[7199, "up to 120 minutes"],
	[7200, "up to 2 hours"],
])("%d steps take %s", (count, text) => {
	expect(durationText(steps(count, { action: "delete" }))).toContain(text);
});
