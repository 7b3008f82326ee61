// Access to message content. Without the Message Content Intent in the developer portal, Discord hides content over REST
// and its Gateway alike, except in the bot's own messages, direct messages and messages that mention it.
// https://discord.com/developers/docs/events/gateway#message-content-intent

import type { APIMessage, Client } from "discord.js";
import { isSwitchedOn, privilegedIntents } from "../../discord/intents.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";

const howToEnable =
	'The operator can enable "Message Content Intent" in the developer portal (Bot) and restart the bot.';

export function readsContent(discord: Client<true>): boolean {
	return isSwitchedOn(discord, privilegedIntents.MessageContent);
}

/** Throws a ToolError otherwise. `consequence` says what does not work. */
export function requireContent(discord: Client<true>, consequence: string): void {
	if (readsContent(discord)) return;
	throw new SaidError(said("refusal.content_hidden"), {
		models: `Discord hides message content from this bot, so ${consequence}. ${howToEnable} Nothing was done.`,
	});
}

/** If messages are empty because Discord hides their content. */
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
