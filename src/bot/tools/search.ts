// Searching and counting the messages of one, several or all channels.

import type { Guild } from "discord.js";
import * as v from "valibot";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import { unlisted } from "../../mcp/json-schema.ts";
import { channelName, memberName, time } from "../discord/describe.ts";
import { anyChannel } from "../discord/find.ts";
import { PlatformBusy, timeLeftMs } from "../discord/rest/rest.ts";
import { resultLines } from "../discord/text.ts";
import { readsContent, requireContent } from "../messages/message-content.ts";
import {
	authorType,
	filterArguments,
	matcher,
	userIds,
} from "../messages/message-filter.ts";
import {
	type Indexed,
	type IndexQuery,
	indexQuery,
	isForIndex,
	searchIndex,
} from "../messages/message-index.ts";
import { usualKinds } from "../messages/message-lines.ts";
import {
	type Found,
	type Range,
	readChannels,
	type Scope,
	scopeNote,
	scopeOf,
} from "../messages/message-search.ts";
import {
	type Count,
	countLines,
	countsOf,
	type Grouping,
	groupings,
	summaries,
} from "../messages/message-summary.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	limit,
	list,
	snowflake,
	text,
} from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

/**
 * Remaining time of the tool call, in milliseconds, below which a search sends no more requests. A request may take 10
 * s.
 */
const reserveMs = 11_000;
/** Maximum number of channels for which messages are counted with one search in Discord's index for each channel. */
const maxCountedChannels = 100;

const input = v.strictObject({
	guild_id,
	...filterArguments,
	not_user_ids: userIds("Not by these."),
	mentions: userIds("Mentioning these."),
	pinned: v.optional(flag("Pinned or not.")),
	count_by: v.optional(
		choice(groupings, "Return counts, with 0 for silent user_ids."),
	),
	limit: limit(1000, 50),
	channel_id: unlisted(found(anyChannel, "channel")),
	author_id: unlisted(snowflake("author")),
	author_name: unlisted(text(1, 100, "Part of the author's name.")),
	content: unlisted(text(1, 1024, "Part of the text.")),
	author_type: unlisted(list(authorType, 1, 6, "Types of authors.")),
	max_pages: unlisted(limit(100, 20, "Maximum pages to read.")),
});

type Args = v.InferOutput<typeof input>;

export const searchMessages = readTool({
	name: "search_messages",
	toolset: "messages",
	title: "Search messages",
	description:
		"Search or count messages, newest first. With `after` or in one channel, reads every message; otherwise asks Discord's index, which finds whole words.",
	permissions: ["ReadMessageHistory"],
	permissionsIn: "run",
	intents: ["MessageContent"],
	input,
	aliases: [
		{
			name: "search_guild_messages",
			adapt: fromGuildSearch,
			// search_guild_messages searched with Discord's index.
			covers: ({ channel_id, channel_ids: ids, after }) =>
				channel_id === undefined &&
				after === undefined &&
				!(Array.isArray(ids) && ids.length === 1),
		},
	],
	async run(given, { discord, guild, channel, channels }, { reportProgress }) {
		const args = withFormer(given);
		const { count_by, limit, max_pages, after, before } = args;
		const places = channel ? [...(channels ?? []), channel] : channels;
		const scope = scopeOf(guild, places, ["ReadMessageHistory"]);
		const search = { guild, args, scope, isNamed: places !== undefined };
		const isForIndex = usesIndex(search);
		if (isForIndex) {
			if (args.text !== undefined || args.has !== undefined)
				requireContent(discord, "Discord does not let it search");
			const result = readsContent(discord) ? await askIndex(search) : undefined;
			if (result) return result;
		}
		const read = await readChannels(
			scope.channels,
			{ after, before },
			{
				matches: matcher(args, guild),
				limit: count_by ? undefined : limit,
				maxPages: max_pages,
				reserveMs,
				reportProgress,
			},
		);
		const result = count_by
			? countResult(search, count_by, read)
			: readResult(search, read);
		return isForIndex
			? [
					...result,
					"Channels were read, because Discord's search cannot be used yet.",
				]
			: result;
	},
});

/** A search for messages: the arguments of the call, and the channels to search. */
interface Search {
	guild: Guild;
	args: Args;
	scope: Scope;
	/** Whether the call names the channels to search. */
	isNamed: boolean;
}

