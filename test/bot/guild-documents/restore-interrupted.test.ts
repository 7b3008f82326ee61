// A wiped guild is restored from a stored backup by a job that is interrupted after each step, or after each second one, so
// that a step without an interruption follows.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Interruption, interruptions, startRestorable } from "./restorable.ts";

let world: Awaited<ReturnType<typeof startRestorable>>;

beforeAll(async () => {
	world = await startRestorable(1);
});

afterAll(() => world[Symbol.asyncDispose]());

const due: Record<string, (step: number) => boolean> = {
	"each step": () => true,
	"each odd step": (step) => step % 2 === 1,
	"each even step": (step) => step % 2 === 0,
};

describe.each(Object.keys(interruptions) as Interruption[])("%s", (interruption) => {
	test.each(Object.entries(due))(
		"after %s leaves nothing out",
		async (_, isDue) => {
			const before = world.state();
			const { progress, interrupted } = await world.restore(interruption, isDue);
			expect(world.state()).toEqual(before);
			expect(progress).toMatchObject({ state: "done", done: progress.total });
			const steps = Array.from({ length: progress.total }, (_, index) => index + 1);
			expect([...interrupted]).toEqual(steps.filter(isDue));
		},
		120_000,
	);
});
