// How one program of Guildhall starts another.

import { join } from "node:path";
import { build } from "./program.ts";

/** Returns the command that starts a program, such as "bot", from this executable or from the sources. */
export function commandOf(program: string): string[] {
	if (build) return [process.execPath, program];
	const main = join(import.meta.dir, "../../guildhall/main.ts");
	return [process.execPath, main, program];
}
