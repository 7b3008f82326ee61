// Whether the bot may read what people write. Discord decides by what is switched on in the developer portal, for what
// the bot asks for as for what it is told; what the bot itself wrote, direct messages and mentions of it are always shown.
// https://discord.com/developers/docs/events/gateway#message-content-intent

import type { APIMessage, Client } from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import {
	isSwitchedOn,
	privilegedIntents,
} from "../discord/connection/intents.ts";

const howToSwitchOn =
	'Its operator can switch on "Message Content Intent" in the developer portal (Bot), and start it anew.';

function readsContent(discord: Client<true>): boolean {
	return isSwitchedOn(discord, privilegedIntents.MessageContent);
}

/** Throws the ToolError to show where other people's texts are hidden; `so` says what does not work then. */
export function requireContent(discord: Client<true>, so: string): void {
	if (readsContent(discord)) return;
	throw new ToolError(
		`Discord shows this bot no texts of messages, so ${so}. ${howToSwitchOn} Nothing was done.`,
	);
}

/** A line that says so where some of these messages look empty because their texts are hidden. */
export function hiddenContent(
	discord: Client<true>,
	messages: readonly APIMessage[],
): string[] {
	const hidden = messages.some(
		({ author, content, embeds, attachments }) =>
			author.id !== discord.user.id &&
			content === "" &&
			embeds.length + attachments.length === 0,
	);
	if (!hidden || readsContent(discord)) return [];
	return [
		`Discord shows this bot no texts, embeds and attachments of other people's messages, unless they mention it. ${howToSwitchOn}`,
	];
}
