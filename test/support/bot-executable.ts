// The bot as an executable, for tests that start it again and again: from its sources a start takes three times as much CPU.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compileProgram } from "../../src/build/compile.ts";
import { hostTarget } from "../../src/build/targets.ts";
import { madeOnce } from "./made-once.ts";
import { executables } from "./program.ts";

const root = join(import.meta.dir, "../..");
const cache = join(root, "node_modules/.cache/guildhall-bot");

/** Its path. It is made of the sources as they are, once for all test processes, unless it is one of `executables`. */
export async function botExecutable(): Promise<string> {
	if (executables) return join(executables, "bot");
	const hash = createHash("sha256").update(Bun.version);
	const sources = new Bun.Glob("{src/**/*.ts,bun.lock,package.json}");
	for (const path of [...sources.scanSync(root)].sort())
		hash.update(path).update(await Bun.file(join(root, path)).bytes());
	const name = hash.digest("hex").slice(0, 16);
	const host = hostTarget();
	await madeOnce(join(cache, name), async (directory) => {
		// Those of other sources are of no more use.
		for (const other of readdirSync(cache))
			if (!other.startsWith(name))
				rmSync(join(cache, other), { recursive: true });
		mkdirSync(directory);
		const stamp = { commit: "unknown", dirty: false, target: host };
		await compileProgram({ root, program: "bot", directory, stamp, host });
	});
	return join(cache, name, "bot");
}
