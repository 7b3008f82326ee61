// Searching and counting the messages of one, several or all channels.

import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { time } from "../../discord/describe.ts";
import { PlatformBusy, timeLeftMs } from "../../discord/rest/rest.ts";
import { countOf, resultLines } from "../../discord/text.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import type { ArgumentsOf } from "../../mcp/tool.ts";
import { readsContent, requireContent } from "../messages/message-content.ts";
import { filterArguments, matcher, userIds } from "../messages/message-filter.ts";
import {
	type Indexed,
	type IndexQuery,
	indexQuery,
	isForIndex,
	namesChannels,
	searchIndex,
} from "../messages/message-index.ts";
import {
	authorsOf,
	type Count,
	channelsOf,
	countResult,
	defaultLimit,
	type Grouping,
	groupings,
	namedChannels,
	readResult,
	rowsNote,
	type Search,
	sortCounts,
	sumOf,
	tables,
} from "../messages/message-results.ts";
import {
	readableIn,
	readChannels,
	type Scope,
	scopeLabel,
	scopeNotes,
	scopeOf,
	withArchived,
} from "../messages/message-search.ts";
import { lineOrder, summaries } from "../messages/message-summary.ts";
import { flag, guild_id, limit } from "../tool/arguments/arguments.ts";
import { readTool } from "../tool/define.ts";

const reserveMs = 11_000;
const maxCountedChannels = 100;

const countBy = v.pipe(
	v.union(
		[v.picklist(groupings), v.array(v.picklist(groupings))],
		`expected one or several of ${groupings.join(", ")}`,
	),
	v.transform((names) => (names.length > 0 ? [...new Set([names].flat())] : undefined)),
	publishedAs({
		type: "array",
		items: { type: "string", enum: groupings },
		minItems: 1,
		maxItems: groupings.length,
		description: "Counts, a table each; 0 for silent user_ids.",
	}),
);

const one = limit(1000, defaultLimit).wrapped;
const limits = v.pipe(
	v.union([one, v.array(one)]),
	v.transform((given) => [given].flat()),
	publishedAs({
		type: ["integer", "array"],
		items: { type: "integer" },
		description: "Default: 50 messages, 25 rows; [9,40]: by table.",
	}),
);

const input = {
	guild_id,
	...filterArguments,
	not_user_ids: userIds("Not by these."),
	mentions: userIds("Mentioning these."),
	pinned: flag("Pinned or not."),
	count_by: v.optional(countBy),
	fold: flag("Repeats in a line: all authors, channels, span.", true),
	limit: v.optional(limits, []),
};

type Args = ArgumentsOf<typeof input>;

export const searchMessages = readTool({
	name: "search_messages",
	toolset: "messages",
	offered: "listed",
	title: "Search messages",
	description:
		"Search or count messages, newest first. With `after` or one channel, reads all; else asks Discord's whole-word index.",
	permissions: ["ReadMessageHistory"],
	permissionsIn: "run",
	intents: ["MessageContent"],
	input,
	async run(args, { discord, guild, channels: places }, { reportProgress }) {
		const { count_by, after, before } = args;
		const [limit = defaultLimit] = args.limit;
		const isNamed = places !== undefined;
		const namesAll = namesChannels(guild, isNamed);
		const scope = scopeOf(guild, places, ["ReadMessageHistory"], channelsFromTop(guild));
		let search: Search = { guild, args, scope, isNamed, namesAll };
		const complete = async () => {
			search = { ...search, scope: await withArchived(guild, scope, args) };
		};
		// Channels that are named to the index have to be named with all of their threads.
		if (namesAll) await complete();
		const isForIndex = usesIndex(args, search.scope);
		if (isForIndex) {
			if (args.text !== undefined || args.has !== undefined) requireContent(discord, "Discord does not let it search");
			const result = readsContent(discord)
				? await (count_by ? countInIndex(search, count_by) : searchInIndex(search))
				: undefined;
			if (result) return result;
		}
		if (!namesAll) await complete();
		const read = await readChannels(
			readableIn(search.scope),
			{ after, before },
			{ matches: matcher(args), limit: count_by ? undefined : limit, reserveMs, reportProgress },
		);
		const result = count_by ? countResult(search, count_by, read) : readResult(search, read);
		return isForIndex ? [...result, "Channels were read, because Discord's search cannot be used yet."] : result;
	},
});

