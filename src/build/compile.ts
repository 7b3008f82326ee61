// Compiles a program into an executable with `bun build`.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "../lib/program/program.ts";

export const programs = ["gateway", "bot"] as const;

export interface CompileOptions {
	/** Path of the project's root directory. */
	root: string;
	program: (typeof programs)[number];
	directory: string;
	stamp: Build;
	/** The platform of this machine, such as "linux-x64". */
	host: string;
}

/** Timeout of compiling one program, in milliseconds. */
const timeoutMs = 10 * 60_000;

const flags = [
	"--compile",
	// Identifiers are not minified: libraries read class names, and people read stack traces.
	"--minify-whitespace",
	"--minify-syntax",
	// Bytecode: parsing would be most of the startup time.
	"--bytecode",
	"--format=esm",
	// So that stack traces have positions in the sources.
	"--sourcemap=inline",
	// Otherwise files in the working directory would override the instance's .env.
	"--no-compile-autoload-dotenv",
	"--no-compile-autoload-bunfig",
	// Otherwise builds would contain paths of the build machine and differ.
	'--define=__dirname=""',
	'--define=__filename=""',
];

/**
 * Compiles the gateway or the bot into an executable. Resolves with the path of the executable. If the build fails,
 * rejects with the output of `bun build` and leaves no executable.
 */
export async function compileProgram(options: CompileOptions): Promise<string> {
	const { root, program, directory, stamp, host } = options;
	const { target } = stamp;
	const ending = /^windows/.test(target) ? ".exe" : "";
	const path = join(directory, program + ending);
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
	// Bun writes the inlined source map to a file as well.
	rmSync(join(directory, `${program}.map`), { force: true });
	rmSync(`${path}.map`, { force: true });
	if ((await child.exited) === 0) return path;
	rmSync(path, { force: true });
	const end = child.signalCode ?? `exit code ${child.exitCode}`;
	throw new Error(
		`bun build of ${program} failed with ${end}: ${output.join("").trim() || "no output"}`,
	);
}
