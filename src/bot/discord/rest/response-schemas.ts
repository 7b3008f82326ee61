// What Discord promises to answer, route by route, as far as the bot relies on it: a tool, or discord.js, that is given
// less shows "undefined" or fails. Fields are required where Discord documents them as always there and something reads
// them; null and absence are let through wherever that does no harm. Where Discord's OpenAPI specification allows more than
// its documentation, that is let through too. https://docs.discord.com/developers/reference,
// https://github.com/discord/discord-api-spec

import { ChannelType } from "discord.js";
import * as v from "valibot";

const text = v.string();
const id = v.string();
const number = v.number();
const flag = v.optional(v.boolean());
const ids = v.array(id);
/** Perhaps a text, or null, or not there. */
const perhaps = v.nullish(text);
const count = v.optional(number);
const object = v.looseObject;

const identified = object({ id });

const user = object({
	...{ id, username: text, bot: flag },
	global_name: perhaps,
	public_flags: count,
});

const member = object({
	...{ user, roles: ids, nick: perhaps, joined_at: perhaps, flags: count },
	communication_disabled_until: perhaps,
});

const overwrite = object({ id, type: number, allow: text, deny: text });

const emojiOf = object({ id: v.nullish(id), name: perhaps });

const tags = v.array(
	object({
		...{ id, name: text, moderated: flag },
		...{ emoji_id: v.nullish(id), emoji_name: perhaps },
	}),
);

const guildChannel = object({
	...{ id, guild_id: id, type: number, name: text, flags: count },
	position: count,
	parent_id: perhaps,
	owner_id: v.optional(id),
	topic: perhaps,
	nsfw: flag,
	rate_limit_per_user: v.nullish(number),
	bitrate: v.nullish(number),
	user_limit: v.nullish(number),
	rtc_region: perhaps,
	permission_overwrites: v.optional(v.array(overwrite)),
	message_count: count,
	member_count: count,
	applied_tags: v.optional(ids),
	available_tags: v.optional(tags),
	thread_metadata: v.optional(
		object({
			...{ archived: v.boolean(), locked: flag, archive_timestamp: perhaps },
			auto_archive_duration: number,
		}),
	),
});

/** A channel of a guild, or one in which people talk directly. */
const channel = v.lazy((given) => {
	const { type } = Object(given) as { type?: unknown };
	return type === ChannelType.DM ? identified : guildChannel;
});

const embed = object({
	...{ title: v.optional(text), description: v.optional(text) },
	url: v.optional(text),
	author: v.optional(object({ name: text })),
	footer: v.optional(object({ text })),
	image: v.optional(object({ url: v.optional(text) })),
	video: v.optional(object({ url: v.optional(text) })),
	fields: v.optional(v.array(object({ name: text, value: text }))),
});

const attachment = object({
	...{ filename: text, size: number, url: text },
	...{ description: perhaps, content_type: perhaps },
});

const written = {
	content: text,
	embeds: v.array(embed),
	attachments: v.array(attachment),
};

const poll = object({
	question: object({ text: v.optional(text) }),
	answers: v.array(
		object({
			answer_id: number,
			poll_media: object({ text: v.optional(text), emoji: v.nullish(emojiOf) }),
		}),
	),
	expiry: v.nullish(text),
	allow_multiselect: flag,
	results: v.nullish(
		object({
			is_finalized: flag,
			answer_counts: v.array(object({ id: number, count: number })),
		}),
	),
});

const reference = v.nullish(
	object({
		...{ type: count, message_id: v.optional(id), channel_id: v.optional(id) },
		guild_id: v.optional(id),
	}),
);

const alone = {
	...{ id, channel_id: id, author: user, timestamp: text, type: number },
	...written,
	edited_timestamp: perhaps,
	webhook_id: v.optional(id),
	pinned: flag,
	flags: count,
	poll: v.nullish(poll),
	message_reference: reference,
	message_snapshots: v.optional(v.array(object({ message: object(written) }))),
	reactions: v.optional(
		v.array(object({ emoji: emojiOf, count: number, me: flag })),
	),
	sticker_items: v.nullish(v.array(object({ name: text }))),
	thread: v.nullish(object({ id, name: text, message_count: count })),
};
const message = object({
	...alone,
	referenced_message: v.nullish(object(alone)),
});

