// Polls: voting, and ending by their author or on time.
// https://discord.com/developers/docs/resources/poll
//
// A gap: Votes have no REST route, because Discord documents none. Responses to interactions have no polls.

import { MessageType } from "discord.js";
import type { Channel, Message, Poll, User } from "../state/entities.ts";
import type { State } from "../state/state.ts";
import type { Messages } from "./messages.ts";

export type NewPoll = Pick<Poll, "question" | "answers" | "expiry"> & Partial<Pick<Poll, "allow_multiselect">>;

// setTimeout is limited to 24 days, and a poll can last 32.
const longestTimerMs = 24 * 60 * 60 * 1000;

export class Polls {
	constructor(
		private readonly state: State,
		private readonly messages: Messages,
	) {}

	add(channel: Channel, author: User, given: NewPoll, message: Partial<Message> = {}): Message & { poll: Poll } {
		const poll: Poll = {
			allow_multiselect: false,
			layout_type: 1,
			...given,
			votes: new Map(given.answers.map(({ answer_id }) => [answer_id, []])),
			ended: false,
		};
		const made = this.messages.add(channel, author, { content: "", ...message, poll });
		const withPoll = Object.assign(made, { poll });
		this.#endInTime(channel, withPoll);
		return withPoll;
	}

	/** Replaces the user's votes. Throws if the poll has ended, an answer is unknown, or only one is allowed. */
	vote(channel: Channel, message: Message, user: User, answerIds: readonly number[]): void {
		const { poll } = message;
		if (!poll || poll.ended) throw new Error(`the message ${message.id} has no poll that is still open`);
		if (answerIds.some((id) => !poll.votes.has(id)))
			throw new Error(`the poll does not have an answer for each of the answer ids ${answerIds.join(", ")}`);
		if (answerIds.length > 1 && !poll.allow_multiselect)
			throw new Error(
				`a voter may choose only one answer of the poll, received the answer ids ${answerIds.join(", ")}`,
			);
		for (const [id, voters] of poll.votes) {
			const had = voters.includes(user.id);
			const has = answerIds.includes(id);
			if (had === has) continue;
			const others = voters.filter((voter) => voter !== user.id);
			poll.votes.set(id, has ? [...others, user.id] : others);
			this.state.dispatchToChannel(has ? "MESSAGE_POLL_VOTE_ADD" : "MESSAGE_POLL_VOTE_REMOVE", channel, {
				user_id: user.id,
				message_id: message.id,
				answer_id: id,
			});
		}
	}

	end(channel: Channel, message: Message): void {
		const { poll } = message;
		if (!poll || poll.ended) return;
		poll.ended = true;
		const now = new Date();
		if (Date.parse(poll.expiry) > now.getTime()) poll.expiry = now.toISOString();
		this.messages.dispatch("MESSAGE_UPDATE", channel, message);
		this.messages.add(channel, message.author, {
			content: "",
			type: MessageType.PollResult,
			mentions: [message.author],
			embeds: [{ type: "poll_result", fields: resultFields(poll) }],
			message_reference: { type: 0, message_id: message.id, channel_id: channel.id },
		});
	}

	#endInTime(channel: Channel, message: Message & { poll: Poll }): void {
		const leftMs = Date.parse(message.poll.expiry) - Date.now();
		const onTime = () => {
			if (this.messages.get(channel.id, message.id) !== message || message.poll.ended) return;
			if (Date.parse(message.poll.expiry) > Date.now()) this.#endInTime(channel, message);
			else this.end(channel, message);
		};
		setTimeout(onTime, Math.min(Math.max(leftMs, 0), longestTimerMs)).unref();
	}
}

function resultFields({ question, answers, votes }: Poll) {
	const counts = answers.map((answer) => ({ answer, count: votes.get(answer.answer_id)?.length ?? 0 }));
	const most = Math.max(...counts.map(({ count }) => count));
	const total = counts.reduce((sum, { count }) => sum + count, 0);
	const [winner, ...equals] = counts.filter(({ count }) => count === most);
	const { answer_id, poll_media } = winner?.answer ?? {};
	const victor =
		most === 0 || equals.length > 0
			? {}
			: {
					victor_answer_id: answer_id,
					victor_answer_text: poll_media?.text,
					victor_answer_emoji_id: poll_media?.emoji?.id ?? undefined,
					victor_answer_emoji_name: poll_media?.emoji?.name,
				};
	return Object.entries({
		poll_question_text: question.text,
		victor_answer_votes: most,
		total_votes: total,
		...victor,
	}).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: String(value), inline: false }]));
}
