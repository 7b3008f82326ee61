// A wiped guild is restored from a stored backup by jobs of which each is interrupted once: at its first step, at its
// second step, and so on.

import { expect, test } from "bun:test";
import { type Interruption, interruptions, startRestorable } from "./restorable.ts";

test("one interruption, at any step, leaves nothing out", async () => {
	await using world = await startRestorable(0);
	const before = world.state();
	const kinds = Object.keys(interruptions) as Interruption[];
	let steps = 1;
	for (let at = 1; at <= steps; at += 1) {
		const kind = kinds[at % kinds.length] ?? "a kill";
		const { progress } = await world.restore(kind, (step) => step === at);
		steps = progress.total;
		expect({ at, kind, state: world.state() }).toEqual({
			...{ at, kind, state: before },
		});
		expect(progress).toMatchObject({ state: "done", done: steps });
	}
}, 120_000);
