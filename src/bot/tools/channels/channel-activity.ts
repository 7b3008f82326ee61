// When somebody last wrote in channels and their threads.

import { type Guild, SnowflakeUtil } from "discord.js";
import { channelName } from "../../../discord/describe.ts";
import { type Channel, isForum } from "../../../discord/find.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { visibleChannels } from "../../../discord/visible-channels.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import { archivedThreadsOf, hasThreads } from "../../messages/archived-threads.ts";
import type { Moment } from "../../tool/arguments/arguments.ts";

/** Also in threads that are not archived. Discord keeps the ids of deleted messages. */
export function latestMessages(guild: Guild): (channel: Channel) => number | undefined {
	const threads = Map.groupBy(
		visibleChannels(guild)
			.filter((channel) => channel.isThread())
			.values(),
		({ parentId }) => parentId,
	);
	return (channel) => {
		const own = "lastMessageId" in channel ? channel.lastMessageId : undefined;
		const ids = [own, ...(threads.get(channel.id) ?? []).map((thread) => thread.lastMessageId ?? thread.id)];
		const latest = ids
			.filter((id) => typeof id === "string")
			.toSorted(compareIds)
			.at(-1);
		return latest === undefined ? undefined : SnowflakeUtil.timestampFrom(latest);
	};
}

/** Those of `channels`, older than `since`, in which nobody wrote since then, and for which this is not certain. */
export async function silentChannels(guild: Guild, channels: readonly Channel[], since: Moment) {
	const latestOf = latestMessages(guild);
	const candidates = channels
		.filter((channel) => (channel.isTextBased() || isForum(channel)) && !isObfuscated(channel))
		.filter((channel) => compareIds(channel.id, since.first) < 0 && (latestOf(channel) ?? 0) < since.atMs);
	const { threads, unlisted } = await archivedThreadsOf(
		guild,
		candidates.filter(hasThreads),
		{ after: since },
		new Set(),
	);
	const busy = new Set(
		threads
			.filter(({ id, lastMessageId }) => compareIds(lastMessageId ?? id, since.lastBefore) > 0)
			.map(({ parentId }) => parentId),
	);
	return {
		silent: candidates.filter(({ id }) => !busy.has(id)),
		uncertain: unlisted.filter(({ id }) => !busy.has(id)).map(channelName),
	};
}
