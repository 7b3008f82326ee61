// A release: the executables of one platform with documents and examples for operators.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../lib/program.ts";
import { createTar } from "./tar.ts";

/** Files and folders of the repository that go into every release. */
const extras = [
	"README.md",
	"LICENSE",
	"CHANGELOG.md",
	".github/SECURITY.md",
	"src/build/README.md",
	"src/gateway/README.md",
	"src/bot/features/README.md",
	"src/bot/game/README.md",
	"src/bot/tools/README.md",
	"instances/README.md",
	"instances/example",
	"docker/README.md",
	"docker/systemd",
	"docker/proxy",
];

export interface ReleaseOptions {
	root: string;
	/** Output directory. */
	directory: string;
	target: string;
	/** Paths. */
	executables: readonly string[];
	/** Modification time of its files, in seconds since 1970. */
	time: number;
}

/** Writes guildhall-<version>-<target>.tar.gz reproducibly. Returns its path. */
export function writeRelease({
	root,
	directory,
	target,
	executables,
	time,
}: ReleaseOptions): string {
	const name = `guildhall-${version}-${target}`;
	const path = join(directory, `${name}.tar.gz`);
	const entries = [
		...executables.map((from) => ({
			from,
			to: basename(from),
			executable: true,
		})),
		...extras
			.flatMap((path) => filesIn(root, path))
			.map((to) => ({ from: join(root, to), to, executable: false })),
	].map(({ from, to, executable }) => ({
		name: `${name}/${to}`,
		bytes: readFileSync(from),
		executable,
	}));
	writeFileSync(path, gzipSync(createTar(entries, time)));
	return path;
}

/** The files in a folder, or the file itself; separated by / on all systems. */
function filesIn(root: string, path: string): string[] {
	if (statSync(join(root, path)).isFile()) return [path];
	return readdirSync(join(root, path), { withFileTypes: true })
		.toSorted((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap(({ name }) => filesIn(root, `${path}/${name}`));
}
