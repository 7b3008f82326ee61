// Access to message content. Without the Message Content Intent in the developer portal, Discord hides content over REST
// and its Gateway alike, except in the bot's own messages, direct messages and messages that mention it.
// https://discord.com/developers/docs/events/gateway#message-content-intent

import type { APIMessage, Client } from "discord.js";
import { isSwitchedOn, privilegedIntents } from "../../discord/intents.ts";
import { ToolError } from "../../mcp/tool.ts";

const howToEnable =
	'The operator can enable "Message Content Intent" in the developer portal (Bot) and restart the bot.';

/** Whether Discord shows the content of messages to the bot. */
export function readsContent(discord: Client<true>): boolean {
	return isSwitchedOn(discord, privilegedIntents.MessageContent);
}

/**
 * Throws a ToolError if Discord hides the content of messages from the bot. `consequence` says in the error message
 * what does not work without the content.
 */
export function requireContent(discord: Client<true>, consequence: string): void {
	if (readsContent(discord)) return;
	throw new ToolError(
		`Discord hides message content from this bot, so ${consequence}. ${howToEnable} Nothing was done.`,
	);
}

/**
 * Returns a result line if some of the messages are empty because Discord hides their content from the bot; otherwise
 * no line.
 */
export function hiddenContent(discord: Client<true>, messages: readonly APIMessage[]): string[] {
	const hidden = messages.some(
		({ author, content, embeds, attachments, components = [] }) =>
			author.id !== discord.user.id && content === "" && embeds.length + attachments.length + components.length === 0,
	);
	if (!hidden || readsContent(discord)) return [];
	return [
		`Discord hides the content, embeds and attachments of messages from this bot, except its own and those that mention it. ${howToEnable}`,
	];
}
