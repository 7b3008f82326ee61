// A wiped guild of 40 channels and roles is restored from a stored backup by a job that is interrupted after each step.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Interruption, interruptions, startRestorable } from "./restorable.ts";

let world: Awaited<ReturnType<typeof startRestorable>>;

beforeAll(async () => {
	world = await startRestorable(8);
});

afterAll(() => world[Symbol.asyncDispose]());

test.each(Object.keys(interruptions) as Interruption[])(
	"%s after each step leaves nothing out",
	async (interruption) => {
		const before = world.state();
		const { progress, interrupted } = await world.restore(interruption, () => true);
		expect(world.state()).toEqual(before);
		expect(progress).toMatchObject({ state: "done", done: progress.total });
		expect(interrupted.size).toBe(progress.total);
	},
	120_000,
);
