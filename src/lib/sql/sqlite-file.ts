// SQLite files that other processes use as well: creating them, and waiting for their locks without blocking.

import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import type { SQL } from "bun";

/** Milliseconds between attempts to lock an SQLite file. */
const pollMs = 20;

/**
 * Creates the directory of the SQLite database if it is missing. Returns an error text if the program cannot use the
 * directory. `variable` is the name of the environment variable that sets the directory.
 */
export function directoryIssue(directory: string, variable: string): string | undefined {
	const quoted = JSON.stringify(directory);
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return `${variable}: cannot create or write the directory ${quoted} (${code})`;
	}
}

/** Opens an SQLite file. If the file is missing, creates it so that only the current system user can read it. */
export async function openSqlite(path: string): Promise<SQL> {
	if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
	const sql = new Bun.SQL({ adapter: "sqlite", filename: path, bigint: true });
	// The first statement opens it.
	await sql.unsafe("PRAGMA busy_timeout = 0");
	return sql;
}

/** Runs an SQLite statement, and repeats it while another process locks the file, until `isLate` returns true. */
export async function retryWhileLocked<T>(statement: () => Promise<T>, isLate: () => boolean): Promise<T> {
	for (;;) {
		try {
			return await statement();
		} catch (error) {
			if (!isLocked(error) || isLate()) throw error;
		}
		await Bun.sleep(pollMs);
	}
}

export function isLocked(error: unknown): boolean {
	return error instanceof Bun.SQL.SQLiteError && error.code.startsWith("SQLITE_BUSY");
}
