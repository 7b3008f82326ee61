// Deleting messages of a channel, many at once. Discord refuses all of them if one is over 14 days old.
// https://discord.com/developers/docs/resources/message#bulk-delete-messages

import { type GuildTextBasedChannel, Routes, SnowflakeUtil } from "discord.js";

/** A minute is left for the way to Discord. */
const bulkAgeMs = (14 * 24 * 60 - 1) * 60_000;

/** Whether a message is too old to be deleted together with others. */
export function isTooOldForBulk(id: string): boolean {
	return SnowflakeUtil.timestampFrom(id) < Date.now() - bulkAgeMs;
}

/** Deletes up to 100 messages in one request; none of several may be too old. */
export async function deleteAtOnce(
	{ id, client: { rest } }: GuildTextBasedChannel,
	ids: readonly string[],
	reason?: string,
): Promise<void> {
	const [first, ...others] = ids;
	if (first === undefined) return;
	const why = reason === undefined ? {} : { reason };
	if (others.length === 0)
		await rest.delete(Routes.channelMessage(id, first), why);
	else
		await rest.post(Routes.channelBulkDelete(id), {
			body: { messages: ids },
			...why,
		});
}
