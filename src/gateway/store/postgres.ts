// PostgreSQL, which several gateways share. The tables are in a schema of their own.

import { createHash } from "node:crypto";
import { SQL } from "bun";
import { explainPostgres } from "../../lib/sql/errors.ts";
import { inspectPostgres } from "../../lib/sql/inspect.ts";
import { createSchema, describePlace, quoted } from "../../lib/sql/postgres-schema.ts";
import type { Database } from "./database.ts";
import type { StoreSettings } from "./settings.ts";

/** Maximum number of connections of one gateway to PostgreSQL. Idle connections are closed after a minute. */
const connections = 2;
const idleTimeoutSeconds = 60;

export function createPostgres(
	{ database: url, schema }: StoreSettings,
	timeouts: { queryTimeoutMs: number; openTimeoutMs: number },
): Database {
	const place = {
		url,
		schema,
		variables: { url: "GATEWAY_DATABASE", schema: "GATEWAY_DB_SCHEMA" },
	};
	return {
		where: describePlace(place).where,
		variable: place.variables.schema,
		connections,
		explain: explainPostgres(place),
		inspect: (signal) => inspectPostgres(place, signal),
		connect: async () =>
			new SQL({
				url,
				max: connections,
				bigint: true,
				idleTimeout: idleTimeoutSeconds,
				connectionTimeout: timeouts.openTimeoutMs / 1000,
				connection: {
					search_path: quoted(schema),
					application_name: "guildhall gateway",
					// The server ends a slow statement before the store gives up the connection.
					statement_timeout: Math.ceil(timeouts.queryTimeoutMs * 0.8),
					idle_in_transaction_session_timeout: timeouts.queryTimeoutMs * 2,
				},
			}),
		async lockForMigration(sql) {
			await sql`SELECT pg_advisory_xact_lock(${lockKey(schema)}::bigint)`;
			await createSchema(sql, schema);
		},
		statement: (sql, work) => work(sql),
		transaction: (sql, work) => sql.begin(work),
	};
}

/**
 * Returns the key of the PostgreSQL advisory lock for a schema. A gateway holds this lock only during migrations,
 * unlike a bot, which holds its lock while it runs.
 */
function lockKey(schema: string): string {
	const text = `guildhall gateway ${schema}`;
	return createHash("sha256").update(text).digest().readBigInt64BE().toString();
}
