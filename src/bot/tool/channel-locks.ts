// Channel locks. Each is stored before the first request to Discord, so that it can be undone even after a crash.

import { type Client, Events } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import type { Log } from "../../lib/log.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { reasonOf } from "../results/result.ts";
import type { Store } from "../store/store.ts";
import {
	type ChannelLockRow,
	channelLockRows,
	deleteChannelLock,
	selectChannelLock,
} from "../store/tables/channel-locks.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

export interface Locks {
	/** Those of roles first; empty if the channel is not locked. Rejects with StoreUnavailable. */
	of(channelId: string): Promise<readonly ChannelLockRow[]>;
	/** Stores `rows`, calls `work` for each; if the first has no effect, deletes them. Rejects with StoreUnavailable. */
	begin(rows: readonly ChannelLockRow[], work: (row: ChannelLockRow) => Promise<unknown>): Promise<void>;
	/** False if the database is unavailable. */
	forget(channelId: string): Promise<boolean>;
	/** Forgets the locks of deleted channels. For each new client. */
	attach(client: Client): void;
}

export function createLocks(store: Pick<Store, "sql">, log: Log): Locks {
	const forget = async (channelId: string) => {
		try {
			await deleteChannelLock(store.sql, channelId);
			return true;
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			return false;
		}
	};
	return {
		of: (channelId) => selectChannelLock(store.sql, channelId),
		async begin(rows, work) {
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
		attach(client) {
			client.on(Events.ChannelDelete, ({ id }) => {
				forget(id).catch((error) =>
					log.error("could not delete the lock_channel record of a deleted channel", { error }),
				);
			});
		},
	};
}
