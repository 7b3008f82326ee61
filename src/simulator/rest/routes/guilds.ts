// A guild and its settings, and its incident actions: disabled invites and DMs.
// https://discord.com/developers/docs/resources/guild#modify-guild-incident-actions
//
// A gap: Incident actions are stored and dispatched; only paused invites have an effect: none is created (204), and
// nobody joins.

import {
	ChannelType,
	GuildDefaultMessageNotifications,
	GuildExplicitContentFilter,
	GuildFeature,
	GuildVerificationLevel,
	Locale,
} from "discord.js";
import type { Picture } from "../../world/guilds/pictures.ts";
import type { Guild, GuildChannelType } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { requireGuildPermissions } from "../access.ts";
import { apiError, formError, missingField } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { type Call, type ReadForm, route } from "../route.ts";

function enumOf<T extends number>(numbers: Record<string, T | string>) {
	return f.choice(...(Object.values(numbers).filter((one) => typeof one === "number") as T[]));
}

/** Maximum size of a guild's icon, in bytes. A guess (icon-size): Discord refuses larger icons. */
const iconLimitBytes = 10 * 1024 * 1024;

const settings = {
	splash: f.notSimulatedField("splashes of guilds"),
	discovery_splash: f.notSimulatedField("splashes of guilds"),
	banner: f.notSimulatedField("banners of guilds"),
	owner_id: f.notSimulatedField("changing the owner of a guild"),
	name: f.text(2, 100),
	icon: f.nullable(f.image(iconLimitBytes)),
	features: f.list(f.text(1, 100), 0, 1000),
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
	preferred_locale: f.nullable(f.choice(...Object.values(Locale)), Locale.EnglishUS),
	premium_progress_bar_enabled: f.boolean,
};

const textTypes: readonly GuildChannelType[] = [ChannelType.GuildText, ChannelType.GuildAnnouncement];
const kinds: Readonly<Record<string, readonly GuildChannelType[]>> = {
	afk_channel_id: [ChannelType.GuildVoice],
	system_channel_id: textTypes,
	rules_channel_id: textTypes,
	public_updates_channel_id: textTypes,
	safety_alerts_channel_id: textTypes,
};
const communityChannels = ["rules_channel_id", "public_updates_channel_id"] as const;

/** Whether the guild is a community and needs this channel for its rules or updates, so that it cannot be deleted. */
export function isRequired(guild: Guild, channelId: string): boolean {
	return guild.features.includes("COMMUNITY") && communityChannels.some((key) => guild[key] === channelId);
}

type Features = Guild["features"];
type Feature = Features[number];
type SettingsCall = Call<":guild_id", ReadForm<typeof settings>>;

function checkChannel({ guild, body }: SettingsCall, isCommunity: boolean, key: string): void {
	const id = (body as Readonly<Record<string, unknown>>)[key];
	if (id === undefined) return;
	if (id === null) {
		if (isCommunity && communityChannels.some((one) => one === key)) throw missingField(key);
		return;
	}
	const channel = guild.channels.get(String(id));
	if (!channel || !kinds[key]?.includes(channel.type)) throw formError("CHANNEL_INVALID", "Invalid channel", key);
}

/** A guess (community-level): enabling COMMUNITY does not change such values. */
function checkCommunity(guild: Guild, body: ReadForm<typeof settings>, isNew: boolean): void {
	const current = isNew ? guild : undefined;
	const level = body.verification_level ?? current?.verification_level;
	const filter = body.explicit_content_filter ?? current?.explicit_content_filter;
	const refused: Readonly<Record<string, boolean>> = {
		verification_level: level === GuildVerificationLevel.None,
		explicit_content_filter: filter !== undefined && filter !== GuildExplicitContentFilter.AllMembers,
	};
	const key = Object.keys(refused).find((one) => refused[one]);
	if (key) throw formError("BASE_TYPE_CHOICES", "A community cannot have this value.", key);
}

