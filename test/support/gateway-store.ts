// The gateway's database in a place of its own.

import { join } from "node:path";
import type { StoreSettings } from "../../src/gateway/store/settings.ts";
import { openStore } from "../../src/gateway/store/store.ts";
import type { Statements, Store, StoreOptions } from "../../src/lib/store/store.ts";
import { type RecordedLog, recordLog } from "./log.ts";
import type { Place } from "./stores.ts";

/** The settings of the database of a place. `place.look` sees its tables. */
export function storeSettingsOf({
	settings: { databaseUrl, schema, directory },
}: Pick<Place, "settings">): StoreSettings {
	return { database: databaseUrl ?? join(directory, "store.sqlite"), schema: schema ?? "unused" };
}

/** The environment of a gateway with the database of a place. */
export function storeEnvOf(place: Pick<Place, "settings">) {
	const { database, schema } = storeSettingsOf(place);
	return { GATEWAY_DATABASE: database, GATEWAY_DB_SCHEMA: schema };
}

export interface TestGatewayStore extends AsyncDisposable {
	store: Store;
	logged: RecordedLog;
}

/** Opens the database without waiting for it. It retries quickly. */
export function openGatewayStore(
	place: Pick<Place, "settings">,
	options: Partial<StoreOptions> = {},
): TestGatewayStore {
	const logged = recordLog();
	const settings = storeSettingsOf(place);
	const store = openStore(settings, logged.log, { backOffMs: [20, 100], ...options });
	return { store, logged, [Symbol.asyncDispose]: () => store.close() };
}

/** All rows of a table of the gateway. */
export function rowsIn(store: Statements, table: string) {
	const text = [`SELECT * FROM ${table}`];
	return store.sql(Object.defineProperty(text, "raw", { value: text }) as unknown as TemplateStringsArray);
}
