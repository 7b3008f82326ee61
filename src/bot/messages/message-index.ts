// Finding messages of a guild with Discord's search index, which needs few requests for long times. It finds whole words, and
// may lack the latest messages; message-search.ts reads every message.
// https://docs.discord.com/developers/resources/message#search-guild-messages

import {
	type APIMessage,
	type APIMessageSearchResult,
	type Guild,
	PermissionFlagsBits,
	type RESTGetAPIGuildMessagesSearchResult,
	Routes,
} from "discord.js";
import { personHas } from "../../discord/permissions.ts";
import { PlatformBusy, timeLeftMs } from "../../discord/rest/rest.ts";
import type { MessageFilter } from "./message-filter.ts";
import type { Range } from "./message-search.ts";

const maxOffset = 9975;
const indexPageSize = 25;
const minWaitSeconds = 0.5;
const maxIndexWaitMs = 4_000;

export type IndexQuery = Record<string, string | number | boolean | readonly string[] | undefined>;

const maxIndexChannels = 500;

/** 2 to 500 channels without `after`: reading all of their messages would take too long. */
export function isForIndex({ after }: Range, channels: readonly unknown[]): boolean {
	const { length } = channels;
	return after === undefined && length > 1 && length <= maxIndexChannels;
}

/** Or when a person acts who does not see all: without a list, Discord also searches channels that only the bot sees. */
export function namesChannels(guild: Guild, isNamed: boolean): boolean {
	return isNamed || !personHas(guild, undefined, PermissionFlagsBits.Administrator);
}

/** `channels`: undefined for all that the bot can read, see `namesChannels`. */
export function indexQuery(
	filter: MessageFilter,
	{ before }: Range,
	channels: readonly { id: string }[] | undefined,
): IndexQuery {
	return {
		content: filter.text,
		author_id: filter.user_ids,
		mentions: filter.mentions,
		has: filter.has,
		pinned: filter.pinned,
		max_id: before?.first,
		channel_id: channels?.map(({ id }) => id),
		// Other tools read age-restricted channels too.
		include_nsfw: true,
	};
}

export interface Indexed {
	total: number;
	messages: APIMessage[];
	/** By thread id, of the found messages. */
	threads: ReadonlyMap<string, string>;
	/** Discord still indexes old messages. */
	isIndexing: boolean;
	/** More than `messages` may match. */
	hasMore: boolean;
}

/** Newest first; with `limit` 0, only their number. Undefined if Discord has not indexed the guild within seconds. */
export async function searchIndex(
	guild: Guild,
	query: IndexQuery,
	{
		limit,
		reserveMs,
		matches = () => true,
	}: { limit: number; reserveMs: number; matches?: ((message: APIMessage) => boolean) | undefined },
): Promise<Indexed | undefined> {
	const messages: APIMessage[] = [];
	const channelIds = query.channel_id === undefined ? undefined : new Set<unknown>([query.channel_id].flat());
	const threads = new Map<string, string>();
	let last: Omit<Indexed, "messages"> | undefined;
	for (let offset = 0; ; offset += indexPageSize) {
		const size = limit === 0 ? 1 : indexPageSize;
		let page: APIMessageSearchResult | undefined;
		try {
			page = await indexPage(guild, { ...query, limit: size, offset });
		} catch (error) {
			// A rate limit ends the search with what was found so far.
			if (last && error instanceof PlatformBusy) return { ...last, messages };
			throw error;
		}
		if (!page) return undefined;
		const { total_results: total } = page;
		const found = page.messages.flat() as APIMessage[];
		// A guess: Discord does not add threads of the named channels, which may be private.
		const named = found.filter(({ channel_id }) => !channelIds || channelIds.has(channel_id));
		messages.push(...named.filter(matches));
		for (const { id, name } of page.threads ?? []) threads.set(id, name);
		// A page may have fewer messages than its size.
		const next = offset + indexPageSize;
		const isLast = next >= total;
		const { doing_deep_historical_index: isIndexing } = page;
		const hasMore = !isLast || messages.length > limit;
		last = { total, threads, isIndexing, hasMore };
		if (isLast || messages.length >= limit || next > maxOffset || timeLeftMs() < reserveMs)
			return { ...last, messages: messages.slice(0, limit) };
	}
}

async function indexPage(guild: Guild, query: IndexQuery): Promise<APIMessageSearchResult | undefined> {
	const params = new URLSearchParams();
	for (const [key, value] of Object.entries(query))
		for (const one of [value ?? []].flat()) params.append(key, String(one));
	const startedAt = performance.now();
	for (;;) {
		const result = (await guild.client.rest.get(Routes.guildMessagesSearch(guild.id), {
			query: params,
		})) as RESTGetAPIGuildMessagesSearchResult;
		if ("messages" in result) return result;
		const waitMs = Math.max(result.retry_after, minWaitSeconds) * 1000;
		if (performance.now() - startedAt + waitMs > maxIndexWaitMs) return undefined;
		await Bun.sleep(waitMs);
	}
}
