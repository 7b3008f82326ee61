// What the store needs of a database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { InspectedDatabase } from "../../lib/sql/check.ts";

export interface Database extends InspectedDatabase {
	/** Maximum number of SQL statements that run at the same time: the number of connections. */
	connections: number;
	/** Connects to the database. */
	connect(): Promise<SQL>;
	/**
	 * Makes other gateways wait until the current transaction has ended, so that only one applies migrations. Creates the
	 * database schema if it is missing.
	 */
	lockForMigration(sql: SQL): Promise<void>;
	statement<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T>;
	transaction<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T>;
}
