// Every tool against what the runner and the connection to Discord do for all of them alike: stalls, server errors, rate
// limits, and the borders of a reason.

import { afterAll, describe, expect, test } from "bun:test";
import {
	arrivals,
	asking,
	enter,
	executions,
	expired,
	hasNonce,
	leave,
	prepareAct,
	prepareAsk,
	writing,
} from "./tool-scene.ts";

afterAll(leave);

describe.each(asking)("%s", (name, row) => {
	test("a stall ends when its time is up, and nothing was changed", async () => {
		const scene = await enter(name);
		const ask = await prepareAsk(scene, row);
		const stall = scene.world.simulator.faults.stall(ask.request);
		const { text, isError } = await expired(scene, stall, name, ask.args);
		expect(isError).toBe(true);
		expect(text).toStartWith("Discord API request timed out. ");
		expect(text).toContain("nothing was changed");
		expect(arrivals(scene, ask)).toBe(1);
	});

	test("after a server error it asks once more", async () => {
		const scene = await enter(name);
		const ask = await prepareAsk(scene, row);
		scene.world.simulator.faults.fail(ask.request, 502, { times: 1 });
		const { text } = await scene.world.call(name, ask.args);
		for (const part of ask.answer) expect(text).toContain(part);
		expect(arrivals(scene, ask)).toBe(2);
	});
});

describe.each(writing)("%s", (name, row) => {
	test("a stall ends when its time is up, executed once, its outcome unknown unless a nonce tells it", async () => {
		const scene = await enter(name);
		const act = await prepareAct(scene, row);
		const stall = scene.world.simulator.faults.stall(act.request, { after: true, times: 1 });
		const { text, isError } = await expired(scene, stall, name, act.args);
		expect(isError).toBe(!hasNonce(act));
		if (isError) {
			expect(text).toStartWith("Discord API request timed out. ");
			expect(text).toContain("whether it took effect is unknown");
		}
		expect(arrivals(scene, act)).toBe(isError ? 1 : 2);
		expect(executions(scene, act)).toBe(1);
	});

	test("a rate limit is waited for, and it is done once", async () => {
		const scene = await enter(name);
		const act = await prepareAct(scene, row);
		const { faults } = scene.world.simulator;
		const limit = faults.rateLimit(act.request, { retryAfterMs: 1, times: 1 });
		expect((await scene.world.call(name, act.args)).isError).toBe(false);
		expect(limit.hits).toBe(1);
		expect(act.done()).toBe(true);
		expect(executions(scene, act)).toBe(1);
	});

	test("a server error after the execution leaves the outcome unknown unless a nonce tells it", async () => {
		const scene = await enter(name);
		const act = await prepareAct(scene, row);
		scene.world.simulator.faults.fail(act.request, 502, { executed: true, times: 1 });
		const { text, isError } = await scene.world.call(name, act.args);
		expect(isError).toBe(!hasNonce(act));
		if (isError) {
			expect(text).toStartWith("Discord API error: ");
			expect(text).toContain("whether it took effect is unknown");
		}
		expect(arrivals(scene, act)).toBe(isError ? 1 : 2);
		expect(executions(scene, act)).toBe(1);
		expect(act.done()).toBe(true);
	});

	const { reason } = row;
	if (typeof reason === "number")
		test("a reason is blank or given, and fits", async () => {
			const scene = await enter(name);
			const { call } = scene.world;
			const longest = "是🍞".repeat(256);
			const cases: [string, string][] = [
				[" \n", "via MCP"],
				[longest, longest],
			];
			for (const [given, expected] of cases) {
				const act = await prepareAct(scene, row);
				await call(name, { ...act.args, reason: given });
				expect(act.done()).toBe(true);
				expect(scene.guild.auditLog.at(-1)).toMatchObject({ action_type: reason, reason: expected });
			}
			for (const tooLong of [`${longest}c`, "\ud800"]) {
				const act = await prepareAct(scene, row);
				const answer = await call(name, { ...act.args, reason: tooLong });
				expect(answer.code).toBe(-32602);
				expect(answer.text).toContain("reason: expected text of at most 512");
				expect(act.done()).toBe(false);
			}
		});
});
