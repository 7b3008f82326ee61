// The directory for the databases of tests.

import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const memory = "/dev/shm";
/** Containers often have 64 MiB there, which thousands of small databases fill. */
const enoughBytes = 2 * 1024 ** 3;

function hasRoom(): boolean {
	if (!existsSync(memory)) return false;
	const { bavail, bsize } = statfsSync(memory);
	return bavail * bsize >= enoughBytes;
}

/** In memory if it has room: otherwise SQLite waits for the disk with every commit, which takes most of a small test. */
export const databaseDirectory = hasRoom() ? memory : tmpdir();
