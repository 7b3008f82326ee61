// One world for all cases of a table that change nothing in it, or only what they create themselves.

import { afterAll } from "bun:test";
import { startWorld, type TestWorld } from "./world.ts";

/** Returns the world of a test file, started by the first call. Each call clears the recorded requests and the journal. */
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
