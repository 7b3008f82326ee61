// Direct messages between the bot and a member of a guild.

import { type APIMessage, type Client, type GuildMember, MessageFlags, Routes } from "discord.js";
import { memberFields, memberName } from "../../discord/describe.ts";
import { directChannel, member } from "../../discord/find.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { isOutcomeUnknown } from "../../discord/rest/rest.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { said } from "../../texts/texts.ts";
import { allowedMentions, content, fetchOwnMessage } from "../messages/message-arguments.ts";
import { messageHead } from "../messages/message-lines.ts";
import { pageArguments, readPage } from "../messages/message-pages.ts";
import { editPlan, linkTo } from "../messages/sent-message.ts";
import { asking, mentions } from "../results/result.ts";
import { changesOf, flag, found, guild_id, limit, oneOrMore, snowflake } from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";
import { orWhere } from "../tool/people.ts";
import { maxShown } from "./bulk-roles.ts";
import { asMembers, continuing } from "./members/several-members.ts";

const person = { managesBot: true } as const;

const maxReceivers = 100;

const withMember = { guild_id, user_id: found(member, "member") };
const onDirectMessage = { ...withMember, message_id: snowflake("message") };

export const sendPrivateMessage = writeTool({
	name: "send_private_message",
	toolset: "direct_messages",
	title: "Send a DM",
	description: "Send a direct message (DM) to members, as the bot.",
	person,
	intents: ["GuildMembers"],
	input: {
		guild_id,
		...orWhere(oneOrMore(found(member, "member"), maxReceivers, "Members."), maxReceivers),
		content,
		silent: flag("Without a notification.", false),
	},
	plan({ content, silent }, { discord, users, chosen }) {
		const body = {
			content,
			allowed_mentions: allowedMentions("none"),
			flags: silent ? MessageFlags.SuppressNotifications : 0,
		};
		const [only] = users.length === 1 && !chosen ? users : [];
		const lines = sample(users, chosen ? maxShown : Infinity, chosen?.line ?? memberFields);
		return planEach({
			...asMembers,
			items: users,
			asks: asking(
				only
					? `Would send ${memberName(only)} a direct message.`
					: [`Would send ${users.length} member(s) a direct message:`, ...lines],
				said("preview.send_dm", { who: mentions(users) }),
			),
			next: continuing(chosen),
			write: (user) => sendTo(discord, user, body),
			single: only && String,
			done: (count, of) => `Sent ${count} of ${of} direct message(s):`,
		});
	},
});

async function sendTo({ rest }: Client, user: GuildMember, body: object): Promise<string> {
	const to = memberName(user);
	try {
		const channel = await directChannel(user);
		const { id } = (await rest.post(Routes.channelMessages(channel.id), { body })) as APIMessage;
		return `Direct message sent to ${to} (ID: ${id}): ${linkTo({ id: channel.id }, id)}`;
	} catch (error) {
		const failure = error instanceof ToolError ? error : toToolError(error);
		if (!failure || isOutcomeUnknown(error)) throw error;
		throw new ToolError(`The direct message to ${to} was not delivered: ${failure.message}`, { cause: error });
	}
}

export const readPrivateMessages = readTool({
	name: "read_private_messages",
	toolset: "direct_messages",
	title: "Read DMs",
	description: "Read the direct messages between the bot and a member, newest first.",
	person,
	input: { ...withMember, limit: limit(100, 50), ...pageArguments },
	async run(args, { user }) {
		const channel = await directChannel(user);
		const label = `the direct messages with ${memberName(user)}`;
		return readPage(channel, label, args);
	},
});

export const editPrivateMessage = destructiveTool({
	name: "edit_private_message",
	toolset: "direct_messages",
	title: "Edit a DM",
	description: "Replace the bot's direct message; not undoable.",
	lock: "message_id",
	person,
	input: { ...onDirectMessage, content },
	async plan({ message_id, content }, { discord, user }) {
		const channel = await directChannel(user);
		const message = await fetchOwnMessage(channel, message_id, "edit");
		const target = `the direct message ${message_id} to ${memberName(user)}`;
		const changes = changesOf({ content: message.content }, { content }, target);
		const body = { ...changes, allowed_mentions: allowedMentions("none") };
		const route = Routes.channelMessage(channel.id, message_id);
		return editPlan(changes, target, message, {
			link: linkTo({ id: channel.id }, message_id),
			ask: said("preview.edit_dm", { who: `<@${user.id}>` }),
			write: () => discord.rest.patch(route, { body }),
		});
	},
});

export const deletePrivateMessage = destructiveTool({
	name: "delete_private_message",
	toolset: "direct_messages",
	title: "Delete a DM",
	description: "Delete a direct message that the bot sent; not undoable.",
	lock: "message_id",
	person,
	input: onDirectMessage,
	async plan({ message_id }, { discord, user }) {
		const channel = await directChannel(user);
		const message = await fetchOwnMessage(channel, message_id, "delete");
		const target = `the direct message of ${messageHead(message)} to ${memberName(user)}.`;
		return {
			preview: asking(`Would delete ${target}`, said("preview.delete_dm", { who: `<@${user.id}>` })),
			write: () => discord.rest.delete(Routes.channelMessage(channel.id, message_id)),
			result: `Deleted ${target}`,
		};
	},
});
