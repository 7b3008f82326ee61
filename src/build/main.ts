// `bun run build`: the gateway and the bot as executables, single files that need nothing else, and releases of them.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseCommandLine } from "../lib/program.ts";
import { compileProgram, programs } from "./compile.ts";
import { writeRelease } from "./release.ts";
import { readSource } from "./source.ts";
import { hostTarget, releaseTargets } from "./targets.ts";

const usage = `Usage: bun run build [--all] [--target <platform>]... [--release] [--help]

Makes dist/gateway and dist/bot for this platform, and dist/SHA256SUMS of all that it has made. What was in dist goes first.

  --all      also for ${releaseTargets.join(", ")},
             in dist/<platform>/
  --target   also for this platform, in dist/<platform>/; any that Bun has, such as linux-x64-baseline; may be repeated
  --release  also a dist/guildhall-<version>-<platform>.tar.gz for each, with what an operator needs beside them

For another platform Bun fetches its runtime from the public npm registry, once. A platform that cannot be built does not keep
the others from being built; the exit code is then 1.

Environment:
  BUILD_COMMIT  what --version calls the commit where git cannot say it, such as in the build of an image`;

const {
	all,
	target: named,
	release,
} = parseCommandLine(usage, {
	all: { type: "boolean" },
	target: { type: "string", multiple: true },
	release: { type: "boolean" },
});
const root = resolve(import.meta.dir, "../..");
const dist = join(root, "dist");
const host = hostTarget();
const { time, ...source } = readSource(root, process.env);
const targets = new Set([...(all ? releaseTargets : []), ...(named ?? [])]);
const made: string[] = [];
const failed: string[] = [];

// What an earlier build left must not pass for something of this one.
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
console.log(
	`building commit ${source.commit}${source.dirty ? ", with changes" : ""}`,
);
await buildFor(host, dist);
for (const target of targets) await buildFor(target, join(dist, target));
writeSums();
if (failed.length > 0) {
	console.error(`could not be built: ${failed.join(", ")}`);
	process.exit(1);
}

/** Both programs for a platform, and its release; what goes wrong is told, and noted. */
async function buildFor(target: string, directory: string): Promise<void> {
	const stamp = { ...source, target };
	const executables: string[] = [];
	try {
		for (const program of programs) {
			console.log(`building ${program} for ${target}`);
			const options = { root, program, directory, stamp, host };
			executables.push(await compileProgram(options));
		}
	} catch (error) {
		console.error((error as Error).message);
		failed.push(target);
		return;
	}
	made.push(...executables);
	// What is in dist itself stands in a folder of its own too, where that was asked for: it is one release.
	if (!release || (directory === dist && targets.has(target))) return;
	console.log(`packing the release for ${target}`);
	const options = { root, directory: dist, target, executables, time };
	made.push(writeRelease(options));
}

/** As sha256sum writes them, and checks them in dist. */
function writeSums(): void {
	const lines = made.map((path) => {
		const bytes = readFileSync(path);
		const name = relative(dist, path).replaceAll("\\", "/");
		console.log(`built dist/${name} (${Math.round(bytes.length / 1e6)} MB)`);
		return `${Bun.SHA256.hash(bytes, "hex")}  ${name}\n`;
	});
	writeFileSync(join(dist, "SHA256SUMS"), lines.join(""));
}
