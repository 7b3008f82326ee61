// The kinds of channels and the names of their settings' values, with Discord's numbers.

import {
	ChannelFlags,
	ChannelType,
	ForumLayoutType,
	type GuildChannelCreateOptions,
	SortOrderType,
	VideoQualityMode,
} from "discord.js";

const stageFields = [
	"nsfw",
	"slowmode",
	"bitrate",
	"user_limit",
	"rtc_region",
	"video_quality",
	"category_id",
] as const;
// https://discord.com/developers/docs/resources/channel#channel-object-channel-flags
const voiceFields = [...stageFields, "spoiler"] as const;

const mediaFields = [
	"topic",
	"nsfw",
	"spoiler",
	"slowmode",
	"category_id",
	"tags",
	"require_tag",
	"default_reaction",
	"default_sort_order",
	"thread_slowmode",
	"auto_archive",
] as const;

/**
 * Those that tools can create.
 * https://discord.com/developers/docs/resources/channel#modify-channel-json-params-guild-channel
 */
export const kinds = {
	text: {
		type: ChannelType.GuildText,
		fields: ["topic", "nsfw", "spoiler", "slowmode", "category_id", "thread_slowmode", "auto_archive"],
	},
	voice: { type: ChannelType.GuildVoice, fields: [...voiceFields, "status"] },
	category: { type: ChannelType.GuildCategory, fields: [] },
	forum: { type: ChannelType.GuildForum, fields: [...mediaFields, "default_layout"] },
	stage: { type: ChannelType.GuildStageVoice, fields: stageFields },
	announcement: {
		type: ChannelType.GuildAnnouncement,
		fields: ["topic", "nsfw", "spoiler", "category_id", "auto_archive"],
	},
} as const satisfies Record<string, { type: GuildChannelCreateOptions["type"]; fields: readonly string[] }>;

/** Tools can edit media channels, but not create them. */
export const editedKinds = { ...kinds, media: { type: ChannelType.GuildMedia, fields: mediaFields } } as const;
export type EditedKind = keyof typeof editedKinds;

const flagBits = { require_tag: ChannelFlags.RequireTag, spoiler: ChannelFlags.IsSpoilerChannel } as const;

/** Returns a channel's settings that Discord keeps in `flags`. */
export const flagFields = (flags: number) => ({
	require_tag: (flags & flagBits.require_tag) !== 0,
	spoiler: (flags & flagBits.spoiler) !== 0,
});

/** Undefined if no setting is given. */
export function flagsWith(
	flags: number,
	given: Partial<Record<keyof typeof flagBits, boolean | undefined>>,
): number | undefined {
	const fields = namesOf(flagBits).filter((one) => given[one] !== undefined);
	if (fields.length === 0) return undefined;
	return fields.reduce((all, one) => (given[one] ? all | flagBits[one] : all & ~flagBits[one]), flags);
}

export const sortOrders = {
	latest_activity: SortOrderType.LatestActivity,
	creation_date: SortOrderType.CreationDate,
} as const;
export const layouts = { list: ForumLayoutType.ListView, gallery: ForumLayoutType.GalleryView } as const;
export const videoQualities = { auto: VideoQualityMode.Auto, "720p": VideoQualityMode.Full } as const;

export const namesOf = <Name extends string>(values: Record<Name, number>) => Object.keys(values) as Name[];

/** "" if there is none. */
export function nameIn<Name extends string>(values: Record<Name, number>, value: number | null | undefined): Name | "" {
	return namesOf(values).find((name) => values[name] === value) ?? "";
}

/** Undefined for types without a kind, such as threads. */
export function kindOf(type: ChannelType): EditedKind | undefined {
	return (Object.keys(editedKinds) as EditedKind[]).find((name) => editedKinds[name].type === type);
}
