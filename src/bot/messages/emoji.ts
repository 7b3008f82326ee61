// Emoji as tools take them, as Discord's routes want them, and as results show them.

import {
	type APIEmoji,
	type APIReaction,
	type Guild,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { oneField } from "../discord/text.ts";

/** A Unicode emoji by itself, or one of a guild by its id. */
export interface Emoji {
	id: string | undefined;
	/** Of a guild's emoji undefined where only the id was given. */
	name: string | undefined;
}

const ofGuild = /^(?:<?a?:)?(?:(?<name>\w{1,32}):)?(?<id>\d{17,20})>?$/;

export const emoji = v.pipe(
	v.string(),
	v.regex(
		// One of a guild, or something that is not plain text: which pictures there are, Discord knows.
		/^(?:(?:<?a?:)?(?:\w{1,32}:)?\d{17,20}>?|.*[^ -~].*)$/,
		noEmoji,
	),
	v.check((input) => input.length <= 64, noEmoji),
	v.transform((input): Emoji => {
		const { name, id } = ofGuild.exec(input)?.groups ?? {};
		return id === undefined
			? { id: undefined, name: input.trim() }
			: { id, name };
	}),
	v.description("The emoji itself (👍), or a guild's own as <:name:id>."),
);

function noEmoji({ input }: { input: string }): string {
	return `expected an emoji itself, such as 👍, or <:name:id>, received ${JSON.stringify(input)}`;
}

/** An emoji that a guild has of its own. */
export interface GuildEmoji extends APIEmoji {
	id: string;
	name: string;
}

/** The emoji of a guild, asked for: nobody tells the bot of changes. */
export async function emojisOf({ client, id }: Guild): Promise<GuildEmoji[]> {
	return (await client.rest.get(Routes.guildEmojis(id))) as GuildEmoji[];
}

/** One of them. */
export async function guildEmoji(
	guild: Guild,
	id: string,
): Promise<GuildEmoji> {
	return oneOf(await emojisOf(guild), guild, id);
}

function oneOf(
	emojis: readonly GuildEmoji[],
	guild: Guild,
	id: string,
): GuildEmoji {
	const found = emojis.find((one) => one.id === id);
	if (found) return found;
	throw new ToolError(
		`There is no emoji ${id} in the guild ${guild.id}. list_emojis shows its emoji.`,
	);
}

/** Throws the ToolError to show unless each of these is Unicode's, or the guild's own. */
export async function requireOwn(
	guild: Guild,
	emojis: readonly Emoji[],
): Promise<void> {
	const ids = emojis.flatMap(({ id }) => id ?? []);
	if (ids.length === 0) return;
	const own = await emojisOf(guild);
	for (const id of ids) oneOf(own, guild, id);
}

/** The emoji as a part of a path. Of a guild's emoji Discord reads the id, and wants some name before it. */
export function emojiPath({ id, name }: Emoji, guild: Guild): string {
	if (id === undefined) return encodeURIComponent(name ?? "");
	return `${name ?? guild.emojis.cache.get(id)?.name ?? "_"}:${id}`;
}

/** The emoji in a result. */
export function emojiName({
	id,
	name,
}: {
	id?: string | null | undefined;
	name?: string | null | undefined;
}): string {
	return id ? `<:${oneField(name ?? "_")}:${id}>` : oneField(name ?? "unknown");
}

/** What a message shows of reactions with this emoji. */
export function reactionWith(
	reactions: readonly APIReaction[] | undefined,
	{ id, name }: Emoji,
): APIReaction | undefined {
	return reactions?.find(({ emoji }) =>
		id === undefined
			? !emoji.id && plain(emoji.name) === plain(name)
			: emoji.id === id,
	);
}

/** Some emoji are written with and without the selector that asks for colours. */
function plain(name: string | null | undefined): string {
	return (name ?? "").replaceAll("\ufe0f", "");
}
