// Tests that have a fixture each, which is disposed of when they end.

import { test } from "bun:test";

/** A `test` whose function gets what `start` starts for it. */
export const testWith =
	<Fixture extends AsyncDisposable | Disposable>(start: () => Fixture | Promise<Fixture>) =>
	(name: string, run: (fixture: Fixture) => void | Promise<void>, timeoutMs?: number) =>
		test(
			name,
			async () => {
				await using fixture = await start();
				await run(fixture);
			},
			timeoutMs,
		);
