// Bulk deletion of messages. Discord rejects the whole request if one message is older than 14 days, or cannot be deleted.
// https://discord.com/developers/docs/resources/message#bulk-delete-messages, discord/discord-api-docs#4087

import { type APIMessage, type Client, Constants, type MessageType, Routes, SnowflakeUtil } from "discord.js";

const maxAgeMs = (14 * 24 * 60 - 1) * 60_000;

/** Whether a message is too old for Discord's bulk deletion, which allows 14 days. */
export function isTooOldForBulk(id: string): boolean {
	return SnowflakeUtil.timestampFrom(id) < Date.now() - maxAgeMs;
}

/**
 * Whether Discord allows a message of this type to be deleted. In guilds, only some system messages in threads cannot
 * be deleted, such as a thread's starter message.
 * https://discord.com/developers/docs/resources/message#message-object-message-types
 */
export function isDeletable({ type }: APIMessage): boolean {
	const undeletable: readonly MessageType[] = Constants.UndeletableMessageTypes;
	return !undeletable.includes(type);
}

/**
 * Deletes up to 100 messages of a channel in one request. Several messages must be under 14 days old; a single one may
 * have any age.
 */
export async function bulkDelete(
	{ id, client: { rest } }: { id: string; client: Pick<Client, "rest"> },
	ids: readonly string[],
	reason?: string,
): Promise<void> {
	const [first, ...others] = ids;
	if (first === undefined) return;
	const options = reason === undefined ? {} : { reason };
	if (others.length === 0) await rest.delete(Routes.channelMessage(id, first), options);
	else
		await rest.post(Routes.channelBulkDelete(id), {
			body: { messages: ids },
			...options,
		});
}