/** Discord ignores changes of all other features: https://github.com/discord-net/Discord.Net/pull/2605 */
const mutable: Readonly<Partial<Record<Feature, (call: SettingsCall, isAdded: boolean) => void>>> = {
	COMMUNITY: (call, isAdded) => {
		requireGuildPermissions(call, "Administrator");
		const { rules_channel_id: rules, public_updates_channel_id: updates } = call.body;
		// https://github.com/discord/discord-api-docs/issues/6015
		if (isAdded && !(rules && updates)) throw apiError(disabledFeature);
	},
	DISCOVERABLE: (call, isAdded) => {
		requireGuildPermissions(call, "Administrator");
		// Guilds of the simulator do not meet the requirements of discovery.
		if (isAdded) throw apiError(disabledFeature);
	},
	INVITES_DISABLED: ({ guild }, isAdded) => {
		// Before the request: https://github.com/discord/discord-api-docs/issues/5380 and 6613
		if (isAdded && !guild.features.includes(GuildFeature.Community)) throw apiError("MissingAccess");
	},
	RAID_ALERTS_DISABLED: () => {},
};
const disabledFeature = "FeatureTemporarilyDisabledServerSide";

const known: ReadonlySet<string> = new Set(Object.values(GuildFeature));

/** A guess (features-unknown): Discord refuses features that neither its documentation nor the guild has. */
function changedFeatures(call: SettingsCall, wanted: readonly string[]): Features {
	const { features } = call.guild;
	for (const [index, name] of wanted.entries())
		if (!known.has(name) && !features.some((one) => one === name))
			throw formError("BASE_TYPE_CHOICES", "Unknown feature", "features", index);
	let changed = features;
	for (const [name, check] of Object.entries(mutable)) {
		const feature = name as Feature;
		const isAdded = wanted.includes(feature);
		if (isAdded === features.includes(feature)) continue;
		check(call, isAdded);
		changed = isAdded ? [...changed, feature] : changed.filter((one) => one !== feature);
	}
	return changed;
}

/** A guess (icon-animated): the icon is animated only if the guild has the feature ANIMATED_ICON. */
function addIcon({ guild, world }: SettingsCall, icon: Picture): string {
	const animated = icon.animated && guild.features.includes(GuildFeature.AnimatedIcon);
	return world.pictures.addIcon("icons", guild.id, icon, { animated });
}

// A minute of tolerance for clock differences.
const longestMs = 24 * 60 * 60 * 1000 + 60_000;

const incidentFields = { invites_disabled_until: f.nullable(f.timestamp), dms_disabled_until: f.nullable(f.timestamp) };

export const guildRoutes = [
	route("GET /guilds/:guild_id", {
		query: { with_counts: f.boolean },
		run: ({ guild, query }) => ({ ...serialize.guild(guild), ...(query.with_counts && serialize.guildCounts(guild)) }),
	}),
	route("PATCH /guilds/:guild_id", {
		needs: "ManageGuild",
		body: settings,
		run: (call) => {
			const { guild, world, body, by } = call;
			const features = body.features && changedFeatures(call, body.features);
			// A guess (community-removed): without COMMUNITY, channels keep their types, and settings their values.
			const isCommunity = (features ?? guild.features).includes("COMMUNITY");
			const isNew = isCommunity && !guild.features.includes("COMMUNITY");
			for (const key of Object.keys(kinds)) checkChannel(call, isCommunity, key);
			if (isCommunity) checkCommunity(guild, body, isNew);
			world.guilds.edit(guild, { ...body, features, icon: body.icon && addIcon(call, body.icon) }, by);
			return serialize.guild(guild);
		},
	}),
	route("PUT /guilds/:guild_id/incident-actions", {
		needs: "ManageGuild",
		body: incidentFields,
		run: (call) => {
			const { guild, body, world } = call;
			const until = (field: keyof typeof incidentFields) => {
				const at = body[field];
				if (at && Date.parse(at) > Date.now() + longestMs)
					throw formError("INCIDENT_ACTION_TOO_LONG", "Must be 24 hours or fewer from now.", field);
				return at === undefined ? (guild.incidents_data?.[field] ?? null) : at;
			};
			const incidents_data = {
				invites_disabled_until: until("invites_disabled_until"),
				dms_disabled_until: until("dms_disabled_until"),
			};
			world.guilds.edit(guild, { incidents_data });
			return incidents_data;
		},
	}),
];
