// OAuth2: the applications' secrets and redirect URIs, and what people have authorized applications to do in their names.
// https://docs.discord.com/developers/topics/oauth2

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { User } from "../state/entities.ts";
import type { State } from "../state/state.ts";

/** The OAuth2 scopes that the simulator implements. They allow an application to read data of a person. */
const simulatedScopes = ["identify", "email", "guilds"] as const;
export type Scope = (typeof simulatedScopes)[number];

export function isSimulatedScope(scope: string): scope is Scope {
	return simulatedScopes.some((one) => one === scope);
}

/** The OAuth2 settings of an application. The client id is the id of the application's bot. */
export interface OAuth2Settings {
	clientSecret: string;
	/** The URIs to which Discord may redirect people who authorize the application. They are compared as strings. */
	redirectUris: readonly string[];
}

interface Accepted {
	clientId: string;
	user: User;
	scopes: readonly Scope[];
	redirectUri: string;
	challenge: string | undefined;
}

/** What a person has authorized an application to do (scopes), with the application's current tokens. */
export interface Authorization extends Pick<Accepted, "clientId" | "user" | "scopes"> {
	accessToken: string;
	refreshToken: string;
	/** When the access token expires, in milliseconds since 1970. */
	expiresAt: number;
}

export class Authorizations {
	/**
	 * How long an application can exchange an OAuth2 code for tokens, in milliseconds. Source: a Discord developer,
	 * https://github.com/discord/discord-api-docs/issues/2526
	 */
	codeLifetimeMs = 100_000;
	/** In milliseconds: as `expires_in` in Discord's examples. Refresh tokens do not expire. */
	tokenLifetimeMs = 604_800_000;

	readonly #settings = new Map<string, OAuth2Settings>();
	readonly #codes = new Map<string, Accepted & { expiresAt: number }>();
	readonly #authorizations = new Map<string, Authorization>();

	constructor(private readonly state: State) {}

	/** The OAuth2 settings of a bot's application; undefined if there is no such bot. By default the secret is random. */
	settings(clientId: string): OAuth2Settings | undefined {
		const known = this.#settings.get(clientId);
		if (known || !this.state.users.get(clientId)?.bot) return known;
		return this.#set(clientId, { clientSecret: random(), redirectUris: [] });
	}

	/** Changes the OAuth2 settings of a bot's application. Throws if there is no such bot. */
	configure(clientId: string, changes: Partial<OAuth2Settings>): OAuth2Settings {
		const settings = this.settings(clientId);
		if (!settings) throw new Error(`the simulator has no application ${clientId}`);
		return this.#set(clientId, { ...settings, ...changes });
	}

	hasSecret(clientId: string, clientSecret: string): boolean {
		const settings = this.settings(clientId);
		return settings !== undefined && timingSafeEqual(sha256(settings.clientSecret), sha256(clientSecret));
	}

	/** Returns the code that the application can exchange for tokens. */
	accept(accepted: Accepted): string {
		const code = random();
		const expiresAt = Date.now() + this.codeLifetimeMs;
		this.#codes.set(code, { ...accepted, expiresAt });
		return code;
	}

	/** Undefined if the code is unknown, was used or has expired. */
	accepted(code: string): Accepted | undefined {
		const known = this.#codes.get(code);
		if (known && known.expiresAt > Date.now()) return known;
		this.#codes.delete(code);
		return undefined;
	}

	/** Whether a PKCE code verifier belongs to a code challenge. */
	isVerified(challenge: string, verifier: string): boolean {
		return sha256(verifier).toString("base64url") === challenge;
	}

	/** `accepted` is the result of the method `accepted`. The code cannot be used again. */
	exchange(code: string, accepted: Accepted): Authorization {
		this.#codes.delete(code);
		return this.#issue(accepted);
	}

	/** The authorization with this access token; undefined if the token is unknown or has expired. */
	byAccessToken(token: string): Authorization | undefined {
		const known = this.#authorizations.get(token);
		const isValid = known?.accessToken === token;
		return isValid && known.expiresAt > Date.now() ? known : undefined;
	}

	/** The authorization with this refresh token; undefined if the token is unknown or belongs to another application. */
	byRefreshToken(token: string, clientId: string): Authorization | undefined {
		const known = this.#authorizations.get(token);
		const isValid = known?.refreshToken === token;
		return isValid && known.clientId === clientId ? known : undefined;
	}

	/** Replaces the access token and the refresh token of an authorization by new ones. The old tokens become invalid. */
	refresh(authorization: Authorization): Authorization {
		this.#forget(authorization);
		return this.#issue(authorization);
	}

	/** Deletes all authorizations of this person for the application. Ignores unknown tokens and those of others. */
	revoke(token: string, clientId: string): void {
		const known = this.#authorizations.get(token);
		if (known?.clientId !== clientId) return;
		for (const one of this.#authorizations.values())
			if (one.clientId === clientId && one.user === known.user) this.#forget(one);
	}

	#set(clientId: string, settings: OAuth2Settings): OAuth2Settings {
		this.#settings.set(clientId, settings);
		return settings;
	}

	#issue({ clientId, user, scopes }: Pick<Authorization, "clientId" | "user" | "scopes">): Authorization {
		const authorization: Authorization = {
			clientId,
			user,
			scopes,
			accessToken: random(),
			refreshToken: random(),
			expiresAt: Date.now() + this.tokenLifetimeMs,
		};
		this.#authorizations.set(authorization.accessToken, authorization);
		this.#authorizations.set(authorization.refreshToken, authorization);
		return authorization;
	}

	#forget({ accessToken, refreshToken }: Authorization): void {
		this.#authorizations.delete(accessToken);
		this.#authorizations.delete(refreshToken);
	}
}

function random(): string {
	return randomBytes(24).toString("base64url");
}

function sha256(text: string): Buffer {
	return createHash("sha256").update(text).digest();
}
