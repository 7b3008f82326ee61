// PostgreSQL. All statements of a process go over one connection. An advisory lock is its claim; a process without a claim
// holds another lock while it migrates. The server releases the locks when the connection ends.

import { createHash } from "node:crypto";
import { SQL } from "bun";
import { claimTimeoutMs, type Database, type User } from "./database.ts";
import { claimHeld, explainPostgres } from "./errors.ts";
import { inspectPostgres } from "./inspect.ts";
import { createSchema, describePlace, type PostgresPlace, quoted } from "./postgres-schema.ts";

const pollMs = 100;

/** Milliseconds for each statement. */
const migrationTimeoutMs = 300_000;

export function createPostgres(place: PostgresPlace, user: User): Database {
	const { url, schema, variables } = place;
	const { where } = describePlace(place);
	const explain = explainPostgres(place);
	// Other processes can have the same name.
	const name = `${crypto.randomUUID().slice(0, 8)} ${user.instance}`;
	return {
		where,
		variable: variables.schema,
		claims: user.claims,
		explain,
		async open(signal) {
			const { promise: lost, resolve } = Promise.withResolvers<string>();
			const pool = new SQL({
				url,
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
				await setUp(connection, schema, name);
				if (user.claims) await claim(connection, place, user.instance, name, signal);
				else await connection`SELECT pg_advisory_lock(${lockKey(`migrations of ${schema}`)}::bigint)`;
				await createSchema(connection, schema);
				return {
					begin: "BEGIN",
					lost,
					run: (statement) => statement(connection),
					async ready(ms) {
						await connection`SELECT set_config('statement_timeout', ${String(Math.ceil(ms))}, false)`;
						if (!user.claims) await connection`SELECT pg_advisory_unlock_all()`;
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
		inspect: (signal, read) => inspectPostgres(place, signal, read),
	};
}

async function setUp(connection: SQL, schema: string, name: string): Promise<void> {
	const settings = {
		search_path: quoted(schema),
		// Shown in pg_stat_activity, and to an instance that finds the claim taken. PostgreSQL keeps 63 bytes.
		application_name: name.replace(/[^\x20-\x7e]/g, "?").slice(0, 63),
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

async function claim(
	connection: SQL,
	{ schema, variables }: PostgresPlace,
	instance: string,
	name: string,
	signal: AbortSignal,
): Promise<void> {
	const key = lockKey(schema);
	const end = performance.now() + claimTimeoutMs;
	for (;;) {
		const [row] = await connection`SELECT pg_try_advisory_lock(${key}::bigint) AS taken`;
		if (row.taken) return;
		const holder = await holderOf(connection, key);
		// The holder is an earlier connection of this process, whose end the server has not noticed yet.
		if (holder?.name.startsWith(name.slice(0, 9))) await connection`SELECT pg_terminate_backend(${holder.pid})`;
		else if (holder && performance.now() > end)
			throw claimHeld(variables.schema, `the schema "${schema}"`, holder.name.replace(/^[0-9a-f]{8} /, ""), instance);
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

/** Stays the same if the schema is dropped and created again. */
function lockKey(name: string): string {
	return createHash("sha256").update(`guildhall ${name}`).digest().readBigInt64BE().toString();
}
