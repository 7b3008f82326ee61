// SQLite, for a bot without a database server. The claim is a lock on a separate file, so that other programs can read the
// data. The system releases it with the process.
//
// The data is in WAL mode: readers never block a write, and a write that is cut off or finds the disk full leaves the last
// commit intact. With synchronous = FULL a commit survives a power failure.
// https://www.sqlite.org/wal.html, https://www.sqlite.org/lockingv3.html

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { CheckFailed } from "../../../lib/check.ts";
import { explainSqlite } from "../../../lib/sql/errors.ts";
import {
	isLocked,
	openSqlite,
	retryWhileLocked,
} from "../../../lib/sql/sqlite-file.ts";
import {
	claimTimeoutMs,
	type Database,
	type Inspection,
	type Session,
} from "./database.ts";
import { claimHeld } from "./db-error.ts";
import { selectApplied } from "./migrations.ts";
import { statementsOf } from "./statement.ts";

export interface SqliteOptions {
	/** Directory of the SQLite files (DATA_DIR). It must exist before the database is opened. */
	directory: string;
	/** Name of this bot process, shown to another bot process that finds the database in use. */
	instance: string;
}

/** Maximum wait for a locked SQLite file while the database is being opened, in milliseconds. */
const lockTimeoutMs = 10_000;

export function createSqlite({ directory, instance }: SqliteOptions): Database {
	const file = join(directory, "store.sqlite");
	const claimFile = join(directory, "store-claim.sqlite");
	const explain = explainSqlite(file, "DATA_DIR");
	return {
		where: `SQLite in ${file}`,
		explain,
		async open(signal) {
			const claim = await openSqlite(claimFile);
			let data: SQL | undefined;
			try {
				await takeClaim(claim, file, instance, signal);
				data = await openSqlite(file);
				await data.unsafe("PRAGMA journal_mode = WAL");
				await data.unsafe("PRAGMA synchronous = FULL");
				await data.unsafe("PRAGMA foreign_keys = ON");
				return createSession(data, claim);
			} catch (error) {
				await Promise.all([data?.close(), claim.close()]);
				throw error;
			}
		},
		inspect: () => inspectFile(directory, file),
	};
}

async function inspectFile(
	directory: string,
	file: string,
): Promise<Inspection> {
	requireWritable(existing(directory), "directory");
	const exists = existsSync(file);
	if (exists) requireWritable(file, "file");
	// SQLite keeps two more files, -wal and -shm, while a database is open. A read-only connection would create and leave
	// them. A writable one would merge those that a killed instance has left into the database.
	const readonly = exists && existsSync(`${file}-wal`);
	const filename = exists ? file : ":memory:";
	const data = new SQL({ adapter: "sqlite", filename, readonly, bigint: true });
	try {
		await data.unsafe("PRAGMA busy_timeout = 1000");
		await data.unsafe("PRAGMA query_only = ON");
		const sql = statementsOf({ run: (statement) => statement(data) });
		const [found] = await sql<{ version: string; hasTables: number }>`
			SELECT sqlite_version() AS version,
				EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'migrations') AS "hasTables"`;
		const version = found?.version ?? "";
		if (!exists) return { version, applied: "no file" };
		return {
			version,
			applied: found?.hasTables ? await selectApplied(sql) : [],
		};
	} finally {
		await data.close();
	}
}

/** Returns the path if it exists; otherwise returns its nearest parent directory that exists. */
function existing(path: string): string {
	return existsSync(path) || dirname(path) === path
		? path
		: existing(dirname(path));
}

/** Throws a CheckFailed unless the bot can read and write this file or directory. */
function requireWritable(path: string, kind: "directory" | "file"): void {
	const { R_OK, W_OK, X_OK } = constants;
	const shown = JSON.stringify(path);
	if (kind === "directory" && !statSync(path).isDirectory())
		throw new CheckFailed(
			`DATA_DIR: ${shown} is not a directory`,
			"Set DATA_DIR to a directory.",
		);
	try {
		accessSync(path, kind === "directory" ? R_OK | W_OK | X_OK : R_OK | W_OK);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new CheckFailed(
			`DATA_DIR: ${shown} cannot be written (${code})`,
			"Let the user that the bot runs as write to it, or set DATA_DIR to another directory.",
		);
	}
}

function createSession(data: SQL, claim: SQL): Session {
	const { promise: lost, resolve } = Promise.withResolvers<string>();
	let timeoutMs = lockTimeoutMs;
	let isOver = false;
	const end = async () => {
		isOver = true;
		await data.close();
		// Release the claim last: no other instance may write before. This reference also keeps the lock's handle alive.
		await claim.close();
	};
	return {
		// With a plain BEGIN, a transaction that has read could fail at its first write because another program writes.
		begin: "BEGIN IMMEDIATE",
		lost,
		run(statement) {
			const end = performance.now() + timeoutMs;
			const isLate = () => isOver || performance.now() > end;
			return retryWhileLocked(() => statement(data), isLate);
		},
		async limit(ms) {
			timeoutMs = ms;
		},
		lose(reason) {
			resolve(reason);
			void end();
		},
		close: end,
	};
}

/**
 * Writes the name of this process into an SQLite file, then takes and keeps the write lock of the file. The lock keeps
 * other bot processes out of the database. Rejects with a StoreFailure if another process holds the lock.
 */
async function takeClaim(
	claim: SQL,
	file: string,
	instance: string,
	signal: AbortSignal,
): Promise<void> {
	const end = performance.now() + claimTimeoutMs;
	const isLate = () => signal.aborted || performance.now() > end;
	const run = (text: string) =>
		retryWhileLocked(() => claim.unsafe(text), isLate);
	try {
		for (;;) {
			await run("BEGIN IMMEDIATE");
			if ((await holderIn(claim)) === instance) return;
			await claim.unsafe("CREATE TABLE IF NOT EXISTS claim (holder TEXT)");
			await claim`DELETE FROM claim`;
			await claim`INSERT INTO claim (holder) VALUES (${instance})`;
			await run("COMMIT");
		}
	} catch (error) {
		if (!isLocked(error)) throw error;
		const holder = (await holderIn(claim)) ?? "another process";
		throw claimHeld("DATA_DIR", file, holder, instance);
	}
}

async function holderIn(claim: SQL): Promise<string | undefined> {
	const tables =
		await claim`SELECT name FROM sqlite_master WHERE name = 'claim'`;
	if (tables.length === 0) return undefined;
	const [row] = await claim`SELECT holder FROM claim`;
	return row?.holder;
}
