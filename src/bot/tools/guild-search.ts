// Looking for messages in a whole guild, by Discord's own search.
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
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { textChannel } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";
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
	snowflake,
	text,
} from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";

/** No search is begun later: it may take 10 s, and the tool has 25 s. */
const lastStartMs = 14_000;

/** Where Discord does not say how long, after a short delay. */
const shortestWaitSeconds = 0.5;

/** Discord shows no more of what it finds. */
const lastOffset = 9975;

/** Each as it is, and with a "-" before it. */
function negatable<const Word extends string>(words: readonly Word[]) {
	return [...words, ...words.map((one) => `-${one}` as const)];
}

const kind = choice(
	negatable([
		...["image", "sound", "video", "file", "sticker"],
		...["embed", "link", "poll", "snapshot"],
	]),
	"After a -: without. A snapshot is a forwarded message.",
);

const authorType = choice(
	negatable(["user", "bot", "webhook"]),
	"After a -: not by such.",
);

const filters = {
	query: v.optional(text(1, 1024, "Words of the text.")),
	channel_ids: v.optional(
		list(found(textChannel, "channel"), 1, 100, "Only in these."),
	),
	author_ids: v.optional(list(snowflake("author"), 1, 100, "Only by these.")),
	mentions: v.optional(
		list(snowflake("user"), 1, 100, "Only what mentions these."),
	),
	has: v.optional(list(kind, 1, 18, "Only with one of these.")),
	author_type: v.optional(list(authorType, 1, 6, "Only by such.")),
	pinned: v.optional(flag("Only pinned ones; false: only others.")),
	before: v.optional(moment("Only before this")),
	after: v.optional(moment("Only after this")),
};

const input = v.strictObject({
	guild_id,
	...filters,
	sort: v.optional(
		choice(["timestamp", "relevance"], "By time or by fit."),
		"timestamp",
	),
	order: v.optional(choice(["desc", "asc"], "Newest or oldest first."), "desc"),
	limit: limit(25, 25),
	offset: v.optional(integer(0, lastOffset, "How many to pass over."), 0),
});

type Args = v.InferOutput<typeof input>;

export const searchGuildMessages = tool({
	name: "search_guild_messages",
	toolset: "messages",
	title: "Search a guild's messages",
	description:
		"Find messages in all channels that the bot may read, by Discord's own index. Takes at least one filter; `next_offset` goes on as `offset`.",
	effect: "read",
	permissions: ["ReadMessageHistory"],
	permissionsIn: "channel_ids",
	intents: ["MessageContent"],
	input,
	async run(args, { discord, guild }) {
		const keys = Object.keys(filters) as (keyof typeof filters)[];
		if (keys.every((key) => args[key] === undefined))
			throw invalidParameters([
				`${keys.join(", ")}: expected at least one of these`,
			]);
		requireContent(discord, "Discord lets it search none");
		const result = await search(discord, guild, queryOf(args));
		const { total_results: total, threads } = result;
		const messages = result.messages.flat() as APIMessage[];
		const nameOf = channelNames(guild, threads ?? []);
		return [
			total === 0
				? "No message that Discord has indexed matches."
				: `${total} match(es) in total, ${messages.length} shown${args.offset > 0 ? ` after the first ${args.offset}` : ""}, ${orderOf(args)}, times in UTC:`,
			...messages.map(
				(one) => `in: ${nameOf(one.channel_id)} | ${messageLine(one)}`,
			),
			...(result.doing_deep_historical_index
				? ["Discord is still indexing old messages: some may be missing."]
				: []),
			...wayOn(total, args),
		];
	},
});

function queryOf(args: Args): URLSearchParams {
	const { query, before, after, pinned, sort, order, limit, offset } = args;
	const one = {
		content: query,
		max_id: before?.first,
		min_id: after?.lastBefore,
		pinned,
		...{ sort_by: sort, sort_order: order, limit, offset },
		// Other tools read channels with an age restriction as well.
		include_nsfw: true,
	};
	const many = {
		channel_id: args.channel_ids,
		author_id: args.author_ids,
		mentions: args.mentions,
		has: args.has,
		author_type: args.author_type,
	};
	const asked = new URLSearchParams();
	for (const [key, value] of Object.entries(one))
		if (value !== undefined) asked.set(key, String(value));
	for (const [key, values = []] of Object.entries(many))
		for (const value of values) asked.append(key, value);
	return asked;
}

/** What Discord finds; while it is still indexing, it is asked again for as long as a call may take. */
async function search(
	{ rest }: Client<true>,
	guild: Guild,
	query: URLSearchParams,
): Promise<APIMessageSearchResult> {
	const startedAt = performance.now();
	for (;;) {
		const answer = (await rest.get(Routes.guildMessagesSearch(guild.id), {
			query,
		})) as RESTGetAPIGuildMessagesSearchResult;
		if ("messages" in answer) return answer;
		const waitSeconds = Math.max(answer.retry_after, shortestWaitSeconds);
		const spentMs = performance.now() - startedAt;
		if (spentMs + waitSeconds * 1000 > lastStartMs)
			throw new ToolError(
				`Discord is still indexing the messages of the guild ${guild.id}, ${answer.documents_indexed} so far, and found nothing yet. Call again in ${Math.ceil(waitSeconds)} seconds, or read one channel with search_messages.`,
			);
		await Bun.sleep(waitSeconds * 1000);
	}
}

function orderOf({ sort, order }: Args): string {
	if (sort === "relevance") return "the best match first";
	return order === "asc" ? "oldest first" : "newest first";
}

/** Names channels; of threads that are archived only the answer itself knows the names. */
function channelNames(guild: Guild, threads: readonly APIThreadChannel[]) {
	const called = new Map(threads.map(({ id, name }) => [id, name]));
	return (id: string) => {
		const name = guild.channels.cache.get(id)?.name ?? called.get(id);
		return name ? `#${oneField(name)} (ID: ${id})` : `ID: ${id}`;
	};
}

/** Pages go by offset: Discord may leave some of a page out. */
function wayOn(total: number, { offset, limit }: Args): string[] {
	const next = offset + limit;
	if (next >= total) return [];
	if (next <= lastOffset) return [`next_offset=${next}`];
	return [
		"Discord shows no more of what it finds; narrow the search, such as with `before`.",
	];
}
