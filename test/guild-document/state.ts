// Guilds as Discord's API returns them, from a few fields.

import type { APIGuild } from "discord.js";
import { bitsOfNames } from "../../src/guild-document/read/from-api.ts";
import type { GuildState } from "../../src/guild-document/steps.ts";

export const guildId = "100000000000000000";

/** Returns a Discord id that ends with a number. */
export const idOf = (number: number) => `1000000000000${String(number).padStart(5, "0")}`;

interface GivenRole {
	id: number;
	name: string;
	position?: number;
	permissions?: string[];
	[field: string]: unknown;
}

interface GivenChannel {
	id: number;
	name: string;
	type?: number;
	position?: number;
	parent?: number;
	[field: string]: unknown;
}

export interface GivenState {
	guild?: object;
	everyone?: string[];
	/** The lowest first, as positions count. */
	roles?: GivenRole[];
	channels?: GivenChannel[];
	emojis?: object[];
	[part: string]: unknown;
}

/** Returns the state of a guild. Other parts than its roles, channels and emoji are given as the API has them. */
export function guildState({
	guild = {},
	everyone = ["VIEW_CHANNEL", "SEND_MESSAGES"],
	roles = [],
	channels = [],
	emojis = [],
	...parts
}: GivenState = {}): GuildState {
	const role = (fields: object) => ({
		color: 0,
		hoist: false,
		mentionable: false,
		managed: false,
		icon: null,
		unicode_emoji: null,
		flags: 0,
		permissions: "0",
		...fields,
	});
	return {
		guild: {
			id: guildId,
			name: "Guild",
			description: null,
			icon: null,
			features: [],
			verification_level: 0,
			default_message_notifications: 0,
			explicit_content_filter: 0,
			afk_timeout: 300,
			afk_channel_id: null,
			system_channel_id: null,
			rules_channel_id: null,
			public_updates_channel_id: null,
			safety_alerts_channel_id: null,
			system_channel_flags: 0,
			preferred_locale: "en-US",
			premium_progress_bar_enabled: false,
			roles: [
				role({ id: guildId, name: "@everyone", position: 0, permissions: String(bitsOfNames(everyone)) }),
				...roles.map(({ id, permissions = [], ...fields }, index) =>
					role({ position: index + 1, ...fields, id: idOf(id), permissions: String(bitsOfNames(permissions)) }),
				),
			],
			emojis,
			...guild,
		} as unknown as APIGuild,
		channels: channels.map(({ id, parent, ...fields }, position) => ({
			type: 0,
			position,
			permission_overwrites: [],
			...fields,
			id: idOf(id),
			guild_id: guildId,
			parent_id: parent === undefined ? null : idOf(parent),
		})) as unknown as GuildState["channels"],
		pictures: new Map(),
		...parts,
	};
}
