// What takes long to make, and is made once for all test processes of this machine.

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { until } from "./until.ts";

/** Resolves when `path` is there. Of the processes that want it one makes it, elsewhere, while the others wait. */
export async function madeOnce(
	path: string,
	make: (path: string) => Promise<unknown>,
): Promise<void> {
	if (existsSync(path)) return;
	mkdirSync(dirname(path), { recursive: true });
	// The system frees the lock with the process that has it.
	using lock = new Database(`${path}.lock`);
	await until(`${path} is made`, () => isOurs(lock));
	if (existsSync(path)) return;
	const unfinished = `${path}.unfinished`;
	rmSync(unfinished, { recursive: true, force: true });
	await make(unfinished);
	renameSync(unfinished, path);
}

function isOurs(lock: Database): boolean {
	try {
		lock.run("BEGIN EXCLUSIVE");
		return true;
	} catch (error) {
		if (Object(error).code === "SQLITE_BUSY") return false;
		throw error;
	}
}
