// Message search: filters and order.
// https://discord.com/developers/docs/resources/message#search-guild-messages

import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Attachment, Message } from "../state/entities.ts";

/** What a message must contain to be found or, with the prefix "-", must not contain. */
export const hasTypes = ["image", "sound", "video", "file", "sticker", "embed", "link", "poll", "snapshot"] as const;

/** The kinds of authors whose messages are found. The prefix "-" excludes a kind. */
export const authorTypes = ["user", "bot", "webhook"] as const;

/** A message must match all filters, each with one of its values. Values with the prefix "-" exclude messages. */
export interface Search {
	content?: string | undefined;
	max_id?: string | undefined;
	min_id?: string | undefined;
	author_id?: readonly string[] | undefined;
	author_type?: readonly string[] | undefined;
	mentions?: readonly string[] | undefined;
	mentions_role_id?: readonly string[] | undefined;
	mention_everyone?: boolean | undefined;
	replied_to_message_id?: readonly string[] | undefined;
	pinned?: boolean | undefined;
	has?: readonly string[] | undefined;
	sort_by: "timestamp" | "relevance";
	/** The sort direction by message time. Ignored if `sort_by` is "relevance". */
	sort_order: "asc" | "desc";
}

/** Returns the messages that match all filters of a search, in the requested order. */
export function searchMessages(messages: readonly Message[], search: Search): Message[] {
	const found = messages.filter((message) => matches(message, search)).sort((a, b) => compareIds(b.id, a.id));
	const wanted = wordsIn(search.content ?? "");
	if (search.sort_by === "relevance") return found.sort((a, b) => countMatches(b, wanted) - countMatches(a, wanted));
	return search.sort_order === "asc" ? found.reverse() : found;
}

function matches(message: Message, search: Search): boolean {
	const { id, author, mentions, mention_roles, mention_everyone } = message;
	const { max_id, min_id, pinned, mention_everyone: everyone } = search;
	const mentioned = mentions.map((user) => user.id);
	const repliedTo = message.message_reference?.message_id ?? "";
	return (
		(max_id === undefined || compareIds(id, max_id) < 0) &&
		(min_id === undefined || compareIds(id, min_id) > 0) &&
		(pinned === undefined || (message.pinned_at !== null) === pinned) &&
		(everyone === undefined || mention_everyone === everyone) &&
		anyOf(search.author_id, [author.id]) &&
		anyOf(search.mentions, mentioned) &&
		anyOf(search.mentions_role_id, mention_roles) &&
		anyOf(search.replied_to_message_id, [repliedTo]) &&
		matchesFilter(search.author_type, [authorType(message)]) &&
		matchesFilter(search.has, hasTypesOf(message)) &&
		contains(message, wordsIn(search.content ?? ""))
	);
}

function anyOf(wanted: readonly string[] | undefined, there: readonly string[]): boolean {
	return wanted === undefined || wanted.some((one) => there.includes(one));
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
