// Which migrations a database has, compared with those of this program.

import { createHash } from "node:crypto";
import type { SQL } from "bun";
import { StoreFailure } from "./errors.ts";

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

/** A migration that the database already has: a row of the table "migrations". */
export interface Applied {
	number: number;
	name: string;
	checksum: string;
}

/**
 * Throws a StoreFailure unless the migrations that were applied to the database are the first ones in the list
 * `migrations`.
 */
export function checkHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
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

/** Returns the migrations that the database already has, ordered by number. */
export async function selectApplied(sql: SQL): Promise<Applied[]> {
	const rows: (Omit<Applied, "number"> & { number: number | bigint })[] =
		await sql`SELECT number, name, checksum FROM migrations ORDER BY number`;
	return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/**
 * Returns the checksum of a migration's SQL. It is stored in the database, so that later edits of the SQL are detected.
 */
export function checksumOf({ text }: Migration): string {
	return createHash("sha256").update(text).digest("hex");
}
