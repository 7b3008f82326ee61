// Tests that have a fixture each, which is disposed of when they end.

import { test } from "bun:test";
import { startWorld } from "./world.ts";

/** A `test` whose function gets what `start` starts for it. */
export const testWith =
	<Fixture extends AsyncDisposable>(start: () => Promise<Fixture>) =>
	(name: string, run: (fixture: Fixture) => Promise<void>, timeoutMs?: number) =>
		test(
			name,
			async () => {
				await using fixture = await start();
				await run(fixture);
			},
			timeoutMs,
		);

/** A test with a world of its own. */
export const worldTest = testWith(() => startWorld());
