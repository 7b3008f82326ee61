// Polls: creating, ending, listing voters. get_message shows the votes.

import {
	type APIMessage,
	type APIPoll,
	type Client,
	makeURLSearchParams,
	type RESTGetAPIPollAnswerVotersResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelName, personFields, personName } from "../../discord/describe.ts";
import { fieldLine, oneField } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { innerEmoji, requireOwnEmoji } from "../messages/emoji.ts";
import { allowedMentions, fetchMessage, fetchOwnMessage, inChannel, slowMode } from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { pollFields } from "../messages/message-lines.ts";
import { placeOf } from "../messages/sent-message.ts";
import { asking } from "../results/result.ts";
import { duration, flag, integer, limit, list, orText, snowflake, text } from "../tool/arguments/arguments.ts";
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";

const onPoll = { ...inChannel, message_id: snowflake("message with the poll") };

const answer = v.strictObject({ text: text(1, 55, ""), emoji: v.optional(innerEmoji) });

export const createPoll = writeTool({
	name: "create_poll",
	toolset: "messages",
	offered: "extra",
	title: "Create a poll",
	description: "Send a poll, as the bot. It cannot be edited, and ends by itself.",
	permissions: ["SendMessages", "SendPolls"],
	person: { permissions: [slowMode("channel_id")] },
	input: {
		...inChannel,
		question: text(1, 300, "The question."),
		answers: list(orText(answer, "text"), 2, 10, "The answers."),
		duration: v.optional(duration({ min: "1h", max: "32d", whole: "hours" }, "Whole hours: 12h, 3d, up to 32d."), "1d"),
		allow_multiselect: flag("Several answers per user.", false),
	},
	async run(args, { discord, guild, channel }) {
		const { allow_multiselect } = args;
		const emojis = args.answers.flatMap(({ emoji }) => emoji ?? []);
		await requireOwnEmoji(guild, emojis);
		const answers = args.answers.map(({ text, emoji }) => ({
			poll_media: {
				text,
				// Discord accepts only one of id and name.
				...(emoji && { emoji: emoji.id ? { id: emoji.id } : { name: emoji.name } }),
			},
		}));
		const question = { text: args.question };
		const poll = { question, answers, duration: args.duration / 3600, allow_multiselect };
		const body = { poll, allowed_mentions: allowedMentions("none") };
		const message = (await discord.rest.post(Routes.channelMessages(channel.id), { body })) as APIMessage;
		return [
			`Poll sent (ID: ${message.id}) to ${placeOf(channel, message.id)}`,
			...(message.poll ? [fieldLine(...pollFields(message.poll))] : []),
		];
	},
});

export const endPoll = destructiveTool({
	name: "end_poll",
	toolset: "messages",
	offered: "extra",
	title: "End a poll",
	description: "End a poll of the bot now and show the votes; not undoable.",
	lock: "message_id",
	permissions: ["ReadMessageHistory"],
	person: { permissions: ["ManageMessages"] },
	input: onPoll,
	async plan({ message_id }, { discord, channel }) {
		const message = await fetchOwnMessage(channel, message_id, "end");
		const target = `the poll ${message_id} in ${channelName(channel)}`;
		return {
			preview: asking(
				pollLine(`Would end ${target}, now`, pollOf(message, discord)),
				said("preview.end_poll", { where: `<#${channel.id}>` }),
			),
			async act() {
				const { poll } = (await discord.rest.post(Routes.expirePoll(channel.id, message_id))) as APIMessage;
				return pollLine(`Ended ${target}`, poll);
			},
		};
	},
});

export const getPollVoters = readTool({
	name: "get_poll_voters",
	toolset: "messages",
	offered: "extra",
	title: "List a poll's voters",
	description: "List who voted in a poll.",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: {
		...onPoll,
		answer_id: v.optional(integer(1, 1000, "Only this answer; default: all.")),
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last user")),
	},
	async run(args, { discord, guild, channel }) {
		const { message_id, answer_id, limit, after } = args;
		if (answer_id === undefined && after !== undefined)
			throw invalidParameters(["after: expected only together with answer_id"]);
		const poll = pollOf(await fetchMessage(channel, message_id), discord);
		const { answers } = poll;
		const votersOf = async (id: number) => {
			const query = makeURLSearchParams({ limit, after });
			const page = await discord.rest.get(Routes.pollAnswerVoters(channel.id, message_id, id), { query });
			return (page as RESTGetAPIPollAnswerVotersResult).users;
		};
		if (answer_id === undefined) {
			const lines = [fieldLine(`Poll ${message_id}`, ...pollFields(poll))];
			for (const { answer_id: id, poll_media } of answers) {
				const users = await votersOf(id);
				const names = users.map((user) => personName(guild, user));
				const more = users.length === limit ? ", … maybe more" : "";
				lines.push(`answer ${id} (${oneField(poll_media.text ?? "")}): ${names.join(", ") || "nobody"}${more}`);
			}
			return lines;
		}
		const answer = answers.find((one) => one.answer_id === answer_id);
		if (!answer)
			throw new ToolError(
				`The poll ${message_id} has no answer ${answer_id}. Its answers are ${answers.map(({ answer_id }) => answer_id).join(", ")}; get_message shows them.`,
			);
		const users = await votersOf(answer_id);
		const last = users.at(-1);
		const target = `answer ${answer_id} (${oneField(answer.poll_media.text ?? "")}) of the poll ${message_id}`;
		if (!last) return `Nobody${after === undefined ? "" : ` with an id above ${after}`} has voted for ${target}.`;
		return [
			`${users.length} voter(s) for ${target}, by id:`,
			...users.map((user) => personFields(guild, user)),
			...(users.length === limit ? [`next_after=${last.id}`] : []),
		];
	},
});

function pollLine(start: string, poll: APIPoll | undefined): string {
	return fieldLine(start, ...(poll ? pollFields(poll) : []));
}

function pollOf(message: APIMessage, discord: Client<true>): APIPoll {
	if (message.poll) return message.poll;
	throw new ToolError(
		[
			`The message ${message.id} has no poll. Nothing was done; get_recent_messages shows which messages have one.`,
			...hiddenContent(discord, [message]),
		].join(" "),
	);
}
