// How many messages people wrote: by one search of Discord's index for few people with few messages, otherwise by reading the
// channels page by page. Never a request for each person.

import { type APIMessage, type Guild, type GuildMember, PermissionFlagsBits, SnowflakeUtil } from "discord.js";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { time } from "../../discord/describe.ts";
import { isForum } from "../../discord/find.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { countOf, resultLines, thousands } from "../../discord/text.ts";
import { lowestIdAt } from "../../guild-document/names/ids.ts";
import { readsContent } from "../messages/message-content.ts";
import { namesChannels, searchIndex } from "../messages/message-index.ts";
import { readableIn, readChannels, scopeNotes, scopeOf, withArchived } from "../messages/message-search.ts";

/** https://docs.discord.com/developers/resources/message#search-guild-messages */
const maxAuthors = 100;
const maxChannels = 500;
/** The index has 25 messages on a page, a channel 100. */
const maxIndexed = 500;
const reserveMs = 11_000;

export interface MessageCounts {
	/** At or after `sinceMs`; with `isOpen`, there may be more. Undefined: not known. */
	rangeOf(member: GuildMember, sinceMs: number | null): { min: number; isOpen: boolean } | undefined;
	notes: readonly string[];
}

/** `starts`: epoch milliseconds; undefined: when each of them joined. */
export async function countMessages(
	guild: Guild,
	people: readonly GuildMember[],
	starts: readonly (number | undefined)[],
): Promise<MessageCounts> {
	const joins = people.flatMap(({ joinedTimestamp }) => joinedTimestamp ?? []);
	const sinceMs = starts.flatMap((one) => one ?? joins).reduce((least, one) => Math.min(least, one), Date.now());
	const first = lowestIdAt(sinceMs);
	const range = { after: { first: String(first), lastBefore: String(first - 1n), atMs: sinceMs } };
	const authors = new Set(people.map(({ id }) => id));
	const matches = ({ author }: APIMessage) => authors.has(author.id);
	let scope = scopeOf(guild, undefined, ["ReadMessageHistory"], channelsFromTop(guild));
	const isNamed = namesChannels(guild, false);
	if (isNamed) scope = await withArchived(guild, scope, range);
	const channel_id = isNamed ? readableIn(scope).map(({ id }) => id) : undefined;
	const query = { author_id: [...authors], min_id: range.after.lastBefore, channel_id, include_nsfw: true };
	const search = (limit: number) => searchIndex(guild, query, { limit, reserveMs, matches });
	const isFew = authors.size <= maxAuthors && (channel_id?.length ?? 0) <= maxChannels && readsContent(guild.client);
	const indexed = isFew ? await search(0) : undefined;
	const found = indexed && !indexed.isIndexing && indexed.total <= maxIndexed ? await search(maxIndexed) : undefined;
	let read: { messages: readonly APIMessage[]; count: number; wholeSinceMs: number; how: string };
	if (found && !found.isIndexing && !found.hasMore) {
		const messages = [...new Map(found.messages.map((one) => [one.id, one])).values()];
		const how = "all by these people in Discord's search index; only the very latest can be missing";
		const wholeSinceMs = scope.unlisted.length > 0 ? Infinity : sinceMs;
		read = { messages, count: messages.length, wholeSinceMs, how };
	} else {
		if (!isNamed) scope = await withArchived(guild, scope, range);
		const all = await readChannels(readableIn(scope), range, { matches, reserveMs, reportProgress() {} });
		const refused = all.notes.filter((note) => note.includes("was not read"));
		const isRefused = refused.length > 0 || scope.unlisted.length > 0;
		const wholeSinceMs = isRefused ? Infinity : all.stopped === undefined ? sinceMs : (all.reachedMs ?? Infinity);
		const how =
			wholeSinceMs === sinceMs ? "all there are" : `not all: ${[all.stopped ?? [], refused].flat().join(" ")}`;
		read = { messages: [...all.matches, ...all.further], count: all.searched, wholeSinceMs, how };
	}
	const own = Map.groupBy(read.messages, ({ author }) => author.id);
	const covered = new Set([...readableIn(scope), ...scope.parents].map(({ id }) => id));
	const unread = guild.channels.cache.filter((one) => (one.isTextBased() || isForum(one)) && !covered.has(one.id));
	// A thread has its channel's permissions. Of a channel that is hidden from the bot, they are not known.
	const places = [...new Set(unread.map((one) => (one.isThread() && one.parent) || one))];
	const isHidden = places.some(isObfuscated);
	const mayHaveWritten = (member: GuildMember) =>
		isHidden || places.some((one) => one.permissionsFor(member).has(PermissionFlagsBits.ViewChannel));
	return {
		rangeOf(member, since) {
			if (since === null || !authors.has(member.id)) return undefined;
			const min = (own.get(member.id) ?? []).filter(({ id }) => SnowflakeUtil.timestampFrom(id) >= since).length;
			return { min, isOpen: since < read.wholeSinceMs || mayHaveWritten(member) };
		},
		notes: resultLines(
			`Messages since ${time(sinceMs)}: ${thousands(read.count)} read, ${read.how}.`,
			scopeNotes(scope),
			unread.size > 0 && `Members who can see ${countOf(unread.size, "channel")} not searched may have written more.`,
		),
	};
}
