// SQLite, for a bot without a database server. The claim is a lock on a separate file, so that other programs can read the
// data. The system releases it with the process.
//
// The data is in WAL mode: readers never block a write, and a write that is cut off or finds the disk full leaves the last
// commit intact. With synchronous = FULL a commit survives a power failure.
// https://www.sqlite.org/wal.html, https://www.sqlite.org/lockingv3.html

import { join } from "node:path";
import type { SQL } from "bun";
import { explainSqlite } from "../../../lib/sql/errors.ts";
import { inspectSqlite } from "../../../lib/sql/inspect.ts";
import { isLocked, openSqlite, retryWhileLocked } from "../../../lib/sql/sqlite-file.ts";
import { claimTimeoutMs, type Database, type Session } from "./database.ts";
import { claimHeld } from "./db-error.ts";

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
		variable: "DATA_DIR",
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
		inspect: () => inspectSqlite(file, "DATA_DIR"),
	};
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
async function takeClaim(claim: SQL, file: string, instance: string, signal: AbortSignal): Promise<void> {
	const end = performance.now() + claimTimeoutMs;
	const isLate = () => signal.aborted || performance.now() > end;
	const run = (text: string) => retryWhileLocked(() => claim.unsafe(text), isLate);
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
	const tables = await claim`SELECT name FROM sqlite_master WHERE name = 'claim'`;
	if (tables.length === 0) return undefined;
	const [row] = await claim`SELECT holder FROM claim`;
	return row?.holder;
}
