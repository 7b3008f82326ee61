// Polls: ending one and listing voters. Sending a message creates one.
// https://discord.com/developers/docs/resources/poll

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { NewPoll } from "../../world/messages/polls.ts";
import type { Emoji } from "../../world/state/entities.ts";
import { readerOf } from "../../world/state/serialize.ts";
import { compareIds } from "../../world/state/snowflake.ts";
import { parseUnicodeEmoji } from "../../world/state/unicode-emoji.ts";
import { apiError, formError } from "../errors.ts";
import {
	boolean,
	choice,
	integer,
	list,
	nullable,
	object,
	type Read,
	required,
	snowflake,
	text,
} from "../fields.ts";
import { type Call, channelOf, messageOf, param, route } from "../route.ts";

const emoji = object({
	id: nullable(snowflake),
	name: nullable(text(0, 64)),
});

/** The poll of a new message. */
export const pollForm = object({
	question: required(object({ text: required(text(1, 300)) })),
	answers: required(
		list(
			object({
				poll_media: required(
					object({ text: required(text(1, 55)), emoji: nullable(emoji) }),
				),
			}),
			1,
			10,
		),
	),
	duration: nullable(integer(1, 768)),
	allow_multiselect: nullable(boolean),
	layout_type: nullable(choice(1)),
});

type PollForm = Exclude<Read<typeof pollForm>, undefined>;

/** A checked poll, with its duration as an expiry. */
export function readPoll(call: Call, form: PollForm): NewPoll {
	const hours = form.duration ?? 24;
	return {
		question: { text: form.question?.text ?? "" },
		answers: form.answers.map((answer, index) => {
			const { text, emoji } = answer?.poll_media ?? { text: "" };
			return {
				answer_id: index + 1,
				poll_media: {
					text,
					...(emoji ? { emoji: readEmoji(call, emoji) } : {}),
				},
			};
		}),
		expiry: new Date(Date.now() + hours * 3_600_000).toISOString(),
		allow_multiselect: form.allow_multiselect ?? false,
	};
}

function readEmoji(
	{ world, actor }: Call,
	{ id, name }: Exclude<Read<typeof emoji>, undefined>,
): Emoji {
	if (id) {
		const found = world.emojis.usableBy(actor.user, id);
		if (!found) throw apiError(Code.CannotUseAnEmojiIncludedWithThePoll);
		return { id, name: found.name };
	}
	const known = parseUnicodeEmoji(name ?? "");
	if (!known) throw apiError(Code.CannotUseAnEmojiIncludedWithThePoll);
	return known;
}

export const pollRoutes = [
	route({
		method: "GET",
		path: "/channels/:channel_id/polls/:message_id/answers/:answer_id",
		needs: Permission.ReadMessageHistory,
		query: { limit: integer(1, 100), after: snowflake },
		run: (call) => {
			const { poll } = messageOf(call);
			const voters = poll?.votes.get(Number(param(call, "answer_id")));
			if (!voters)
				throw formError(
					"BASE_TYPE_CHOICES",
					"The poll has no such answer.",
					"answer_id",
				);
			const { limit = 25, after = "0" } = call.query;
			const users = voters
				.toSorted(compareIds)
				.filter((id) => compareIds(id, after) > 0)
				.slice(0, limit)
				.flatMap((id) => call.world.users.get(id) ?? []);
			return { users };
		},
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/polls/:message_id/expire",
		run: (call) => {
			const message = messageOf(call);
			if (!message.poll) throw apiError(Code.CannotExpireANonPollMessage);
			if (message.author !== call.actor.user)
				throw apiError(Code.MissingPermissions);
			if (message.poll.ended) throw apiError(Code.PollExpired);
			call.world.polls.end(channelOf(call), message);
			return call.world.messages.serialize(message, readerOf(call.actor));
		},
	}),
];
