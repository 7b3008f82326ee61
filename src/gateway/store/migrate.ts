// Applies the migrations that the gateway's database lacks, all in one transaction that keeps other gateways out.

import type { SQL } from "bun";
import { checkHistory, checksumOf, type Migration, selectApplied } from "../../lib/sql/migrations.ts";
import type { Database } from "./database.ts";

/**
 * Applies the missing migrations to the gateway's database, and resolves with their number. Rejects with a StoreFailure
 * if the database has migrations that this program does not know.
 */
export function migrate(database: Database, connection: SQL, migrations: readonly Migration[]): Promise<number> {
	return database.transaction(connection, async (sql) => {
		await database.lockForMigration(sql);
		await sql.unsafe(
			"CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
		);
		const applied = await selectApplied(sql);
		checkHistory(database, applied, migrations);
		const missing = migrations.slice(applied.length);
		for (const migration of missing) {
			await sql.unsafe(migration.text);
			await sql`INSERT INTO migrations (number, name, checksum, applied_at)
				VALUES (${migration.number}, ${migration.name}, ${checksumOf(migration)}, ${Date.now()})`;
		}
		return missing.length;
	});
}
