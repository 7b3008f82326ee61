// Writes files atomically: a reader sees the old or the new content, also after a kill at any moment.

import {
	closeSync,
	constants,
	copyFileSync,
	fchmodSync,
	fchownSync,
	fstatSync,
	fsyncSync,
	mkdirSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { UserIds } from "./system.ts";

/** Also creates the directory. */
export function writeAtomically(path: string, text: string, mode: number, owner?: UserIds): void {
	const create = (temporary: string) => {
		// In another user's directory, that user could have placed a link under this name. These flags do not follow it.
		const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
		const file = openSync(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
		writeFileSync(file, text);
		return file;
	};
	replaceAtomically(path, create, mode, owner);
}

/** As root in another user's directory: throws for a link, which could lead to what only root may read. "" if none. */
export function readWithoutLinks(path: string): string {
	// Without O_NONBLOCK, opening a FIFO would wait for a writer.
	const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
	let file: number;
	try {
		file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
		throw error;
	}
	try {
		if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
		return readFileSync(file, "utf8");
	} finally {
		closeSync(file);
	}
}

/** A program that runs from the old file continues undisturbed. */
export function copyAtomically(from: string, to: string, mode: number): void {
	const create = (temporary: string) => {
		copyFileSync(from, temporary);
		return openSync(temporary, "r");
	};
	replaceAtomically(to, create, mode);
}

/** `create` returns the open file. */
function replaceAtomically(path: string, create: (path: string) => number, mode: number, owner?: UserIds): void {
	const directory = dirname(path);
	mkdirSync(directory, { recursive: true, mode: 0o755 });
	const temporary = join(directory, `.${basename(path)}.new`);
	try {
		// A process that was killed may have left the file behind.
		rmSync(temporary, { force: true });
		const file = create(temporary);
		try {
			if (owner) fchownSync(file, owner.uid, owner.gid);
			fchmodSync(file, mode);
			fsyncSync(file);
		} finally {
			closeSync(file);
		}
		renameSync(temporary, path);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}
