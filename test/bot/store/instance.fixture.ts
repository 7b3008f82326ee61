// An instance as a process of its own: it opens the store that its environment names, says what happens, a line of JSON
// each, and writes rows for as long as it may. Without an audit log, Discord or a server.

import { randomBytes } from "node:crypto";
import { startStore } from "../../../src/bot/store/store.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import { createLog } from "../../../src/lib/log.ts";
import { thingsTable } from "../../support/stores.ts";

const { NAME = "", DATABASE_URL, DB_SCHEMA, DATA_DIR = "" } = process.env;
/** How many characters each row has beside its number. Rows with many come as fast as they can. */
const padding = Number(process.env.PADDING ?? 0);
const say = (fact: object) => console.log(JSON.stringify(fact));

const store = startStore({
	databaseUrl: DATABASE_URL,
	schema: DB_SCHEMA,
	directory: DATA_DIR,
	instance: `${NAME} (pid ${process.pid} on here)`,
	log: createLog({ format: "json", level: "info" }),
	migrations: [thingsTable],
	backOffMs: [20, 100],
	queryTimeoutMs: 2_000,
});
void store.failed.then((error) => {
	say({ failed: error.message });
	process.exit(3);
});
// It ends with the test, however that ends.
void new Response(Bun.stdin.stream()).text().then(() => process.exit(0));

await store.opened;
let last: string | undefined;
let said = false;
for (let number = 0; ; number++) {
	// Whether a row was written may not be known: each has an id of its own. Random digits cannot be compressed.
	const id = `${NAME} ${number} ${randomBytes(padding / 2).toString("hex")}`;
	try {
		await store.sql`INSERT INTO things (id) VALUES (${id})`;
		if (!said) say({ claimed: NAME });
		said = true;
		if (last !== undefined) say({ available: NAME });
		last = undefined;
		if (padding > 0) continue;
	} catch (error) {
		if (!(error instanceof StoreUnavailable)) throw error;
		if (error.reason !== last) say({ unavailable: error.reason });
		last = error.reason;
	}
	await Bun.sleep(5);
}
