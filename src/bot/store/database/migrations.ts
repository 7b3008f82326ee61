// Migrations: numbered steps from an empty database to the current tables. They run under the claim, so never in two
// instances at once.

import { checkHistory, checksumOf, type Migration, selectApplied } from "../../../lib/sql/migrations.ts";
import type { Database, Session } from "./database.ts";

export type { Migration };

import { type Sql, statementsOf } from "./statement.ts";

/** Thrown when a database migration fails; `cause` is the database's error. */
export class MigrationError extends Error {
	override name = "MigrationError";
}

/**
 * Applies the migrations that the database lacks, each in a transaction that also adds it to the table "migrations".
 * Returns how many were applied. Rejects with a StoreFailure if the database is not one of this program.
 */
export async function migrate(database: Database, session: Session, migrations: readonly Migration[]): Promise<number> {
	const sql = statementsOf(session);
	await runText(
		session,
		"CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
	);
	const applied = await session.run(selectApplied);
	checkHistory(database, applied, migrations);
	const missing = migrations.slice(applied.length);
	for (const migration of missing) await apply(session, sql, migration);
	return missing.length;
}

async function apply(session: Session, sql: Sql, migration: Migration): Promise<void> {
	const { number, name, text } = migration;
	await runText(session, session.begin);
	try {
		await runText(session, text);
		await sql`INSERT INTO migrations (number, name, checksum, applied_at)
			VALUES (${number}, ${name}, ${checksumOf(migration)}, ${Date.now()})`;
		await runText(session, "COMMIT");
	} catch (cause) {
		// If the rollback fails as well, the session is closed, which rolls back.
		await runText(session, "ROLLBACK").catch(() => {});
		throw new MigrationError(`Database migration ${number} (${name}) failed`, {
			cause,
		});
	}
}

/** Runs SQL text without parameters. The text must not contain user input. */
function runText(session: Session, text: string): Promise<unknown> {
	return session.run((sql) => sql.unsafe(text));
}
