// Keys: tokens with a scope that the operator creates on the command line. The table "keys" has their hashes only.

import { type Access, accessLevels, type Principal } from "../../lib/principal.ts";
import type { RowOf } from "../../lib/store/row.ts";
import { many } from "../../lib/store/statement.ts";
import type { Statements } from "../../lib/store/store.ts";
import type { tables } from "../store/migrations.ts";
import type { FindToken } from "./authenticator.ts";
import { createToken, hashToken } from "./token.ts";

/** An undefined list sets no limit. */
export interface KeyScope {
	access: Access;
	instances?: readonly string[] | undefined;
	guilds?: readonly string[] | undefined;
	/** Id of the Discord user in whose name calls act. */
	person?: string | undefined;
	/** Milliseconds since 1970. */
	expiresAt?: number | undefined;
}

export interface Key extends KeyScope {
	name: string;
	/** Of the principal; partly random, so that a key created again under the same name has another one. */
	id: string;
	createdAt: number;
	/** Milliseconds since 1970. Uses within a minute of a recorded one are not recorded. */
	lastUsedAt: number | undefined;
}

type Row = RowOf<typeof tables, "keys">;

const idLength = 12;
const useIntervalMs = 60_000;

/** Matches valid names of API keys. */
export const keyName = /^[\w.-]{1,64}$/;

/** Returns the secret; only its hash is stored. Undefined if the name exists. */
export async function createKey(
	store: Statements,
	name: string,
	scope: KeyScope,
	now = Date.now(),
): Promise<string | undefined> {
	const secret = createToken("key");
	const row = {
		name,
		hash: hashToken(secret),
		access: scope.access,
		instances: scope.instances?.join(",") ?? null,
		guilds: scope.guilds?.join(",") ?? null,
		person: scope.person ?? null,
		created_at: now,
		expires_at: scope.expiresAt ?? null,
	};
	const created = await store.sql`INSERT INTO keys ${many([row])} ON CONFLICT (name) DO NOTHING RETURNING name`;
	return created.length === 1 ? secret : undefined;
}

/** Also expired ones, by name. */
export async function listKeys(store: Statements): Promise<Key[]> {
	const rows = await store.sql<Row>`SELECT * FROM keys`;
	return rows.map(keyOf).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** False if there is no such key. */
export async function revokeKey(store: Statements, name: string): Promise<boolean> {
	const deleted = await store.sql`DELETE FROM keys WHERE name = ${name} RETURNING name`;
	return deleted.length === 1;
}

/** Also records that the key was used. */
export function createFindKey(store: Statements, now: () => number = Date.now): FindToken {
	function recordUse({ name, lastUsedAt }: Key): void {
		const at = now();
		const before = at - useIntervalMs;
		if (lastUsedAt !== undefined && lastUsedAt > before) return;
		// Another gateway may have recorded one in the meantime. Calls go on when this fails; the store logs why.
		store.sql`UPDATE keys SET last_used_at = ${at} WHERE name = ${name} AND (last_used_at IS NULL OR last_used_at <= ${before})`.catch(
			() => {},
		);
	}

	return async (hash) => {
		const [row] = await store.sql<Row>`SELECT * FROM keys WHERE hash = ${hash}`;
		if (!row) return undefined;
		const key = keyOf(row);
		const isExpired = key.expiresAt !== undefined && key.expiresAt <= now();
		if (!isExpired) recordUse(key);
		return { principal: principalOf(key), expiresAt: key.expiresAt };
	};
}

function principalOf({ id, name, access, instances, guilds, person }: Key): Principal {
	return {
		id,
		name,
		access,
		instances,
		guilds,
		person: person === undefined ? undefined : { id: person, name: "", signedIn: false },
	};
}

function keyOf(row: Row): Key {
	const access = accessLevels.find((level) => level === row.access);
	if (!access) throw new Error(`the key ${row.name} has an unknown access in the database`);
	return {
		name: row.name,
		// The hash is that of a random secret.
		id: `key:${row.name}:${row.hash.slice(0, idLength)}`,
		access,
		instances: row.instances?.split(","),
		guilds: row.guilds?.split(","),
		person: row.person ?? undefined,
		createdAt: row.created_at,
		expiresAt: row.expires_at ?? undefined,
		lastUsedAt: row.last_used_at ?? undefined,
	};
}
