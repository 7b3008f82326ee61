// Tests that have a fixture each, which is disposed of when they end.

import { test } from "bun:test";

type Run<Fixture> = (fixture: Fixture) => void | Promise<void>;

interface FixtureTest<Fixture, Options> {
	(name: string, run: Run<Fixture>, timeoutMs?: number): void;
	(name: string, options: Options, run: Run<Fixture>): void;
}

/** A `test` whose function gets what `start` starts for it, with the options that stand before the function. */
export function testWith<Fixture extends AsyncDisposable | Disposable, Options = undefined>(
	start: (options?: Options) => Fixture | Promise<Fixture>,
): FixtureTest<Fixture, Options> {
	return (name: string, first: Options | Run<Fixture>, second?: Run<Fixture> | number) => {
		const [options, run, timeoutMs] =
			typeof second === "function" ? [first as Options, second] : [undefined, first as Run<Fixture>, second];
		test(
			name,
			async () => {
				await using fixture = await start(options);
				await run(fixture);
			},
			timeoutMs,
		);
	};
}
