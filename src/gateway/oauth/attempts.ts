// Sign-in attempts in the database: from the authorization request, over Discord, to the person's consent. Each belongs to
// one browser, and each step happens once, on whichever gateway it arrives.

import type { Access } from "../../lib/principal.ts";
import type { PersonGuild } from "../../mcp/rights.ts";
import type { StatementStore } from "../store/store.ts";
import type { DiscordPerson } from "./discord.ts";
import type { ResourcePath } from "./resources.ts";
import { hashSecret, newSecret } from "./secrets.ts";

/** Time for signing in at Discord and for the consent, in milliseconds. */
export const attemptLifetimeMs = 10 * 60_000;

/** A client's valid authorization request. */
export interface AuthorizationRequest {
	client: { id: string; name: string; uri?: string | undefined };
	redirectUri: string;
	/** The client's own state, sent back unchanged. */
	state: string | undefined;
	codeChallenge: string;
	resource: ResourcePath;
	/** The highest access level that the client asks for. */
	access: Access;
}

export interface Attempt {
	/** The request of a client; undefined if the person wants to see their connections. */
	request: AuthorizationRequest | undefined;
	/** Who signed in; undefined before they are back from Discord. */
	person: DiscordPerson | undefined;
	/** The guilds in which the person may sign in. */
	guilds: PersonGuild[];
}

/** Names one attempt, in one browser. */
export interface AttemptKey {
	/** The secret that names the attempt in addresses. To Discord it is sent as `state`. */
	state: string;
	/** The secret in the browser's cookie. */
	browser: string;
}

export interface Attempts {
	/** Stores a new attempt of a browser, and returns its `state`. */
	start(
		browser: string,
		request: AuthorizationRequest | undefined,
	): Promise<string>;
	/** Returns the attempt when its person is back from Discord. Undefined if it is unknown, expired, or has been used. */
	comeBack(key: AttemptKey): Promise<Attempt | undefined>;
	/** Stores who signed in. */
	setPerson(
		key: AttemptKey,
		person: DiscordPerson,
		guilds: readonly PersonGuild[],
	): Promise<void>;
	/** Returns an attempt whose person has signed in; undefined if there is none. */
	find(key: AttemptKey): Promise<SignedIn | undefined>;
	/** Ends an attempt whose person has signed in and returns it; undefined if there is none, or it was ended before. */
	finish(key: AttemptKey): Promise<SignedIn | undefined>;
	/** Returns who has signed in in a browser to see their connections; undefined if nobody has. */
	visitor(browser: string): Promise<DiscordPerson | undefined>;
	/** Forgets who has signed in in a browser to see their connections. */
	leave(browser: string): Promise<void>;
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

export function createAttempts(
	store: StatementStore,
	now: () => number,
): Attempts {
	return {
		async start(browser, request) {
			const state = newSecret();
			const json = request ? JSON.stringify(request) : null;
			await store.run(
				(
					sql,
				) => sql`INSERT INTO oauth_attempts (state_hash, browser_hash, request, expires_at)
					VALUES (${hashSecret(state)}, ${hashSecret(browser)}, ${json}, ${now() + attemptLifetimeMs})`,
			);
			return state;
		},
		async comeBack({ state, browser }) {
			const [row] = await store.run(
				(sql): Promise<Row[]> =>
					sql`UPDATE oauth_attempts SET returned_at = ${now()}
						WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}
							AND returned_at IS NULL AND expires_at > ${now()} RETURNING *`,
			);
			return row && toAttempt(row);
		},
		async setPerson({ state, browser }, { id, name }, guilds) {
			await store.run(
				(sql) => sql`UPDATE oauth_attempts
					SET person_id = ${id}, person_name = ${name}, guilds = ${JSON.stringify(guilds)}
					WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}`,
			);
		},
		async find({ state, browser }) {
			const rows = await store.run(
				(sql): Promise<Row[]> =>
					sql`SELECT * FROM oauth_attempts
						WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}
							AND request IS NOT NULL AND person_id IS NOT NULL AND expires_at > ${now()}`,
			);
			return signedIn(rows);
		},
		async finish({ state, browser }) {
			const rows = await store.run(
				(sql): Promise<Row[]> =>
					sql`DELETE FROM oauth_attempts
						WHERE state_hash = ${hashSecret(state)} AND browser_hash = ${hashSecret(browser)}
							AND request IS NOT NULL AND person_id IS NOT NULL AND expires_at > ${now()} RETURNING *`,
			);
			return signedIn(rows);
		},
		async visitor(browser) {
			const rows = await store.run(
				(sql): Promise<Row[]> =>
					sql`SELECT * FROM oauth_attempts WHERE browser_hash = ${hashSecret(browser)}
						AND request IS NULL AND person_id IS NOT NULL AND expires_at > ${now()}
						ORDER BY expires_at DESC LIMIT 1`,
			);
			return signedIn(rows)?.person;
		},
		async leave(browser) {
			await store.run(
				(sql) =>
					sql`DELETE FROM oauth_attempts WHERE browser_hash = ${hashSecret(browser)} AND request IS NULL`,
			);
		},
	};
}

function signedIn([row]: readonly Row[]): SignedIn | undefined {
	const attempt = row && toAttempt(row);
	return attempt?.person && { ...attempt, person: attempt.person };
}

function toAttempt({ request, person_id, person_name, guilds }: Row): Attempt {
	return {
		request: request === null ? undefined : JSON.parse(request),
		person:
			person_id === null
				? undefined
				: { id: person_id, name: person_name ?? "" },
		guilds: guilds === null ? [] : JSON.parse(guilds),
	};
}