/** One that the bot has just written, or whose poll it has ended: of the rest only a poll is shown. */
const sent = object({ id, poll: v.nullish(poll) });

const role = object({
	...{ id, name: text, permissions: text, position: number, flags: count },
	...{ color: count, hoist: flag, mentionable: flag, managed: flag },
	colors: v.optional(object({ primary_color: number })),
	tags: v.optional(object({})),
});

const guild = object({
	...{ id, name: text, owner_id: id },
	description: perhaps,
	afk_channel_id: v.nullish(id),
	system_channel_id: v.nullish(id),
	rules_channel_id: v.nullish(id),
	public_updates_channel_id: v.nullish(id),
	safety_alerts_channel_id: v.nullish(id),
	afk_timeout: number,
	verification_level: number,
	default_message_notifications: number,
	explicit_content_filter: number,
	system_channel_flags: count,
	premium_tier: number,
	premium_progress_bar_enabled: v.boolean(),
	premium_subscription_count: v.nullish(number),
	preferred_locale: text,
	features: v.array(text),
	roles: v.array(identified),
	approximate_presence_count: v.nullish(number),
	incidents_data: v.nullish(object({})),
});

const emoji = object({
	...{ id, name: text, user: v.optional(user), roles: v.optional(ids) },
	...{ animated: flag, managed: flag, available: flag },
});

const webhook = object({
	...{ id, type: number, name: perhaps, token: v.optional(text) },
	...{ channel_id: v.nullish(id), guild_id: v.nullish(id) },
	...{ application_id: v.nullish(id), user: v.nullish(user) },
});

const webhooks = v.array(webhook);

const invite = object({
	...{ code: text, inviter: v.nullish(user), expires_at: perhaps },
	...{ uses: count, max_uses: count, max_age: count, temporary: flag },
	approximate_member_count: v.nullish(number),
	roles: v.nullish(v.array(object({ id, name: text }))),
	channel: v.nullish(object({ id, name: perhaps })),
	guild: v.nullish(object({ id, name: v.optional(text) })),
});

const event = object({
	...{ id, guild_id: id, name: text, description: perhaps },
	...{ scheduled_start_time: text, scheduled_end_time: v.nullable(text) },
	...{ status: number, entity_type: number, channel_id: v.nullish(id) },
	entity_metadata: v.nullish(object({ location: v.nullish(text) })),
	user_count: count,
	creator_id: v.nullish(id),
	creator: v.nullish(user),
});

const rule = object({
	...{ id, guild_id: id, name: text, creator_id: id },
	...{ event_type: number, trigger_type: number, enabled: v.boolean() },
	trigger_metadata: object({
		keyword_filter: v.optional(v.array(text)),
		regex_patterns: v.optional(v.array(text)),
		allow_list: v.optional(v.array(text)),
		presets: v.optional(v.array(number)),
		mention_total_limit: count,
	}),
	actions: v.array(object({ type: number, metadata: v.optional(object({})) })),
	exempt_roles: ids,
	exempt_channels: ids,
});

const ban = object({ user, reason: perhaps });
const stage = object({ id, channel_id: id, topic: text });

const threads = object({ threads: v.array(guildChannel), has_more: flag });

const auditLog = object({
	audit_log_entries: v.array(
		object({
			...{ id, action_type: number, reason: v.optional(text) },
			...{ user_id: v.nullable(id), target_id: v.nullable(id) },
			changes: v.optional(v.array(object({ key: text }))),
			options: v.nullish(object({})),
		}),
	),
	users: v.array(user),
	webhooks: v.array(object({ id, name: perhaps })),
	threads: v.array(object({ id, name: perhaps })),
	integrations: v.array(object({ id, name: text })),
	guild_scheduled_events: v.array(object({ id, name: text })),
	auto_moderation_rules: v.array(object({ id, name: text })),
	application_commands: v.array(object({ id, name: text })),
});

