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
import { forClients } from "../../discord/acting-person.ts";
import { channelLabel, channelName } from "../../discord/describe.ts";
import { isForum, type ThreadedChannel } from "../../discord/find.ts";
import {
	bitsIn,
	impliedIn,
	missingPermissions,
	type Permission,
	requirePermissions,
} from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { PlatformBusy, timeLeftMs } from "../../discord/rest/rest.ts";
import { countOf, resultLines } from "../../discord/text.ts";
import { visibleChannels } from "../../discord/visible-channels.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import type { Moment } from "../tool/arguments/arguments.ts";
import { sample } from "../tool/bulk.ts";
import { type ArchivedThread, archivedThreadsOf, hasThreads } from "./archived-threads.ts";
import { hiddenContent } from "./message-content.ts";
import { fetchPage } from "./message-pages.ts";

type ReadableChannel = Pick<GuildTextBasedChannel, "id" | "name" | "lastMessageId" | "client">;

export interface Scope {
	/** With active threads, in the order of the guild. */
	channels: readonly GuildTextBasedChannel[];
	/** Their archived threads are searched, too. */
	parents: readonly ThreadedChannel[];
	/** Empty until `withArchived` has listed them. */
	archived: readonly ArchivedThread[];
	/** Not all of their archived threads could be listed. */
	unlisted: readonly ThreadedChannel[];
	/** Why; undefined if all were listed. */
	why?: string | undefined;
	/** Not searched, because the bot may not read or delete messages there. */
	forbidden: readonly GuildBasedChannel[];
	/** Whether threads of channels that the call names are left out. */
	isWithoutThreads: boolean;
}

/** `given` with what is inside, or all visible channels. Throws a ToolError if the bot may not read one of `given`. */
export function scopeOf(
	guild: Guild,
	given: readonly GuildBasedChannel[] | undefined,
	permissions: readonly Permission[],
	order: readonly { id: string }[],
): Scope {
	const ranks = new Map(order.map(({ id }, index) => [id, index]));
	const rank = (one: GuildBasedChannel) => ranks.get((one.isThread() && one.parentId) || one.id) ?? ranks.size;
	const all = [...visibleChannels(guild).values()].sort(
		(a, b) => rank(a) - rank(b) || Number(a.isThread()) - Number(b.isThread()) || compareIds(a.id, b.id),
	);
	const within = (id: string): GuildBasedChannel[] =>
		all.filter(({ parentId }) => parentId === id).flatMap((one) => [one, ...within(one.id)]);
	const isGroup = (one: GuildBasedChannel) => !one.isTextBased();
	const bits = (one: GuildBasedChannel) => bitsIn(one, permissions) | impliedIn(one);
	for (const one of given ?? []) if (!isGroup(one) || isForum(one)) requirePermissions(guild, one, bits(one));
	const inGroups = (given ?? []).filter(isGroup).flatMap((one) => [one, ...within(one.id)]);
	const named = new Set([...(given ?? []), ...inGroups]);
	const wanted = given ? all.filter((one) => named.has(one)) : all;
	// A given archived thread is not in the cache.
	const uncached = [...named].filter((one) => !all.includes(one));
	const isAllowed = (one: GuildBasedChannel) => missingPermissions(guild, one, bits(one)) === 0n;
	const withMessages = [...wanted, ...uncached].filter((one) => one.isTextBased());
	const channels = withMessages.filter(isAllowed);
	// Of a given text channel only its own messages are searched.
	const parents = (given ? inGroups : all).filter(hasThreads).filter(isAllowed);
	const [first] = withMessages;
	if (channels.length === 0 && parents.length === 0) {
		if (first) requirePermissions(guild, first, bits(first));
		throw new SaidError(said("refusal.nothing_to_search"), { models: noChannels });
	}
	return {
		channels,
		parents,
		archived: [],
		unlisted: [],
		forbidden: wanted.filter((one) => (one.isTextBased() || isForum(one)) && !isAllowed(one)),
		isWithoutThreads: (given ?? []).some((one) => hasThreads(one) && !inGroups.includes(one)),
	};
}

