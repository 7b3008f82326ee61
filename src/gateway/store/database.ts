// What the store needs of a database. postgres.ts and sqlite.ts implement it.

import type { SQL } from "bun";
import type { InspectedDatabase } from "../../lib/sql/check.ts";

export interface Database extends InspectedDatabase {
	/** How many statements run at once. */
	connections: number;
	/** Connects to the database. The connection may be lost later. */
	connect(): Promise<SQL>;
	/** Keeps other gateways out for the rest of a transaction, and creates the schema if it is missing. */
	lockForMigration(sql: SQL): Promise<void>;
	statement<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T>;
	transaction<T>(sql: SQL, work: (sql: SQL) => Promise<T>): Promise<T>;
}
