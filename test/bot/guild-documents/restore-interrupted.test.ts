// A wiped guild is restored from a stored backup by a job that is interrupted: one of 40 channels and roles after each step,
// a small one after each second step, so that a step without an interruption follows.

import { describe, expect, test } from "bun:test";
import { type Interruption, interruptions, startRestorable } from "./restorable.ts";

const cases: Record<string, { size: number; isDue: (step: number) => boolean }> = {
	"each step": { size: 8, isDue: () => true },
	"each odd step": { size: 1, isDue: (step) => step % 2 === 1 },
	"each even step": { size: 1, isDue: (step) => step % 2 === 0 },
};

describe.each(Object.keys(interruptions) as Interruption[])("%s", (interruption) => {
	test.each(Object.entries(cases))(
		"after %s leaves nothing out",
		async (_, { size, isDue }) => {
			await using world = await startRestorable(size);
			const before = world.state();
			const { progress, interrupted } = await world.restore(interruption, isDue);
			expect(world.state()).toEqual(before);
			expect(progress).toMatchObject({ state: "done", done: progress.total });
			const steps = Array.from({ length: progress.total }, (_, index) => index + 1);
			expect([...interrupted]).toEqual(steps.filter(isDue));
		},
		300_000,
	);
});
