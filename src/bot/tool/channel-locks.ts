// Locks of channels: noted before Discord is asked, so that what was begun can be undone whatever happens in between.

import { type Client, Events } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { ToolError } from "../../mcp/tool.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { wasNotDone } from "../discord/rest/rest.ts";
import {
	type ChannelLockRow,
	deleteChannelLock,
	insertChannelLock,
	selectChannelLock,
} from "../store/channel-locks.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import type { Store } from "../store/store.ts";

export interface Locks {
	/** What the lock of a channel changes, roles first; none where it is not locked. Rejects with StoreUnavailable. */
	of(channelId: string): Promise<readonly ChannelLockRow[]>;
	/**
	 * Notes a lock, and then does `work` with each of its rows. What Discord refuses at once is forgotten again; else the
	 * failure says that it can be undone. Rejects with StoreUnavailable where it is not noted, and then does nothing.
	 */
	begin(
		rows: readonly ChannelLockRow[],
		work: (row: ChannelLockRow) => Promise<unknown>,
	): Promise<void>;
	/** The channel is not locked any more. False where that could not be noted. */
	forget(channelId: string): Promise<boolean>;
	/** Listens to what happens on Discord, on a client that is new: locks go with their channels. */
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
			await insertChannelLock(store.sql, rows);
			for (const [index, row] of rows.entries()) {
				try {
					await work(row);
				} catch (error) {
					if (
						index === 0 &&
						wasNotDone(error) &&
						(await forget(row.channel_id))
					)
						throw error;
					const failure = toToolError(error);
					if (!failure) throw error;
					throw new ToolError(
						`${failure.message} The lock is noted: unlock_channel undoes it, as far as it took effect.`,
						{ cause: error },
					);
				}
			}
		},
		forget,
		attach(client) {
			client.on(Events.ChannelDelete, ({ id }) => {
				forget(id).catch((error) =>
					log.error("a deleted channel's lock is still noted", { error }),
				);
			});
		},
	};
}
