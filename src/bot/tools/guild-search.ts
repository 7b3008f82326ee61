// Searching the messages of a guild with Discord's search.
// https://discord.com/developers/docs/resources/message#search-guild-messages

import {
	type APIMessage,
	type APIMessageSearchResult,
	type APIThreadChannel,
	type Client,
	type Guild,
	type RESTGetAPIGuildMessagesSearchResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { textChannel } from "../discord/find.ts";
import { oneField, resultLines } from "../discord/text.ts";
import { requireContent } from "../messages/message-content.ts";
import { messageLine } from "../messages/message-lines.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	integer,
	limit,
	list,
	moment,
	requireOneOf,
	snowflake,
	text,
} from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

/**
 * How long after the start of a tool call another search request may be sent, in milliseconds: a request may take 10 s,
 * and a tool call 25 s.
 */
const lastStartMs = 14_000;

/** Minimum wait before a search is repeated. Discord asks for a short delay if retry_after is 0. */
const minWaitSeconds = 0.5;

/** The highest offset that Discord's message search accepts. */
const maxOffset = 9975;

/**
 * Returns all words, then each word with "-" in front, which negates it in Discord's message search: "image" and
 * "-image".
 */
function negatable<const Word extends string>(words: readonly Word[]) {
	return [...words, ...words.map((word) => `-${word}` as const)];
}

const kind = choice(
	negatable([
		"image",
		"sound",
		"video",
		"file",
		"sticker",
		"embed",
		"link",
		"poll",
		"snapshot",
	]),
	"With -: without it. A snapshot is a forwarded message.",
);

const authorType = choice(
	negatable(["user", "bot", "webhook"]),
	"With -: not by these.",
);

const filters = {
	query: v.optional(text(1, 1024, "Words to find.")),
	channel_ids: v.optional(
		list(found(textChannel, "channel"), 1, 100, "Only in these."),
	),
	author_ids: v.optional(list(snowflake("author"), 1, 100, "Only by these.")),
	mentions: v.optional(
		list(snowflake("user"), 1, 100, "Only mentioning these."),
	),
	has: v.optional(list(kind, 1, 18, "Only with one of these.")),
	author_type: v.optional(list(authorType, 1, 6, "Only by these.")),
	pinned: v.optional(flag("Only pinned; false: only others.")),
	before: v.optional(moment("Only before this")),
	after: v.optional(moment("Only after this")),
};

const input = v.strictObject({
	guild_id,
	...filters,
	sort: v.optional(
		choice(["timestamp", "relevance"], "By time or match."),
		"timestamp",
	),
	order: v.optional(choice(["desc", "asc"], "Newest or oldest first."), "desc"),
	limit: limit(25, 25),
	offset: v.optional(integer(0, maxOffset, "How many to skip."), 0),
});

type Args = v.InferOutput<typeof input>;

export const searchGuildMessages = readTool({
	name: "search_guild_messages",
	toolset: "messages",
	title: "Search a guild's messages",
	description:
		"Search all channels that the bot can read, with Discord's index. Takes at least one filter; continue with `next_offset` as `offset`.",
	permissions: ["ReadMessageHistory"],
	permissionsIn: "channel_ids",
	intents: ["MessageContent"],
	input,
	async run(args, { discord, guild }) {
		requireOneOf(args, Object.keys(filters) as (keyof typeof filters)[]);
		requireContent(discord, "Discord does not let it search");
		const result = await search(discord, guild, searchQuery(args));
		const { total_results: total, threads } = result;
		const messages = result.messages.flat() as APIMessage[];
		const nameOf = channelNames(guild, threads ?? []);
		return resultLines(
			total === 0
				? "No indexed message matches."
				: `${total} match(es) in total, ${messages.length} shown${args.offset > 0 ? ` after the first ${args.offset}` : ""}, ${orderOf(args)}, times in UTC:`,
			messages.map(
				(message) =>
					`in: ${nameOf(message.channel_id)} | ${messageLine(message)}`,
			),
			result.doing_deep_historical_index &&
				"Discord is still indexing old messages: some may be missing.",
			nextPage(total, args),
		);
	},
});

function searchQuery(args: Args): URLSearchParams {
	const { query, before, after, pinned, sort, order, limit, offset } = args;
	const single = {
		content: query,
		max_id: before?.first,
		min_id: after?.lastBefore,
		pinned,
		sort_by: sort,
		sort_order: order,
		limit,
		offset,
		// Other tools read age-restricted channels too.
		include_nsfw: true,
	};
	const repeated = {
		channel_id: args.channel_ids,
		author_id: args.author_ids,
		mentions: args.mentions,
		has: args.has,
		author_type: args.author_type,
	};
	const params = new URLSearchParams();
	for (const [key, value] of Object.entries(single))
		if (value !== undefined) params.set(key, String(value));
	for (const [key, values = []] of Object.entries(repeated))
		for (const value of values) params.append(key, value);
	return params;
}

/**
 * Searches a guild's messages. Repeats the search while Discord is still indexing the guild; throws a ToolError when
 * the tool call has no more time to wait.
 */
async function search(
	{ rest }: Client<true>,
	guild: Guild,
	query: URLSearchParams,
): Promise<APIMessageSearchResult> {
	const startedAt = performance.now();
	for (;;) {
		const result = (await rest.get(Routes.guildMessagesSearch(guild.id), {
			query,
		})) as RESTGetAPIGuildMessagesSearchResult;
		if ("messages" in result) return result;
		const waitSeconds = Math.max(result.retry_after, minWaitSeconds);
		const spentMs = performance.now() - startedAt;
		if (spentMs + waitSeconds * 1000 > lastStartMs)
			throw new ToolError(
				`Discord is still indexing the messages of the guild ${guild.id}, ${result.documents_indexed} so far, and has no results yet. Call again in ${Math.ceil(waitSeconds)} seconds, or read one channel with search_messages.`,
			);
		await Bun.sleep(waitSeconds * 1000);
	}
}

function orderOf({ sort, order }: Args): string {
	if (sort === "relevance") return "best match first";
	return order === "asc" ? "oldest first" : "newest first";
}

/**
 * Returns a function that formats a channel's name by its id. Archived threads are not cached, so their names come from
 * the search result.
 */
function channelNames(guild: Guild, threads: readonly APIThreadChannel[]) {
	const names = new Map(threads.map(({ id, name }) => [id, name]));
	return (id: string) => {
		const name = guild.channels.cache.get(id)?.name ?? names.get(id);
		return name ? `#${oneField(name)} (ID: ${id})` : `ID: ${id}`;
	};
}

/**
 * Returns a result line with the offset of the next page of found messages; no line on the last page. The next offset
 * does not depend on how many messages the page has, because Discord may omit some.
 */
function nextPage(total: number, { offset, limit }: Args): string[] {
	const next = offset + limit;
	if (next >= total) return [];
	if (next <= maxOffset) return [`next_offset=${next}`];
	return [
		"Discord shows no further results; narrow the search, such as with `before`.",
	];
}
