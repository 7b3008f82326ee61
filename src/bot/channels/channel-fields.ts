// The kinds of channels, which fields each has, and how tools make and edit channels by them.

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
import { flag, found, integer, text } from "../tool/arguments.ts";
import { changesOf } from "../tool/diff.ts";

const spokenFields = [
	"nsfw",
	"slowmode_seconds",
	"bitrate",
	"user_limit",
	"rtc_region",
	"category_id",
] as const;

/** What can be made, and which of the fields below each kind has. */
const kinds = {
	text: {
		type: ChannelType.GuildText,
		fields: ["topic", "nsfw", "slowmode_seconds", "category_id"],
	},
	voice: {
		type: ChannelType.GuildVoice,
		fields: spokenFields,
	},
	category: { type: ChannelType.GuildCategory, fields: [] },
	forum: {
		type: ChannelType.GuildForum,
		fields: ["topic", "nsfw", "slowmode_seconds", "category_id"],
	},
	stage: {
		type: ChannelType.GuildStageVoice,
		fields: spokenFields,
	},
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

/** What is edited, and not made: a forum of pictures. */
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

/** What kind of channel or thread this is, in a word. */
export function kindName({ type }: GuildBasedChannel): string {
	return kindOf(type) ?? otherKinds.get(type) ?? `type ${type}`;
}

function kindOf(type: ChannelType): EditedKind | undefined {
	const names = Object.keys(editedKinds) as EditedKind[];
	return names.find((name) => editedKinds[name].type === type);
}

export const nameField = text(1, 100, "Name of the channel.");

export const categoryField = v.optional(
	found(find.category, "category that it goes into"),
);

/** Fields that not every kind of channel has. */
export const kindFields = {
	topic: v.optional(
		text(0, 4096, "What it is for, or a forum's rules; empty for none."),
	),
	nsfw: v.optional(flag("Only for adults.")),
	slowmode_seconds: v.optional(
		integer(
			0,
			21_600,
			"How long a person waits between two messages; 0 for no wait.",
		),
	),
	bitrate: v.optional(
		integer(8000, 384_000, "Bits per second of a voice or stage channel."),
	),
	user_limit: v.optional(
		integer(
			0,
			10_000,
			"How many people fit into a voice (99) or stage channel; 0 for no limit.",
		),
	),
};

/** A channel's fields, as tools take them. */
export interface ChannelFields {
	name: string;
	/** Empty for none. */
	topic: string;
	nsfw: boolean;
	slowmode_seconds: number;
	/** Undefined where Discord does not say. */
	bitrate: number | undefined;
	user_limit: number;
	/** Empty for the one that is nearest. */
	rtc_region: string;
	/** Empty for none. */
	category_id: string;
}

/** What is asked for of them. */
export type GivenFields = {
	[Field in keyof ChannelFields]?: ChannelFields[Field] | undefined;
};

/** Throws an RpcError for fields that this kind of channel does not have. */
export function refuseForeignFields(args: GivenFields, kind: EditedKind): void {
	const own: readonly string[] = ["name", ...editedKinds[kind].fields];
	const foreign = [...Object.keys(kindFields), "rtc_region", "category_id"]
		.filter((field) => args[field as keyof GivenFields] !== undefined)
		.filter((field) => !own.includes(field));
	if (foreign.length > 0)
		throw invalidParameters(
			foreign.map((field) => `${field}: ${kind} channels have none`),
		);
	const isForum = kind === "forum" || kind === "media";
	if (!isForum && [...(args.topic ?? "")].length > 1024)
		throw invalidParameters([
			"topic: expected at most 1024 characters; only a forum's may be longer",
		]);
	if (kind === "voice" && (args.user_limit ?? 0) > 99)
		throw invalidParameters(["user_limit: a voice channel has at most 99"]);
}

/** Fields as discord.js takes them, those that are given. */
export function discordFields(fields: GivenFields) {
	const { topic, nsfw, slowmode_seconds, bitrate, user_limit } = fields;
	const { rtc_region, category_id } = fields;
	return given({
		...{ topic, nsfw, bitrate },
		name: fields.name,
		rateLimitPerUser: slowmode_seconds,
		userLimit: user_limit,
		// null is none; undefined leaves it as it is.
		rtcRegion: rtc_region === "" ? null : rtc_region,
		parent: category_id === "" ? null : category_id,
	});
}

/** Makes a channel, and says so. */
export async function createWith(
	guild: Guild,
	kind: Kind,
	{ name, ...fields }: Omit<GivenFields, "rtc_region"> & { name: string },
	more: Pick<
		GuildChannelCreateOptions,
		"position" | "permissionOverwrites"
	> = {},
): Promise<string> {
	refuseForeignFields(fields, kind);
	const { rtcRegion: _, ...options } = discordFields(fields);
	const made = await guild.channels.create({
		...options,
		...{ name, type: kinds[kind].type },
		...more,
	});
	const parent = guild.channels.cache.get(fields.category_id ?? "");
	const where = parent ? ` in ${channelName(parent)}` : "";
	return `Created the ${kind} channel ${channelName(made)}${where}`;
}

/** Changes what is given and differs, and says what has changed. */
export async function editWith(
	guild: Guild,
	channel: find.Channel,
	asked: GivenFields,
): Promise<string> {
	const kind = kindOf(channel.type);
	if (!kind)
		throw new ToolError(
			`${channelName(channel)} is of a kind that this tool does not edit. Nothing was done.`,
		);
	refuseForeignFields(asked, kind);
	const before = currentFields(channel);
	const changes = changesOf<GivenFields>(before, asked, channelName(channel));
	const edited = (await guild.channels.edit(
		channel.id,
		discordFields(changes),
	)) as find.Channel;
	// Discord writes the names of text channels in its own way, and so may make the old one of a new one.
	const after = currentFields(edited);
	const fields = Object.keys(before) as (keyof ChannelFields)[];
	const changed = fields.filter((field) =>
		after[field] === undefined
			? changes[field] !== undefined
			: before[field] !== after[field],
	);
	if (changed.length === 0)
		throw new ToolError(
			`Nothing has changed: as Discord writes it, ${channelName(edited)} had ${Object.keys(changes).join(", ")} as given already.`,
		);
	return `Changed ${changed.join(", ")} of ${channelName(edited)}.`;
}

/** A channel's fields as they are; those that it does not have are empty. */
export function currentFields(channel: GuildBasedChannel): ChannelFields {
	const some = channel as Partial<{
		topic: string | null;
		nsfw: boolean;
		rateLimitPerUser: number | null;
		bitrate: number | null;
		userLimit: number;
		rtcRegion: string | null;
	}>;
	return {
		name: channel.name,
		topic: some.topic ?? "",
		nsfw: some.nsfw ?? false,
		slowmode_seconds: some.rateLimitPerUser ?? 0,
		bitrate: some.bitrate ?? undefined,
		user_limit: some.userLimit ?? 0,
		rtc_region: some.rtcRegion ?? "",
		category_id: channel.parentId ?? "",
	};
}

/** Only what is given: to discord.js, undefined is not the same as absent. */
function given<T extends object>(
	fields: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined),
	) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
