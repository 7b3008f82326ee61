// Channel locks. Each is stored before the first request to Discord, so that it can be undone even after a crash.

import { type Client, Events } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import type { Log } from "../../lib/log.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { reasonOf } from "../results/result.ts";
import type { Store } from "../store/store.ts";
import { type ChannelLockRow, channelLockRows } from "../store/tables/channel-locks.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";

export type Locks = ReturnType<typeof createLocks>;

export function createLocks(store: Pick<Store, "sql">, log: Log) {
	/** False if the database is unavailable. */
	const forget = async (channel_id: string) =>
		(await channelLockRows.deleteAll(store.sql, { channel_id }).then(() => true, ignoreUnavailable)) ?? false;
	return {
		/** Those of roles first; empty if the channel is not locked. Rejects with StoreUnavailable. */
		of: (channel_id: string) => channelLockRows.all(store.sql, { channel_id }, "target_type, target_id"),
		/** Stores `rows`, calls `work` for each; if the first has no effect, deletes them. Rejects with StoreUnavailable. */
		async begin(rows: readonly ChannelLockRow[], work: (row: ChannelLockRow) => Promise<unknown>) {
			await channelLockRows.insert(store.sql, rows);
			for (const [index, row] of rows.entries()) {
				try {
					await work(row);
				} catch (error) {
					const isUndone = index === 0 && wasNotDone(error);
					if (isUndone && (await forget(row.channel_id))) throw error;
					const failure = toToolError(error);
					if (!failure) throw error;
					const people = said("result.lock.partial", { why: reasonOf(failure), where: `<#${row.channel_id}>` });
					const models = `${failure.message} The channel ${row.channel_id} may be locked, completely or in part: lock_channel with unlock = true restores its earlier permissions.`;
					throw new SaidError(people, { models, cause: error });
				}
			}
		},
		forget,
		/** Forgets the locks of deleted channels. For each new client. */
		attach(client: Client) {
			client.on(Events.ChannelDelete, ({ id }) => {
				forget(id).catch((error) =>
					log.error("could not delete the lock_channel record of a deleted channel", { error }),
				);
			});
		},
	};
}
