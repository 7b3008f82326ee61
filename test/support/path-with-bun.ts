// The scripts of package.json call `bun`, which may not be on the PATH of the tests: npx installs it as bun.exe.

import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dir, "../../node_modules/.cache/bin");

/** A PATH on which `bun` is the Bun that runs the tests. */
export function pathWithBun(): string {
	mkdirSync(directory, { recursive: true });
	// A rename is atomic, and other workers may do the same.
	const link = join(directory, `bun-${process.pid}`);
	rmSync(link, { force: true });
	symlinkSync(process.execPath, link);
	renameSync(link, join(directory, "bun"));
	return `${directory}:${process.env.PATH ?? ""}`;
}
