// Polls: asking, ending, and who voted for what. get_message shows how a poll stands.

import {
	type APIMessage,
	type APIPoll,
	type Client,
	type RESTGetAPIPollAnswerVotersResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { textChannel } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";
import { emoji, requireOwnEmoji } from "../messages/emoji.ts";
import {
	allowedMentions,
	fetchMessage,
	fetchOwnMessage,
} from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { hasEnded, pollFields } from "../messages/message-lines.ts";
import {
	flag,
	found,
	guild_id,
	integer,
	limit,
	list,
	snowflake,
	text,
} from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";

const onPoll = {
	guild_id,
	channel_id: found(textChannel, "channel or thread"),
	message_id: snowflake("message with the poll"),
};

export const createPoll = tool({
	name: "create_poll",
	toolset: "messages",
	extra: true,
	title: "Create a poll",
	description:
		"Ask people in a channel to vote, as the bot. A poll cannot be edited; it ends by itself.",
	effect: "write",
	permissions: ["SendMessages", "SendPolls"],
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread to ask in"),
		question: text(1, 300, "What is asked."),
		answers: list(
			v.strictObject({
				text: text(1, 55, "The answer."),
				emoji: v.optional(emoji),
			}),
			2,
			10,
			"What can be voted for.",
		),
		duration: v.optional(integer(1, 768, "Hours that it is open."), 24),
		allow_multiselect: v.optional(flag("Several answers per person."), false),
	}),
	async run(args, { discord, guild, channel }) {
		const { question, duration, allow_multiselect } = args;
		await requireOwnEmoji(
			guild,
			args.answers.flatMap(({ emoji }) => emoji ?? []),
		);
		const answers = args.answers.map(({ text, emoji }) => ({
			poll_media: {
				text,
				// Discord wants one of the two.
				...(emoji && {
					emoji: emoji.id ? { id: emoji.id } : { name: emoji.name },
				}),
			},
		}));
		const message = (await discord.rest.post(
			Routes.channelMessages(channel.id),
			{
				body: {
					poll: {
						question: { text: question },
						answers,
						duration,
						allow_multiselect,
					},
					allowed_mentions: allowedMentions("none"),
				},
			},
		)) as APIMessage;
		return [
			`Poll sent (ID: ${message.id})`,
			...(message.poll ? pollFields(message.poll) : []),
		].join(" | ");
	},
});

export const endPoll = destructiveTool({
	name: "end_poll",
	toolset: "messages",
	extra: true,
	title: "End a poll",
	description:
		"End a poll that the bot asked, at once. It cannot be opened again. Answers with the votes.",
	idempotent: true,
	lock: "message_id",
	permissions: ["ReadMessageHistory"],
	input: v.strictObject(onPoll),
	async plan({ message_id }, { discord, channel }) {
		const message = await fetchOwnMessage(channel, message_id, "end");
		const what = `the poll ${message_id} in ${channelName(channel)}`;
		const before = pollOf(message, discord);
		if (hasEnded(before))
			throw new ToolError(
				`Nothing would change: ${what} has ended. Nothing was done; get_message shows its result.`,
			);
		return {
			preview: [`Would end ${what}, now`, ...pollFields(before)].join(" | "),
			async act() {
				const { poll } = (await discord.rest.post(
					Routes.expirePoll(channel.id, message_id),
				)) as APIMessage;
				return [`Ended ${what}`, ...(poll ? pollFields(poll) : [])].join(" | ");
			},
		};
	},
});

export const getPollVoters = tool({
	name: "get_poll_voters",
	toolset: "messages",
	extra: true,
	title: "List a poll's voters",
	description: "List who voted for an answer of a poll, by id.",
	effect: "read",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: v.strictObject({
		...onPoll,
		answer_id: integer(1, 1000, "As get_message shows it."),
		limit: limit(100, 100),
		after: v.optional(snowflake("last user of the page before")),
	}),
	async run(args, { discord, channel }) {
		const { message_id, answer_id, limit, after } = args;
		const message = await fetchMessage(channel, message_id);
		const { answers } = pollOf(message, discord);
		const answer = answers.find((one) => one.answer_id === answer_id);
		if (!answer)
			throw new ToolError(
				`The poll ${message_id} has no answer ${answer_id}; there is ${answers.map((one) => one.answer_id).join(", ")}. get_message shows them.`,
			);
		const query = new URLSearchParams({
			limit: String(limit),
			...(after !== undefined && { after }),
		});
		const { users } = (await discord.rest.get(
			Routes.pollAnswerVoters(channel.id, message_id, answer_id),
			{ query },
		)) as RESTGetAPIPollAnswerVotersResult;
		const last = users.at(-1);
		const what = `answer ${answer_id} (${oneField(answer.poll_media.text ?? "")}) of the poll ${message_id}`;
		if (!last)
			return `Nobody${after === undefined ? "" : ` with an id above ${after}`} has voted for ${what}.`;
		return [
			`${users.length} voter(s) for ${what}, by id:`,
			...users.map(({ username, id }) => `@${oneField(username)} | ID: ${id}`),
			...(users.length === limit ? [`next_after=${last.id}`] : []),
		];
	},
});

/** The poll of a message; throws the ToolError to show where there is none to be seen. */
function pollOf(message: APIMessage, discord: Client<true>): APIPoll {
	if (message.poll) return message.poll;
	throw new ToolError(
		[
			`The message ${message.id} has no poll. Nothing was done; get_recent_messages shows which have one.`,
			...hiddenContent(discord, [message]),
		].join(" "),
	);
}
