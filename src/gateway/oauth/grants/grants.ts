// Grants in the database: what a person has allowed one client, with its codes and tokens. "Once" is always one conditional
// statement, so that it holds with several gateways.

import { type Access, includesAccess } from "../../../lib/principal.ts";
import type { RowOf } from "../../../lib/store/row.ts";
import { many, type Sql } from "../../../lib/store/statement.ts";
import type { Statements } from "../../../lib/store/store.ts";
import type { TokenOwner } from "../../keys/authenticator.ts";
import { createToken, hashToken, isSameSecret, newSecret, type TokenKind } from "../../keys/token.ts";
import type { tables } from "../../store/migrations.ts";
import { isDocumentId } from "../clients/client-metadata.ts";
import type { DiscordPerson } from "../people/discord.ts";
import type { ResourcePath } from "../protocol/metadata.ts";
import type { AuthorizationRequest } from "./attempts.ts";

export const codeLifetimeMs = 60_000;
export const accessLifetimeMs = 3_600_000;
/** Milliseconds without a refresh; then the person must sign in again. */
export const refreshLifetimeMs = 30 * 86_400_000;
const useIntervalMs = 60_000;
/** Milliseconds: clients refresh in parallel, and responses get lost. Later, someone else has got the token. */
export const reuseGraceMs = 10_000;

/** A person's permission for a client to act in the person's name. */
export interface Grant {
	id: string;
	client: AuthorizationRequest["client"];
	redirectUri: string;
	person: DiscordPerson;
	access: Access;
	resource: ResourcePath;
	/** Milliseconds since 1970, like `usedAt` and `expiresAt`. */
	createdAt: number;
	usedAt: number | undefined;
	expiresAt: number;
}

/** On the consent page. */
interface Consent {
	request: AuthorizationRequest;
	person: DiscordPerson;
	/** Chosen by the person. */
	access: Access;
	/** Id of the connection that this one replaces, and whose id it keeps. */
	replaces?: string | undefined;
}

export interface Tokens {
	accessToken: string;
	refreshToken: string;
	access: Access;
	grant: Grant;
}

export interface StoredToken {
	kind: TokenKind;
	/** At most that of the grant. */
	access: Access;
	/** Milliseconds since 1970. */
	expiresAt: number;
	/** Number of the grant's refresh tokens before this one. */
	generation: number;
	grant: Grant;
	/** Used before, and the grace period of 10 s is over. */
	isReused: boolean;
}

/** "mismatch": of another client or request. "replayed" (code), "reused" (refresh token): used twice; grant deleted. */
export type Refusal = "unknown" | "mismatch" | "replayed" | "reused";

/** To exchange a code for tokens. */
export interface Redemption {
	clientId: string;
	/** Undefined if absent, as in OAuth 2.1. */
	redirectUri: string | undefined;
	codeVerifier: string;
	/** As the client names it; undefined if absent. */
	resource: ResourcePath | undefined;
	/** Rejects if the request is not signed as it should be. Then the code is not used. */
	authenticate?: (client: Grant["client"]) => Promise<void>;
}

type GrantRow = RowOf<typeof tables, "oauth_grants">;

interface TokenRow extends GrantRow {
	kind: TokenKind;
	token_access: string;
	token_generation: number;
	token_expires_at: number;
}

type CodeRow = RowOf<typeof tables, "oauth_codes">;

export class Grants {
	constructor(
		private readonly store: Statements,
		private readonly now: () => number,
	) {}

	/** Returns the authorization code. */
	async issueCode(consent: Consent): Promise<string> {
		const code = newSecret();
		// Without "-" at its start, which the command line would take for an option.
		const id = consent.replaces ?? crypto.getRandomValues(Buffer.alloc(8)).toString("hex");
		const { codeChallenge } = consent.request;
		await this.store.sql`
			INSERT INTO oauth_codes (code_hash, grant_id, code_challenge, consent, expires_at)
				VALUES (${hashToken(code)}, ${id}, ${codeChallenge}, ${JSON.stringify(consent)}, ${this.now() + codeLifetimeMs})`;
		return code;
	}

