// The kinds of channels and their settings: schemas of tool arguments, checks, and the conversion from and to discord.js.

import {
	ChannelType,
	type DefaultReactionEmoji,
	type ForumLayoutType,
	type Guild,
	type GuildBasedChannel,
	type SortOrderType,
	type VideoQualityMode,
} from "discord.js";
import * as v from "valibot";
import { channelName } from "../../../discord/describe.ts";
import { isAllowedKind } from "../../../discord/guild-features.ts";
import {
	type EditedKind,
	editedKinds,
	flagFields,
	kindOf,
	kinds,
	layouts,
	nameIn,
	sortOrders,
	videoQualities,
} from "../../../guild-document/names/channel-kinds.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { listedAs } from "../../../mcp/json-schema.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { duration, flag, integer, text } from "../../tool/arguments/arguments.ts";

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[];

export const typeOf = (kind: Kind) => kinds[kind].type;

// https://discord.com/developers/docs/resources/channel#modify-channel-json-params-guild-channel
const convertible = { text: kinds.text.type, announcement: kinds.announcement.type } as const;
type Convertible = keyof typeof convertible;
export const convertibleKinds = Object.keys(convertible) as Convertible[];

const otherKinds = new Map<ChannelType, string>([
	[ChannelType.GuildDirectory, "directory"],
	[ChannelType.PublicThread, "thread"],
	[ChannelType.PrivateThread, "private thread"],
	[ChannelType.AnnouncementThread, "announcement thread"],
]);

/** Such as "voice" or "private thread". */
export function kindName({ type }: GuildBasedChannel): string {
	return kindOf(type) ?? otherKinds.get(type) ?? `type ${type}`;
}

export function editableKind(channel: GuildBasedChannel): EditedKind {
	const kind = kindOf(channel.type);
	if (kind) return kind;
	throw new ToolError(
		`This tool cannot edit ${channelName(channel)}: it is a ${kindName(channel)} channel. Nothing was done.`,
	);
}

export const kindFields = {
	topic: v.optional(text(0, 4096, "Or a forum's guidelines.")),
	nsfw: flag("Age-restricted."),
	slowmode: v.optional(duration({ max: "6h", none: "off" }, "Up to 6h; off.")),
	bitrate: v.optional(v.pipe(integer(8000, 384_000, "Voice."), listedAs({ type: "integer", description: "Voice." }))),
	user_limit: v.optional(
		v.pipe(
			integer(0, 10_000, "Maximum users of a voice or stage channel; 0: none."),
			listedAs({ type: "integer", description: "Voice; 0: none." }),
		),
	),
};

export const editedFieldNames = [
	...(Object.keys(kindFields) as (keyof typeof kindFields)[]),
	"category_id",
	"tags",
	"status",
] as const;

export type ChannelFields = ReturnType<typeof currentFields>;

/** Undefined settings stay unchanged. */
export type GivenFields = {
	[Field in keyof ChannelFields]?: ChannelFields[Field] | undefined;
};

export function requireAllowedKind(guild: Guild, kind: string): void {
	if (isAllowedKind(guild, kind)) return;
	throw new ToolError(
		`Discord allows ${kind} channels only in communities, and the guild ${guild.id} is not one. An administrator can enable Community in the guild's settings. Nothing was done.`,
	);
}

/** Throws an RpcError for settings that this kind of channel does not have: Discord would ignore them. */
export function requireSupportedFields(
	args: GivenFields & { tags?: unknown; status?: unknown },
	kind: EditedKind,
): void {
	const own: readonly string[] = editedKinds[kind].fields;
	const unsupported = editedFieldNames.filter(
		(field) => args[field as keyof GivenFields] !== undefined && !own.includes(field),
	);
	if (unsupported.length > 0)
		throw invalidParameters(unsupported.map((field) => `${field}: ${kind} channels do not have this setting`));
}

export function discordFields(fields: GivenFields) {
	const { category_id, channel_type } = fields;
	const options = {
		name: fields.name,
		type: channel_type ? convertible[channel_type as Convertible] : undefined,
		topic: fields.topic,
		nsfw: fields.nsfw,
		bitrate: fields.bitrate,
		rateLimitPerUser: fields.slowmode,
		userLimit: fields.user_limit,
		// null clears a field; undefined leaves it unchanged.
		parent: category_id === "" ? null : category_id,
	};
	// discord.js treats undefined and absent options differently.
	return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** As arguments; empty where the kind of channel has no such setting. */
export function currentFields(channel: GuildBasedChannel) {
	const fields = channel as Partial<{
		topic: string | null;
		nsfw: boolean;
		rateLimitPerUser: number | null;
		bitrate: number | null;
		userLimit: number;
		rtcRegion: string | null;
		videoQualityMode: VideoQualityMode | null;
		defaultReactionEmoji: DefaultReactionEmoji | null;
		defaultSortOrder: SortOrderType | null;
		defaultForumLayout: ForumLayoutType;
		defaultThreadRateLimitPerUser: number | null;
		defaultAutoArchiveDuration: number | null;
	}>;
	const { id, name } = fields.defaultReactionEmoji ?? {};
	return {
		name: channel.name,
		channel_type: kindName(channel),
		topic: fields.topic ?? "",
		nsfw: fields.nsfw ?? false,
		slowmode: fields.rateLimitPerUser ?? 0,
		/** Bits per second; undefined if Discord does not state it. */
		bitrate: fields.bitrate ?? undefined,
		user_limit: fields.userLimit ?? 0,
		rtc_region: fields.rtcRegion ?? "",
		video_quality: nameIn(videoQualities, fields.videoQualityMode) || "auto",
		category_id: channel.parentId ?? "",
		...flagFields(channel.flags.bitfield),
		default_reaction: id ?? name ?? "",
		default_sort_order: nameIn(sortOrders, fields.defaultSortOrder),
		default_layout: nameIn(layouts, fields.defaultForumLayout),
		thread_slowmode_seconds: fields.defaultThreadRateLimitPerUser ?? 0,
		auto_archive_minutes: fields.defaultAutoArchiveDuration ?? undefined,
	};
}
