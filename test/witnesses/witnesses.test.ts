// Other Discord libraries use the simulator: what they expect of Discord, nobody here has written. Each runs in a process of
// its own, with the dependencies of this folder.

import { beforeAll, describe, expect, test } from "bun:test";
import { startSimulator } from "../support/simulator.ts";
import { type Claim, claims, type Outcome } from "./claims.ts";

async function run(...command: string[]): Promise<string> {
	const child = Bun.spawn([process.execPath, ...command], {
		cwd: import.meta.dir,
		// Shorter than a test's timeout, so that no process stays.
		timeout: 100_000,
		stdout: "pipe",
		stderr: "pipe",
	});
	const [out, error] = await Promise.all([
		new Response(child.stdout).text(),
		new Response(child.stderr).text(),
	]);
	if ((await child.exited) !== 0)
		throw new Error(`bun ${command.join(" ")}: ${out}\n${error}`);
	return out;
}

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
		for (const line of (await run(`${library}.ts`, simulator.url)).split("\n"))
			if (line.startsWith("{")) {
				const { claim, error } = JSON.parse(line) as Outcome;
				outcomes.set(claim, error ?? "as claimed");
			}
	});

	test.each(claims)("%s", (claim) => {
		expect(outcomes.get(claim) ?? "not tried").toBe("as claimed");
	});
});
