// The privileged intents: their names in the developer portal, and whether they are enabled there.
// https://discord.com/developers/docs/events/gateway#privileged-intents

import {
	ApplicationFlags,
	type ApplicationFlagsString,
	type Client,
	GatewayIntentBits,
} from "discord.js";

interface Intent {
	/** Name of the privileged intent in Discord's developer portal, such as "Presence Intent". */
	title: string;
	bit: GatewayIntentBits;
	/**
	 * Application flags, one of which is set while the intent is enabled. The flag that ends in "Limited" applies to bots
	 * in fewer than 100 guilds.
	 */
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

/** Whether a privileged intent is enabled for the bot's application in Discord's developer portal. */
export function isSwitchedOn(
	{ application }: Client<true>,
	{ flags }: Intent,
): boolean {
	return flags.some((flag) => application.flags.has(flag));
}

/** URL of Discord's developer portal, where the bot's application is configured. */
export const portal = "https://discord.com/developers/applications";

/**
 * Returns the error text for a login that Discord refused because privileged intents are not enabled. The text names
 * the intents to enable. The parameters are the bit fields of the requested intents and of the application's flags
 * (undefined if unknown).
 * https://discord.com/developers/docs/resources/application#application-object-application-flags
 */
export function describeRefusal(
	intents: number,
	flags: number | undefined,
): string {
	const requested = Object.values(privilegedIntents).filter(
		({ bit }) => (intents & bit) !== 0,
	);
	const missing = requested.filter((intent) =>
		intent.flags.every((flag) => ((flags ?? 0) & ApplicationFlags[flag]) === 0),
	);
	const isKnown = flags !== undefined && missing.length > 0;
	const titles = (isKnown ? missing : requested).map(
		({ title }) => `"${title}"`,
	);
	const unless = isKnown ? "" : ", unless they are on";
	return `Discord refuses the intents: switch on ${titles.join(" and ")}${unless}, at ${portal} (Bot)`;
}
