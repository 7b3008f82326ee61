// The privileged intents: their names in the developer portal, and whether they are enabled there.
// https://discord.com/developers/docs/events/gateway#privileged-intents

import { ApplicationFlags, type ApplicationFlagsString, type Client, GatewayIntentBits } from "discord.js";

interface Intent {
	title: string;
	bit: GatewayIntentBits;
	flags: readonly ApplicationFlagsString[];
	without: string;
}

export type PrivilegedIntent = keyof typeof privilegedIntents;

export const privilegedIntents = {
	GuildMembers: {
		title: "Server Members Intent",
		bit: GatewayIntentBits.GuildMembers,
		flags: ["GatewayGuildMembers", "GatewayGuildMembersLimited"],
		without:
			"there are no lists of members, no join_role, auto_role, welcome, donator_sync and suggestions of raid mode, backups are without members, and people are found by id and mention only",
	},
	GuildPresences: {
		title: "Presence Intent",
		bit: GatewayIntentBits.GuildPresences,
		flags: ["GatewayPresence", "GatewayPresenceLimited"],
		without: "nobody's status is known",
	},
	MessageContent: {
		title: "Message Content Intent",
		bit: GatewayIntentBits.MessageContent,
		flags: ["GatewayMessageContent", "GatewayMessageContentLimited"],
		// Discord shows the content of these even so: https://docs.discord.com/developers/events/gateway#message-content-intent
		without:
			"there are no chat commands, except in messages that mention the bot, no protection against spam, except honeypots, and tools read no texts of messages",
	},
} as const satisfies Record<string, Intent>;

/** In the developer portal. */
export function isSwitchedOn({ application }: Client<true>, { flags }: Intent): boolean {
	return flags.some((flag) => application.flags.has(flag));
}

export const portal = "https://discord.com/developers/applications";

/** False for one that Discord has refused. */
export function usesIntent({ options }: Client, { bit }: Intent): boolean {
	return options.intents.has(bit);
}

/**
 * All privileged ones if `flags` are undefined or have them all.
 * https://discord.com/developers/docs/resources/application#application-object-application-flags
 */
export function refusedIntents(requested: number, flags: number | undefined): PrivilegedIntent[] {
	const names = Object.keys(privilegedIntents) as PrivilegedIntent[];
	const privileged = names.filter((name) => (requested & privilegedIntents[name].bit) !== 0);
	const missing = privileged.filter((name) =>
		privilegedIntents[name].flags.every((flag) => ((flags ?? 0) & ApplicationFlags[flag]) === 0),
	);
	return missing.length > 0 ? missing : privileged;
}

/** With what the operator can do. */
export function describeRefused(name: PrivilegedIntent): string {
	const { title, without } = privilegedIntents[name];
	return `Discord refuses the ${title}, so ${without}. Switch it on at ${portal} (Bot), and restart the bot`;
}
