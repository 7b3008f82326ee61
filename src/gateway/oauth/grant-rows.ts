// Grants as the database has them: rows, and what follows from them.

import type { Access } from "../../lib/principal.ts";
import type { TokenKind } from "../keys/token.ts";
import type { DiscordPerson } from "./discord.ts";
import type { ResourcePath } from "./resources.ts";

/**
 * Time for which a used refresh token can be used again, in milliseconds: for clients whose requests refresh the same
 * token at once, and for lost responses. Later use means that two parties have the token.
 */
export const reuseGraceMs = 10_000;
/** What a person has allowed one client. */
export interface Grant {
	id: string;
	client: { id: string; name: string; uri: string | undefined };
	redirectUri: string;
	person: DiscordPerson;
	access: Access;
	resource: ResourcePath;
	/** Times in milliseconds since 1970. */
	createdAt: number;
	usedAt: number | undefined;
	expiresAt: number;
}

/** A row of the table "oauth_grants". */
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

/** A row of the table "oauth_tokens", joined with its grant. */
export interface TokenRow extends GrantRow {
	kind: TokenKind;
	token_access: string;
	token_generation: number | bigint;
	token_expires_at: number | bigint;
}

/** Whether a refresh token of a generation was used before, longer ago than the grace period. */
export function isReused(
	grant: GrantRow,
	generation: number,
	now: number,
): boolean {
	const rotations = Number(grant.generation) - generation;
	if (rotations === 0) return false;
	return rotations > 1 || Number(grant.rotated_at) <= now - reuseGraceMs;
}

/** Returns the grant of a row. */
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
