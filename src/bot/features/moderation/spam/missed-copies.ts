// After a restart: the messages of a spammer that the bot has not seen, because it was stopped in the middle of the burst.

import {
	type Guild,
	type Message,
	PermissionFlagsBits,
	SnowflakeUtil,
} from "discord.js";
import { lowestIdAt } from "../../../discord/ids.ts";
import { missingForBot } from "../../../discord/permissions.ts";

/** Discord's maximum number of messages in one response. */
const pageSize = 100;

/**
 * Reads what a person has written in a guild since a time (epoch milliseconds), oldest first: of each channel with later
 * messages the first 100. Leaves out channels that cannot be read. Stops when `signal` aborts.
 */
export async function messagesSince(
	guild: Guild,
	userId: string,
	since: number,
	signal: AbortSignal,
): Promise<Message<true>[]> {
	const { ViewChannel, ReadMessageHistory } = PermissionFlagsBits;
	const found: Message<true>[] = [];
	for (const channel of guild.channels.cache.values()) {
		if (signal.aborted) break;
		if (!channel.isTextBased() || !channel.lastMessageId) continue;
		if (SnowflakeUtil.timestampFrom(channel.lastMessageId) < since) continue;
		if (missingForBot(guild, channel, ViewChannel | ReadMessageHistory) !== 0n)
			continue;
		const after = String(lowestIdAt(since));
		const page = await channel.messages
			.fetch({ after, limit: pageSize, cache: false })
			.catch(() => undefined);
		for (const message of page?.values() ?? [])
			if (message.author.id === userId) found.push(message);
	}
	return found.sort((a, b) => a.createdTimestamp - b.createdTimestamp);
}
