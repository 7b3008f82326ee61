// SQLite, for a single gateway. The command line writes to the file while the gateway runs: WAL mode keeps readers and a
// writer apart, and a locked file is waited for without blocking. https://www.sqlite.org/wal.html

import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { SQL } from "bun";
import { explainSqlite } from "../../lib/sql/errors.ts";
import { inspectSqlite } from "../../lib/sql/inspect.ts";
import { openSqlite, retryWhileLocked } from "../../lib/sql/sqlite-file.ts";
import type { Database } from "./database.ts";

export function createSqlite(path: string, { queryTimeoutMs }: { queryTimeoutMs: number }): Database {
	const file = resolve(path);
	/**
	 * Runs a statement, and repeats it while another process locks the SQLite file. Gives up after 80 % of the timeout for
	 * statements.
	 */
	const patiently = <T>(statement: () => Promise<T>) => {
		const end = performance.now() + queryTimeoutMs * 0.8;
		return retryWhileLocked(statement, () => performance.now() > end);
	};
	return {
		where: `SQLite in ${file}`,
		variable: "GATEWAY_DATABASE",
		connections: 1,
		explain: explainSqlite(file, "GATEWAY_DATABASE"),
		inspect: () => inspectSqlite(file, "GATEWAY_DATABASE"),
		async connect() {
			mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
			const sql = await openSqlite(file);
			try {
				await patiently(() => sql.unsafe("PRAGMA journal_mode = WAL"));
				await sql.unsafe("PRAGMA synchronous = FULL");
				await sql.unsafe("PRAGMA foreign_keys = ON");
				return sql;
			} catch (error) {
				await sql.close();
				throw error;
			}
		},
		// A transaction excludes other writers from its beginning.
		lockForMigration: async () => {},
		statement: (sql, work) => patiently(() => work(sql)),
		async transaction<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T> {
			// With a plain BEGIN, a transaction that has read could fail at its first write.
			await patiently(() => sql.unsafe("BEGIN IMMEDIATE"));
			try {
				const result = await work(sql);
				await sql.unsafe("COMMIT");
				return result;
			} catch (error) {
				// After a full disk SQLite has already rolled back.
				await sql.unsafe("ROLLBACK").catch(() => {});
				throw error;
			}
		},
	};
}
