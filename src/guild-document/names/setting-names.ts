// Names of the values of guild settings, with Discord's numbers.
// https://discord.com/developers/docs/resources/guild#guild-object

import { GuildSystemChannelFlags } from "discord.js";
import { officialName } from "./permission-names.ts";

/**
 * Guild settings that have one of a few levels, with Discord's names of the levels. The index of a name is the number
 * of the level in Discord's API.
 */
export const levels = {
	verification_level: ["NONE", "LOW", "MEDIUM", "HIGH", "VERY_HIGH"],
	default_message_notifications: ["ALL_MESSAGES", "ONLY_MENTIONS"],
	explicit_content_filter: ["DISABLED", "MEMBERS_WITHOUT_ROLES", "ALL_MEMBERS"],
} as const;

/**
 * Discord's names and bits of a guild's system channel flags. Each flag disables one kind of notice in the system
 * channel, such as join messages.
 */
export const noticeFlags = new Map(
	Object.entries(GuildSystemChannelFlags).flatMap(([name, bit]): [string, number][] =>
		typeof bit === "number" ? [[officialName(name), bit]] : [],
	),
);

/**
 * Allowed values of a guild's AFK timeout: the idle time in seconds after which Discord moves a member to the AFK
 * channel.
 */
export const afkTimeouts = [60, 300, 900, 1800, 3600];
