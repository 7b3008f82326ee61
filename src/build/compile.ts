// One program → one executable file, by `bun build`.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "../lib/program.ts";

export const programs = ["gateway", "bot"] as const;

export interface CompileOptions {
	/** Where src/ is. */
	root: string;
	program: (typeof programs)[number];
	/** Where the executable goes. */
	directory: string;
	stamp: Build;
	/** The target of the Bun that is running, which then needs no other. */
	host: string;
}

/** A runtime is some 40 MB to fetch. */
const timeoutMs = 10 * 60_000;

const flags = [
	"--compile",
	// Not the identifiers: libraries look at the names of classes, and people at those in stack traces.
	"--minify-whitespace",
	"--minify-syntax",
	// Parsing is most of the start.
	"--bytecode",
	"--format=esm",
	// Stack traces name files and lines of the sources.
	"--sourcemap=inline",
	// It would read files of the directory in which it is started, and let them beat an instance's own .env.
	"--no-compile-autoload-dotenv",
	"--no-compile-autoload-bunfig",
	// Where a package was on the builder's disk is of no use elsewhere, and would make two builds differ.
	'--define=__dirname=""',
	'--define=__filename=""',
];

/** Makes the executable; resolves with its path. Rejects with what Bun says where it cannot be made: then there is none. */
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
	// One that runs cannot be written to, and an old one must not pass for the new.
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
	const said = await Promise.all([child.stdout.text(), child.stderr.text()]);
	// Bun also writes the source map beside the executable, which has it inside.
	rmSync(join(directory, `${program}.map`), { force: true });
	rmSync(`${path}.map`, { force: true });
	if ((await child.exited) === 0) return path;
	rmSync(path, { force: true });
	throw new Error(said.join("").trim() || `Bun ended with ${child.signalCode}`);
}
