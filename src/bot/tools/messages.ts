// Messages: what is written in channels and threads.

import { MessageFlags, type MessageMentionTypes } from "discord.js";
import * as v from "valibot";
import { guild_id, snowflake, text } from "../arguments.ts";
import { tool } from "../context.ts";
import { textChannel } from "../find.ts";

/** What a text may ping. Each kind includes the one before. */
const mentionTypes: Record<string, readonly MessageMentionTypes[]> = {
	none: [],
	users: ["users"],
	roles: ["users", "roles"],
	everyone: ["users", "roles", "everyone"],
};

export const sendMessage = tool({
	name: "send_message",
	title: "Send a message",
	description:
		"Send a message to a channel or thread of a guild, as the bot. It pings nobody unless `mentions` allows it. Answers with the message's id.",
	effect: "write",
	input: v.strictObject({
		guild_id,
		channel_id: snowflake("channel or thread to send to"),
		content: text(1, 2000, "The message, in Discord's Markdown."),
		reply_to: v.optional(snowflake("message to reply to, in the same channel")),
		mentions: v.optional(
			v.pipe(
				v.picklist(["none", "users", "roles", "everyone"]),
				v.description(
					"Whom mentions in the content may ping: nobody, users, users and roles, or all of them and @everyone.",
				),
			),
			"none",
		),
		silent: v.optional(
			v.pipe(v.boolean(), v.description("Send without a notification.")),
			false,
		),
		suppress_embeds: v.optional(
			v.pipe(v.boolean(), v.description("Show no previews of links.")),
			false,
		),
	}),
	async run(args, { guild }) {
		const channel = await textChannel(guild, args.channel_id);
		const flags =
			(args.silent ? MessageFlags.SuppressNotifications : 0) |
			(args.suppress_embeds ? MessageFlags.SuppressEmbeds : 0);
		const message = await channel.send({
			content: args.content,
			allowedMentions: {
				parse: mentionTypes[args.mentions] ?? [],
				repliedUser: false,
			},
			flags,
			...(args.reply_to && {
				reply: { messageReference: args.reply_to, failIfNotExists: true },
			}),
		});
		return `Message sent (ID: ${message.id}).`;
	},
});