const noChannels =
	"There is nothing to search: the channels are categories in which the bot sees no channel with messages, or forums without posts in the searched period.";

/** Those that may have messages in `range`. */
export async function withArchived(guild: Guild, scope: Scope, range: Range): Promise<Scope> {
	const { channels, parents } = scope;
	const found = await archivedThreadsOf(guild, parents, range, new Set(channels.map(({ id }) => id)));
	const { threads: archived, unlisted, why } = found;
	if (channels.length + archived.length + unlisted.length === 0)
		throw new SaidError(said("refusal.nothing_to_search"), { models: noChannels });
	return { ...scope, archived, unlisted, why };
}

export function readableIn({ channels, archived }: Scope): ReadableChannel[] {
	return [...channels, ...archived];
}

/** "#oven, #stove, 2 active threads, 3 archived threads"; from 6 channels on, their number. */
export function scopeLabel({ channels, archived }: Scope, areAllArchived = false): string {
	const [only] = channels;
	if (only && channels.length + archived.length === 1) return channelName(only);
	const active = channels.filter((one) => one.isThread());
	const others = channels.filter((one) => !one.isThread());
	return resultLines(
		others.length > maxNamed ? countOf(others.length, "channel") : others.map(channelLabel),
		active.length > 0 && countOf(active.length, "active thread"),
		archived.length > 0 && countOf(archived.length, "archived thread"),
		areAllArchived && "all archived threads",
	).join(", ");
}

/** What a search leaves out, a line for each reason. */
export function scopeNotes({ forbidden, unlisted, why, isWithoutThreads }: Scope): string[] {
	const channels = forbidden.filter((one) => !one.isThread());
	const named = (some: readonly Named[]) => sample(some, maxNamed, channelName).join(", ");
	return resultLines(
		forbidden.length > 0 &&
			`Not searched: ${countOf(forbidden.length, "channel")} for lack of permissions${channels.length > 0 ? `: ${named(channels)}` : ""}.`,
		isWithoutThreads &&
			forClients("Threads of the named channels were not searched: channel_ids also takes categories and threads."),
		unlisted.length > 0 &&
			`Not all archived threads of ${named(unlisted)} were searched: ${why}. To search them, pass their ids from list_threads with include_archived as channel_ids.`.replace(
				"..",
				".",
			),
	);
}

type Named = Pick<GuildBasedChannel, "id" | "name">;

const maxNamed = 5;
const pageSize = 100;
const parallelReads = 6;
const maxIdleReads = 50;
const maxId = String(2n ** 64n - 1n);

export interface Range {
	after?: Moment | undefined;
	before?: Moment | undefined;
}

interface Reading {
	matches(message: APIMessage): boolean;
	/** Undefined: all messages in the period. */
	limit?: number | undefined;
	/** Of 100 messages each. */
	maxPages?: number | undefined;
	/** Remaining milliseconds of the call below which reading ends. */
	reserveMs: number;
	reportProgress(pages: number): void;
}

export interface Found {
	/** Newest first, with nothing missing between them. */
	matches: APIMessage[];
	/** Newest first; some between them may be missing. */
	further: APIMessage[];
	/** Messages down to `reachedMs`. */
	searched: number;
	/** Down to which nothing is missing, in epoch milliseconds; undefined if not every channel was read. */
	reachedMs?: number | undefined;
	/** On hidden content, and channels not read completely. */
	notes: string[];
	/** Why; undefined if all messages were read. */
	stopped?: string | undefined;
	/** `before` of the next search; undefined if complete or not to be continued. */
	nextBefore?: string | undefined;
}

interface Source {
	channel: ReadableChannel;
	before: string | undefined;
	end: string;
	state: "waiting" | "being read" | "done" | "stopped";
}

