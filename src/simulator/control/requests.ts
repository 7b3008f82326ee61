// The bodies and query strings of control requests.

import * as v from "valibot";
import { isMatch } from "../rest/faults.ts";

const match = v.pipe(v.string(), v.check(isMatch, 'expected a method and a route such as "POST /channels/*/messages"'));
const limits = {
	match,
	times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
	actor: v.optional(v.string()),
};
const integer = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const status = integer(400, 599);

export const faultRequest = v.variant("kind", [
	v.strictObject({
		kind: v.literal("refuse"),
		...limits,
		code: v.pipe(v.number(), v.integer()),
		status: v.optional(status),
		message: v.optional(v.string()),
	}),
	v.strictObject({
		kind: v.literal("stall"),
		...limits,
		after: v.optional(v.boolean()),
	}),
	v.strictObject({
		kind: v.literal("drop"),
		...limits,
		when: v.picklist(["before", "after"]),
	}),
	v.strictObject({
		kind: v.literal("rateLimit"),
		...limits,
		retryAfterMs: v.pipe(v.number(), v.minValue(0)),
		global: v.optional(v.boolean()),
		scope: v.optional(v.picklist(["user", "global", "shared"])),
	}),
	v.strictObject({
		kind: v.literal("indexing"),
		...limits,
		retryAfterSeconds: v.pipe(v.number(), v.minValue(0)),
	}),
	v.strictObject({
		kind: v.literal("fail"),
		...limits,
		status: v.pipe(status, v.minValue(500)),
		executed: v.optional(v.boolean()),
	}),
	v.strictObject({
		kind: v.literal("answer"),
		...limits,
		status: integer(200, 599),
		body: v.optional(v.string()),
		headers: v.optional(v.record(v.string(), v.string())),
		executed: v.optional(v.boolean()),
	}),
]);

export const disconnectRequest = v.strictObject({
	how: v.optional(v.picklist(["close", "invalidate", "reconnect"]), "close"),
	code: v.optional(integer(1000, 4999)),
	resumable: v.optional(v.boolean()),
	shard: v.optional(integer(0, 9999)),
});

export const shardingRequest = v.strictObject({
	shards: v.optional(v.nullable(integer(1, 9999))),
	max_concurrency: v.optional(integer(1, 9999)),
	max_guilds: v.optional(integer(1, 1_000_000)),
	identify_ms: v.optional(integer(0, 3_600_000)),
});

export const voiceRequest = v.strictObject({
	user_id: v.string(),
	channel_id: v.nullable(v.string()),
	self_mute: v.optional(v.boolean()),
	self_deaf: v.optional(v.boolean()),
});

export const voteRequest = v.strictObject({
	username: v.string(),
	channel_id: v.string(),
	message_id: v.string(),
	answer_ids: v.array(v.number()),
});

export const applicationRequest = v.strictObject({
	client_id: v.string(),
	client_secret: v.optional(v.pipe(v.string(), v.minLength(1))),
	redirect_uris: v.optional(v.array(v.pipe(v.string(), v.url()))),
});

const milliseconds = v.pipe(v.number(), v.minValue(0));
export const lifetimesRequest = v.strictObject({
	code_ms: v.optional(milliseconds),
	access_token_ms: v.optional(milliseconds),
});

export const refusalRequest = v.strictObject({ status: v.nullable(status) });

export const connectionsRequest = v.strictObject({ held: v.boolean() });

const wholeNumber = v.pipe(v.string(), v.digits(), v.transform(Number));
export const eventsQuery = v.object({ after: v.optional(v.string()) });
export const journalQuery = v.object({ last: v.optional(wholeNumber) });
export const faultQuery = v.object({ id: v.optional(wholeNumber) });
export const guildQuery = v.object({
	id: v.string(),
	user: v.optional(v.string()),
});
export const commandsQuery = v.object({
	guild: v.string(),
	user: v.string(),
	channel: v.optional(v.string()),
});

export const personRequest = v.strictObject({
	// https://support.discord.com/hc/en-us/articles/12620128861463
	username: v.pipe(
		v.string(),
		v.regex(/^(?!.*\.\.)[a-z0-9_.]{2,32}$/, "expected 2 to 32 lower case letters, digits, underscores and periods"),
	),
	global_name: v.optional(v.nullable(v.pipe(v.string(), v.minLength(1), v.maxLength(32)))),
});

export const intentsRequest = v.strictObject({
	bot_id: v.string(),
	intents: v.array(v.picklist(["GuildMembers", "GuildPresences", "MessageContent"])),
});

export const screeningRequest = v.strictObject({
	guild_id: v.string(),
	user_id: v.string(),
});

export const heartbeatsRequest = v.strictObject({ answered: v.boolean() });
