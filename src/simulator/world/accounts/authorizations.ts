// OAuth2: the applications' secrets and redirect URIs, and what people have authorized applications to do in their names.
// https://docs.discord.com/developers/topics/oauth2

import { randomBytes } from "node:crypto";
import type { User } from "../state/entities.ts";
import type { State } from "../state/state.ts";

export interface OAuth2Settings {
	clientSecret: string;
	/** The URIs to which Discord may redirect people who authorize the application. They are compared as strings. */
	redirectUris: readonly string[];
}

interface Authorization {
	clientId: string;
	user: User;
}

interface Accepted extends Authorization {
	redirectUri: string;
}

export class Authorizations {
	readonly #settings = new Map<string, OAuth2Settings>();
	/** That applications have not yet exchanged for a token. */
	readonly codes = new Map<string, Accepted>();
	readonly #authorizations = new Map<string, Authorization>();

	constructor(private readonly state: State) {}

	/** The OAuth2 settings of a bot's application; undefined if there is no such bot. By default the secret is random. */
	settings(clientId: string): OAuth2Settings | undefined {
		const known = this.#settings.get(clientId);
		if (known || !this.state.users.get(clientId)?.bot) return known;
		return this.#set(clientId, { clientSecret: random(), redirectUris: [] });
	}

	configure(clientId: string, changes: Partial<OAuth2Settings>): OAuth2Settings {
		const settings = this.settings(clientId);
		if (!settings) throw new Error(`the simulator has no application ${clientId}`);
		return this.#set(clientId, { ...settings, ...changes });
	}

	/** Returns the access token. The code cannot be used again. */
	exchange(code: string, { clientId, user }: Accepted): string {
		this.codes.delete(code);
		const token = random();
		this.#authorizations.set(token, { clientId, user });
		return token;
	}

	personWith(token: string): User | undefined {
		return this.#authorizations.get(token)?.user;
	}

	/** All authorizations of this person for the application. Ignores unknown tokens and those of others. */
	revoke(token: string, clientId: string): void {
		const known = this.#authorizations.get(token);
		if (known?.clientId !== clientId) return;
		for (const [token, one] of this.#authorizations)
			if (one.clientId === clientId && one.user === known.user) this.#authorizations.delete(token);
	}

	#set(clientId: string, settings: OAuth2Settings): OAuth2Settings {
		this.#settings.set(clientId, settings);
		return settings;
	}
}

export function random(): string {
	return randomBytes(24).toString("base64url");
}
