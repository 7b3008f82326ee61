// SQLite. The claim is a lock on a separate file, so that others can read the data. Locks of others: no blocking wait.
// WAL: readers block no write, a cut-off write leaves the last commit intact; with FULL, that survives a power failure.
// https://www.sqlite.org/wal.html, https://www.sqlite.org/lockingv3.html

import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { SQL } from "bun";
import { claimTimeoutMs, type Database, type Session, type User } from "./database.ts";
import { claimHeld, explainSqlite } from "./errors.ts";
import { inspectSqlite } from "./inspect.ts";

export interface SqlitePlace {
	file: string;
	variable: string;
}

/** In place of a file: each connection has its own database. */
export const inMemory = ":memory:";

const pollMs = 20;
const lockTimeoutMs = 10_000;

export function createSqlite(place: SqlitePlace, { instance, claims }: User): Database {
	const { file, variable } = place;
	return {
		where: `SQLite in ${file}`,
		variable,
		claims,
		explain: explainSqlite(file, variable),
		async open(signal) {
			mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
			const path = file.replace(/(\.\w+)?$/, "-claim$1");
			const claim = claims && file !== inMemory ? await claimFile(path, instance, signal) : undefined;
			if (typeof claim === "string") throw claimHeld(variable, file, claim, instance);
			let data: SQL | undefined;
			try {
				data = await openSqlite(file);
				const session = createSession(data, claim);
				await session.run((sql) => sql.unsafe("PRAGMA journal_mode = WAL"));
				await data.unsafe("PRAGMA synchronous = FULL");
				await data.unsafe("PRAGMA foreign_keys = ON");
				return session;
			} catch (error) {
				await Promise.all([data?.close(), claim?.close()]);
				throw error;
			}
		},
		inspect: (_, read) => inspectSqlite(file, variable, read),
	};
}

/** Creates a missing directory. An error text if it cannot be used; `variable` sets the directory. */
export function directoryIssue(directory: string, variable: string): string | undefined {
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return `${variable}: cannot create or write the directory ${JSON.stringify(directory)} (${code})`;
	}
}

/** A new file can be read only by the current system user. */
async function openSqlite(path: string): Promise<SQL> {
	if (path !== inMemory && !existsSync(path)) closeSync(openSync(path, "a", 0o600));
	const sql = new Bun.SQL({ adapter: "sqlite", filename: path, bigint: true });
	// The first statement opens it.
	await sql.unsafe("PRAGMA busy_timeout = 0");
	return sql;
}

function createSession(data: SQL, claim: SQL | undefined): Session {
	const { promise: lost, resolve } = Promise.withResolvers<string>();
	let timeoutMs = lockTimeoutMs;
	let isOver = false;
	const end = async () => {
		isOver = true;
		await data.close();
		// Release the claim last: no other instance may write before. This reference also keeps the lock's handle alive.
		await claim?.close();
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
		async ready(ms) {
			timeoutMs = ms;
		},
		lose(reason) {
			resolve(reason);
			void end();
		},
		close: end,
	};
}

async function retryWhileLocked<T>(statement: () => Promise<T>, isLate: () => boolean): Promise<T> {
	for (;;) {
		try {
			return await statement();
		} catch (error) {
			if (!isLocked(error) || isLate()) throw error;
		}
		await Bun.sleep(pollMs);
	}
}

function isLocked(error: unknown): boolean {
	return error instanceof Bun.SQL.SQLiteError && error.code.startsWith("SQLITE_BUSY");
}

/** Holds the file until it is closed, or the process ends. The name of the process that holds it, if another one does. */
export async function claimFile(file: string, instance: string, signal?: AbortSignal): Promise<SQL | string> {
	const claim = await openSqlite(file);
	const end = performance.now() + claimTimeoutMs;
	const isLate = () => signal?.aborted || performance.now() > end;
	const run = (text: string) => retryWhileLocked(() => claim.unsafe(text), isLate);
	try {
		for (;;) {
			await run("BEGIN IMMEDIATE");
			if ((await holderIn(claim)) === instance) return claim;
			await claim.unsafe("CREATE TABLE IF NOT EXISTS claim (holder TEXT)");
			await claim`DELETE FROM claim`;
			await claim`INSERT INTO claim (holder) VALUES (${instance})`;
			await run("COMMIT");
		}
	} catch (error) {
		const holder = isLocked(error) && ((await holderIn(claim)) ?? "another process");
		await claim.close();
		if (holder) return holder;
		throw error;
	}
}

async function holderIn(claim: SQL): Promise<string | undefined> {
	if ((await claim`SELECT name FROM sqlite_master WHERE name = 'claim'`).length === 0) return undefined;
	const [row] = await claim`SELECT holder FROM claim`;
	return row?.holder;
}
