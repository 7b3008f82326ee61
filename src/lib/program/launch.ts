// How one program of Guildhall starts another.

import { join } from "node:path";
import { build } from "./program.ts";

export function commandOf(program: string): string[] {
	if (build) return [process.execPath, program];
	return [process.execPath, join(import.meta.dir, "../../guildhall/main.ts"), program];
}
