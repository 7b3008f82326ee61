// Names of the values of guild settings, with Discord's numbers.
// https://discord.com/developers/docs/resources/guild#guild-object

import { GuildSystemChannelFlags } from "discord.js";
import { officialName } from "./permission-names.ts";

/** The index of a name is the level's number in Discord's API. */
export const levels = {
	verification_level: ["NONE", "LOW", "MEDIUM", "HIGH", "VERY_HIGH"],
	default_message_notifications: ["ALL_MESSAGES", "ONLY_MENTIONS"],
	explicit_content_filter: ["DISABLED", "MEMBERS_WITHOUT_ROLES", "ALL_MEMBERS"],
} as const;

/** Each flag disables one kind of notice in the system channel, such as join messages. */
export const noticeFlags = new Map(
	Object.entries(GuildSystemChannelFlags).flatMap(([name, bit]): [string, number][] =>
		typeof bit === "number" ? [[officialName(name), bit]] : [],
	),
);

/** Seconds without activity after which Discord moves a member to the AFK channel. */
export const afkTimeouts = ["1m", "5m", "15m", "30m", "1h"];
