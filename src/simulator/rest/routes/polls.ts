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
import * as f from "../fields.ts";
import { type Call, channelOf, messageOf, param, route } from "../route.ts";

const emoji = f.object({
	id: f.nullable(f.snowflake),
	name: f.nullable(f.text(0, 64)),
});

/** The poll of a new message. */
export const pollForm = f.object({
	question: f.required(f.object({ text: f.required(f.text(1, 300)) })),
	answers: f.required(
		f.list(
			f.object({
				poll_media: f.required(
					f.object({
						text: f.required(f.text(1, 55)),
						emoji: f.nullable(emoji),
					}),
				),
			}),
			1,
			10,
		),
	),
	duration: f.nullable(f.integer(1, 768)),
	allow_multiselect: f.nullable(f.boolean),
	layout_type: f.nullable(f.choice(1)),
});

type PollForm = Exclude<f.Read<typeof pollForm>, undefined>;

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
	{ id, name }: Exclude<f.Read<typeof emoji>, undefined>,
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
		query: { limit: f.integer(1, 100), after: f.snowflake },
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
