// Sign-in attempts in the database: from the authorization request, over Discord, to the person's consent. Each belongs to
// one browser, and each step happens once, on whichever gateway it arrives.

import type { Access } from "../../../lib/principal.ts";
import type { RowOf } from "../../../lib/store/row.ts";
import type { Statements } from "../../../lib/store/store.ts";
import type { PersonGuild } from "../../../mcp/rights.ts";
import { hashToken, newSecret } from "../../keys/token.ts";
import type { tables } from "../../store/migrations.ts";
import type { OAuthClient } from "../clients/client-metadata.ts";
import type { DiscordPerson } from "../people/discord.ts";
import type { ResourcePath } from "../protocol/metadata.ts";

/** Milliseconds to sign in at Discord and answer the consent page. */
const attemptLifetimeMs = 10 * 60_000;

/** After validation. */
export interface AuthorizationRequest {
	client: Pick<OAuthClient, "id" | "name" | "signs">;
	redirectUri: string;
	/** The client gets it back unchanged. */
	state: string | undefined;
	codeChallenge: string;
	resource: ResourcePath;
	/** What the client asks for: a proposal, since the person may choose more or less. */
	access: Access;
}

export interface Attempt {
	/** Undefined if the person signs in to the console. */
	request: AuthorizationRequest | undefined;
	/** Undefined until Discord has said who it is. */
	person: DiscordPerson | undefined;
	/** In which a bot allows the person to sign in. */
	guilds: PersonGuild[];
}

/** Both secrets are needed, so that only the browser that began can continue. */
export interface AttemptKey {
	/** In URLs: `state` on Discord's pages, `request` on the consent page. */
	state: string;
	/** In the cookie of the browser that began. */
	browser: string;
}

export interface SignedIn extends Attempt {
	person: DiscordPerson;
}

type Row = RowOf<typeof tables, "oauth_attempts">;

export class Attempts {
	constructor(
		private readonly store: Statements,
		private readonly now: () => number,
	) {}

	/** Returns the secret for URLs (`state`). */
	async start(browser: string, request: AuthorizationRequest | undefined): Promise<string> {
		const state = newSecret();
		const json = request ? JSON.stringify(request) : null;
		await this.store.sql`
			INSERT INTO oauth_attempts (state_hash, browser_hash, request, expires_at)
				VALUES (${hashToken(state)}, ${hashToken(browser)}, ${json}, ${this.now() + attemptLifetimeMs})`;
		return state;
	}

	/** The person is back from Discord. Undefined if unknown or expired, or if this was recorded before. */
	async comeBack({ state, browser }: AttemptKey): Promise<Attempt | undefined> {
		const [row] = await this.store.sql<Row>`
			UPDATE oauth_attempts SET returned_at = ${this.now()}
				WHERE state_hash = ${hashToken(state)} AND browser_hash = ${hashToken(browser)}
				AND returned_at IS NULL AND expires_at > ${this.now()} RETURNING *`;
		return row && toAttempt(row);
	}

	async setPerson(
		{ state, browser }: AttemptKey,
		{ id, name }: DiscordPerson,
		guilds: readonly PersonGuild[],
	): Promise<void> {
		await this.store.sql`
			UPDATE oauth_attempts
				SET person_id = ${id}, person_name = ${name}, guilds = ${JSON.stringify(guilds)}
				WHERE state_hash = ${hashToken(state)} AND browser_hash = ${hashToken(browser)}`;
	}

	/** Only for a client, after the person has signed in; otherwise undefined. */
	async find({ state, browser }: AttemptKey): Promise<SignedIn | undefined> {
		const rows = await this.store.sql<Row>`
			SELECT * FROM oauth_attempts
				WHERE state_hash = ${hashToken(state)} AND browser_hash = ${hashToken(browser)}
				AND request IS NOT NULL AND person_id IS NOT NULL AND expires_at > ${this.now()}`;
		return signedIn(rows);
	}

	/** Deletes the attempt. Undefined if there is none, such as after it was finished. */
	async finish({ state, browser }: AttemptKey): Promise<SignedIn | undefined> {
		const rows = await this.store.sql<Row>`
			DELETE FROM oauth_attempts
				WHERE state_hash = ${hashToken(state)} AND browser_hash = ${hashToken(browser)}
				AND request IS NOT NULL AND person_id IS NOT NULL AND expires_at > ${this.now()} RETURNING *`;
		return signedIn(rows);
	}

	/** Who signed in to the console with this browser; undefined if nobody did. */
	async visitor(browser: string): Promise<DiscordPerson | undefined> {
		const rows = await this.store.sql<Row>`
			SELECT * FROM oauth_attempts WHERE browser_hash = ${hashToken(browser)}
				AND request IS NULL AND person_id IS NOT NULL AND expires_at > ${this.now()}
				ORDER BY expires_at DESC LIMIT 1`;
		return signedIn(rows)?.person;
	}

	/** Forgets who signed in to the console. */
	async leave(browser: string): Promise<void> {
		await this.store.sql`DELETE FROM oauth_attempts WHERE browser_hash = ${hashToken(browser)} AND request IS NULL`;
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
