// Files that are slow to create, created once for all test processes of this machine.

import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { until } from "./until.ts";

const root = join(import.meta.dir, "../..");

/**
 * A directory that `make` creates from these files and folders of the project, once for all test processes. Its name
 * depends on their contents and the version of Bun; older directories of this kind are removed.
 */
export async function madeOfSources(
	kind: string,
	sources: readonly string[],
	make: (directory: string) => Promise<unknown>,
): Promise<string> {
	const hash = createHash("sha256").update(Bun.version);
	const files = sources.flatMap((source) => {
		const path = join(root, source);
		if (!lstatSync(path).isDirectory()) return [path];
		const names = readdirSync(path, { recursive: true, encoding: "utf8" });
		return names.map((name) => join(path, name)).sort();
	});
	for (const file of files) if (lstatSync(file).isFile()) hash.update(file).update(await Bun.file(file).bytes());
	const cache = join(root, "node_modules/.cache", kind);
	const name = hash.digest("hex").slice(0, 16);
	await madeOnce(join(cache, name), async (directory) => {
		// Directories of other sources are outdated.
		for (const other of readdirSync(cache))
			if (!other.startsWith(name)) rmSync(join(cache, other), { recursive: true });
		await make(directory);
	});
	return join(cache, name);
}

/** Resolves when `path` exists. One process creates it under another name while the others wait. */
export async function madeOnce(path: string, make: (path: string) => Promise<unknown>): Promise<void> {
	if (existsSync(path)) return;
	mkdirSync(dirname(path), { recursive: true });
	// The system releases the lock when its process ends.
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
