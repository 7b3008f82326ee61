// The privileged intents: their names in the developer portal, and whether they are enabled there.
// https://discord.com/developers/docs/events/gateway#privileged-intents

import {
	ApplicationFlags,
	type ApplicationFlagsString,
	type Client,
	GatewayIntentBits,
} from "discord.js";

interface Intent {
	/** The intent's name in the developer portal. */
	title: string;
	bit: GatewayIntentBits;
	/** Application flags that are set while it is enabled; the "Limited" one applies to bots in fewer than 100 guilds. */
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

/** Whether the intent is enabled in the developer portal. */
export function isSwitchedOn(
	{ application }: Client<true>,
	{ flags }: Intent,
): boolean {
	return flags.some((flag) => application.flags.has(flag));
}

/** The developer portal. */
export const portal = "https://discord.com/developers/applications";

/**
 * Names the intents to enable after Discord refused a login; the refusal itself names none. `intents` are the requested
 * ones, `flags` those of the application, undefined if unknown.
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
