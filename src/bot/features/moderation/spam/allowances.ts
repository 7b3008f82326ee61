// Allowances: people whose posts a moderator marked as fine. The bot does not treat their posts as spam for 24 hours.

import type { Log } from "../../../../lib/log.ts";
import { LruMap } from "../../../../lib/lru-map.ts";
import { StoreUnavailable } from "../../../store/database/db-error.ts";
import type { Store } from "../../../store/store.ts";
import { saveSpamAllowance, selectSpamAllowances } from "../../../store/tables/spam-incidents.ts";

/** How long a person's posts are not treated as spam, in milliseconds. */
const allowedMs = 24 * 3_600_000;
/** Maximum number of people with an allowance. Beyond it, the oldest allowances are dropped. */
const maxPeople = 5_000;

export type Allowances = ReturnType<typeof createAllowances>;

export function createAllowances({ sql }: Pick<Store, "sql">, log: Log, now: () => number) {
	/** End of each allowance in epoch milliseconds, by guild and user id. */
	const ends = new LruMap<string, number>(maxPeople);

	return {
		has: (guildId: string, userId: string) => (ends.get(`${guildId} ${userId}`) ?? 0) > now(),
		/**
		 * Stops treating a person's posts as spam for 24 hours. If the database is unavailable, the allowance ends at a
		 * restart.
		 */
		async add(guildId: string, userId: string): Promise<void> {
			const until = now() + allowedMs;
			ends.set(`${guildId} ${userId}`, until);
			try {
				await saveSpamAllowance(sql, {
					guild_id: guildId,
					user_id: userId,
					until,
				});
			} catch (error) {
				if (!(error instanceof StoreUnavailable)) throw error;
				log.warn("an allowance for a person's posts will be lost at a restart: the database is unavailable", {
					guild: guildId,
					user: userId,
				});
			}
		},
		/** Loads the allowances from the database. Rejects with StoreUnavailable. */
		async load(): Promise<void> {
			const rows = await selectSpamAllowances(sql, now(), maxPeople);
			for (const { guild_id, user_id, until } of rows.toReversed()) ends.set(`${guild_id} ${user_id}`, until);
		},
	};
}
