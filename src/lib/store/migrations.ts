// Migrations: numbered steps from an empty database to the current tables. Which of them a database has.

import { createHash } from "node:crypto";
import type { SQL } from "bun";
import { StoreFailure } from "./errors.ts";

export interface Migration {
	/** 1, 2, 3 … without gaps. */
	number: number;
	name: string;
	/** For PostgreSQL and SQLite. The checksum is stored: from the first release on, add migrations, edit none. */
	text: string;
}

export interface Applied {
	number: number;
	name: string;
	checksum: string;
}

export interface DatabaseName {
	/** Without user name and password. */
	where: string;
	variable: string;
}

/** StoreFailure unless the migrations that the database has are the first ones of this program. */
export function checkHistory(
	{ where, variable }: DatabaseName,
	applied: readonly Applied[],
	migrations: readonly Migration[],
): void {
	for (const [index, migration] of migrations.entries()) {
		const found = applied[index];
		if (found && (found.number !== migration.number || found.checksum !== checksumOf(migration)))
			throw new StoreFailure(
				`${where} was made by another version of this program: its migration ${found.number} (${found.name}) is not this program's migration ${migration.number} (${migration.name}). Nothing was changed. Run that version, or set ${variable} to a new value, where this program makes new tables.`,
			);
	}
	const last = applied.at(-1);
	if (last && applied.length > migrations.length)
		throw new StoreFailure(
			`The database is newer than this program: ${where} has migration ${last.number} (${last.name}), and this program has ${migrations.length}. Run the newer program, or restore an older backup.`,
		);
}

export async function selectApplied(sql: SQL): Promise<Applied[]> {
	const rows: (Omit<Applied, "number"> & { number: number | bigint })[] =
		await sql`SELECT number, name, checksum FROM migrations ORDER BY number`;
	return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/** Stored in the database, so that later edits of the SQL are detected. */
export function checksumOf({ text }: Migration): string {
	return createHash("sha256").update(text).digest("hex");
}
