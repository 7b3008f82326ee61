// The privileged intents: what the developer portal calls them, and whether they are switched on there.
// https://discord.com/developers/docs/events/gateway#privileged-intents

import {
	type ApplicationFlagsString,
	type Client,
	GatewayIntentBits,
} from "discord.js";

interface Intent {
	/** What its switch is called. */
	title: string;
	bit: GatewayIntentBits;
	/** The flags that say it is on; the second one while the bot is in few guilds. */
	flags: readonly ApplicationFlagsString[];
}

export const privilegedIntents = {
	GuildMembers: {
		title: "Server Members Intent",
		bit: GatewayIntentBits.GuildMembers,
		flags: ["GatewayGuildMembers", "GatewayGuildMembersLimited"],
	},
	GuildPresences: {
		title: "Presence Intent",
		bit: GatewayIntentBits.GuildPresences,
		flags: ["GatewayPresence", "GatewayPresenceLimited"],
	},
	MessageContent: {
		title: "Message Content Intent",
		bit: GatewayIntentBits.MessageContent,
		flags: ["GatewayMessageContent", "GatewayMessageContentLimited"],
	},
} as const satisfies Record<string, Intent>;

/** Whether its operator has switched it on for the bot. */
export function isSwitchedOn(
	{ application }: Client<true>,
	{ flags }: Intent,
): boolean {
	return flags.some((flag) => application.flags.has(flag));
}
