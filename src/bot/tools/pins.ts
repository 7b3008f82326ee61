// Pinned messages.

import { makeURLSearchParams, type RESTGetAPIChannelMessagesPinsResult, Routes } from "discord.js";
import * as v from "valibot";
import { channelName, time } from "../../discord/describe.ts";
import { resultLines } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { fetchMessage, inChannel, onMessage } from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { messageLine } from "../messages/message-lines.ts";
import { linkTo } from "../messages/sent-message.ts";
import { flag, limit, reason } from "../tool/arguments/arguments.ts";
import { editTool, readTool } from "../tool/define.ts";

export const pinMessage = editTool({
	name: "pin_message",
	toolset: "messages",
	offered: "listed",
	title: "Pin or unpin a message",
	description: "Pin a message to its channel, or unpin it.",
	lock: "message_id",
	permissions: ["PinMessages", "ReadMessageHistory"],
	input: { ...onMessage, pinned: flag("False to unpin it.", true), reason },
	async run({ message_id, pinned }, { discord, channel }) {
		const message = await fetchMessage(channel, message_id);
		const where = channelName(channel);
		if (message.pinned === pinned)
			throw new ToolError(
				pinned
					? `The message ${message_id} is already pinned in ${where}. Nothing was done.`
					: `The message ${message_id} is not pinned in ${where}. Nothing was done; list_pins lists the pins.`,
			);
		const path = Routes.channelMessagesPin(channel.id, message_id);
		const link = linkTo(channel, message_id);
		if (!pinned) {
			await discord.rest.delete(path);
			return `Unpinned the message ${message_id} in ${where}: ${link}`;
		}
		await discord.rest.put(path);
		return `Pinned the message ${message_id} in ${where}: ${link}`;
	},
});

export const listPins = readTool({
	name: "list_pins",
	toolset: "messages",
	title: "List pins",
	description: "List a channel's pinned messages, the latest pin first.",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: {
		...inChannel,
		limit: limit(50, 50),
		before: v.optional(
			v.pipe(
				v.string(),
				v.regex(
					/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
					"expected a time such as 2026-01-31T12:00:00.000Z, as in next_before",
				),
				v.description("Only pins before this time (ISO 8601)."),
			),
		),
	},
	async run({ limit, before }, { discord, channel }) {
		const { items, has_more } = (await discord.rest.get(Routes.channelMessagesPins(channel.id), {
			query: makeURLSearchParams({ limit, before }),
		})) as RESTGetAPIChannelMessagesPinsResult;
		const where = channelName(channel);
		const last = items.at(-1);
		if (!last)
			return before === undefined
				? `No message is pinned in ${where}.`
				: `No message was pinned in ${where} before ${before}.`;
		const messages = items.map(({ message }) => message);
		return resultLines(
			`${items.length} pin(s) in ${where}, the latest pin first, times in UTC:`,
			items.map(({ pinned_at, message }) => `pinned: ${time(new Date(pinned_at))} | ${messageLine(message)}`),
			hiddenContent(discord, messages),
			has_more && `next_before=${last.pinned_at}`,
		);
	},
});
