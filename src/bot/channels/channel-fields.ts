// The kinds of channels, their fields, and creating and editing channels by fields.

import {
	ChannelType,
	type Guild,
	type GuildBasedChannel,
	type GuildChannelCreateOptions,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { isAllowedKind } from "../discord/guild-features.ts";
import { flag, found, integer, text } from "../tool/arguments.ts";
import { changesOf } from "../tool/diff.ts";

const voiceFields = [
	"nsfw",
	"slowmode_seconds",
	"bitrate",
	"user_limit",
	"rtc_region",
	"category_id",
] as const;

/**
 * The kinds of channels that tools can create, each with Discord's channel type and the settings that such channels
 * have.
 */
const kinds = {
	text: {
		type: ChannelType.GuildText,
		fields: ["topic", "nsfw", "slowmode_seconds", "category_id"],
	},
	voice: { type: ChannelType.GuildVoice, fields: voiceFields },
	category: { type: ChannelType.GuildCategory, fields: [] },
	forum: {
		type: ChannelType.GuildForum,
		fields: ["topic", "nsfw", "slowmode_seconds", "category_id"],
	},
	stage: { type: ChannelType.GuildStageVoice, fields: voiceFields },
	announcement: {
		type: ChannelType.GuildAnnouncement,
		fields: ["topic", "nsfw", "category_id"],
	},
} as const satisfies Record<
	string,
	{ type: GuildChannelCreateOptions["type"]; fields: readonly string[] }
>;

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[];

/** The kinds of channels that tools can edit. Tools can edit media channels, but not create them. */
const editedKinds = {
	...kinds,
	media: { type: ChannelType.GuildMedia, fields: kinds.forum.fields },
} as const;
type EditedKind = keyof typeof editedKinds;

const otherKinds = new Map<ChannelType, string>([
	[ChannelType.GuildDirectory, "directory"],
	[ChannelType.PublicThread, "thread"],
	[ChannelType.PrivateThread, "private thread"],
	[ChannelType.AnnouncementThread, "announcement thread"],
]);

/** Returns the name of a channel's or thread's kind for tool results, such as "voice" or "private thread". */
export function kindName({ type }: GuildBasedChannel): string {
	return kindOf(type) ?? otherKinds.get(type) ?? `type ${type}`;
}

function kindOf(type: ChannelType): EditedKind | undefined {
	const names = Object.keys(editedKinds) as EditedKind[];
	return names.find((name) => editedKinds[name].type === type);
}

export const nameField = text(1, 100, "Channel name.");

export const categoryField = v.optional(
	found(find.category, "parent category"),
);

/** Schemas of tool arguments for channel settings that not every kind of channel has. */
export const kindFields = {
	topic: v.optional(
		text(0, 4096, "Topic, or a forum's guidelines; empty for none."),
	),
	nsfw: v.optional(flag("Age-restricted.")),
	slowmode_seconds: v.optional(
		integer(
			0,
			21_600,
			"Slow mode: seconds between a user's messages; 0 for none.",
		),
	),
	bitrate: v.optional(
		integer(8000, 384_000, "Bits per second of a voice or stage channel."),
	),
	user_limit: v.optional(
		integer(
			0,
			10_000,
			"Maximum users of a voice (99) or stage channel; 0 for no limit.",
		),
	),
};

type ChannelFields = ReturnType<typeof currentFields>;

/** The channel settings that a tool call passes. An undefined setting stays unchanged. */
export type GivenFields = {
	[Field in keyof ChannelFields]?: ChannelFields[Field] | undefined;
};

/** Throws a ToolError if Discord allows this kind of channel only in communities and the guild is not a community. */
export function requireAllowedKind(guild: Guild, kind: string): void {
	if (isAllowedKind(guild, kind)) return;
	throw new ToolError(
		`Discord allows ${kind} channels only in communities, and the guild ${guild.id} is not one. An administrator can enable Community in the guild's settings. Nothing was done.`,
	);
}

/**
 * Throws an RpcError if a tool call passes a setting that this kind of channel does not have, or a value that Discord
 * does not allow for it in this guild.
 */
function requireSupportedFields(
	guild: Guild,
	args: GivenFields,
	kind: EditedKind,
): void {
	const own: readonly string[] = ["name", ...editedKinds[kind].fields];
	const unsupported = [...Object.keys(kindFields), "rtc_region", "category_id"]
		.filter((field) => args[field as keyof GivenFields] !== undefined)
		.filter((field) => !own.includes(field));
	if (unsupported.length > 0)
		throw invalidParameters(
			unsupported.map((field) => `${field}: ${kind} channels have none`),
		);
	const isForum = kind === "forum" || kind === "media";
	if (!isForum && [...(args.topic ?? "")].length > 1024)
		throw invalidParameters([
			"topic: expected at most 1024 characters; only forums allow 4096",
		]);
	if (kind === "voice" && (args.user_limit ?? 0) > 99)
		throw invalidParameters([
			"user_limit: expected at most 99 for voice channels",
		]);
	// https://discord.com/developers/docs/resources/channel#modify-channel-json-params-guild-channel
	const limit =
		kind === "stage" ? guild.maximumStageBitrate : guild.maximumBitrate;
	if ((args.bitrate ?? 0) > limit)
		throw invalidParameters([
			`bitrate: expected at most ${limit} for ${kind} channels${kind === "voice" ? ` in this guild, which has boost level ${guild.premiumTier}` : ""}`,
		]);
}

/** Converts the channel settings of a tool call to the options of discord.js. */
export function discordFields(fields: GivenFields) {
	const { rtc_region, category_id } = fields;
	return withoutUndefined({
		name: fields.name,
		topic: fields.topic,
		nsfw: fields.nsfw,
		bitrate: fields.bitrate,
		rateLimitPerUser: fields.slowmode_seconds,
		userLimit: fields.user_limit,
		// null clears a field; undefined leaves it unchanged.
		rtcRegion: rtc_region === "" ? null : rtc_region,
		parent: category_id === "" ? null : category_id,
	});
}

/** Creates a channel in a guild. Returns a sentence for the tool's result, without its full stop. */
export async function createGuildChannel(
	guild: Guild,
	kind: Kind,
	{ name, ...fields }: Omit<GivenFields, "rtc_region"> & { name: string },
	more: Pick<
		GuildChannelCreateOptions,
		"position" | "permissionOverwrites"
	> = {},
): Promise<string> {
	requireSupportedFields(guild, fields, kind);
	requireAllowedKind(guild, kind);
	const { rtcRegion: _, ...options } = discordFields(fields);
	const made = await guild.channels.create({
		...options,
		name,
		type: kinds[kind].type,
		...more,
	});
	const parent = guild.channels.cache.get(fields.category_id ?? "");
	const where = parent ? ` in ${channelName(parent)}` : "";
	return `Created the ${kind} channel ${channelName(made)}${where}`;
}

/**
 * Changes those settings of a channel that differ from the current ones. Returns a sentence for the tool's result.
 * Throws a ToolError if nothing changed.
 */
export async function editGuildChannel(
	guild: Guild,
	channel: find.Channel,
	given: GivenFields,
): Promise<string> {
	const kind = kindOf(channel.type);
	if (!kind)
		throw new ToolError(
			`This tool cannot edit ${channelName(channel)}: it is a ${kindName(channel)} channel. Nothing was done.`,
		);
	requireSupportedFields(guild, given, kind);
	const before = currentFields(channel);
	const names = Object.keys(given) as (keyof ChannelFields)[];
	const changes = changesOf<GivenFields>(
		Object.fromEntries(names.map((name) => [name, before[name]])),
		given,
		channelName(channel),
	);
	const edited = (await guild.channels.edit(
		channel.id,
		discordFields(changes),
	)) as find.Channel;
	// Discord normalizes the names of text channels, so a new name can turn out to be the old one.
	const after = currentFields(edited);
	const fields = Object.keys(before) as (keyof ChannelFields)[];
	const changed = fields.filter((field) =>
		after[field] === undefined
			? changes[field] !== undefined
			: before[field] !== after[field],
	);
	if (changed.length === 0)
		throw new ToolError(
			`Nothing changed: after Discord normalized the values, ${channelName(edited)} has the same ${Object.keys(changes).join(", ")} as before.`,
		);
	return `Changed ${changed.join(", ")} of ${channelName(edited)}.`;
}

/**
 * Returns a channel's current settings, named and valued as in tool arguments. Settings that its kind lacks are empty.
 */
export function currentFields(channel: GuildBasedChannel) {
	const fields = channel as Partial<{
		topic: string | null;
		nsfw: boolean;
		rateLimitPerUser: number | null;
		bitrate: number | null;
		userLimit: number;
		rtcRegion: string | null;
	}>;
	return {
		name: channel.name,
		topic: fields.topic ?? "",
		nsfw: fields.nsfw ?? false,
		slowmode_seconds: fields.rateLimitPerUser ?? 0,
		/** A voice channel's bitrate in bits per second; undefined if Discord does not state it. */
		bitrate: fields.bitrate ?? undefined,
		user_limit: fields.userLimit ?? 0,
		/** A voice channel's region; empty if Discord selects the region automatically. */
		rtc_region: fields.rtcRegion ?? "",
		category_id: channel.parentId ?? "",
	};
}

/** Removes undefined properties from an object, because discord.js treats undefined and absent options differently. */
function withoutUndefined<T extends object>(
	fields: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined),
	) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
