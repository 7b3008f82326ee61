// What may call tools, in the console: keys, and the connections of people with clients. Only the holder of MCP_AUTH_TOKEN sees
// keys, makes and revokes them; people see and revoke their own connections.

import * as v from "valibot";
import type { Log } from "../../lib/log.ts";
import { accessLevels, maxPrincipalItems } from "../../lib/principal.ts";
import type { Store } from "../../lib/store/store.ts";
import { createKey, keyName, listKeys, revokeKey } from "../keys/keys.ts";
import { Grants } from "../oauth/grants/grants.ts";
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

/** The name of a key, or the id of a connection. */
const revoked = v.union([
	v.strictObject({ key: name }),
	v.strictObject({ connection: v.pipe(v.string(), v.maxLength(100)) }),
]);

const noDatabase = "Keys and connections need a database: set GATEWAY_DATABASE, for example to gateway.sqlite.";

interface AccessOptions {
	store: Store | undefined;
	/** Bots to which a key can be limited. */
	instances: readonly string[];
	log: Log;
	/** Milliseconds since 1970. */
	now: () => number;
}

export function createAccessRoutes({ store, instances, log, now }: AccessOptions) {
	function requireStore(): Store {
		if (store) return store;
		throw new ConsoleError("unavailable", noDatabase);
	}

	return {
		async list(_: Request, { person }: Viewer) {
			if (!store) return { keys: [], connections: [], reason: noDatabase };
			const keys = person ? [] : await listKeys(store);
			return { keys, connections: await new Grants(store, now).list(person?.person.id), reason: null };
		},
		async create(request: Request, viewer: Viewer) {
			requireRoot(viewer);
			const { days, ...given } = await readJson(request, newKey);
			const unknown = given.instances?.find((one) => !instances.includes(one));
			if (unknown !== undefined)
				throw new ConsoleError("invalid", `instances: there is no bot ${JSON.stringify(unknown.slice(0, 100))}.`);
			const at = now();
			const key = { ...given, expiresAt: days && at + days * dayMs };
			const secret = await createKey(requireStore(), key.name, key, at);
			if (secret === undefined)
				throw new ConsoleError(
					"conflict",
					`A key ${key.name} already exists. Choose another name, or revoke that key first.`,
				);
			log.info("created a key in the console", { key: key.name, access: key.access });
			return jsonResponse({ name: key.name, secret }, { status: 201 });
		},
		async revoke(request: Request, viewer: Viewer) {
			const given = await readJson(request, revoked);
			const personId = viewer.person?.person.id;
			if ("key" in given) requireRoot(viewer);
			const isDone =
				"key" in given
					? await revokeKey(requireStore(), given.key)
					: await new Grants(requireStore(), now).end(given.connection, personId);
			if (!isDone) throw new ConsoleError("not_found", "It no longer exists. Reload the list.");
			log.info("revoked a key or a connection in the console", { ...given, person: personId });
			return {};
		},
	};
}

function requireRoot({ person }: Viewer): void {
	if (!person) return;
	throw new ConsoleError("forbidden", "Only the holder of MCP_AUTH_TOKEN can see and change keys.");
}
