// The gateway's own database, for keys and sign-ins. Several gateways and the command line use it at once, so it has no claim.
// Values in statements: booleans are stored as 0 and 1, times as milliseconds since 1970.

import { resolve } from "node:path";
import type { Log } from "../../lib/log.ts";
import { checkDatabase } from "../../lib/store/check.ts";
import { createDatabase, Store, type StoreOptions } from "../../lib/store/store.ts";
import { migrations } from "./migrations.ts";
import { isPostgresUrl, type StoreSettings } from "./settings.ts";
import { StoreUnavailable } from "./unavailable.ts";

/** In the background. Never throws. */
export function openStore(settings: StoreSettings, log: Log, options: Partial<StoreOptions> = {}): Store {
	const unavailable = (reason: string, _mayHaveRun: boolean, cause?: ErrorOptions) =>
		new StoreUnavailable(`The gateway's database is unavailable: ${reason}`, cause);
	const backOffMs = [200, 5_000] as const;
	return new Store(databaseOf(settings), { log, migrations, unavailable, backOffMs, ...options }).start();
}

/** Changes nothing. Resolves with a description; rejects with a CheckFailed. */
export function checkStore(settings: StoreSettings): Promise<string> {
	return checkDatabase(databaseOf(settings), migrations);
}

function databaseOf({ database, schema }: StoreSettings) {
	const place = isPostgresUrl(database)
		? { url: database, schema, variables: { url: "GATEWAY_DATABASE", schema: "GATEWAY_DB_SCHEMA" } }
		: { file: resolve(database), variable: "GATEWAY_DATABASE" };
	return createDatabase(place, { instance: "guildhall gateway", claims: false });
}
