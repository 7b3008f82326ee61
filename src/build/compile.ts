// Compiles a program into an executable with `bun build`.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "../lib/program.ts";

export const programs = ["gateway", "bot"] as const;

export interface CompileOptions {
	/** The parent of src/. */
	root: string;
	program: (typeof programs)[number];
	/** Output directory. */
	directory: string;
	stamp: Build;
	/** The target of the running Bun, for which nothing is downloaded. */
	host: string;
}

/** Bun may have to download a runtime of about 40 MB. */
const timeoutMs = 10 * 60_000;

const flags = [
	"--compile",
	// Identifiers stay: libraries read class names, people read stack traces.
	"--minify-whitespace",
	"--minify-syntax",
	// Parsing is most of the startup time.
	"--bytecode",
	"--format=esm",
	// For source positions in stack traces.
	"--sourcemap=inline",
	// Otherwise files in the working directory would override the instance's .env.
	"--no-compile-autoload-dotenv",
	"--no-compile-autoload-bunfig",
	// Paths of the build machine would make builds differ.
	'--define=__dirname=""',
	'--define=__filename=""',
];

/** Resolves with the executable's path. Rejects with Bun's output if the build fails, and leaves no executable. */
export async function compileProgram({
	root,
	program,
	directory,
	stamp,
	host,
}: CompileOptions): Promise<string> {
	const { target } = stamp;
	const path = join(
		directory,
		program + (/^windows/.test(target) ? ".exe" : ""),
	);
	// A running executable cannot be overwritten, and an old one must not be taken for the new one.
	rmSync(path, { force: true });
	const command = [
		process.execPath,
		"build",
		...flags,
		...(target === host ? [] : [`--target=bun-${target}`]),
		`--define=GUILDHALL_BUILD=${JSON.stringify(stamp)}`,
		`--outfile=${path}`,
		`src/${program}/main.ts`,
	];
	const child = Bun.spawn(command, {
		cwd: root,
		stdout: "pipe",
		stderr: "pipe",
		timeout: timeoutMs,
	});
	const output = await Promise.all([child.stdout.text(), child.stderr.text()]);
	// Bun writes the source map also next to the executable.
	rmSync(join(directory, `${program}.map`), { force: true });
	rmSync(`${path}.map`, { force: true });
	if ((await child.exited) === 0) return path;
	rmSync(path, { force: true });
	throw new Error(
		output.join("").trim() || `bun build ended with ${child.signalCode}`,
	);
}
