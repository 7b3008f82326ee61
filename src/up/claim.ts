// The directory .up in the directory of all instances. It holds the lock that lets only one `up` run there, and the
// socket for commands. Only its owner can open it.

import { Database } from "bun:sqlite";
import { lstatSync, mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { ConfigError, formatValue } from "../lib/config.ts";
import { runs } from "../lib/program/program.ts";

const stateDirectory = ".up";

const maxSocketPathBytes = process.platform === "linux" ? 107 : 103;

function statePath(instances: string): string {
	return join(instances, stateDirectory);
}

/** Relative to the working directory if shorter. ConfigError if too long for a socket. */
export function socketPath(instances: string): string {
	const path = join(statePath(instances), "control.sock");
	const short = relative(process.cwd(), path);
	const best = short.length < path.length ? short : path;
	const bytes = Buffer.byteLength(best);
	if (bytes > maxSocketPathBytes)
		throw new ConfigError(instances, [
			`the path of the socket in it has ${bytes} bytes, but at most ${maxSocketPathBytes} are allowed: run up and its commands in the directory above ${formatValue(instances)}, or choose a directory with a shorter path`,
		]);
	return best;
}

/** ConfigError if other users can open it, so that a command never talks to another user's socket. */
export function hasState(instances: string): boolean {
	const path = statePath(instances);
	if (!lstatSync(path, { throwIfNoEntry: false })) return false;
	checkPrivate(path);
	return true;
}

function checkPrivate(path: string): void {
	const stat = lstatSync(path);
	if (!stat.isDirectory() || stat.uid !== process.getuid?.() || (stat.mode & 0o777) !== 0o700)
		throw new ConfigError(path, [
			"expected a directory of mode 700 that belongs to the user who runs this. Remove it: up makes it again",
		]);
}

/** Until `release` or the end of the process. ConfigError if others can open it, or another process has the lock. */
export function claimState(instances: string): { path: string; release(): void } {
	const path = statePath(instances);
	try {
		mkdirSync(path, { mode: 0o700 });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "EEXIST") throw new ConfigError(path, [`the directory cannot be made (${code})`]);
	}
	checkPrivate(path);
	const claim = lock(path, instances);
	return { path, release: () => claim.close() };
}

function lock(path: string, instances: string): Database {
	let claim: Database | undefined;
	try {
		claim = new Database(join(path, "claim.sqlite"), { create: true });
		claim.run("PRAGMA locking_mode = EXCLUSIVE");
		// Nothing is written, so that a full disk does not matter.
		claim.run("PRAGMA journal_mode = MEMORY");
		claim.run("BEGIN EXCLUSIVE");
		return claim;
	} catch (error) {
		claim?.close();
		const { code } = error as { code?: string };
		if (code !== "SQLITE_BUSY")
			throw new ConfigError(path, [`it cannot be locked (${code}). Remove it: up makes it again`]);
		throw new ConfigError(instances, [
			`up runs there already; ${runs("up")} status shows it. Stop it before you start another one`,
		]);
	}
}
