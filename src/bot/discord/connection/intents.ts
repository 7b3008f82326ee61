// The privileged intents: what the developer portal calls them, and whether they are switched on there.
// https://discord.com/developers/docs/events/gateway#privileged-intents

import {
	ApplicationFlags,
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

/** Where an operator switches intents on, and gets a token. */
export const portal = "https://discord.com/developers/applications";

/**
 * What to switch on when Discord has refused a login for its intents, which it does without naming one. `intents` is what
 * the bot asked for, `flags` are its application's, undefined where they are not known.
 * https://discord.com/developers/docs/resources/application#application-object-application-flags
 */
export function describeRefusal(
	intents: number,
	flags: number | undefined,
): string {
	const asked = Object.values(privilegedIntents).filter(
		({ bit }) => (intents & bit) !== 0,
	);
	const missing = asked.filter((intent) =>
		intent.flags.every((flag) => ((flags ?? 0) & ApplicationFlags[flag]) === 0),
	);
	const isKnown = flags !== undefined && missing.length > 0;
	const titles = (isKnown ? missing : asked).map(({ title }) => `"${title}"`);
	const unless = isKnown ? "" : ", unless they are on";
	return `Discord refuses the intents: switch on ${titles.join(" and ")}${unless}, at ${portal} (Bot)`;
}
