// Allowances: people whose posts a moderator marked as fine. The bot does not treat their posts as spam for 24 hours.

import type { Log } from "../../../lib/log.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import type { Store } from "../../store/store.ts";
import { selectSpamAllowances, spamAllowanceRows } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";

const allowedMs = 24 * 3_600_000;
const maxPeople = 5_000;

export type Allowances = ReturnType<typeof createAllowances>;

export function createAllowances({ sql }: Store, log: Log, now: () => number) {
	const ends = new LruMap<string, number>(maxPeople);

	return {
		has: (guildId: string, userId: string) => (ends.get(`${guildId} ${userId}`) ?? 0) > now(),
		async add(guildId: string, userId: string): Promise<void> {
			const until = now() + allowedMs;
			ends.set(`${guildId} ${userId}`, until);
			await spamAllowanceRows.save(sql, [{ guild_id: guildId, user_id: userId, until }]).catch((error) => {
				ignoreUnavailable(error);
				log.warn("an allowance for a person's posts will be lost at a restart: the database is unavailable", {
					guild: guildId,
					user: userId,
				});
			});
		},
		async load(): Promise<void> {
			const rows = await selectSpamAllowances(sql, now(), maxPeople);
			for (const { guild_id, user_id, until } of rows.toReversed()) ends.set(`${guild_id} ${user_id}`, until);
		},
	};
}
