// SQLite, for one bot that needs no server. The claim is a lock on a file of its own, so that others can read the data
// meanwhile; the system frees it with the process.
//
// The data is in WAL mode: a reader never makes a write fail, and a write that finds the disk full, or is cut off, leaves
// the last commit as it was. With synchronous = FULL a commit outlives a power failure.
// https://www.sqlite.org/wal.html, https://www.sqlite.org/lockingv3.html

import {
	accessSync,
	closeSync,
	constants,
	existsSync,
	openSync,
	statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { CheckFailed } from "../../lib/check.ts";
import type { Database, Inspection, Session } from "./database.ts";
import { claimHeld, type DbError } from "./db-error.ts";
import { selectApplied } from "./migrations.ts";
import { statementsOf } from "./statement.ts";

export interface SqliteOptions {
	/** DATA_DIR: it exists. */
	directory: string;
	/** Who we are, in the claim. */
	instance: string;
}

/** How long a claim that another holds is tried again: a program that has just ended may not be gone yet. */
const patienceMs = 1_000;
/** SQLite's own waiting would stand still with the whole program; this one does not. */
const pollMs = 20;
/** Until `limit` is called. */
const lockTimeoutMs = 10_000;

export function createSqlite({ directory, instance }: SqliteOptions): Database {
	const file = join(directory, "store.sqlite");
	const claimFile = join(directory, "store-claim.sqlite");
	const explain = explainer(file);
	return {
		where: `SQLite in ${file}`,
		explain,
		async open(signal) {
			const claim = await openFile(claimFile);
			let data: SQL | undefined;
			try {
				await takeClaim(claim, file, instance, signal);
				data = await openFile(file);
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
	// SQLite keeps two more files, -wal and -shm, while a database is open. A read-only connection would leave them behind
	// where there are none. Where an instance that was killed left them, a writing one would move them into the database.
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

/** The path, or its nearest parent that exists. */
function existing(path: string): string {
	return existsSync(path) || dirname(path) === path
		? path
		: existing(dirname(path));
}

/** Throws a CheckFailed. */
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
			"Give it to the user that the bot runs as, or set DATA_DIR to another directory.",
		);
	}
}

function createSession(data: SQL, claim: SQL): Session {
	const { promise: lost, resolve } = Promise.withResolvers<string>();
	let timeoutMs = lockTimeoutMs;
	let over = false;
	const end = async () => {
		over = true;
		await data.close();
		// Last: until here nobody else may write. The reference is also what keeps the handle, and so the lock, alive.
		await claim.close();
	};
	return {
		// With BEGIN alone, a transaction that has read could find somebody else writing, and fail in its middle.
		begin: "BEGIN IMMEDIATE",
		lost,
		run: (statement) =>
			retryWhileLocked(
				() => statement(data),
				timeoutMs,
				() => over,
			),
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

/** A file that only this user reads, made where it is missing. */
async function openFile(path: string): Promise<SQL> {
	if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
	const sql = new SQL({ adapter: "sqlite", filename: path, bigint: true });
	// It is opened by the first statement.
	await sql.unsafe("PRAGMA busy_timeout = 0");
	return sql;
}

/**
 * Writes our name into the claim file and holds its write lock from then on. Rejects with a StoreFailure that names who
 * else does. In between the lock is free for a moment: who loses it then reads the name of the winner.
 */
async function takeClaim(
	claim: SQL,
	file: string,
	instance: string,
	signal: AbortSignal,
): Promise<void> {
	const end = performance.now() + patienceMs;
	const late = () => signal.aborted || performance.now() > end;
	const lock = () =>
		retryWhileLocked(() => claim.unsafe("BEGIN IMMEDIATE"), patienceMs, late);
	try {
		for (;;) {
			await lock();
			if ((await holderIn(claim)) === instance) return;
			await claim.unsafe("CREATE TABLE IF NOT EXISTS claim (holder TEXT)");
			await claim`DELETE FROM claim`;
			await claim`INSERT INTO claim (holder) VALUES (${instance})`;
			await retryWhileLocked(() => claim.unsafe("COMMIT"), patienceMs, late);
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

/** A statement that finds the file locked was not begun, a COMMIT included: it is run again until `isOver`. */
async function retryWhileLocked<T>(
	statement: () => Promise<T>,
	timeoutMs: number,
	isOver: () => boolean,
): Promise<T> {
	const end = performance.now() + timeoutMs;
	for (;;) {
		try {
			return await statement();
		} catch (error) {
			if (!isLocked(error) || isOver() || performance.now() > end) throw error;
		}
		await Bun.sleep(pollMs);
	}
}

function isLocked(error: unknown): boolean {
	return (
		error instanceof SQL.SQLiteError && error.code.startsWith("SQLITE_BUSY")
	);
}

/** What SQLite's errors mean. https://www.sqlite.org/rescode.html */
function explainer(file: string) {
	return (error: unknown): DbError | undefined => {
		const { code, message } = Object(error) as NodeJS.ErrnoException;
		// The file could not be made.
		if (/^E[A-Z]+$/.test(code ?? ""))
			return {
				kind: "lost",
				reason: `DATA_DIR: ${file} cannot be made (${code})`,
			};
		if (!(error instanceof SQL.SQLiteError)) return undefined;
		const said = `(${error.code}: ${message})`;
		if (isLocked(error))
			return {
				kind: "passing",
				reason: `DATA_DIR: another program keeps ${file} locked ${said}`,
			};
		if (/^SQLITE_(FULL|IOERR_WRITE)$/.test(error.code))
			return {
				kind: "refused",
				reason: `DATA_DIR: the disk of ${file} is full ${said}`,
			};
		if (/^SQLITE_READONLY/.test(error.code))
			return {
				kind: "refused",
				reason: `DATA_DIR: ${file} cannot be written ${said}`,
			};
		if (/^SQLITE_(CORRUPT|NOTADB)/.test(error.code))
			return {
				kind: "lost",
				reason: `DATA_DIR: ${file} is damaged, or is no database ${said}`,
			};
		if (/^SQLITE_(IOERR|CANTOPEN|PERM|AUTH|PROTOCOL)/.test(error.code))
			return {
				kind: "lost",
				reason: `DATA_DIR: ${file} cannot be used ${said}`,
			};
		return undefined;
	};
}
