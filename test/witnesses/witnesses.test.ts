// Other Discord libraries use the simulator: what they expect of Discord, nobody here has written. Each runs in a process of
// its own, with the dependencies of this folder.

import { beforeAll, describe, expect, test } from "bun:test";
import { bunIn } from "../support/run-bun.ts";
import { startSimulator } from "../support/simulator.ts";
import { type Claim, claims, type Outcome } from "./claims.ts";

const run = bunIn(import.meta.dir);

beforeAll(async () => {
	await run("install", "--frozen-lockfile");
});

test("their checks have no type errors", async () => {
	await run("../../node_modules/.bin/tsc", "--project", ".");
});

describe.each(["oceanic", "eris"])("%s", (library) => {
	const outcomes = new Map<Claim, string | undefined>();

	beforeAll(async () => {
		await using simulator = await startSimulator({ onlyResponses: true });
		const { out } = await run(`${library}.ts`, simulator.url);
		for (const line of out.split("\n"))
			if (line.startsWith("{")) {
				const { claim, error } = JSON.parse(line) as Outcome;
				outcomes.set(claim, error ?? "as claimed");
			}
	});

	test.each(claims)("%s", (claim) => {
		expect(outcomes.get(claim) ?? "not tried").toBe("as claimed");
	});
});
