// Migrations: numbered steps from an empty database to the current tables. They run under the claim, so never in two
// instances at once.

import { createHash } from "node:crypto";
import type { Session } from "./database.ts";
import { StoreFailure } from "./db-error.ts";
import { type Sql, statementsOf } from "./statement.ts";

export interface Migration {
	/** Number of the database migration: 1, 2, 3 … without gaps. */
	number: number;
	/** Name of the database migration for error messages. */
	name: string;
	/**
	 * SQL of the migration, valid in PostgreSQL and SQLite. Never edit it after its release, because its checksum is
	 * stored; add a migration instead.
	 */
	text: string;
}

/** Thrown when a database migration fails; `cause` is the database's error. */
export class MigrationError extends Error {
	override name = "MigrationError";
}

/** A migration that the database already has: a row of the table "migrations". */
export interface Applied {
	number: number;
	name: string;
	checksum: string;
}

/**
 * Applies the migrations that the database lacks, each in a transaction that also adds it to the table "migrations".
 * Returns how many were applied. Rejects with a StoreFailure if the database is newer than this program, or was created
 * by other migrations.
 */
export async function migrate(
	session: Session,
	migrations: readonly Migration[],
): Promise<number> {
	const sql = statementsOf(session);
	await runText(
		session,
		"CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
	);
	const applied = await selectApplied(sql);
	checkHistory(applied, migrations);
	const missing = migrations.slice(applied.length);
	for (const migration of missing) await apply(session, sql, migration);
	return missing.length;
}

/** Returns the migrations that the database already has, ordered by number. */
export function selectApplied(sql: Sql): Promise<Applied[]> {
	return sql<Applied>`SELECT number, name, checksum FROM migrations ORDER BY number`;
}

/**
 * Throws a StoreFailure unless the migrations that were applied to the database are the first ones in the list
 * `migrations`.
 */
export function checkHistory(
	applied: readonly Applied[],
	migrations: readonly Migration[],
): void {
	const last = applied.at(-1);
	if (last && last.number > migrations.length)
		throw new StoreFailure(
			`The database is newer than this program: it has migration ${last.number} (${last.name}), and this program has ${migrations.length}. Run the newer program, or restore an older backup.`,
		);
	for (const [index, { number, name, checksum }] of applied.entries()) {
		const migration = migrations[index];
		if (number !== migration?.number)
			throw new StoreFailure(
				`Database migration ${index + 1} was never applied, but migration ${number} (${name}) was: someone has changed the table "migrations" by hand. Restore a backup.`,
			);
		if (checksum !== checksumOf(migration))
			throw new StoreFailure(
				`Database migration ${number} (${name}) was edited after it had been applied, so the tables may differ from what this program expects. Run the version that applied it.`,
			);
	}
}

async function apply(
	session: Session,
	sql: Sql,
	migration: Migration,
): Promise<void> {
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

function checksumOf({ text }: Migration): string {
	return createHash("sha256").update(text).digest("hex");
}
