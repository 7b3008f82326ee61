// After a restart: the messages of a spammer that the bot has not seen, because it was stopped in the middle of the burst.

import { type Guild, type Message, PermissionFlagsBits } from "discord.js";
import { lowestIdAt } from "../../../discord/ids.ts";
import { missingForBot } from "../../../discord/permissions.ts";

const needed =
	PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

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
	const lowest = lowestIdAt(since);
	const found: Message<true>[] = [];
	for (const channel of guild.channels.cache.values()) {
		if (signal.aborted) break;
		const isNew =
			channel.isTextBased() && BigInt(channel.lastMessageId ?? 0) >= lowest;
		if (!isNew || missingForBot(guild, channel, needed) !== 0n) continue;
		const page = await channel.messages
			.fetch({ after: String(lowest), limit: 100, cache: false })
			.catch(() => undefined);
		for (const message of page?.values() ?? [])
			if (message.author.id === userId) found.push(message);
	}
	return found.sort((a, b) => a.createdTimestamp - b.createdTimestamp);
}
