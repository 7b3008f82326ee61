// Forum tags: checking the tags of a post, and comparing a new list of tags with the current one.
// https://discord.com/developers/docs/resources/channel#forum-tag-object

import {
	type APIGuildForumTag,
	type Guild,
	type GuildForumTag,
	type GuildForumTagData,
	type GuildForumTagEmoji,
	PermissionFlagsBits,
} from "discord.js";
import { channelName } from "../../../discord/describe.ts";
import type { Forum } from "../../../discord/find.ts";
import { requirePermissions } from "../../../discord/permissions.ts";
import { fieldLine, fold, oneField } from "../../../discord/text.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { type Emoji, emojiName } from "../../messages/emoji.ts";

/** Throws a ToolError for unknown tags, and for moderated ones without Manage Threads. */
export function requireTags(guild: Guild, forum: Forum, ids: readonly string[]): void {
	const tags = ids.map((id) => tagOf(forum, id));
	if (tags.some(({ moderated }) => moderated)) requirePermissions(guild, forum, PermissionFlagsBits.ManageThreads);
}

export function tagOf(forum: Forum, id: string): GuildForumTag {
	const tag = forum.availableTags.find((tag) => tag.id === id);
	if (tag) return tag;
	throw new ToolError(
		`${channelName(forum)} has no tag ${oneField(id)}. get_channel shows its tags. Nothing was done.`,
	);
}

/** Given by id or name. Throws a ToolError if the forum lacks a tag. */
export function tagIdsOf(forum: Forum, given: readonly string[]): string[] {
	const ids = given.map((idOrName) => {
		const named = forum.availableTags.filter(({ name }) => fold(name) === fold(idOrName));
		const isId = forum.availableTags.some(({ id }) => id === idOrName);
		return !isId && named.length === 1 ? String(named[0]?.id) : tagOf(forum, idOrName).id;
	});
	return [...new Set(ids)];
}

/** A new tag has no id: Discord assigns it. */
export type Tag = Omit<APIGuildForumTag, "id"> & { id?: string | undefined };

/** Omitted fields of an existing tag stay unchanged. */
export interface GivenTag {
	id?: string | undefined;
	name: string;
	moderated?: boolean | undefined;
	emoji?: Emoji | undefined;
}

export function tagLine({ id, name, moderated, ...emoji }: Tag): string {
	const { emoji_id, emoji_name } = emoji;
	return fieldLine(
		oneField(name),
		id && `ID: ${id}`,
		(emoji_id || emoji_name) && `emoji: ${emojiName({ id: emoji_id, name: emoji_name })}`,
		// https://discord.com/developers/docs/resources/channel#forum-tag-object
		moderated && "moderated: needs MANAGE_THREADS",
	);
}

export function currentTags(forum: Forum): Tag[] {
	return forum.availableTags.map(({ id, name, moderated, emoji }) => ({
		id,
		name,
		moderated,
		emoji_id: emoji?.id ?? null,
		emoji_name: emoji?.name ?? null,
	}));
}

/** A tag with an id replaces that tag; one without an id replaces the tag of the same name. */
export function tagChanges(forum: Forum, given: readonly GivenTag[]) {
	const before = currentTags(forum);
	requireUniqueNames(given);
	const named = given.flatMap(({ id }) => id ?? []);
	if (new Set(named).size < named.length) throw invalidParameters(["tags: two of the tags have the same id"]);
	const kept = new Set(named.map((id) => tagOf(forum, id).id));
	const after = given.map((tag): Tag => {
		const old = before.find(({ id = "", name }) =>
			tag.id === undefined ? name === tag.name && !named.includes(id) : id === tag.id,
		);
		if (old?.id !== undefined) kept.add(old.id);
		return toTag(tag, old);
	});
	const changed = after.filter((tag) => {
		const old = before.find(({ id }) => id === tag.id);
		return old && tagLine(old) !== tagLine(tag);
	});
	return {
		after,
		changed,
		added: after.filter(({ id }) => id === undefined),
		gone: before.filter(({ id }) => !kept.has(id ?? "")),
		moved: after.some((tag, index) => tag.id !== before[index]?.id),
	};
}

export function requireUniqueNames(given: readonly GivenTag[]): void {
	const names = given.map(({ name }) => name);
	if (new Set(names).size < names.length) throw invalidParameters(["tags: two of the tags have the same name"]);
}

export function tagOptions(tag: Tag): GuildForumTagData {
	const { emoji_id: id = null, emoji_name: name = null } = tag;
	return {
		...(tag.id !== undefined && { id: tag.id }),
		name: tag.name,
		moderated: tag.moderated,
		emoji: id || name ? ({ id, name } as GuildForumTagEmoji) : null,
	};
}

/** `old`: the tag that it replaces. */
export function toTag({ name, emoji, ...given }: GivenTag, old?: Tag): Tag {
	const { id, moderated = false, emoji_id = null, emoji_name = null } = old ?? {};
	const tag = { ...(id !== undefined && { id }), name, moderated: given.moderated ?? moderated };
	if (!emoji) return { ...tag, emoji_id, emoji_name };
	return { ...tag, emoji_id: emoji.id ?? null, emoji_name: emoji.id === undefined ? (emoji.name ?? null) : null };
}
