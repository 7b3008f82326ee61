// Tables "known_guilds": the guilds that the bot is in, and since when it is no longer in one; and "chat_opt_outs": people who
// have switched AI chat off for themselves. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

export const privacyTables = `
	CREATE TABLE known_guilds (
		guild_id TEXT NOT NULL PRIMARY KEY,
		left_at BIGINT
	);
	CREATE TABLE chat_opt_outs (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		at BIGINT NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	)`;

type KnownGuild = RowOf<typeof privacyTables, "known_guilds">;

/** `left_at`: null while the bot is in it. */
export const selectKnownGuilds = (sql: Sql) => sql<KnownGuild>`SELECT * FROM known_guilds`;

export type Person = Record<"guild" | "user", string>;

/** Who has AI chat off. In memory, because AI chat also answers while the database is unavailable. */
export class ChatPrivacy {
	#off: Set<string> | undefined;
	/** AI chat forgets what it has in memory of the person. */
	onErase?: (person: Person) => void;

	constructor(private readonly store: Pick<Store, "sql">) {}

	/** Rejects with StoreUnavailable if nobody knows yet. */
	async off(guild: string): Promise<(user: string) => boolean> {
		const read = () => this.store.sql<{ one: string }>`SELECT guild_id || ' ' || user_id AS one FROM chat_opt_outs`;
		this.#off ??= new Set((await read()).map(({ one }) => one));
		const off = this.#off;
		return (user) => off.has(`${guild} ${user}`);
	}

	/** `at`: since when it is off; undefined: it is on. */
	async set({ guild, user }: Person, at: number | undefined): Promise<void> {
		const { sql } = this.store;
		if (at === undefined) await sql`DELETE FROM chat_opt_outs WHERE guild_id = ${guild} AND user_id = ${user}`;
		else await sql`INSERT INTO chat_opt_outs VALUES (${guild}, ${user}, ${at}) ON CONFLICT DO NOTHING`;
		this.reload();
	}

	reload(): void {
		this.#off = undefined;
	}
}
