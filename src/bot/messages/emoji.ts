// Emoji as tool arguments, in Discord's routes and in results.

import {
	type APIEmoji,
	type APIReaction,
	type APIUser,
	type Guild,
	type GuildTextBasedChannel,
	makeURLSearchParams,
	ReactionType,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { oneField } from "../../discord/text.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { expected } from "../tool/arguments/arguments.ts";

export interface Emoji {
	/** Undefined for a Unicode emoji. */
	id: string | undefined;
	/** The Unicode emoji itself; undefined for a custom emoji given by its id alone. */
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

/** Inside an argument whose description explains the emoji. */
export const innerEmoji = v.pipe(emoji, publishedAs({ type: "string", pattern: emojiPattern.source }));

export interface GuildEmoji extends APIEmoji {
	id: string;
	name: string;
}

/** From Discord: the bot's cache of emoji is not kept current. */
export async function fetchEmojis(guild: Guild): Promise<GuildEmoji[]> {
	return (await guild.client.rest.get(Routes.guildEmojis(guild.id))) as GuildEmoji[];
}

/** Throws a ToolError if the guild has no emoji with this id. */
export async function guildEmoji(guild: Guild, id: string) {
	return findEmoji(await fetchEmojis(guild), guild, id);
}

function findEmoji(all: readonly GuildEmoji[], guild: Guild, id: string) {
	const found = all.find((emoji) => emoji.id === id);
	if (found) return found;
	throw new SaidError(said("refusal.no_emoji", { emoji: `<:_:${id}>` }), {
		models: `There is no emoji ${id} in the guild ${guild.id}. list_emojis lists its emoji.`,
	});
}

/** Throws a ToolError for a custom emoji that the guild does not have. */
export async function requireOwnEmoji(guild: Guild, emojis: readonly Emoji[]): Promise<void> {
	const ids = emojis.flatMap(({ id }) => id ?? []);
	if (ids.length === 0) return;
	const own = await fetchEmojis(guild);
	for (const id of ids) findEmoji(own, guild, id);
}

/** For routes. Custom emoji are name:id; Discord ignores the name but requires it. */
export function emojiPath({ id, name }: Emoji, guild: Guild): string {
	if (id === undefined) return encodeURIComponent(name ?? "");
	return `${name ?? guild.emojis.cache.get(id)?.name ?? "_"}:${id}`;
}

/** A custom emoji as `<:name:id>`. */
export function emojiName({ id, name }: { [Key in keyof Emoji]?: string | null | undefined }): string {
	return id ? `<:${oneField(name ?? "_")}:${id}>` : oneField(name ?? "unknown");
}

/** With super reactions (`burst`). https://discord.com/developers/docs/resources/message#reaction-object */
export function reactionCount(reaction: APIReaction): string {
	const { emoji, count, count_details } = reaction;
	const supers = count_details?.burst ?? 0;
	return `${emojiName(emoji)} ${count}${supers > 0 ? ` (${supers} super)` : ""}`;
}

export function reactionWith(
	reactions: readonly APIReaction[] | undefined,
	{ id, name }: Emoji,
): APIReaction | undefined {
	return reactions?.find(({ emoji }) =>
		id === undefined ? !emoji.id && withoutSelector(emoji.name) === withoutSelector(name) : emoji.id === id,
	);
}

// Some emoji occur with and without U+FE0F.
function withoutSelector(name: string | null | undefined): string {
	return (name ?? "").replaceAll("\ufe0f", "");
}

export interface ReactionPage {
	type: "normal" | "burst";
	limit: number;
	after?: string | undefined;
}

export async function fetchReactions(
	{ id, client }: GuildTextBasedChannel,
	messageId: string,
	emojiPath: string,
	page: ReactionPage,
): Promise<APIUser[]> {
	const type = page.type === "burst" ? ReactionType.Super : undefined;
	const query = makeURLSearchParams({ ...page, type });
	const path = Routes.channelMessageReaction(id, messageId, emojiPath);
	return (await client.rest.get(path, { query })) as APIUser[];
}
