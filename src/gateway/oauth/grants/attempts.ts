// Sign-in attempts in the database: from the authorization request, over Discord, to the person's consent. Each belongs to
// one browser, and each step happens once, on whichever gateway it arrives.

import type { Access } from "../../../lib/principal.ts";
import type { Statements } from "../../../lib/store/store.ts";
import type { PersonGuild } from "../../../mcp/rights.ts";
import type { DiscordPerson } from "../people/discord.ts";
import type { ResourcePath } from "../protocol/metadata.ts";
import { hashSecret, newSecret } from "../protocol/secrets.ts";

/**
 * Milliseconds after which a sign-in attempt expires. Within this time, the person must sign in at Discord and answer
 * the consent page.
 */
export const attemptLifetimeMs = 10 * 60_000;

/** An OAuth authorization request of an MCP client, after validation. */
export interface AuthorizationRequest {
	client: { id: string; name: string; uri?: string | undefined };
	redirectUri: string;
	/** The parameter `state` of the client's authorization request, which the client gets back unchanged. */
	state: string | undefined;
	codeChallenge: string;
	resource: ResourcePath;
	/** The highest access level ("read", "write" or "all") that the client asks for. */
	access: Access;
}

export interface Attempt {
	/**
	 * The authorization request of the client that a person wants to connect. Undefined if the person signs in only to see
	 * the page /connections.
	 */
	request: AuthorizationRequest | undefined;
	/** The person who signs in; undefined until Discord has told the gateway who it is. */
	person: DiscordPerson | undefined;
	/** The guilds in which the configuration of a bot allows the person to sign in. */
	guilds: PersonGuild[];
}

/**
 * Two secrets that together identify a sign-in attempt. Both are needed to continue it, so that only the browser that
 * started the attempt can do so.
 */
export interface AttemptKey {
	/** The secret of the sign-in attempt in URLs: `state` on Discord's pages, `request` on the consent page. */
	state: string;
	/** The secret in the cookie of the browser that started the sign-in attempt. */
	browser: string;
}

export interface SignedIn extends Attempt {
	person: DiscordPerson;
}

interface Row {
	request: string | null;
	person_id: string | null;
	person_name: string | null;
	guilds: string | null;
}

export class Attempts {
	constructor(
		private readonly store: Statements,
		private readonly now: () => number,
	) {}

	/**
	 * Stores a new sign-in attempt of the browser with the secret `browser`. Returns the attempt's secret for URLs
	 * (`state`), which begins with `prefix`.
	 */
	async start(browser: string, request: AuthorizationRequest | undefined, prefix = ""): Promise<string> {
		const state = prefix + newSecret();
		const json = request ? JSON.stringify(request) : null;
		await this.store.sql`
			INSERT INTO oauth_attempts (state_hash, browser_hash, request, expires_at)
				VALUES (${hashSecret(state)}, ${hashSecret(browser)}, ${json}, ${this.now() + attemptLifetimeMs})`;
		return state;
	}

	/**
	 * Records that Discord has sent the person of a sign-in attempt back to the gateway, and returns the attempt. Returns
	 * undefined if the attempt is unknown or expired, or if this was recorded before.
	 */
	async comeBack({ state, browser }: AttemptKey): Promise<Attempt | undefined> {
		const [row] = await this.store.sql<Row>`
			UPDATE oauth_attempts SET returned_at = ${this.now()}
				WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}
				AND returned_at IS NULL AND expires_at > ${this.now()} RETURNING *`;
		return row && toAttempt(row);
	}

	/** Stores in a sign-in attempt who signed in at Discord, and in which guilds this person may sign in. */
	async setPerson(
		{ state, browser }: AttemptKey,
		{ id, name }: DiscordPerson,
		guilds: readonly PersonGuild[],
	): Promise<void> {
		await this.store.sql`
			UPDATE oauth_attempts
				SET person_id = ${id}, person_name = ${name}, guilds = ${JSON.stringify(guilds)}
				WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}`;
	}

	/**
	 * Returns a sign-in attempt for a client, after the person has signed in at Discord; undefined if there is no such
	 * attempt.
	 */
	async find({ state, browser }: AttemptKey): Promise<SignedIn | undefined> {
		const rows = await this.store.sql<Row>`
			SELECT * FROM oauth_attempts
				WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}
				AND request IS NOT NULL AND person_id IS NOT NULL AND expires_at > ${this.now()}`;
		return signedIn(rows);
	}

	/**
	 * Deletes a sign-in attempt for a client, after the person has signed in at Discord, and returns it. Returns undefined
	 * if there is no such attempt, for example because it was finished before.
	 */
	async finish({ state, browser }: AttemptKey): Promise<SignedIn | undefined> {
		const rows = await this.store.sql<Row>`
			DELETE FROM oauth_attempts
				WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}
				AND request IS NOT NULL AND person_id IS NOT NULL AND expires_at > ${this.now()} RETURNING *`;
		return signedIn(rows);
	}

	/**
	 * Returns the person who signed in with this browser, in order to see the page /connections (clients that act in the
	 * person's name) or the console. Returns undefined if nobody did.
	 */
	async visitor(browser: string): Promise<DiscordPerson | undefined> {
		const rows = await this.store.sql<Row>`
			SELECT * FROM oauth_attempts WHERE browser_hash = ${hashSecret(browser)}
				AND request IS NULL AND person_id IS NOT NULL AND expires_at > ${this.now()}
				ORDER BY expires_at DESC LIMIT 1`;
		return signedIn(rows)?.person;
	}

	/** Signs a browser out of the page /connections, on which a person sees the clients that act in the person's name. */
	async leave(browser: string): Promise<void> {
		await this.store.sql`DELETE FROM oauth_attempts WHERE browser_hash = ${hashSecret(browser)} AND request IS NULL`;
	}
}

function signedIn([row]: readonly Row[]): SignedIn | undefined {
	const attempt = row && toAttempt(row);
	return attempt?.person && { ...attempt, person: attempt.person };
}

function toAttempt({ request, person_id, person_name, guilds }: Row): Attempt {
	return {
		request: request === null ? undefined : JSON.parse(request),
		person: person_id === null ? undefined : { id: person_id, name: person_name ?? "" },
		guilds: guilds === null ? [] : JSON.parse(guilds),
	};
}