/** Also that the index is not ready yet, with 202. */
const search = v.union([
	object({
		messages: v.array(v.array(message)),
		total_results: number,
		threads: v.nullish(v.array(object({ id, name: perhaps }))),
	}),
	object({ code: number, retry_after: number }),
]);

type Schema = v.GenericSchema<unknown, unknown>;
const nothing = undefined;

/** Everyone has a role. */
const roles = v.pipe(v.array(role), v.minLength(1));

/** By method and path: what the answer is, or that it is nothing. */
const promises: Readonly<Record<string, Schema | undefined>> = {
	"DELETE /channels/:id": identified,
	"DELETE /channels/:id/messages/:id": nothing,
	"DELETE /channels/:id/messages/:id/reactions": nothing,
	"DELETE /channels/:id/messages/:id/reactions/:emoji": nothing,
	"DELETE /channels/:id/messages/pins/:id": nothing,
	"DELETE /channels/:id/permissions/:id": nothing,
	"DELETE /guilds/:id/auto-moderation/rules/:id": nothing,
	"DELETE /guilds/:id/bans/:id": nothing,
	"DELETE /guilds/:id/emojis/:id": nothing,
	"DELETE /guilds/:id/members/:id": nothing,
	"DELETE /guilds/:id/members/:id/roles/:id": nothing,
	"DELETE /guilds/:id/roles/:id": nothing,
	"DELETE /guilds/:id/scheduled-events/:id": nothing,
	"DELETE /invites/:code": object({ code: text }),
	"DELETE /stage-instances/:id": nothing,
	"DELETE /webhooks/:id": nothing,
	"DELETE /webhooks/:id/:token/messages/:id": nothing,
	"GET /channels/:id": channel,
	"GET /channels/:id/invites": v.array(invite),
	"GET /channels/:id/messages": v.array(message),
	"GET /channels/:id/messages/:id": message,
	"GET /channels/:id/messages/:id/reactions/:emoji": v.array(user),
	"GET /channels/:id/messages/pins": object({
		items: v.array(object({ pinned_at: text, message })),
		has_more: v.boolean(),
	}),
	"GET /channels/:id/polls/:id/answers/:answer": object({
		users: v.array(user),
	}),
	"GET /channels/:id/threads/archived/private": threads,
	"GET /channels/:id/threads/archived/public": threads,
	"GET /channels/:id/users/@me/threads/archived/private": threads,
	"GET /channels/:id/webhooks": webhooks,
	"GET /guilds/:id": guild,
	"GET /guilds/:id/audit-logs": auditLog,
	"GET /guilds/:id/auto-moderation/rules": v.array(rule),
	"GET /guilds/:id/auto-moderation/rules/:id": rule,
	"GET /guilds/:id/bans": v.array(ban),
	"GET /guilds/:id/bans/:id": ban,
	"GET /guilds/:id/channels": v.array(guildChannel),
	"GET /guilds/:id/emojis": v.array(emoji),
	"GET /guilds/:id/invites": v.array(invite),
	"GET /guilds/:id/members/:id": member,
	"GET /guilds/:id/messages/search": search,
	"GET /guilds/:id/prune": object({ pruned: number }),
	"GET /guilds/:id/roles": roles,
	"GET /guilds/:id/roles/:id": role,
	"GET /guilds/:id/scheduled-events": v.array(event),
	"GET /guilds/:id/scheduled-events/:id": event,
	"GET /guilds/:id/scheduled-events/:id/users": v.array(
		object({ user, member: v.nullish(object({ nick: perhaps })) }),
	),
	"GET /guilds/:id/threads/active": threads,
	"GET /guilds/:id/voice-states/:id": object({
		...{ user_id: id, channel_id: v.nullish(id) },
	}),
	"GET /guilds/:id/webhooks": webhooks,
	"GET /invites/:code": invite,
	"GET /stage-instances/:id": stage,
	"GET /users/:id": user,
	"GET /webhooks/:id": webhook,
	"GET /webhooks/:id/:token/messages/:id": message,
	"PATCH /channels/:id": channel,
	"PATCH /channels/:id/messages/:id": identified,
	"PATCH /guilds/:id": guild,
	"PATCH /guilds/:id/auto-moderation/rules/:id": rule,
	"PATCH /guilds/:id/channels": nothing,
	"PATCH /guilds/:id/emojis/:id": identified,
	"PATCH /guilds/:id/members/:id": member,
	"PATCH /guilds/:id/roles": roles,
	"PATCH /guilds/:id/roles/:id": role,
	"PATCH /guilds/:id/scheduled-events/:id": event,
	"PATCH /stage-instances/:id": identified,
	"PATCH /webhooks/:id": identified,
	"PATCH /webhooks/:id/:token/messages/:id": identified,
	"POST /channels/:id/invites": invite,
	"POST /channels/:id/messages": sent,
	"POST /channels/:id/messages/:id/crosspost": identified,
	"POST /channels/:id/messages/:id/threads": identified,
	"POST /channels/:id/messages/bulk-delete": nothing,
	"POST /channels/:id/polls/:id/expire": sent,
	"POST /channels/:id/threads": identified,
	"POST /channels/:id/webhooks": object({ id, name: perhaps }),
	"POST /guilds/:id/auto-moderation/rules": rule,
	"POST /guilds/:id/bulk-ban": object({ banned_users: ids, failed_users: ids }),
	"POST /guilds/:id/channels": guildChannel,
	"POST /guilds/:id/emojis": emoji,
	"POST /guilds/:id/prune": object({ pruned: v.nullable(number) }),
	"POST /guilds/:id/roles": role,
	"POST /guilds/:id/scheduled-events": event,
	"POST /stage-instances": identified,
	"POST /users/@me/channels": identified,
	"POST /webhooks/:id/:token": sent,
	"PUT /channels/:id/messages/:id/reactions/:emoji": nothing,
	"PUT /channels/:id/messages/pins/:id": nothing,
	"PUT /channels/:id/permissions/:id": nothing,
	"PUT /channels/:id/voice-status": nothing,
	"PUT /guilds/:id/bans/:id": nothing,
	"PUT /guilds/:id/incident-actions": object({
		invites_disabled_until: v.nullable(text),
		dms_disabled_until: v.nullable(text),
	}),
	"PUT /guilds/:id/members/:id/roles/:id": nothing,
};

