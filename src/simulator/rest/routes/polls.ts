// Polls: ending one and listing voters. Sending a message creates one.
// https://discord.com/developers/docs/resources/poll

import type { NewPoll } from "../../world/messages/polls.ts";
import { type Emoji, parseUnicodeEmoji } from "../../world/state/entities.ts";
import { apiError, formError, found } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { serializeMessage } from "../message-body.ts";
import { type Call, route } from "../route.ts";

const emoji = f.object({ id: f.snowflake, name: f.text(0, 64) });

export const pollForm = f.object({
	question: f.required(f.object({ text: f.required(f.text(1, 300)) })),
	answers: f.required(
		f.list(f.object({ poll_media: f.required(f.object({ text: f.required(f.text(1, 55)), emoji: emoji })) }), 1, 10),
	),
	duration: f.integer(1, 768),
	allow_multiselect: f.boolean,
	layout_type: f.choice(1),
});

export function readPoll(call: Call, form: Exclude<f.Read<typeof pollForm>, undefined>): NewPoll {
	const hours = form.duration ?? 24;
	return {
		question: form.question,
		answers: form.answers.map(({ poll_media: { text, emoji } }, index) => ({
			answer_id: index + 1,
			poll_media: { text, emoji: emoji && readEmoji(call, emoji) },
		})),
		expiry: new Date(Date.now() + hours * 3_600_000).toISOString(),
		allow_multiselect: form.allow_multiselect ?? false,
	};
}

function readEmoji({ world, actor }: Call, { id, name }: Exclude<f.Read<typeof emoji>, undefined>): Emoji {
	const code = "CannotUseAnEmojiIncludedWithThePoll";
	if (!id) return found(parseUnicodeEmoji(name ?? ""), code);
	return { id, name: found(world.emojis.usableBy(actor.user, id), code).name };
}

export const pollRoutes = [
	route("GET /channels/:channel_id/polls/:message_id/answers/:answer_id", {
		needs: "ReadMessageHistory",
		query: { limit: f.integer(1, 100), after: f.snowflake },
		run: (call) => {
			const voters = call.message.poll?.votes.get(Number(call.params.answer_id));
			if (!voters) throw formError("BASE_TYPE_CHOICES", "The poll has no such answer.", "answer_id");
			const page = f.pageById(voters, (id) => id, call.query, 25);
			return { users: page.flatMap((id) => call.world.users.get(id) ?? []) };
		},
	}),
	route("POST /channels/:channel_id/polls/:message_id/expire", (call) => {
		const { message } = call;
		if (!message.poll) throw apiError("CannotExpireANonPollMessage");
		if (message.author !== call.actor.user) throw apiError("CannotEditMessageAuthoredByAnotherUser");
		if (message.poll.ended) throw apiError("PollExpired");
		call.world.polls.end(call.channel, message);
		return serializeMessage(call, message);
	}),
];
