// Searching the messages of a guild.
// https://discord.com/developers/docs/resources/message#search-guild-messages
//
// A gap: Search has no `slop`, no word forms, and no filters for embeds, link hosts and file names. The index is always
// available unless a fault says otherwise.

import { PermissionFlagsBits as Permission } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import { type Attachment, type GuildPlace, isThread, type Message } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { boolean, choice, integer, notSimulatedField, queryList, snowflake, text } from "../fields/fields.ts";
import { type Call, type ReadForm, route } from "../route.ts";

/** What a message must contain to be found or, with the prefix "-", must not contain. */
const hasTypes = ["image", "sound", "video", "file", "sticker", "embed", "link", "poll", "snapshot"] as const;

/** The kinds of authors whose messages are found. The prefix "-" excludes a kind. */
const authorTypes = ["user", "bot", "webhook"] as const;

function negatable(words: readonly string[]) {
	return choice(...words, ...words.map((one) => `-${one}`));
}

const ids = queryList(snowflake, 100);

const filters = {
	limit: integer(1, 25),
	offset: integer(0, 9975),
	max_id: snowflake,
	min_id: snowflake,
	content: text(0, 1024),
	channel_id: queryList(snowflake, 500),
	author_type: queryList(negatable(authorTypes), 6),
	author_id: ids,
	mentions: ids,
	mentions_role_id: ids,
	mention_everyone: boolean,
	replied_to_message_id: ids,
	pinned: boolean,
	has: queryList(negatable(hasTypes), 18),
	sort_by: choice("timestamp", "relevance"),
	sort_order: choice("asc", "desc"),
	include_nsfw: boolean,
	slop: notSimulatedField("slop of a search"),
	replied_to_user_id: notSimulatedField("searching for replies to a user"),
	embed_type: notSimulatedField("searching by embeds"),
	embed_provider: notSimulatedField("searching by embeds"),
	link_hostname: notSimulatedField("searching by links"),
	attachment_filename: notSimulatedField("searching by files"),
	attachment_extension: notSimulatedField("searching by files"),
};

type Search = ReadForm<typeof filters>;

export const searchRoutes = [
	route("GET /guilds/:guild_id/messages/search", {
		query: filters,
		run: (call) => {
			const { query, world, actor } = call;
			const reader = serialize.readerOf(actor);
			if (!reader.seesContent) throw apiError("MissingAccess");
			const searched = readableIn(call, query.channel_id).filter(
				(place) => query.include_nsfw || !world.channels.isNsfw(place),
			);
			const all = searched.flatMap(({ id }) => world.messages.in(id));
			const { offset = 0, limit = 25 } = query;
			const found = searchMessages(all, query);
			const page = found.slice(offset, offset + limit);
			const threads = searched.filter(isThread).filter(({ id }) => page.some(({ channel_id }) => channel_id === id));
			return {
				doing_deep_historical_index: false,
				total_results: found.length,
				messages: page.map((message) => {
					const { reactions, ...rest } = world.messages.serialize(message, reader);
					return [{ ...rest, hit: true }];
				}),
				...serialize.threads(threads, actor.user.id),
			};
		},
	}),
];

function readableIn(call: Call<":guild_id">, named: readonly string[] | undefined): GuildPlace[] {
	const { channels, threads } = call.guild;
	const needed = Permission.ViewChannel | Permission.ReadMessageHistory;
	const readable = [...channels.values(), ...threads.values()].filter((one) => has(permissionsIn(call, one), needed));
	if (named === undefined) return readable;
	return named.map((id) =>
		found(
			readable.find((one) => one.id === id),
			"MissingAccess",
		),
	);
}

function searchMessages(messages: readonly Message[], search: Search): Message[] {
	const found = messages.filter((message) => matches(message, search)).sort((a, b) => compareIds(b.id, a.id));
	const wanted = wordsIn(search.content ?? "");
	if (search.sort_by === "relevance") return found.sort((a, b) => countMatches(b, wanted) - countMatches(a, wanted));
	return search.sort_order === "asc" ? found.reverse() : found;
}

function matches(message: Message, search: Search): boolean {
	const { id, author, mentions, mention_roles, mention_everyone } = message;
	const { max_id, min_id, pinned, mention_everyone: everyone } = search;
	const mentioned = mentions.map((user) => user.id);
	return (
		(max_id === undefined || compareIds(id, max_id) < 0) &&
		(min_id === undefined || compareIds(id, min_id) > 0) &&
		(pinned === undefined || (message.pinned_at !== null) === pinned) &&
		(everyone === undefined || mention_everyone === everyone) &&
		matchesFilter(search.author_id, [author.id]) &&
		matchesFilter(search.mentions, mentioned) &&
		matchesFilter(search.mentions_role_id, mention_roles) &&
		matchesFilter(search.replied_to_message_id, [message.message_reference?.message_id ?? ""]) &&
		matchesFilter(search.author_type, [authorType(message)]) &&
		matchesFilter(search.has, hasTypesOf(message)) &&
		contains(message, wordsIn(search.content ?? ""))
	);
}

/** None of the values with the prefix "-" and, if there are others, at least one of those. */
function matchesFilter(wanted: readonly string[] | undefined, there: readonly string[]): boolean {
	if (wanted === undefined) return true;
	const unwanted = wanted.filter((one) => one.startsWith("-"));
	const rest = wanted.filter((one) => !one.startsWith("-"));
	return (
		unwanted.every((one) => !there.includes(one.slice(1))) &&
		(rest.length === 0 || rest.some((one) => there.includes(one)))
	);
}

function authorType({ author, webhook_id, application_id }: Message): string {
	// Interaction responses are the bot's: their webhook_id is the id of the bot's application. Messages of a webhook that
	// an application made have both ids as well, but different ones.
	// https://discord.com/developers/docs/resources/message#message-object
	if (webhook_id !== undefined && webhook_id !== application_id) return "webhook";
	return author.bot ? "bot" : "user";
}

function hasTypesOf(message: Message): string[] {
	const { attachments, embeds, content, poll, message_snapshots } = message;
	const hasType = (kind: string) => attachments.some((one: Attachment) => one.content_type.startsWith(kind));
	return [
		...(hasType("image/") ? ["image"] : []),
		...(hasType("audio/") ? ["sound"] : []),
		...(hasType("video/") ? ["video"] : []),
		...(attachments.length > 0 ? ["file"] : []),
		...(embeds.length > 0 ? ["embed"] : []),
		...(poll ? ["poll"] : []),
		...(message_snapshots ? ["snapshot"] : []),
		...(/https?:\/\/\S/.test(content) ? ["link"] : []),
	];
}

function wordsIn(text: string): string[] {
	return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function contains(message: Message, wanted: readonly string[]): boolean {
	const words = new Set(wordsIn(message.content));
	return wanted.every((word) => words.has(word));
}

function countMatches(message: Message, wanted: readonly string[]): number {
	return wordsIn(message.content).filter((word) => wanted.includes(word)).length;
}