	/** Creates the grant, in place of one that it replaces. A code works once, even if refused; a second use deletes the grant. */
	async redeem(code: string, redemption: Redemption): Promise<Tokens | Refusal> {
		const codeHash = hashToken(code);
		// Guesses do not lock the database.
		const [known] = await this.store.sql<CodeRow>`SELECT * FROM oauth_codes WHERE code_hash = ${codeHash}`;
		if (!known) return "unknown";
		const { client } = (JSON.parse(known.consent) as Consent).request;
		if (client.id === redemption.clientId) await redemption.authenticate?.(client);
		return this.store.transaction(async (sql) => {
			const [row] = await sql<CodeRow>`
				UPDATE oauth_codes SET used_at = ${this.now()} WHERE code_hash = ${codeHash} AND used_at IS NULL RETURNING *`;
			if (!row) {
				await deleteGrant(sql, known.grant_id);
				return "replayed";
			}
			if (row.expires_at <= this.now()) return "unknown";
			const consent: Consent = JSON.parse(row.consent);
			if (!isFor(row.code_challenge, consent, redemption)) return "mismatch";
			const grant = newGrant(row.grant_id, consent, this.now());
			await deleteGrant(sql, row.grant_id);
			await sql`INSERT INTO oauth_grants ${many([grant])}`;
			return this.#issueTokens(sql, toGrant(grant), consent.access, 0);
		});
	}

	/** Unexpired, by the hash of `hashToken`; undefined if there is none. */
	async findToken(tokenHash: string): Promise<StoredToken | undefined> {
		const [row] = await this.store.sql<TokenRow>`
			SELECT g.*, t.kind, t.access AS token_access, t.generation AS token_generation,
						t.expires_at AS token_expires_at
					FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
					WHERE t.token_hash = ${tokenHash} AND t.expires_at > ${this.now()}`;
		if (!row) return undefined;
		const generation = row.token_generation;
		return {
			kind: row.kind,
			access: row.token_access as Access,
			expiresAt: row.token_expires_at,
			generation,
			grant: toGrant(row),
			isReused: row.kind === "refresh" && isReused(row, generation, this.now()),
		};
	}

	/** For a refresh token from `findToken`. `access` is that of the new access token. */
	rotate({ grant, generation }: StoredToken, access: Access): Promise<Tokens | Refusal> {
		const next = generation + 1;
		const expiresAt = this.now() + refreshLifetimeMs;
		return this.store.transaction(async (sql) => {
			const [rotated] = await sql<GrantRow>`
				UPDATE oauth_grants SET generation = ${next}, rotated_at = ${this.now()}, used_at = ${this.now()}, expires_at = ${expiresAt}
					WHERE id = ${grant.id} AND generation = ${generation} RETURNING *`;
			if (rotated) return this.#issueTokens(sql, toGrant(rotated), access, next);
			const [current] = await sql<GrantRow>`SELECT * FROM oauth_grants WHERE id = ${grant.id}`;
			if (!current) return "unknown";
			if (!isReused(current, generation, this.now())) return this.#issueTokens(sql, toGrant(current), access, next);
			await deleteGrant(sql, grant.id);
			return "reused";
		});
	}

	/** The grant, with its refresh token, stays. */
	async endToken(tokenHash: string): Promise<void> {
		await this.store.sql`DELETE FROM oauth_tokens WHERE token_hash = ${tokenHash}`;
	}

	/** With all its tokens, and only if it is of `personId`, if given. False if there is no such grant. */
	end(id: string, personId?: string): Promise<boolean> {
		return this.store.transaction(async (sql) => {
			const rows = await sql`
				SELECT id FROM oauth_grants WHERE id = ${id} AND person_id = COALESCE(${personId ?? null}, person_id)`;
			if (rows.length > 0) await deleteGrant(sql, id);
			return rows.length > 0;
		});
	}

	/** Unexpired, newest first; of one person, if given. */
	async list(personId?: string): Promise<Grant[]> {
		const rows = await this.store.sql<GrantRow>`
			SELECT * FROM oauth_grants WHERE expires_at > ${this.now()} AND person_id = COALESCE(${personId ?? null}, person_id)
				ORDER BY created_at DESC, id`;
		return rows.map(toGrant);
	}