/** Converts arguments of the former tool `search_guild_messages` to those of `search_messages`. */
function fromGuildSearch(args: JsonObject): JsonObject {
	const { query, author_ids, sort: _, order: __, offset, ...rest } = args;
	return {
		...rest,
		...(query !== undefined && { text: query }),
		...(author_ids !== undefined && { user_ids: author_ids }),
		// Refused: it would return the first page again. `before` continues.
		...(offset ? { offset } : {}),
	};
}

/** Moves the values of former arguments to the arguments that have replaced them. */
function withFormer(args: Args): Args {
	const { author_id, content, user_ids, text = content } = args;
	const authors = author_id ? [...(user_ids ?? []), author_id] : user_ids;
	return { ...args, text, user_ids: authors };
}

/**
 * Whether to use Discord's search index for a search. The index cannot exclude authors and cannot search for parts of
 * names.
 */
function usesIndex({ args, scope: { channels } }: Search): boolean {
	const { not_user_ids, author_name, max_pages, count_by } = args;
	return (
		isForIndex(args, channels) &&
		not_user_ids === undefined &&
		author_name === undefined &&
		max_pages === undefined &&
		(count_by === undefined ||
			(count_by === "author" && args.user_ids !== undefined) ||
			(count_by === "channel" && channels.length <= maxCountedChannels))
	);
}

/** Returns the result of a search in Discord's index; undefined while Discord has not indexed the guild. */
function askIndex(search: Search): Promise<string[] | undefined> {
	const { count_by } = search.args;
	return count_by ? countInIndex(search, count_by) : searchInIndex(search);
}

function queryOf({ args, scope, isNamed }: Search): IndexQuery {
	return indexQuery(args, args, isNamed ? scope.channels : undefined);
}

async function searchInIndex(search: Search): Promise<string[] | undefined> {
	const { guild, args, scope } = search;
	const { limit } = args;
	const query = queryOf(search);
	const found = await searchIndex(guild, query, { limit, reserveMs });
	if (!found) return undefined;
	const { total, messages, threads, hasMore } = found;
	const last = messages.at(-1);
	return resultLines(
		total === 0
			? "No indexed message matches."
			: `${total} match(es) in Discord's index, ${messages.length} shown, newest first, times in UTC:`,
		summaries(messages, { guild, threads, isAcross: true }, args.text),
		indexNotes(search, found),
		scope.forbidden.length > 0 && scopeNote({ ...scope, lacksArchived: false }),
		hasMore && last && `next_before=${last.id}`,
	);
}

function indexNotes({ args }: Search, { isIndexing }: Partial<Indexed>) {
	return resultLines(
		isIndexing &&
			"Discord is still indexing old messages: some may be missing.",
		args.text !== undefined &&
			"Discord's index finds whole words; with `after`, each message is read and parts of words are found.",
	);
}

/** Counts messages with one search in Discord's index for each author or channel. */
async function countInIndex(
	search: Search,
	by: Grouping,
): Promise<string[] | undefined> {
	const { guild, args, scope } = search;
	const groups =
		by === "author"
			? authorsOf(args, guild)
			: scope.channels.map((one) => ({ id: one.id, name: channelName(one) }));
	const counts: Count[] = [];
	let tried = 0;
	let isIndexing = false;
	for (const group of groups) {
		if (timeLeftMs() < reserveMs) break;
		const key = by === "author" ? "author_id" : "channel_id";
		const query = { ...queryOf(search), [key]: group.id };
		let found: Indexed | undefined;
		try {
			found = await searchIndex(guild, query, { limit: 0, reserveMs });
		} catch (error) {
			if (tried === 0 || !(error instanceof PlatformBusy)) throw error;
			break;
		}
		if (!found) return undefined;
		isIndexing ||= found.isIndexing;
		tried += 1;
		// Of all channels, those without a match are not worth a line.
		if (found.total > 0 || by === "author" || search.isNamed)
			counts.push({ ...group, count: found.total });
	}
	const left = groups.slice(tried);
	const sum = counts.reduce((sum, { count }) => sum + count, 0);
	counts.sort((a, b) => b.count - a.count);
	const until = args.before ? ` before ${time(args.before.atMs)}` : "";
	return resultLines(
		`${sum} message(s)${until} by ${by}, counted by Discord's index:`,
		countLines(counts, Math.max(args.limit, 100)),
		left.length > 0 &&
			`Not counted, because the time for one call is up or Discord's rate limit is reached: ${left.map(({ name }) => name).join(", ")}`,
		indexNotes(search, { isIndexing }),
		scope.forbidden.length > 0 && scopeNote({ ...scope, lacksArchived: false }),
	);
}

