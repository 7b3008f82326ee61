// Applies migrations.

import type { Database, Session } from "./database.ts";
import { StoreFailure } from "./errors.ts";
import { checkHistory, checksumOf, type Migration, selectApplied } from "./migrations.ts";
import { inTransaction, runText, statementsOf } from "./statement.ts";

/** All or none; returns how many. StoreFailure if the tables are not of this program, or a migration is wrong. */
export async function migrate(database: Database, session: Session, migrations: readonly Migration[]): Promise<number> {
	let step = 'Reading the table "migrations"';
	try {
		return await inTransaction(session, async () => {
			await runText(
				session,
				"CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
			);
			const applied = await session.run(selectApplied);
			checkHistory(database, applied, migrations);
			const missing = migrations.slice(applied.length);
			for (const migration of missing) {
				const { number, name, text } = migration;
				step = `Database migration ${number} (${name})`;
				await runText(session, text);
				await statementsOf(session)`INSERT INTO migrations (number, name, checksum, applied_at)
					VALUES (${number}, ${name}, ${checksumOf(migration)}, ${Date.now()})`;
			}
			return missing.length;
		});
	} catch (cause) {
		const kind = database.explain(cause)?.kind;
		if (cause instanceof StoreFailure || (kind !== undefined && kind !== "missing")) throw cause;
		throw new StoreFailure(`${step} failed: ${cause}`, { cause });
	}
}
