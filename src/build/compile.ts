// Compiles all programs of Guildhall into one executable with `bun build`.

import { mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { Build } from "../lib/program/program.ts";

/** Links to the executable, which runs the program of the name by which it is started. */
export const linkNames = ["gateway", "bot"] as const;

interface CompileOptions {
	root: string;
	/** Must exist. */
	directory: string;
	stamp: Build;
	host: string;
}

const flags = [
	"--compile",
	// Identifiers are not minified: libraries read class names, and people read stack traces.
	"--minify-whitespace",
	"--minify-syntax",
	// Bytecode: parsing would be most of the startup time.
	"--bytecode",
	"--format=esm",
	// With this, each program loads only its own modules. Otherwise the gateway would start more slowly and need more
	// memory.
	"--splitting",
	// So that stack traces have positions in the sources.
	"--sourcemap=inline",
	// Otherwise files in the working directory would override the instance's .env.
	"--no-compile-autoload-dotenv",
	"--no-compile-autoload-bunfig",
	// Otherwise builds would contain paths of the build machine and differ.
	'--define=__dirname=""',
	'--define=__filename=""',
];

/** `guildhall` with links (`guildhall.exe` without). Rejects with the output of `bun build`; leaves nothing then. */
export async function compileGuildhall(options: CompileOptions): Promise<string> {
	const { root, directory, stamp, host } = options;
	const { target } = stamp;
	const isWindows = target.startsWith("windows");
	const path = join(directory, isWindows ? "guildhall.exe" : "guildhall");
	const links = linkNames.map((name) => join(directory, name));
	// A running executable cannot be overwritten, and an old one must not be taken for the new one.
	for (const old of [path, ...links]) rmSync(old, { force: true });
	// Bun writes the source maps to files even if they are inlined. These files stay in this directory, which is deleted.
	const scratch = mkdtempSync(join(directory, ".build-"));
	const made = join(scratch, basename(path));
	const command = [
		process.execPath,
		"build",
		...flags,
		...(target === host ? [] : [`--target=bun-${target}`]),
		`--define=GUILDHALL_BUILD=${JSON.stringify(stamp)}`,
		`--outfile=${made}`,
		"src/guildhall/main.ts",
	];
	try {
		const child = Bun.spawn(command, { cwd: root, stdout: "pipe", stderr: "pipe" });
		const output = await Promise.all([child.stdout.text(), child.stderr.text()]);
		if ((await child.exited) !== 0)
			throw new Error(`bun build failed with exit code ${child.exitCode}: ${output.join("").trim()}`);
		renameSync(made, path);
	} finally {
		rmSync(scratch, { recursive: true, force: true });
	}
	if (!isWindows) for (const link of links) symlinkSync(basename(path), link);
	return path;
}