function usesIndex(args: Args, scope: Scope): boolean {
	const channels = readableIn(scope);
	const { not_user_ids, count_by } = args;
	return (
		isForIndex(args, channels) &&
		not_user_ids === undefined &&
		(count_by === undefined ||
			count_by.every(
				(by) =>
					(by === "author" && args.user_ids !== undefined) ||
					(by === "channel" && channels.length <= maxCountedChannels),
			))
	);
}

const queryOf = ({ args, scope, namesAll }: Search) => indexQuery(args, args, namesAll ? readableIn(scope) : undefined);

async function searchInIndex(search: Search): Promise<string[] | undefined> {
	const { guild, args, scope } = search;
	const [limit = defaultLimit] = args.limit;
	const found = await searchIndex(guild, queryOf(search), { limit, reserveMs });
	if (!found) return undefined;
	const { total, messages, threads, hasMore } = found;
	const last = messages.at(-1);
	return resultLines(
		total === 0
			? "No indexed message matches."
			: `${countOf(total, "match")} in Discord's index, ${messages.length} shown, ${lineOrder}:`,
		summaries(messages, { guild, threads, isAcross: true, folds: args.fold }, args.text),
		indexNotes(search, found),
		scopeNotes(scope),
		hasMore && last && `next_before=${last.id}`,
	);
}

function indexNotes({ args, scope, namesAll }: Search, { isIndexing }: Partial<Indexed>) {
	return resultLines(
		`Searched: ${scopeLabel(scope, !namesAll)}.`,
		isIndexing && "Discord is still indexing old messages: some may be missing.",
		args.text !== undefined &&
			"Discord's index finds whole words; with `after`, each message is read and parts of words are found.",
	);
}

async function countInIndex(search: Search, groupings: readonly Grouping[]): Promise<string[] | undefined> {
	const { guild, args, scope } = search;
	const queries = groupings.flatMap((by) => {
		const all = by === "author" ? authorsOf(args, guild) : channelsOf(scope);
		return all.map((one) => ({ ...one, by }));
	});
	const counts: (Count & { by: Grouping })[] = [];
	let isIndexing = false;
	const count = async (given: IndexQuery) => {
		const found = await searchIndex(guild, { ...queryOf(search), ...given }, { limit: 0, reserveMs });
		isIndexing ||= found?.isIndexing ?? false;
		return found?.total;
	};
	for (const one of queries) {
		if (timeLeftMs() < reserveMs) break;
		try {
			const found = await count({ [`${one.by}_id`]: one.id });
			if (found === undefined) return undefined;
			counts.push({ ...one, count: found });
		} catch (error) {
			if (counts.length === 0 || !(error instanceof PlatformBusy)) throw error;
			break;
		}
	}
	const left = queries.slice(counts.length);
	const [by] = groupings;
	const sum = sumOf(counts.filter((one) => one.by === by));
	// The index also finds messages of archived threads, which are not in the cache.
	const total =
		by === "channel" && !search.isNamed && left.length === 0 && timeLeftMs() >= reserveMs
			? await count({}).catch((error) => (error instanceof PlatformBusy ? undefined : Promise.reject(error)))
			: undefined;
	const isComplete = left.length === 0 && !search.isNamed;
	const inChannels = sumOf(counts.filter(({ by }) => by === "channel"));
	const elsewhere = isComplete ? (total ?? sum) - inChannels : 0;
	const until = args.before ? ` before ${time(args.before.atMs)}` : "";
	const named = new Set(namedChannels(search).map(({ id }) => id));
	// Of all channels and of archived threads, those without a match are not worth a line.
	const isShown = ({ id, count, by }: (typeof counts)[number]) => count > 0 || by === "author" || named.has(id);
	const countsBy = (by: Grouping) => {
		return sortCounts(
			counts.filter((one) => one.by === by).filter(isShown),
			by,
			readableIn(scope).map(({ id }) => id),
		);
	};
	return resultLines(
		`${countOf(total ?? sum, "message")}${until}, counted by Discord's index:`,
		tables(search, groupings, countsBy),
		elsewhere > 0 && `Elsewhere, such as in archived threads: ${elsewhere}.`,
		rowsNote,
		left.length > 0 &&
			`Not counted, because the time for one call is up or Discord's rate limit is reached: ${left.map(({ name }) => name).join(", ")}`,
		indexNotes(search, { isIndexing }),
		scopeNotes(scope),
	);
}
