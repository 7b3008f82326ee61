// Emoji as tool arguments, in Discord's routes and in results.

import { type APIEmoji, type APIReaction, type Guild, Routes } from "discord.js";
import * as v from "valibot";
import { oneField } from "../../discord/text.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import { ToolError } from "../../mcp/tool.ts";
import { expected } from "../tool/arguments/arguments.ts";

/** An emoji as given in a tool argument: a Unicode emoji, or a custom emoji of a guild. */
export interface Emoji {
	/** Id of a custom emoji; undefined for a Unicode emoji. */
	id: string | undefined;
	/** A Unicode emoji itself, or the name of a custom emoji; undefined for a custom emoji given by its id alone. */
	name: string | undefined;
}

const customEmoji = /^(?:<?a?:)?(?:(?<name>\w{1,32}):)?(?<id>\d{17,20})>?$/;

const invalidEmoji = expected("a Unicode emoji such as 👍, or <:name:id>");

// A custom emoji, or any text beyond ASCII: Discord checks whether it is a Unicode emoji.
const emojiPattern = /^(?:(?:<?a?:)?(?:\w{1,32}:)?\d{17,20}>?|.*[^ -~].*)$/;

export const emoji = v.pipe(
	v.string(),
	v.regex(emojiPattern, invalidEmoji),
	v.check((input) => input.length <= 64, invalidEmoji),
	v.transform((input): Emoji => {
		const { name, id } = customEmoji.exec(input)?.groups ?? {};
		return id === undefined ? { id: undefined, name: input.trim() } : { id, name };
	}),
	v.description("A Unicode emoji (👍), or a guild's as <:name:id>."),
);

/** Schema of an emoji inside an argument such as an embed or a list, whose description explains the emoji. */
export const innerEmoji = v.pipe(emoji, publishedAs({ type: "string", pattern: emojiPattern.source }));

/** A custom emoji of a guild, as Discord's API returns it. */
export interface GuildEmoji extends APIEmoji {
	id: string;
	name: string;
}

/** Fetches a guild's custom emoji from Discord. The bot's cache of emoji is not kept current. */
export async function fetchEmojis(guild: Guild): Promise<GuildEmoji[]> {
	const path = Routes.guildEmojis(guild.id);
	return (await guild.client.rest.get(path)) as GuildEmoji[];
}

/** Fetches a custom emoji from Discord. Throws a ToolError if the guild has no emoji with this id. */
export async function guildEmoji(guild: Guild, id: string) {
	return findEmoji(await fetchEmojis(guild), guild, id);
}

function findEmoji(all: readonly GuildEmoji[], guild: Guild, id: string) {
	const found = all.find((emoji) => emoji.id === id);
	if (found) return found;
	throw new ToolError(`There is no emoji ${id} in the guild ${guild.id}. list_emojis lists its emoji.`);
}

/** Throws a ToolError if one of these emoji is a custom emoji that the guild does not have. */
export async function requireOwnEmoji(guild: Guild, emojis: readonly Emoji[]): Promise<void> {
	const ids = emojis.flatMap(({ id }) => id ?? []);
	if (ids.length === 0) return;
	const own = await fetchEmojis(guild);
	for (const id of ids) findEmoji(own, guild, id);
}

/**
 * Formats an emoji as part of the path of a Discord API route. Custom emoji have the form name:id; Discord ignores the
 * name but requires it.
 */
export function emojiPath({ id, name }: Emoji, guild: Guild): string {
	if (id === undefined) return encodeURIComponent(name ?? "");
	return `${name ?? guild.emojis.cache.get(id)?.name ?? "_"}:${id}`;
}

/** Formats an emoji for tool results: a Unicode emoji as it is, a custom emoji as `<:name:id>`. */
export function emojiName({
	id,
	name,
}: {
	[Key in keyof Emoji]?: Emoji[Key] | null;
}): string {
	return id ? `<:${oneField(name ?? "_")}:${id}>` : oneField(name ?? "unknown");
}

/**
 * Formats the number of users who reacted to a message with an emoji, and the number of super reactions (`burst`) among
 * them. https://discord.com/developers/docs/resources/message#reaction-object
 */
export function reactionCount(reaction: APIReaction): string {
	const { emoji, count, count_details } = reaction;
	const supers = count_details?.burst ?? 0;
	return `${emojiName(emoji)} ${count}${supers > 0 ? ` (${supers} super)` : ""}`;
}

/** Finds the reactions with this emoji among a message's reactions; undefined if there are none. */
export function reactionWith(
	reactions: readonly APIReaction[] | undefined,
	{ id, name }: Emoji,
): APIReaction | undefined {
	return reactions?.find(({ emoji }) =>
		id === undefined ? !emoji.id && withoutSelector(emoji.name) === withoutSelector(name) : emoji.id === id,
	);
}

/** Removes the variation selector U+FE0F from a Unicode emoji, because some emoji occur with and without it. */
function withoutSelector(name: string | null | undefined): string {
	return (name ?? "").replaceAll("\ufe0f", "");
}
