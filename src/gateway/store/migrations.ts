// All migrations of the gateway's database, in the order of their numbers. Append; never edit a released one.

import type { Migration } from "../../lib/sql/migrations.ts";

export const migrations: readonly Migration[] = [
	{
		number: 1,
		name: "keys",
		text: `CREATE TABLE keys (
			name TEXT NOT NULL PRIMARY KEY,
			hash TEXT NOT NULL UNIQUE,
			access TEXT NOT NULL,
			instances TEXT,
			guilds TEXT,
			person TEXT,
			created_at BIGINT NOT NULL,
			expires_at BIGINT,
			last_used_at BIGINT
		)`,
	},
];
