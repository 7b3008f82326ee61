// Grants as the database has them: rows, and what follows from them.

import type { Access } from "../../../lib/principal.ts";
import type { TokenKind } from "../../keys/token.ts";
import type { DiscordPerson } from "../people/discord.ts";
import type { ResourcePath } from "../protocol/resources.ts";

/**
 * Milliseconds for which a refresh token still works after its first use: some clients refresh the same token in
 * parallel requests, and responses can get lost. A later use means that someone else has got the token.
 */
export const reuseGraceMs = 10_000;
/** A grant: the permission that a person has given to a client to act in the person's name. */
export interface Grant {
	id: string;
	client: { id: string; name: string; uri: string | undefined };
	redirectUri: string;
	person: DiscordPerson;
	access: Access;
	resource: ResourcePath;
	/** When the OAuth grant was created, in milliseconds since 1970. `usedAt` and `expiresAt` have the same unit. */
	createdAt: number;
	usedAt: number | undefined;
	expiresAt: number;
}

/** A row of the database table "oauth_grants": a person's permission for a client. */
export interface GrantRow {
	id: string;
	client_id: string;
	client_name: string;
	client_uri: string | null;
	redirect_uri: string;
	person_id: string;
	person_name: string;
	access: string;
	resource: string;
	generation: number | bigint;
	rotated_at: number | bigint;
	created_at: number | bigint;
	used_at: number | bigint | null;
	expires_at: number | bigint;
}

/** A row of the table "oauth_tokens" joined with the row of the token's grant. */
export interface TokenRow extends GrantRow {
	kind: TokenKind;
	token_access: string;
	token_generation: number | bigint;
	token_expires_at: number | bigint;
}

/**
 * Whether the refresh token with this number (`generation`) must not be used again: it was used before, and the grace
 * period of 10 s is over.
 */
export function isReused(grant: GrantRow, generation: number, now: number): boolean {
	const rotations = Number(grant.generation) - generation;
	if (rotations === 0) return false;
	return rotations > 1 || Number(grant.rotated_at) <= now - reuseGraceMs;
}

/** Converts a row of the table "oauth_grants" to a Grant. */
export function toGrant(row: GrantRow): Grant {
	return {
		id: row.id,
		client: {
			id: row.client_id,
			name: row.client_name,
			uri: row.client_uri ?? undefined,
		},
		redirectUri: row.redirect_uri,
		person: { id: row.person_id, name: row.person_name },
		access: row.access as Access,
		resource: row.resource as ResourcePath,
		createdAt: Number(row.created_at),
		usedAt: row.used_at === null ? undefined : Number(row.used_at),
		expiresAt: Number(row.expires_at),
	};
}
