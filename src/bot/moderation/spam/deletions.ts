// Deletes spam messages. Messages of several people in a channel are deleted in one request, because Discord limits
// requests per channel and allows up to 100 messages in one request.

import { setTimeout as sleep } from "node:timers/promises";
import { PermissionFlagsBits, RESTJSONErrorCodes } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { describeBits, missingForBot } from "../../../discord/permissions.ts";
import { said } from "../../../texts/texts.ts";
import { bulkDelete, isTooOldForBulk } from "../../messages/bulk-delete.ts";
import {
	Impossible,
	type PersistentOptions,
	persistently,
	type RequestEnd,
	requireGuild,
} from "./persistent-request.ts";

const maxBatch = 100;
/** How long a message waits for others, so that one request deletes them together. */
const defaultGatherMs = 300;
const maxWaiting = 20_000;

const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
const { ViewChannel, ManageMessages } = PermissionFlagsBits;

interface DeletionsOptions extends PersistentOptions {
	connection: Connection;
	gatherMs?: number | undefined;
}

interface Place {
	guildId: string;
	channelId: string;
}

interface Waiting {
	messageId: string;
	end: (end: RequestEnd) => void;
}

/** One queue of messages per channel. */
export function createDeletions({ gatherMs = defaultGatherMs, connection, ...options }: DeletionsOptions) {
	const channels = new Map<string, Waiting[]>();
	let waiting = 0;

	async function work(place: Place, queue: Waiting[]): Promise<void> {
		const { closing } = options;
		await sleep(gatherMs, undefined, { signal: closing }).catch(() => {});
		while (queue.length > 0) {
			// The queue is in order of arrival, so the oldest messages are deleted first.
			const batch = queue.splice(0, batchSize(queue));
			const ids = batch.map(({ messageId }) => messageId);
			const end = await deleteIn(place, ids);
			waiting -= batch.length;
			for (const one of batch) one.end(end);
		}
		channels.delete(place.channelId);
	}

	function deleteIn({ guildId, channelId }: Place, ids: readonly string[]): Promise<RequestEnd> {
		const send = async () => {
			const guild = requireGuild(connection, guildId);
			// Archived threads are not in the cache.
			const channel = guild.channels.cache.get(channelId);
			const missing = channel ? missingForBot(guild, channel, ViewChannel | ManageMessages) : 0n;
			const lacking = { permissions: describeBits(missing), channel: `<#${channelId}>` };
			if (missing !== 0n) throw new Impossible(said("spam.why.lacks.channel", lacking));
			await bulkDelete({ id: channelId, client: guild.client }, ids, "spam");
		};
		return persistently(send, [UnknownMessage, UnknownChannel], options);
	}

	return {
		/** "done" also if it was deleted already. Never rejects. */
		delete(place: Place, messageId: string): Promise<RequestEnd> {
			if (waiting >= maxWaiting) return Promise.resolve({ failure: said("spam.why.full") });
			waiting += 1;
			const { promise, resolve } = Promise.withResolvers<RequestEnd>();
			const known = channels.get(place.channelId);
			const queue = known ?? [];
			queue.push({ messageId, end: resolve });
			if (known) return promise;
			channels.set(place.channelId, queue);
			void work(place, queue);
			return promise;
		},
	};
}

/** A message that is too old for bulk deletion (edited to spam later) is deleted alone. */
function batchSize(queue: readonly Waiting[]): number {
	const first = queue.slice(0, maxBatch).findIndex(({ messageId }) => isTooOldForBulk(messageId));
	return first === -1 ? maxBatch : Math.max(first, 1);
}
