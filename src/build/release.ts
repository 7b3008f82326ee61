// Packs a release: the executable for one platform and links to it, with documents and examples for operators.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../lib/program/program.ts";
import { linkNames } from "./compile.ts";
import { createTar } from "./tar.ts";

const extras = [
	"README.md",
	"LICENSE",
	"CHANGELOG.md",
	".github/SECURITY.md",
	".github/screenshots",
	"src/docs",
	"src/build/README.md",
	"src/gateway/README.md",
	"src/bot/approval/README.md",
	"src/bot/features/README.md",
	"src/bot/settings/README.md",
	"src/bot/moderation/README.md",
	"src/bot/game/README.md",
	"src/bot/game/openapi.yaml",
	"src/bot/game/plugin.mjs",
	"src/bot/tools/README.md",
	"src/simulator/README.md",
	"instances/README.md",
	"instances/PRIVACY.md",
	"instances/example",
	"docker/README.md",
	"docker/systemd",
	"docker/proxy",
	"docker/monitoring",
];

interface ReleaseOptions {
	root: string;
	directory: string;
	target: string;
	executable: string;
	/** Of modification, in seconds since 1970. */
	time: number;
}

/** guildhall-<version>-<target>.tar.gz; the same input gives the same bytes. */
export function writeRelease(options: ReleaseOptions): string {
	const { root, directory, target, executable, time } = options;
	const name = `guildhall-${version}-${target}`;
	const path = join(directory, `${name}.tar.gz`);
	const entry = (bytes: Buffer, to: string, isExecutable: boolean) => ({ name: `${name}/${to}`, bytes, isExecutable });
	const file = basename(executable);
	const links = file.endsWith(".exe") ? [] : linkNames;
	const documents = extras.flatMap((path) => filesIn(root, path));
	const entries = [
		entry(readFileSync(executable), file, true),
		...links.map((link) => ({ name: `${name}/${link}`, target: file })),
		...documents.map((path) => entry(document(root, path, documents), path, false)),
	];
	writeFileSync(path, gzipSync(createTar(entries, time)));
	return path;
}

function filesIn(root: string, path: string): string[] {
	if (statSync(join(root, path)).isFile()) return [path];
	return readdirSync(join(root, path), { withFileTypes: true })
		.toSorted((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap(({ name }) => filesIn(root, `${path}/${name}`));
}

/** In Markdown, a link to a file that is not in the release becomes its text. */
function document(root: string, path: string, documents: readonly string[]): Buffer {
	const bytes = readFileSync(join(root, path));
	if (!path.endsWith(".md")) return bytes;
	const isIn = (target: string) => {
		const file = join(dirname(path), target);
		return /^https?:/.test(target) || documents.some((one) => one === file || one.startsWith(`${file}/`));
	};
	const link = /\[([^\]]*)\]\(([^)#\s]+)(?:#[^)]*)?\)/g;
	return Buffer.from(bytes.toString().replaceAll(link, (all, text, target) => (isIn(target) ? all : text)));
}
