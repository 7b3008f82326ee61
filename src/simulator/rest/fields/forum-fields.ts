// The fields of channels that concern threads and forum posts: defaults of new ones, and tags.
// https://discord.com/developers/docs/resources/channel#forum-tag-object

import { ChannelFlags, ChannelType } from "discord.js";
import { type ForumTag, type GuildChannel, type GuildChannelType, holdsPosts } from "../../world/state/entities.ts";
import { requirePermissions } from "../access.ts";
import { apiError } from "../errors.ts";
import type { Call, ReadForm } from "../route.ts";
import { boolean, choice, integer, list, nullable, object, required, snowflake, text } from "./fields.ts";

const tagLimit = 20;
const tagsPerPost = 5;

export const archiveDuration = choice(60, 1440, 4320, 10_080);
export const slowMode = integer(0, 21_600);
export const appliedTags = list(snowflake, 0, tagsPerPost);

export const forumFields = {
	default_auto_archive_duration: archiveDuration,
	default_thread_rate_limit_per_user: slowMode,
	available_tags: nullable(
		list(
			object({
				id: snowflake,
				name: required(text(1, 20)),
				moderated: boolean,
				emoji_id: snowflake,
				emoji_name: text(0, 100),
			}),
			0,
			tagLimit,
		),
		[],
	),
	default_reaction_emoji: nullable(object({ emoji_id: snowflake, emoji_name: text(0, 100) })),
	default_sort_order: nullable(choice(0, 1)),
	default_forum_layout: choice(0, 1, 2),
	flags: integer(0, Number.MAX_SAFE_INTEGER),
};

type ForumBody = ReadForm<typeof forumFields>;

/** The changes that a request body only describes: flags, tags and the default reaction. */
export function forumChanges(call: Call, type: GuildChannelType, body: ForumBody, channel?: GuildChannel) {
	const { available_tags: tags, default_reaction_emoji: emoji } = body;
	return {
		flags: flagsOf(type, body.flags),
		available_tags: tags && tagsOf(call, tags, channel),
		default_reaction_emoji: emoji && { emoji_id: emoji.emoji_id ?? null, emoji_name: emoji.emoji_name ?? null },
	};
}

function flagsOf(type: GuildChannelType, flags: number | undefined): number | undefined {
	if (flags === undefined) return undefined;
	if (type === ChannelType.GuildStageVoice || type === ChannelType.GuildCategory) return 0;
	return flags & (ChannelFlags.IsSpoilerChannel | (holdsPosts({ type }) ? ChannelFlags.RequireTag : 0));
}

/** Tags with an id must exist; tags without one get a new id. Throws if two tags have the same name. */
function tagsOf(
	{ world }: Call,
	given: NonNullable<ForumBody["available_tags"]>,
	channel: GuildChannel | undefined,
): ForumTag[] {
	if (new Set(given.map(({ name }) => name)).size < given.length) throw apiError("TagNamesMustBeUnique");
	const known = new Set(channel?.available_tags.map(({ id }) => id));
	return given.map(({ id, name, moderated, emoji_id, emoji_name }) => {
		if (id !== undefined && !known.has(id)) throw apiError("UnknownTag");
		return {
			id: id ?? world.state.newId(),
			name,
			moderated: moderated ?? false,
			emoji_id: emoji_id ?? null,
			emoji_name: emoji_name ?? null,
		};
	});
}

/** Throws for an unknown or missing tag, and if moderated tags change and the sender lacks MANAGE_THREADS. */
export function checkedTags(
	call: Call,
	forum: GuildChannel,
	ids: readonly string[],
	before: readonly string[] = [],
): string[] {
	const tag = (id: string) => forum.available_tags.find((one) => one.id === id);
	if (ids.some((id) => !tag(id))) throw apiError("UnknownTag");
	if (ids.length === 0 && (forum.flags & ChannelFlags.RequireTag) !== 0)
		throw apiError("TagRequiredToCreateAForumPostInThisChannel");
	const changed = new Set(ids).symmetricDifference(new Set(before));
	if ([...changed].some((id) => tag(id)?.moderated)) requirePermissions(call, forum, "ManageThreads");
	return [...ids];
}
