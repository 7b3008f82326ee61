// The bot as an executable, for tests that start it often: starting from sources takes three times as much CPU.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { compileGuildhall } from "../../src/build/compile.ts";
import { hostTarget } from "../../src/build/targets.ts";
import { madeOfSources } from "./made-once.ts";
import { executables } from "./program.ts";

const root = join(import.meta.dir, "../..");

/** The path of a link to the executable that runs the bot: in `executables`, or compiled from the current sources once for all test processes. */
export async function botExecutable(): Promise<string> {
	if (executables) return join(executables, "bot");
	const sources = [
		"src",
		"bun.lock",
		"package.json",
		"instances/example",
		"docker/proxy/Caddyfile",
		"docker/systemd/guildhall.service",
	];
	const directory = await madeOfSources("guildhall-executable", sources, (directory) => {
		mkdirSync(directory);
		const host = hostTarget();
		const stamp = { commit: "unknown", dirty: false, target: host };
		return compileGuildhall({ root, directory, stamp, host });
	});
	return join(directory, "bot");
}
