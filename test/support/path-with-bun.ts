// The scripts of package.json call `bun`, which need not be on the PATH of the tests, nor called so: npx has it as bun.exe.

import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dir, "../../node_modules/.cache/bin");

/** A PATH on which `bun` is the Bun that runs the tests. */
export function pathWithBun(): string {
	mkdirSync(directory, { recursive: true });
	// Other workers may be doing the same: a rename replaces the link at once.
	const link = join(directory, `bun-${process.pid}`);
	rmSync(link, { force: true });
	symlinkSync(process.execPath, link);
	renameSync(link, join(directory, "bun"));
	return `${directory}:${process.env.PATH ?? ""}`;
}
