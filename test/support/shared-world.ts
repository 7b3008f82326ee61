// One world for the cases of a table that change nothing in it, or only what they make themselves.

import { afterAll } from "bun:test";
import { startWorld, type TestWorld } from "./world.ts";

/** The world of a file: its first case starts it. What was sent and executed before is forgotten with each call. */
export function shareWorld(): () => Promise<TestWorld> {
	let started: Promise<TestWorld> | undefined;
	afterAll(async () => (await started)?.[Symbol.asyncDispose]());
	return async () => {
		started ??= startWorld();
		const world = await started;
		world.simulator.requests.clear();
		world.simulator.journal.clear();
		return world;
	};
}
