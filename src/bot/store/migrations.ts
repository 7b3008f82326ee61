// Migrations: numbered steps from an empty database to the tables of today. Whoever runs them holds the claim, so two
// instances never do at once.

import { createHash } from "node:crypto";
import type { Session } from "./database.ts";
import { StoreFailure } from "./db-error.ts";
import { type Sql, statementsOf } from "./statement.ts";

export interface Migration {
	/** 1, 2, 3 … without a gap. */
	number: number;
	/** A few words, for messages. */
	name: string;
	/** SQL, as both databases understand it. Once released, it is never edited: another migration follows. */
	text: string;
}

/** A migration that the database refused; `cause` is its error. */
export class MigrationError extends Error {
	override name = "MigrationError";
}

/** A migration, as the table of those that were applied has it. */
export interface Applied {
	number: number;
	name: string;
	checksum: string;
}

/** Throws when the numbers are not 1, 2, 3 …: a fault of ours. */
export function checkNumbers(migrations: readonly Migration[]): void {
	const wrong = migrations.find(({ number }, index) => number !== index + 1);
	if (wrong)
		throw new TypeError(
			`the migration "${wrong.name}" has the number ${wrong.number}, which does not follow the one before it`,
		);
}

/**
 * Applies what is missing, each migration in a transaction with the note that it was. Gives the number of those applied
 * now. Rejects with a StoreFailure where the database is newer than this program, or was made by other migrations.
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

/** Applied migrations by number. */
export function selectApplied(sql: Sql): Promise<Applied[]> {
	return sql<Applied>`SELECT number, name, checksum FROM migrations ORDER BY number`;
}

/** Throws a StoreFailure unless what was applied is where these migrations begin. */
export function checkHistory(
	applied: readonly Applied[],
	migrations: readonly Migration[],
): void {
	const last = applied.at(-1);
	if (last && last.number > migrations.length)
		throw new StoreFailure(
			`The database is newer than this program: it has migration ${last.number} (${last.name}), and this program knows ${migrations.length}. Run the newer program, or restore a backup from before it.`,
		);
	for (const [index, { number, name, checksum }] of applied.entries()) {
		const migration = migrations[index];
		if (number !== migration?.number)
			throw new StoreFailure(
				`Migration ${index + 1} was never applied, though ${number} (${name}) was: somebody has changed the table "migrations".`,
			);
		if (checksum !== checksumOf(migration))
			throw new StoreFailure(
				`Migration ${number} (${name}) was edited after it had been applied: the tables are not those that this program expects. Run the program that applied it.`,
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
		// Where the rollback fails as well, the connection is given up, which does the same.
		await runText(session, "ROLLBACK").catch(() => {});
		throw new MigrationError(`Migration ${number} (${name}) failed`, { cause });
	}
}

/** Text of ours, with nothing in it that came from outside. */
function runText(session: Session, text: string): Promise<unknown> {
	return session.run((sql) => sql.unsafe(text));
}

function checksumOf({ text }: Migration): string {
	return createHash("sha256").update(text).digest("hex");
}