/** Returns the ids and names of the authors that a call names. */
function authorsOf({ user_ids = [] }: Args, guild: Guild) {
	return user_ids.map((id) => {
		const member = guild.members.cache.get(id);
		const name = member ? memberName(member) : `not a member (ID: ${id})`;
		return { id, name };
	});
}

function readResult(search: Search, read: Found): string[] {
	const { guild, args, scope } = search;
	const { matches, searched } = read;
	const { channels } = scope;
	if (searched === 0 && read.stopped === undefined)
		return resultLines(
			`There are no messages in this range of ${whereOf(scope)}.`,
			read.notes,
			scopeNote(scope),
		);
	const range = `${searched} message(s) of ${whereOf(scope)}, ${rangeOf(args, read)}`;
	return resultLines(
		matches.length > 0
			? `${matches.length} match(es) among ${range}, newest first, times in UTC:`
			: `No match among ${range}.`,
		summaries(matches, { guild, isAcross: channels.length > 1 }, args.text),
		endNotes(scope, read),
	);
}

function countResult(search: Search, by: Grouping, read: Found): string[] {
	const { guild, args, scope } = search;
	const written = read.matches.filter(({ type }) => usualKinds.includes(type));
	const notices = read.matches.length - written.length;
	const zeros =
		by === "author"
			? authorsOf(args, guild)
			: by === "day"
				? daysOf(args, read)
				: search.isNamed
					? scope.channels.map((one) => ({
							...{ id: one.id, name: channelName(one) },
						}))
					: [];
	const counts = countsOf(written, by, guild, zeros);
	const silent = counts.filter(({ count }) => count === 0).length;
	const groups = counts.length - silent;
	return resultLines(
		`${written.length} message(s) of ${whereOf(scope)} by ${groups} ${by}(s), ${rangeOf(args, read)}:`,
		countLines(counts, Math.max(args.limit, zeros.length)),
		notices > 0 &&
			`${notices} notice(s) by Discord, such as that someone joined, are not counted.`,
		endNotes(scope, read),
	);
}

const dayMs = 86_400_000;
/** Maximum number of days for which a result shows days without messages. */
const maxDays = 100;

/** Returns the days (UTC) that were searched; an empty list if there are more than 100. */
function daysOf({ after, before }: Range, read: Found) {
	const start = startOf(after, read) ?? 0;
	const end = (before?.atMs ?? Date.now()) - 1;
	const first = Math.floor(start / dayMs);
	const length = Math.floor(end / dayMs) - first + 1;
	if (length < 1 || length > maxDays) return [];
	return Array.from({ length }, (_, index) => {
		const day = time((first + index) * dayMs).slice(0, 10);
		return { id: day, name: day };
	});
}

function whereOf({ channels: [first, ...others] }: Scope): string {
	return first && others.length === 0
		? channelName(first)
		: `${others.length + 1} channel(s)`;
}

/** Returns the time in epoch milliseconds up to which older messages were searched; undefined if it is unknown. */
function startOf(
	after: Range["after"],
	{ reachedMs, stopped }: Found,
): number | undefined {
	return stopped === undefined ? (after?.atMs ?? reachedMs) : reachedMs;
}

/** Describes the period that was searched. Without an end of the period, adds the current time. */
function rangeOf({ after, before }: Range, read: Found): string {
	const from = startOf(after, read);
	const start = from === undefined ? "" : `back to ${time(from)}`;
	const end = before
		? `before ${time(before.atMs)}`
		: `now ${time(Date.now())}`;
	return [start, end].filter(Boolean).join(", ");
}

function endNotes(
	scope: Scope,
	{ notes, stopped, nextBefore }: Found,
): string[] {
	return resultLines(
		notes,
		scopeNote(scope),
		stopped === undefined
			? "The whole range was searched."
			: `Older messages were not searched, because ${stopped}`.replace(
					/\.?$/,
					".",
				),
		nextBefore && `next_before=${nextBefore}`,
	);
}
