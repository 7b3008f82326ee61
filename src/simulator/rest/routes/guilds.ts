// A guild and its settings.

import {
	ChannelType,
	GuildDefaultMessageNotifications,
	GuildExplicitContentFilter,
	GuildVerificationLevel,
	Locale,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { Guild, GuildChannelType } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { formError, missingField, notSimulated } from "../errors.ts";
import * as f from "../fields.ts";
import { type ReadForm, route } from "../route.ts";

/** A request field whose value must be null or one of the numbers of the TypeScript enum `numbers`. */
function enumOf<T extends number>(numbers: Record<string, T | string>) {
	const all = Object.values(numbers).filter((one) => typeof one === "number");
	return f.nullable(f.choice(...(all as T[])));
}

/** Guild settings that the simulator does not implement: a request that changes one gets status 501. */
const notKept: Readonly<Record<string, f.Field<unknown>>> = {
	icon: f.unchecked,
	splash: f.unchecked,
	discovery_splash: f.unchecked,
	banner: f.unchecked,
	features: f.unchecked,
	owner_id: f.unchecked,
};

const settings = {
	...notKept,
	name: f.text(2, 100),
	description: f.nullable(f.text(0, 300)),
	verification_level: enumOf(GuildVerificationLevel),
	default_message_notifications: enumOf(GuildDefaultMessageNotifications),
	explicit_content_filter: enumOf(GuildExplicitContentFilter),
	afk_channel_id: f.nullable(f.snowflake),
	afk_timeout: f.choice(60, 300, 900, 1800, 3600),
	system_channel_id: f.nullable(f.snowflake),
	system_channel_flags: f.integer(0, 0xff),
	rules_channel_id: f.nullable(f.snowflake),
	public_updates_channel_id: f.nullable(f.snowflake),
	safety_alerts_channel_id: f.nullable(f.snowflake),
	preferred_locale: f.nullable(f.oneOf(...Object.values(Locale))),
	premium_progress_bar_enabled: f.boolean,
};

const textTypes: readonly GuildChannelType[] = [
	ChannelType.GuildText,
	ChannelType.GuildAnnouncement,
];
/** For each guild setting whose value is a channel id: the types that the channel may have. */
const kinds: Readonly<Record<string, readonly GuildChannelType[]>> = {
	afk_channel_id: [ChannelType.GuildVoice],
	system_channel_id: textTypes,
	rules_channel_id: textTypes,
	public_updates_channel_id: textTypes,
	safety_alerts_channel_id: textTypes,
};
/** The guild settings that must contain a channel id if the guild is a community. */
const communityChannels = [
	"rules_channel_id",
	"public_updates_channel_id",
] as const;

/** Whether the guild is a community and needs this channel for its rules or updates, so that it cannot be deleted. */
export function isRequired(guild: Guild, channelId: string): boolean {
	return (
		guild.features.includes("COMMUNITY") &&
		communityChannels.some((key) => guild[key] === channelId)
	);
}

function checkChannel(guild: Guild, key: string, id: unknown): void {
	if (id === undefined) return;
	const isCommunity = guild.features.includes("COMMUNITY");
	if (id === null) {
		if (isCommunity && communityChannels.some((one) => one === key))
			throw missingField(key);
		return;
	}
	const channel = guild.channels.get(String(id));
	if (!channel || !kinds[key]?.includes(channel.type))
		throw formError("CHANNEL_INVALID", "Invalid channel", key);
}

/** Throws if a change of guild settings sets a value that a community guild cannot have. */
function checkCommunity(guild: Guild, body: ReadForm<typeof settings>): void {
	if (!guild.features.includes("COMMUNITY")) return;
	const { verification_level: level, explicit_content_filter: filter } = body;
	const refused: Readonly<Record<string, boolean>> = {
		verification_level: level === GuildVerificationLevel.None,
		explicit_content_filter:
			filter !== undefined && filter !== GuildExplicitContentFilter.AllMembers,
	};
	const key = Object.keys(refused).find((one) => refused[one]);
	const message = "A community cannot have this value.";
	if (key) throw formError("BASE_TYPE_CHOICES", message, key);
}

export const guildRoutes = [
	route("GET /guilds/:guild_id", {
		query: { with_counts: f.boolean },
		run: ({ guild, query }) => ({
			...serialize.guild(guild),
			...(query.with_counts && serialize.guildCounts(guild)),
		}),
	}),
	route("PATCH /guilds/:guild_id", {
		needs: Permission.ManageGuild,
		body: settings,
		run: (call) => {
			const { guild, world, body, by } = call;
			const given: Readonly<Record<string, unknown>> = body;
			for (const key of Object.keys(notKept))
				if (given[key] !== undefined)
					throw notSimulated(`${key} of PATCH /guilds/:guild_id`);
			for (const key of Object.keys(kinds))
				checkChannel(guild, key, given[key]);
			checkCommunity(guild, body);
			const changes = {
				...body,
				verification_level: body.verification_level ?? undefined,
				default_message_notifications:
					body.default_message_notifications ?? undefined,
				explicit_content_filter: body.explicit_content_filter ?? undefined,
				preferred_locale:
					body.preferred_locale === null
						? Locale.EnglishUS
						: body.preferred_locale,
			};
			world.guilds.edit(guild, changes, by);
			return serialize.guild(guild);
		},
	}),
];
