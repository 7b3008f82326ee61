// PostgreSQL. All statements of an instance go over one connection, which holds an advisory lock for its schema: the claim.
// The server releases the lock when the connection ends.

import { createHash } from "node:crypto";
import { SQL } from "bun";
import { explainPostgres } from "../../../lib/sql/errors.ts";
import { inspectPostgres } from "../../../lib/sql/inspect.ts";
import { createSchema, describePlace, quoted } from "../../../lib/sql/postgres-schema.ts";
import { claimTimeoutMs, type Database } from "./database.ts";
import { claimHeld } from "./db-error.ts";

export interface PostgresOptions {
	url: string;
	schema: string;
	/** Name of this bot process, shown to another bot process that finds the database in use. */
	instance: string;
	/** Random identifier of this bot process: 8 hexadecimal digits. */
	nonce: string;
}

const pollMs = 100;

const migrationTimeoutMs = 300_000;

export function createPostgres(options: PostgresOptions): Database {
	const place = {
		url: options.url,
		schema: options.schema,
		variables: { url: "DATABASE_URL", schema: "DB_SCHEMA" },
	};
	const { where } = describePlace(place);
	const explain = explainPostgres(place);
	return {
		where,
		variable: place.variables.schema,
		explain,
		async open(signal) {
			const { promise: lost, resolve } = Promise.withResolvers<string>();
			const pool = new SQL({
				url: options.url,
				max: 1,
				bigint: true,
				// Closing an old or idle connection would release the claim.
				idleTimeout: 0,
				maxLifetime: 0,
				onclose: (error) => resolve(explain(error)?.reason ?? "the connection was closed"),
			});
			const cut = () => void pool.close({ timeout: 0 });
			signal.addEventListener("abort", cut, { once: true });
			try {
				signal.throwIfAborted();
				// The pool would replace a lost connection by one without the claim. A reserved connection is not replaced.
				const connection = await pool.reserve();
				await setUp(connection, options);
				await claim(connection, options, signal);
				await createSchema(connection, options.schema);
				return {
					begin: "BEGIN",
					lost,
					run: (statement) => statement(connection),
					async limit(ms) {
						await connection`SELECT set_config('statement_timeout', ${String(Math.ceil(ms))}, false)`;
					},
					lose(reason) {
						resolve(reason);
						cut();
					},
					// Closing the connection releases the claim.
					close: () => pool.close({ timeout: 0 }),
				};
			} catch (error) {
				await pool.close({ timeout: 0 });
				throw error;
			} finally {
				signal.removeEventListener("abort", cut);
			}
		},
		inspect: (signal) => inspectPostgres(place, signal),
	};
}

/** Sets parameters of the PostgreSQL connection, such as its schema and timeouts. */
async function setUp(connection: SQL, options: PostgresOptions): Promise<void> {
	const settings = {
		search_path: quoted(options.schema),
		// Shown in pg_stat_activity, and to an instance that finds the claim taken. PostgreSQL keeps 63 bytes.
		application_name: `${options.nonce} ${options.instance}`.replace(/[^\x20-\x7e]/g, "?").slice(0, 63),
		statement_timeout: String(migrationTimeoutMs),
		// Releases the claim of a machine that vanished within half a minute; the system's default is hours.
		tcp_keepalives_idle: "15",
		tcp_keepalives_interval: "5",
		tcp_keepalives_count: "3",
		// Ends a running statement whose client disconnected, which releases the claim.
		client_connection_check_interval: "5000",
	};
	// Older servers lack some of these settings.
	await connection`
		SELECT set_config(key, value, false) FROM json_each_text(${JSON.stringify(settings)}::text::json)
		WHERE current_setting(key, true) IS NOT NULL`;
}

/**
 * Takes the advisory lock that keeps other bot processes out of the PostgreSQL schema. Rejects with a StoreFailure that
 * names the process that holds the lock.
 */
async function claim(
	connection: SQL,
	{ schema, instance, nonce }: PostgresOptions,
	signal: AbortSignal,
): Promise<void> {
	const key = claimKey(schema);
	const end = performance.now() + claimTimeoutMs;
	for (;;) {
		const [row] = await connection`SELECT pg_try_advisory_lock(${key}::bigint) AS taken`;
		if (row.taken) return;
		const holder = await holderOf(connection, key);
		// The holder is an earlier connection of this process, whose end the server has not noticed yet.
		if (holder?.name.startsWith(`${nonce} `)) await connection`SELECT pg_terminate_backend(${holder.pid})`;
		else if (holder && performance.now() > end)
			throw claimHeld("DB_SCHEMA", `the schema "${schema}"`, holder.name.replace(/^[0-9a-f]{8} /, ""), instance);
		signal.throwIfAborted();
		await Bun.sleep(pollMs);
	}
}

async function holderOf(connection: SQL, key: string) {
	const [row] = await connection`
		SELECT l.pid, coalesce(nullif(a.application_name, ''), 'another process') AS name
		FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND ((l.classid::bigint << 32) | l.objid::bigint) = ${key}::bigint`;
	return row as { pid: bigint; name: string } | undefined;
}

/**
 * Returns the key of the PostgreSQL advisory lock for a schema. The key is derived from the schema's name, so it stays
 * the same if the schema is dropped and created again.
 */
function claimKey(schema: string): string {
	const hash = createHash("sha256").update(`guildhall ${schema}`).digest();
	return hash.readBigInt64BE().toString();
}
