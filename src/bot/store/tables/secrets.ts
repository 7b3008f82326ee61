// Table "secrets": random keys that the bot makes for itself and needs again after a restart.

import type { Sql } from "../../../lib/store/statement.ts";

export const secretsTable = `
	CREATE TABLE secrets (
		name TEXT NOT NULL PRIMARY KEY,
		value TEXT NOT NULL
	)`;

export async function loadSecret(sql: Sql, name: string, fresh: string): Promise<string> {
	await sql`INSERT INTO secrets (name, value) VALUES (${name}, ${fresh}) ON CONFLICT (name) DO NOTHING`;
	const [row] = await sql<{ value: string }>`SELECT value FROM secrets WHERE name = ${name}`;
	if (!row) throw new Error(`the secret ${name} was not stored`);
	return row.value;
}
