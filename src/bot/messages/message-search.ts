// Finding messages in one, several or all channels of a guild by reading the channels page by page. See message-index.ts for
// Discord's search index.

import {
	type APIMessage,
	DiscordAPIError,
	type Guild,
	type GuildBasedChannel,
	type GuildTextBasedChannel,
	SnowflakeUtil,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { impliedIn } from "../discord/effective-permissions.ts";
import { compareIds } from "../discord/ids.ts";
import {
	bitsIn,
	missingPermissions,
	type Permission,
	requirePermissions,
} from "../discord/permissions.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { PlatformBusy, timeLeftMs } from "../discord/rest/rest.ts";
import { fieldLine } from "../discord/text.ts";
import type { Moment } from "../tool/arguments.ts";
import { hiddenContent } from "./message-content.ts";
import { fetchPage } from "./message-pages.ts";

/** The channels of a search, and what the search leaves out. */
export interface Scope {
	channels: readonly GuildTextBasedChannel[];
	/** Channels that the bot may not read or, for a deletion, in which it may not delete. */
	forbidden: readonly GuildBasedChannel[];
	/**
	 * Whether archived threads may be missing in `channels`, because Discord's list of a guild's threads contains only
	 * active ones.
	 */
	lacksArchived: boolean;
}

/**
 * Returns the channels to search: `given`, with the channels in categories and the posts in forums, or by default all
 * channels of the guild. Throws a ToolError if the bot lacks permissions in a channel of `given`; leaves out other
 * channels in which it lacks permissions.
 */
export function scopeOf(
	guild: Guild,
	given: readonly GuildBasedChannel[] | undefined,
	permissions: readonly Permission[],
): Scope {
	const all = [...guild.channels.cache.values()];
	const within = (id: string): GuildBasedChannel[] =>
		all
			.filter(({ parentId }) => parentId === id)
			.flatMap((one) => [one, ...within(one.id)]);
	const isGroup = (one: GuildBasedChannel) => !one.isTextBased();
	const bits = (one: GuildBasedChannel) =>
		bitsIn(one, permissions) | impliedIn(one);
	for (const one of given ?? [])
		if (!isGroup(one)) requirePermissions(guild, one, bits(one));
	const named = (given ?? []).flatMap((one) =>
		isGroup(one) ? within(one.id) : [one],
	);
	const wanted = [...new Set(given ? named : all)].filter((one) =>
		one.isTextBased(),
	);
	const isAllowed = (one: GuildBasedChannel) =>
		missingPermissions(guild, one, bits(one)) === 0n;
	const channels = wanted.filter(isAllowed);
	if (channels.length === 0) {
		const [first] = wanted;
		if (first) requirePermissions(guild, first, bits(first));
		throw new ToolError(
			"There is no active post or channel with messages in the given channels. Use list_threads to find archived posts.",
		);
	}
	return {
		channels,
		forbidden: wanted.filter((one) => !isAllowed(one)),
		lacksArchived: !given || given.some(isGroup),
	};
}

/** Describes in one result line what a search leaves out; "" if it leaves out nothing. */
export function scopeNote({ forbidden, lacksArchived }: Scope): string {
	const names = forbidden
		.filter((one) => !one.isThread())
		.slice(0, maxNamed)
		.map(channelName);
	const left = fieldLine(
		lacksArchived && "archived threads",
		forbidden.length > 0 &&
			`${forbidden.length} channel(s) for lack of permissions${names.length > 0 ? `, such as ${names.join(", ")}` : ""}`,
	);
	return left && `Not searched: ${left}.`;
}

/** Maximum number of channels that a result names as not searched. */
const maxNamed = 5;
const pageSize = 100;
/** Maximum number of channels that are read at the same time. */
const parallelReads = 6;
/** Maximum number of channels that are read although they have no new messages according to Discord's events. */
const maxIdleReads = 50;
/** The highest id that Discord can issue: ids have 64 bits. */
const maxId = String(2n ** 64n - 1n);

/** The period of a search for messages: after `after` and before `before`. */
export interface Range {
	after?: Moment | undefined;
	before?: Moment | undefined;
}

/** Which messages to find, and when to stop reading. */
export interface Reading {
	matches(message: APIMessage): boolean;
	/** Number of matching messages after which reading ends; undefined to read all messages in the period. */
	limit?: number | undefined;
	/** Maximum number of pages of 100 messages to read. */
	maxPages?: number | undefined;
	/** Remaining time of the tool call, in milliseconds, below which no more pages are requested. */
	reserveMs: number;
	reportProgress(pages: number): void;
}

/** The result of searching channels by reading their messages. */
export interface Found {
	/** The newest matching messages, newest first, without gaps. */
	matches: APIMessage[];
	/**
	 * Older matching messages, newest first. Others may be missing, because not all channels have been read so far back.
	 */
	further: APIMessage[];
	/** Number of messages that were read. */
	searched: number;
	/**
	 * Time of the oldest message down to which all messages were read, in epoch milliseconds; undefined if no messages
	 * were read.
	 */
	reachedMs?: number | undefined;
	/**
	 * Result lines on message content that Discord hides from the bot, and on channels that the bot could not read
	 * completely.
	 */
	notes: string[];
	/** Why older messages were not read; undefined if all messages were read. */
	stopped?: string | undefined;
	/** Message id below which a further search continues; undefined if everything was searched, or no part completely. */
	nextBefore?: string | undefined;
}

/** A channel whose messages are read page by page, from the newest to the oldest. */
interface Source {
	channel: GuildTextBasedChannel;
	/** Message id below which the next page begins; undefined before the first page. */
	before: string | undefined;
	/**
	 * Message id below which all unread messages of this channel are. Before the first page, it is estimated without a
	 * request.
	 */
	end: string;
	state: "waiting" | "being read" | "done" | "stopped";
}

/**
 * Reads the messages of several channels, newest first. The next page is always of the channel whose unread messages
 * may be the newest. Throws if the first request fails; if a later one fails, returns what was found before.
 */
export async function readChannels(
	channels: readonly GuildTextBasedChannel[],
	{ after, before }: Range,
	{
		matches: isMatch,
		limit,
		maxPages = 300,
		reserveMs,
		reportProgress,
	}: Reading,
): Promise<Found> {
	const oldestWanted = after?.lastBefore ?? "0";
	const sources = sourcesOf(channels, oldestWanted, before?.first);
	const found: APIMessage[] = [];
	const refused: string[] = [];
	const notes: string[] = [];
	/** Why reading all channels has ended early. */
	let stopped: string | undefined;
	/** Why reading one of the channels has ended early. */
	let paused: string | undefined;
	let failure: unknown;
	let oldest: APIMessage | undefined;
	let searched = 0;
	let pages = 0;
	let started = 0;

	const unread = () => sources.filter(({ state }) => state !== "done");
	/**
	 * Returns the message id below which there may be unread messages in any channel; undefined if everything was read.
	 */
	const frontier = () =>
		unread()
			.map(({ end }) => end)
			.sort(compareIds)
			.at(-1);
	const isEnough = () => {
		if (limit === undefined || found.length < limit) return false;
		const border = frontier();
		const sure = found.filter(
			({ id }) => border === undefined || compareIds(id, border) >= 0,
		);
		return sure.length >= limit;
	};
	const read = async (source: Source) => {
		const { channel } = source;
		const page = await fetchPage(channel, {
			limit: pageSize,
			before: source.before,
		});
		pages += 1;
		reportProgress(pages);
		const inRange = page.filter(({ id }) => compareIds(id, oldestWanted) > 0);
		for (const message of inRange) {
			searched += 1;
			if (isMatch(message)) found.push(message);
		}
		if (notes.length === 0)
			notes.push(...hiddenContent(channel.client, inRange));
		const last = inRange.at(-1);
		if (last && (!oldest || compareIds(last.id, oldest.id) < 0)) oldest = last;
		source.before = source.end = last?.id ?? source.end;
		const isAll = inRange.length < pageSize;
		source.state = isAll ? "done" : "waiting";
	};
	const work = async () => {
		for (;;) {
			if (stopped !== undefined || isEnough()) return;
			const next = sources
				.filter(({ state }) => state === "waiting")
				.sort((a, b) => compareIds(b.end, a.end))
				.at(0);
			if (!next) return;
			if (started >= maxPages) stopped = `${maxPages} page(s) were read`;
			else if (timeLeftMs() < reserveMs)
				stopped = "the time for one call is up";
			if (stopped !== undefined) return;
			next.state = "being read";
			started += 1;
			try {
				await read(next);
			} catch (error) {
				const refusal = toToolError(error);
				failure ??= error;
				if (!refusal) {
					stopped = "an internal error occurred";
					throw error;
				}
				const isFinal = error instanceof DiscordAPIError;
				if (isFinal)
					refused.push(
						`${channelName(next.channel)} was not read further: ${refusal.message}`,
					);
				else if (error instanceof PlatformBusy) paused ??= refusal.message;
				else stopped ??= refusal.message;
				next.state = isFinal ? "done" : "stopped";
			}
		}
	};
	await Promise.all(Array.from({ length: parallelReads }, work));
	if (pages === 0 && failure !== undefined) throw failure;

	found.sort((a, b) => compareIds(b.id, a.id));
	const border = frontier();
	const isSure = ({ id }: APIMessage) =>
		border === undefined || compareIds(id, border) >= 0;
	const sure = found.filter(isSure);
	const matches = sure.slice(0, limit);
	const further = found.slice(matches.length);
	const reached =
		border === undefined || border === maxId ? oldest?.id : border;
	const reachedMs =
		reached === undefined ? undefined : SnowflakeUtil.timestampFrom(reached);
	const result = { matches, further, searched, reachedMs };
	const allNotes = [...notes, ...refused];
	const isCut = sure.length > matches.length;
	if (border === undefined && !isCut) return { ...result, notes: allNotes };
	const nextBefore = isCut ? matches.at(-1)?.id : border;
	return {
		...result,
		notes: allNotes,
		stopped: stopped ?? paused ?? `${limit} matches were found`,
		nextBefore: nextBefore === maxId ? undefined : nextBefore,
	};
}

/**
 * Returns the channels to read. If there are many channels, leaves out channels whose last message is older than the
 * period of the search. https://docs.discord.com/developers/events/gateway-events#channel-update
 */
function sourcesOf(
	channels: readonly GuildTextBasedChannel[],
	oldestWanted: string,
	before: string | undefined,
): Source[] {
	const sources = channels.map((channel): Source => {
		const { lastMessageId } = channel;
		const end = lastMessageId ? String(BigInt(lastMessageId) + 1n) : maxId;
		const isBelow = before !== undefined && compareIds(before, end) < 0;
		return {
			...{ channel, before, state: "waiting" },
			end: isBelow ? before : end,
		};
	});
	const isIdle = ({ end }: Source) =>
		compareIds(end, String(BigInt(oldestWanted) + 1n)) <= 0;
	const idle = sources.filter(isIdle).slice(maxIdleReads);
	return sources.filter((source) => !idle.includes(source));
}
