// The bot as an executable, for tests that start it often: starting from sources takes three times as much CPU.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { compileProgram } from "../../src/build/compile.ts";
import { hostTarget } from "../../src/build/targets.ts";
import { madeOfSources } from "./made-once.ts";
import { executables } from "./program.ts";

const root = join(import.meta.dir, "../..");

/** The path of the executable: one of `executables`, or compiled from the current sources once for all test processes. */
export async function botExecutable(): Promise<string> {
	if (executables) return join(executables, "bot");
	const sources = ["src", "bun.lock", "package.json", "instances/example"];
	const directory = await madeOfSources(
		"guildhall-bot",
		sources,
		(directory) => {
			mkdirSync(directory);
			const host = hostTarget();
			const stamp = { commit: "unknown", dirty: false, target: host };
			return compileProgram({ root, program: "bot", directory, stamp, host });
		},
	);
	return join(directory, "bot");
}
