// What the store needs of a database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { DbError } from "../../lib/sql/errors.ts";

export interface Database {
	/** Location of the database for logs, without user name and password. */
	where: string;
	/** How many statements run at once. */
	connections: number;
	/** Connects to the database. The connection may be lost later. */
	connect(): Promise<SQL>;
	/** Keeps other gateways out for the rest of a transaction, and creates the schema if it is missing. */
	lockForMigration(sql: SQL): Promise<void>;
	statement<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T>;
	transaction<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T>;
	/** Classifies a database error. Returns undefined for any other error, which is a bug. */
	explain(error: unknown): DbError | undefined;
}