	/**
	 * The person's connection to which a request with more access adds. Undefined if it cannot be known which one asks: there
	 * are several of the client, or all installations of it share the id of a metadata document.
	 */
	async raisedBy({ client, resource, access }: AuthorizationRequest, personId: string): Promise<Grant | undefined> {
		const all = await this.list(personId);
		const [only, ...others] = all.filter((grant) => grant.client.id === client.id && grant.resource === resource);
		const isKnown = only && others.length === 0 && !isDocumentId(client.id);
		return isKnown && !includesAccess(only.access, access) ? only : undefined;
	}

	/** Also records that the grant was used. */
	async findOwner(hash: string, decidesAt?: string): Promise<TokenOwner | undefined> {
		const token = await this.findToken(hash);
		if (token?.kind !== "access") return undefined;
		const { access, expiresAt, grant } = token;
		// Calls go on when this fails; the store logs why.
		this.recordUse(grant).catch(() => {});
		const { id, client, resource } = grant;
		const person = { ...grant.person, signedIn: true };
		const narrowed = resource === "/mcp/readonly" ? true : undefined;
		const principal = {
			id: `grant:${id}`,
			name: client.name,
			client: client.name,
			person,
			access,
			narrowed,
			decidesAt,
		};
		return { principal, audience: resource, expiresAt };
	}

	/** At most once a minute. */
	async recordUse({ id, usedAt = 0 }: Grant): Promise<void> {
		const before = this.now() - useIntervalMs;
		if (usedAt > before) return;
		// Another gateway may have recorded one in the meantime.
		await this.store
			.sql`UPDATE oauth_grants SET used_at = ${this.now()} WHERE id = ${id} AND (used_at IS NULL OR used_at <= ${before})`;
	}

	async #issueTokens(sql: Sql, grant: Grant, access: Access, generation: number): Promise<Tokens> {
		const accessToken = createToken("access");
		const refreshToken = createToken("refresh");
		const row = (token: string, kind: TokenKind, access: Access, expires_at: number) => ({
			token_hash: hashToken(token),
			kind,
			grant_id: grant.id,
			access,
			generation,
			expires_at,
		});
		const rows = [
			row(accessToken, "access", access, this.now() + accessLifetimeMs),
			row(refreshToken, "refresh", grant.access, grant.expiresAt),
		];
		await sql`INSERT INTO oauth_tokens ${many(rows)}`;
		return { accessToken, refreshToken, access, grant };
	}
}

async function deleteGrant(sql: Sql, id: string): Promise<void> {
	await sql`DELETE FROM oauth_grants WHERE id = ${id}`;
	await sql`DELETE FROM oauth_tokens WHERE grant_id = ${id}`;
}

function isFor(
	challenge: string,
	{ request }: Consent,
	{ clientId, redirectUri, codeVerifier, resource }: Redemption,
): boolean {
	return (
		// Method S256 (RFC 7636, section 4.2).
		isSameSecret(Bun.SHA256.hash(codeVerifier, "base64url"), challenge) &&
		clientId === request.client.id &&
		(redirectUri === undefined || redirectUri === request.redirectUri) &&
		(resource === undefined || resource === request.resource)
	);
}

function newGrant(id: string, { request, person, access }: Consent, now: number): GrantRow {
	const { client, redirectUri, resource } = request;
	return {
		id,
		client_id: client.id,
		client_name: client.name,
		client_signs: client.signs ? 1 : null,
		redirect_uri: redirectUri,
		person_id: person.id,
		person_name: person.name,
		access,
		resource,
		generation: 0,
		rotated_at: now,
		created_at: now,
		used_at: null,
		expires_at: now + refreshLifetimeMs,
	};
}

/** Used before, and the grace period of 10 s is over. */
function isReused(grant: GrantRow, generation: number, now: number): boolean {
	const rotations = grant.generation - generation;
	if (rotations === 0) return false;
	return rotations > 1 || grant.rotated_at <= now - reuseGraceMs;
}

function toGrant(row: GrantRow): Grant {
	return {
		id: row.id,
		client: { id: row.client_id, name: row.client_name, signs: row.client_signs === 1 || undefined },
		redirectUri: row.redirect_uri,
		person: { id: row.person_id, name: row.person_name },
		access: row.access as Access,
		resource: row.resource as ResourcePath,
		createdAt: row.created_at,
		usedAt: row.used_at ?? undefined,
		expiresAt: row.expires_at,
	};
}