/** What may also be answered 204 by the OpenAPI specification. */
const mayBeEmpty = "PATCH /guilds/:id/members/:id";

/** How a path is written above. */
function patternOf(path: string): string {
	return path
		.replace(/\/reactions\/.+$/, "/reactions/:emoji")
		.replace(/^(\/(?:webhooks|interactions)\/\d+)\/[^/]+/, "$1/:token")
		.replace(/^\/invites\/.+$/, "/invites/:code")
		.replace(/\/answers\/\d+$/, "/answers/:answer")
		.replaceAll(/\/\d{15,20}(?=\/|$)/g, "/:id");
}

/** What is wrong with a 2xx answer, in words that follow its status; undefined when it is what Discord promises. */
export function faultOf(
	method: string,
	path: string,
	status: number,
	answer: unknown,
): string | undefined {
	const route = `${method} ${patternOf(path)}`;
	const promised = promises[route];
	if (status !== 200 && status !== 201 && status !== 204 && promised !== search)
		return "which Discord does not document here";
	// discord.js gives the bytes of what is not JSON.
	if (answer instanceof ArrayBuffer && answer.byteLength > 0)
		return "without JSON: this comes from something in front of Discord's API";
	const isEmpty = answer instanceof ArrayBuffer;
	if (!promised && method !== "GET") return undefined;
	if (status === 204 && route === mayBeEmpty) return undefined;
	if (isEmpty) return "without the promised JSON";
	if (!promised) return undefined;
	const { issues } = v.safeParse(promised, answer, { abortEarly: true });
	if (!issues) return undefined;
	const at = v.getDotPath(issues[0]);
	return at === null ? "without the promised JSON" : `without a usable "${at}"`;
}
