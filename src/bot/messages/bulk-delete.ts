// Bulk deletion of messages. Discord rejects the whole request if one message is older than 14 days, or cannot be deleted.
// https://discord.com/developers/docs/resources/message#bulk-delete-messages, discord/discord-api-docs#4087

import { type APIMessage, type Client, Constants, type MessageType, Routes, SnowflakeUtil } from "discord.js";

const maxAgeMs = (14 * 24 * 60 - 1) * 60_000;

/** Discord's limit is 14 days. */
export function isTooOldForBulk(id: string): boolean {
	return SnowflakeUtil.timestampFrom(id) < Date.now() - maxAgeMs;
}

/** Some system messages are not. https://discord.com/developers/docs/resources/message#message-object-message-types */
export function isDeletable({ type }: APIMessage): boolean {
	const undeletable: readonly MessageType[] = Constants.UndeletableMessageTypes;
	return !undeletable.includes(type);
}

/** Up to 100 in one request. Several must be under 14 days old; a single one may have any age. */
export async function bulkDelete(
	{ id, client: { rest } }: { id: string; client: Pick<Client, "rest"> },
	ids: readonly string[],
	reason?: string,
): Promise<void> {
	const [first, ...others] = ids;
	if (first === undefined) return;
	const options = reason === undefined ? {} : { reason };
	if (others.length === 0) await rest.delete(Routes.channelMessage(id, first), options);
	else await rest.post(Routes.channelBulkDelete(id), { body: { messages: ids }, ...options });
}
