// Polls: voting, and how they end, by their author's will or in time.
// https://discord.com/developers/docs/resources/poll

import { MessageType } from "discord.js";
import type { Channel, Message, Poll, User } from "../state/entities.ts";
import type { State } from "../state/state.ts";
import type { Messages } from "./messages.ts";

/** What a poll is made of. */
export type NewPoll = Pick<Poll, "question" | "answers" | "expiry"> &
	Partial<Pick<Poll, "allow_multiselect">>;

// Timers hold no more than 24 days, and a poll may last 32.
const longestTimerMs = 24 * 60 * 60 * 1000;

export class Polls {
	readonly #state: State;
	readonly #messages: Messages;

	constructor(state: State, messages: Messages) {
		this.#state = state;
		this.#messages = messages;
	}

	/** A message with a poll, which ends when its time is over. */
	add(
		channel: Channel,
		author: User,
		given: NewPoll,
		message: Partial<Message> = {},
	): Message & { poll: Poll } {
		const poll: Poll = {
			allow_multiselect: false,
			layout_type: 1,
			...given,
			votes: new Map(given.answers.map(({ answer_id }) => [answer_id, []])),
			ended: false,
		};
		const made = this.#messages.add(channel, author, {
			content: "",
			...message,
			poll,
		});
		const withPoll = Object.assign(made, { poll });
		this.#endInTime(channel, withPoll);
		return withPoll;
	}

	/** The user's choice is these answers from now on: none takes a vote back. An ended poll stays as it is. */
	vote(
		channel: Channel,
		message: Message,
		user: User,
		answerIds: readonly number[],
	): void {
		const { poll } = message;
		if (!poll || poll.ended) throw new Error("there is no poll to vote in");
		if (answerIds.some((id) => !poll.votes.has(id)))
			throw new Error(`the poll has no such answer: ${answerIds.join(", ")}`);
		if (answerIds.length > 1 && !poll.allow_multiselect)
			throw new Error("the poll allows one answer");
		for (const [id, voters] of poll.votes) {
			const had = voters.includes(user.id);
			const has = answerIds.includes(id);
			if (had === has) continue;
			const others = voters.filter((voter) => voter !== user.id);
			poll.votes.set(id, has ? [...others, user.id] : others);
			this.#state.dispatchToChannel(
				has ? "MESSAGE_POLL_VOTE_ADD" : "MESSAGE_POLL_VOTE_REMOVE",
				channel,
				() => ({ user_id: user.id, message_id: message.id, answer_id: id }),
			);
		}
	}

	/** Ends a poll, of which a message of Discord's own tells. One that has ended stays as it is. */
	end(channel: Channel, message: Message): void {
		const { poll } = message;
		if (!poll || poll.ended) return;
		poll.ended = true;
		const now = new Date();
		if (Date.parse(poll.expiry) > now.getTime())
			poll.expiry = now.toISOString();
		this.#messages.dispatch("MESSAGE_UPDATE", channel, message);
		this.#messages.add(channel, message.author, {
			content: "",
			type: MessageType.PollResult,
			mentions: [message.author],
			embeds: [{ type: "poll_result", fields: resultFields(poll) }],
			message_reference: {
				type: 0,
				message_id: message.id,
				channel_id: channel.id,
			},
		});
	}

	#endInTime(channel: Channel, message: Message & { poll: Poll }): void {
		const leftMs = Date.parse(message.poll.expiry) - Date.now();
		const onTime = () => {
			const exists = this.#messages.get(channel.id, message.id) === message;
			if (!exists || message.poll.ended) return;
			if (Date.parse(message.poll.expiry) > Date.now())
				this.#endInTime(channel, message);
			else this.end(channel, message);
		};
		const waitMs = Math.min(Math.max(leftMs, 0), longestTimerMs);
		setTimeout(onTime, waitMs).unref();
	}
}

/** What the embed of a poll's result says. Without a single winner nothing is said of one. */
function resultFields({ question, answers, votes }: Poll) {
	const counts = answers.map((answer) => ({
		answer,
		count: votes.get(answer.answer_id)?.length ?? 0,
	}));
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
	}).flatMap(([name, value]) =>
		value === undefined ? [] : [{ name, value: String(value), inline: false }],
	);
}
