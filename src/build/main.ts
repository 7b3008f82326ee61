// Entry point of `bun run build`: builds the executable of all programs.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseCommandLine } from "../lib/program/program.ts";
import { compileGuildhall } from "./compile.ts";
import { readSource } from "./source.ts";
import { hostTarget, releaseTargets } from "./targets.ts";

const usage = `Usage: bun run build [--all] [--target <platform>]... [--help]

Builds dist/guildhall for this platform, links to it (dist/gateway, dist/bot), and dist/SHA256SUMS. Deletes all else in dist
first, but not dist/docs.

  --all     also for ${releaseTargets.join(", ")},
            in dist/<platform>/
  --target  also for this platform of Bun's, such as linux-x64-baseline, in dist/<platform>/; may be repeated

For other platforms Bun downloads its runtime from the public npm registry, once. If a platform cannot be built, the others
still are; the exit code is then 1.

Environment:
  BUILD_COMMIT  commit for --version if there is no git checkout, such as in an image build`;

const { all, target: named } = parseCommandLine(usage, {
	all: { type: "boolean" },
	target: { type: "string", multiple: true },
});
const root = resolve(import.meta.dir, "../..");
const dist = join(root, "dist");
const host = hostTarget();
const source = readSource(root, process.env);
const targets = new Set([...(all ? releaseTargets : []), ...(named ?? [])]);
const made: string[] = [];
const failed: string[] = [];

// Nothing of an earlier build may remain. The documentation comes from "bun run docs".
mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist)) if (name !== "docs") rmSync(join(dist, name), { recursive: true });
console.log(`building commit ${source.commit}${source.dirty ? ", with changes" : ""}`);
await buildFor(host, dist);
for (const target of targets) await buildFor(target, join(dist, target));
writeSums();
if (failed.length > 0) {
	console.error(`failed to build: ${failed.join(", ")}`);
	process.exit(1);
}

async function buildFor(target: string, directory: string): Promise<void> {
	const stamp = { ...source, target };
	try {
		console.log(`building for ${target}`);
		mkdirSync(directory, { recursive: true });
		made.push(await compileGuildhall({ root, directory, stamp, host }));
	} catch (error) {
		console.error((error as Error).message);
		failed.push(target);
	}
}

function writeSums(): void {
	const lines = made.map((path) => {
		const bytes = readFileSync(path);
		const name = relative(dist, path).replaceAll("\\", "/");
		console.log(`built dist/${name} (${Math.round(bytes.length / 1e6)} MB)`);
		return `${Bun.SHA256.hash(bytes, "hex")}  ${name}\n`;
	});
	writeFileSync(join(dist, "SHA256SUMS"), lines.join(""));
}
