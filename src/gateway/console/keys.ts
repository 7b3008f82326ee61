// Keys in the console: listing, creating and revoking them, as on the command line. Only for the holder of
// MCP_AUTH_TOKEN.

import * as v from "valibot";
import type { Log } from "../../lib/log.ts";
import { accessLevels, maxPrincipalItems } from "../../lib/principal.ts";
import type { Store } from "../../lib/store/store.ts";
import { createKey, type Key, keyName, listKeys, revokeKey } from "../keys/keys.ts";
import { ConsoleError, jsonResponse, readJson } from "./respond.ts";
import type { Viewer } from "./viewer.ts";

const maxDays = 3_653;
const dayMs = 86_400_000;
const id = v.pipe(v.string(), v.regex(/^\d{17,20}$/, "expected an id of 17 to 20 digits"));
const name = v.pipe(v.string(), v.regex(keyName, 'expected a name of 1 to 64 letters, digits, "_", "." and "-"'));
const items = <Item extends v.GenericSchema>(item: Item) =>
	v.optional(v.pipe(v.array(item), v.minLength(1), v.maxLength(maxPrincipalItems)));

const newKey = v.strictObject({
	name,
	access: v.picklist(accessLevels),
	instances: items(v.string()),
	guilds: items(id),
	person: v.optional(id),
	days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxDays))),
});

const noDatabase = "Keys need a database: set GATEWAY_DATABASE, for example to gateway.sqlite.";

export interface KeyRoutesOptions {
	store: Store | undefined;
	/** Bots to which a key can be limited. */
	instances: readonly string[];
	log: Log;
	/** Milliseconds since 1970. */
	now: () => number;
}

export function createKeyRoutes({ store, instances, log, now }: KeyRoutesOptions) {
	function requireStore(viewer: Viewer): Store {
		requireRoot(viewer);
		if (store) return store;
		throw new ConsoleError("unavailable", noDatabase);
	}

	function describe(key: Omit<Key, "id">) {
		return { ...key, expired: key.expiresAt !== undefined && key.expiresAt <= now() };
	}

	return {
		async list(_: Request, viewer: Viewer) {
			requireRoot(viewer);
			if (!store) return { keys: null, reason: noDatabase };
			const keys = await listKeys(store);
			return { keys: keys.map(describe), reason: null };
		},
		async create(request: Request, viewer: Viewer) {
			const database = requireStore(viewer);
			const { days, ...given } = await readJson(request, newKey);
			const unknown = given.instances?.find((one) => !instances.includes(one));
			if (unknown !== undefined)
				throw new ConsoleError("invalid", `instances: there is no bot ${JSON.stringify(unknown.slice(0, 100))}.`);
			const at = now();
			const key = { ...given, expiresAt: days && at + days * dayMs, createdAt: at, lastUsedAt: undefined };
			const secret = await createKey(database, key.name, key, at);
			if (secret === undefined)
				throw new ConsoleError(
					"conflict",
					`A key ${key.name} already exists. Choose another name, or revoke that key first.`,
				);
			log.info("created a key in the console", { key: key.name, access: key.access });
			return jsonResponse({ key: describe(key), secret }, { status: 201 });
		},
		async revoke(request: Request, viewer: Viewer) {
			const database = requireStore(viewer);
			const { name: key } = await readJson(request, v.strictObject({ name }));
			if (!(await revokeKey(database, key))) throw new ConsoleError("not_found", `There is no key ${key}.`);
			log.info("revoked a key in the console", { key });
			return {};
		},
	};
}

function requireRoot({ person }: Viewer): void {
	if (!person) return;
	throw new ConsoleError("forbidden", "Only the holder of MCP_AUTH_TOKEN can see and change keys.");
}
