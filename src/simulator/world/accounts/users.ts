// Users: bots and people. Those with a token (accounts) can call the REST API.

import type { Locale } from "discord.js";
import { newToken, newUserProfile } from "../state/defaults.ts";
import type { Account, PrivilegedIntent, User } from "../state/entities.ts";
import type { State } from "../state/state.ts";

type NewUser = { username: string; global_name?: string | null; id?: string | undefined };

export class Users {
	/** `total`: how many Gateway sessions each bot may start. `used`: how many it has started, by bot id; never reset. */
	readonly sessionStarts = { total: 1_000, used: new Map<string, number>() };
	readonly closedDms = new Set<string>();
	/** Discord's language of each user who has chosen one, by user id; otherwise en-US. */
	readonly locales = new Map<string, `${Locale}`>();

	readonly withoutMfa = new Set<string>();

	readonly developer: User;

	constructor(private readonly state: State) {
		this.developer = this.add({ username: "developer" });
	}

	get bots(): Account[] {
		return [...this.state.accounts.values()].filter(({ user }) => user.bot);
	}

	get people(): Account[] {
		return [...this.state.accounts.values()].filter(({ user }) => !user.bot);
	}

	get(id: string): User | undefined {
		return this.state.users.get(id);
	}

	/** For a bot, whether its developer has two-factor authentication. */
	hasMfa(user: User): boolean {
		return !this.withoutMfa.has(user.bot ? this.developer.id : user.id);
	}

	add(given: NewUser): User {
		const user: User = {
			id: given.id ?? this.state.newId(),
			...newUserProfile,
			username: given.username,
			global_name: given.global_name ?? null,
		};
		this.state.users.set(user.id, user);
		return user;
	}

	addPerson(given: NewUser & { token?: string }): Account {
		return this.#addAccount(this.add(given), given.token, []);
	}

	/** Adds a bot user with a token. Its application has the same id. By default the bot has all privileged intents. */
	addBot(given: NewUser & { token?: string; privilegedIntents?: readonly PrivilegedIntent[] }): Account {
		const user = this.add(given);
		user.bot = true;
		user.discriminator = user.id.slice(-4);
		return this.#addAccount(
			user,
			given.token,
			given.privilegedIntents ?? ["GuildMembers", "GuildPresences", "MessageContent"],
		);
	}

	#addAccount(user: User, token = newToken(user.id), privilegedIntents: readonly PrivilegedIntent[]): Account {
		const account: Account = { token, user, privilegedIntents };
		this.state.accounts.set(token, account);
		return account;
	}
}
