// Tests that have a fixture each, or one together, which is disposed of when they end.

import { afterAll, beforeAll, test } from "bun:test";

type Run<Fixture, Row extends readonly unknown[] = []> = (fixture: Fixture, ...row: Row) => void | Promise<void>;

interface FixtureTest<Fixture, Options> {
	(name: string, run: Run<Fixture>, timeoutMs?: number): void;
	(name: string, options: Options, run: Run<Fixture>): void;
	/** A test of each row, which stands in the name as with `test.each`. */
	each<Row extends readonly [unknown, ...unknown[]]>(
		rows: readonly Row[],
	): (name: string, run: Run<Fixture, [...Row]>) => void;
	each<Value>(values: readonly Value[]): (name: string, run: Run<Fixture, [Value]>) => void;
}

/** A `test` whose function gets what `start` starts for it, with the options that stand before the function. */
export function testWith<Fixture extends AsyncDisposable | Disposable, Options = undefined>(
	start: (options?: Options) => Fixture | Promise<Fixture>,
): FixtureTest<Fixture, Options> {
	const fixtureTest = (name: string, first: Options | Run<Fixture>, second?: Run<Fixture> | number) => {
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
	const each =
		(rows: readonly unknown[]) =>
		(name: string, run: Run<Fixture, unknown[]>): void =>
			test.each(rows)(name, async (...row: unknown[]) => {
				await using fixture = await start();
				await run(fixture, ...row);
			});
	return Object.assign(fixtureTest, { each }) as FixtureTest<Fixture, Options>;
}

/** Starts one fixture for all tests of a file or group. The returned function gets it in a test. */
export function sharedBy<Fixture extends AsyncDisposable>(start: () => Promise<Fixture>): () => Fixture {
	let fixture: Fixture;
	beforeAll(async () => {
		fixture = await start();
	});
	afterAll(() => fixture[Symbol.asyncDispose]());
	return () => fixture;
}