/** Newest first, across channels. Throws only if the first request fails. */
export async function readChannels(
	channels: readonly ReadableChannel[],
	{ after, before }: Range,
	{ matches: isMatch, limit, maxPages = 300, reserveMs, reportProgress }: Reading,
): Promise<Found> {
	const oldestWanted = after?.lastBefore ?? "0";
	const sources = sourcesOf(channels, oldestWanted, before?.first);
	const found: APIMessage[] = [];
	const refused: string[] = [];
	const notes: string[] = [];
	let stopped: string | undefined;
	let paused: string | undefined;
	let failure: unknown;
	const seen: string[] = [];
	let pages = 0;
	let started = 0;

	const frontier = () =>
		sources
			.filter(({ state }) => state !== "done")
			.map(({ end }) => end)
			.sort(compareIds)
			.at(-1);
	const sureAbove = (border: string | undefined) =>
		found.filter(({ id }) => border === undefined || compareIds(id, border) >= 0);
	const isEnough = () => limit !== undefined && found.length >= limit && sureAbove(frontier()).length >= limit;
	const read = async (source: Source) => {
		const { channel } = source;
		const page = await fetchPage(channel, { limit: pageSize, before: source.before });
		pages += 1;
		reportProgress(pages);
		const inRange = page.filter(({ id }) => compareIds(id, oldestWanted) > 0);
		seen.push(...inRange.map(({ id }) => id));
		found.push(...inRange.filter(isMatch));
		if (notes.length === 0) notes.push(...hiddenContent(channel.client, inRange));
		source.before = source.end = inRange.at(-1)?.id ?? source.end;
		source.state = inRange.length < pageSize ? "done" : "waiting";
	};
	const work = async () => {
		for (;;) {
			if (stopped !== undefined || isEnough()) return;
			const next = sources
				.filter(({ state }) => state === "waiting")
				.sort((a, b) => compareIds(b.end, a.end))
				.at(0);
			if (!next) return;
			if (started >= maxPages) stopped = `${countOf(maxPages, "page")} ${maxPages === 1 ? "was" : "were"} read`;
			else if (timeLeftMs() < reserveMs) stopped = "the time for one call is up";
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
				if (isFinal) refused.push(`${channelName(next.channel)} was not read further: ${refusal.message}`);
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
	const sure = sureAbove(border);
	const matches = sure.slice(0, limit);
	const further = found.slice(matches.length);
	// What is left to read may be only channels whose last message seems to be older than the range.
	const isInRange = border !== undefined && compareIds(border, oldestWanted) > 0;
	const isCut = sure.length > matches.length || (border !== undefined && !isInRange && sure.length === limit);
	const nextBefore = isCut ? matches.at(-1)?.id : isInRange && border !== maxId ? border : undefined;
	const counted = seen.filter((id) => nextBefore === undefined || compareIds(id, nextBefore) >= 0).sort(compareIds);
	const first = nextBefore ?? (border === undefined ? counted[0] : isInRange ? undefined : after?.first);
	const reachedMs = first === undefined ? undefined : SnowflakeUtil.timestampFrom(first);
	const result = { matches, further, searched: counted.length, reachedMs, notes: [...notes, ...refused] };
	if (border === undefined && !isCut) return result;
	return {
		...result,
		stopped: stopped ?? paused ?? `${limit} match${limit === 1 ? " was" : "es were"} found`,
		nextBefore,
	};
}

// Only 50 channels that seem to have no message in the period: the cached last message id may be outdated.
// https://docs.discord.com/developers/events/gateway-events#channel-update
function sourcesOf(channels: readonly ReadableChannel[], oldestWanted: string, before: string | undefined): Source[] {
	const sources = channels.map((channel): Source => {
		const end = channel.lastMessageId ? String(BigInt(channel.lastMessageId) + 1n) : maxId;
		const isBelow = before !== undefined && compareIds(before, end) < 0;
		return { channel, before, state: "waiting", end: isBelow ? before : end };
	});
	const isIdle = ({ end }: Source) => compareIds(end, String(BigInt(oldestWanted) + 1n)) <= 0;
	const idle = sources.filter(isIdle).slice(maxIdleReads);
	return sources.filter((source) => !idle.includes(source));
}
