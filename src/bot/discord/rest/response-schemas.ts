// Schemas of Discord's responses by route, limited to the fields that the bot relies on. A field is required if Discord
// documents it as always present and the code reads it. Null and absent values pass where they do no harm, and where
// Discord's OpenAPI specification allows more than its documentation. https://docs.discord.com/developers/reference,
// https://github.com/discord/discord-api-spec

import { ChannelType } from "discord.js";
import * as v from "valibot";

const text = v.string();
const id = v.string();
const number = v.number();
const flag = v.optional(v.boolean());
const ids = v.array(id);
const nullableText = v.nullish(text);
const count = v.optional(number);
const object = v.looseObject;

const withId = object({ id });

const user = object({
	id,
	username: text,
	bot: flag,
	global_name: nullableText,
	public_flags: count,
});

const member = object({
	user,
	roles: ids,
	nick: nullableText,
	joined_at: nullableText,
	flags: count,
	communication_disabled_until: nullableText,
});

const overwrite = object({ id, type: number, allow: text, deny: text });

const emojiOf = object({ id: v.nullish(id), name: nullableText });

const tags = v.array(
	object({
		id,
		name: text,
		moderated: flag,
		emoji_id: v.nullish(id),
		emoji_name: nullableText,
	}),
);

const guildChannel = object({
	id,
	guild_id: id,
	type: number,
	name: text,
	flags: count,
	position: count,
	parent_id: nullableText,
	owner_id: v.optional(id),
	topic: nullableText,
	nsfw: flag,
	rate_limit_per_user: v.nullish(number),
	bitrate: v.nullish(number),
	user_limit: v.nullish(number),
	rtc_region: nullableText,
	video_quality_mode: v.nullish(number),
	default_reaction_emoji: v.nullish(object({ emoji_id: v.nullish(id), emoji_name: nullableText })),
	default_sort_order: v.nullish(number),
	default_forum_layout: v.nullish(number),
	default_thread_rate_limit_per_user: v.nullish(number),
	default_auto_archive_duration: v.nullish(number),
	permission_overwrites: v.optional(v.array(overwrite)),
	message_count: count,
	member_count: count,
	applied_tags: v.optional(ids),
	member: v.nullish(object({ flags: number })),
	available_tags: v.optional(tags),
	thread_metadata: v.optional(
		object({
			archived: v.boolean(),
			locked: flag,
			archive_timestamp: nullableText,
			auto_archive_duration: number,
		}),
	),
});

const channel = v.lazy((value) => {
	const { type } = Object(value) as { type?: unknown };
	return type === ChannelType.DM ? withId : guildChannel;
});

const embed = object({
	type: v.optional(text),
	title: v.optional(text),
	description: v.optional(text),
	url: v.optional(text),
	author: v.optional(object({ name: text })),
	footer: v.optional(object({ text })),
	image: v.optional(object({ url: v.optional(text) })),
	thumbnail: v.optional(object({ url: v.optional(text) })),
	video: v.optional(object({ url: v.optional(text) })),
	fields: v.optional(v.array(object({ name: text, value: text }))),
});

const attachment = object({
	filename: text,
	size: number,
	url: text,
	description: nullableText,
	content_type: nullableText,
});

const messageBody = {
	content: text,
	embeds: v.array(embed),
	attachments: v.array(attachment),
	sticker_items: v.nullish(v.array(object({ name: text }))),
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
		type: count,
		message_id: v.optional(id),
		channel_id: v.optional(id),
		guild_id: v.optional(id),
	}),
);

const messageFields = {
	id,
	channel_id: id,
	author: user,
	timestamp: text,
	type: number,
	...messageBody,
	edited_timestamp: nullableText,
	webhook_id: v.optional(id),
	pinned: flag,
	flags: count,
	poll: v.nullish(poll),
	mentions: v.array(user),
	mention_roles: v.optional(ids),
	mention_everyone: flag,
	message_reference: reference,
	message_snapshots: v.optional(v.array(object({ message: object({ ...messageBody, timestamp: nullableText }) }))),
	reactions: v.optional(
		v.array(
			object({
				emoji: emojiOf,
				count: number,
				count_details: v.optional(object({ burst: count })),
				me: flag,
			}),
		),
	),
	thread: v.nullish(object({ id, name: text, message_count: count })),
};
const message = object({
	...messageFields,
	referenced_message: v.nullish(object(messageFields)),
});

const sent = object({
	id,
	poll: v.nullish(poll),
	mentions: v.optional(v.array(user)),
	mention_roles: v.optional(ids),
	mention_everyone: flag,
});

const role = object({
	id,
	name: text,
	permissions: text,
	position: number,
	flags: count,
	color: count,
	hoist: flag,
	mentionable: flag,
	managed: flag,
	colors: v.optional(
		object({
			primary_color: number,
			secondary_color: v.nullish(number),
			tertiary_color: v.nullish(number),
		}),
	),
	tags: v.optional(object({})),
	icon: nullableText,
	unicode_emoji: nullableText,
});

const emoji = object({
	id,
	name: text,
	user: v.optional(user),
	roles: v.optional(ids),
	animated: flag,
	managed: flag,
	available: flag,
});

const guild = object({
	id,
	name: text,
	owner_id: id,
	icon: nullableText,
	description: nullableText,
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
	roles: v.array(withId),
	approximate_presence_count: v.nullish(number),
	incidents_data: v.nullish(
		object({
			invites_disabled_until: nullableText,
			dms_disabled_until: nullableText,
		}),
	),
	mfa_level: count,
	vanity_url_code: nullableText,
});

const webhook = object({
	id,
	type: number,
	name: nullableText,
	token: v.optional(text),
	channel_id: v.nullish(id),
	guild_id: v.nullish(id),
	application_id: v.nullish(id),
	user: v.nullish(user),
});

const webhooks = v.array(webhook);

const invite = object({
	code: text,
	inviter: v.nullish(user),
	created_at: nullableText,
	expires_at: nullableText,
	uses: count,
	max_uses: count,
	max_age: count,
	temporary: flag,
	approximate_member_count: v.nullish(number),
	roles: v.nullish(v.array(object({ id, name: text }))),
	channel: v.nullish(object({ id, name: nullableText })),
	guild: v.nullish(object({ id, name: v.optional(text) })),
});

const event = object({
	id,
	guild_id: id,
	name: text,
	description: nullableText,
	scheduled_start_time: text,
	scheduled_end_time: v.nullable(text),
	status: number,
	entity_type: number,
	channel_id: v.nullish(id),
	entity_metadata: v.nullish(object({ location: v.nullish(text) })),
	user_count: count,
	creator_id: v.nullish(id),
	creator: v.nullish(user),
});

const rule = object({
	id,
	guild_id: id,
	name: text,
	creator_id: id,
	event_type: number,
	trigger_type: number,
	enabled: v.boolean(),
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

const ban = object({ user, reason: nullableText });
const stage = object({ id, channel_id: id, topic: text });

const threads = object({ threads: v.array(guildChannel), has_more: flag });

const auditLog = object({
	audit_log_entries: v.array(
		object({
			id,
			action_type: number,
			reason: v.optional(text),
			user_id: v.nullable(id),
			target_id: v.nullable(id),
			changes: v.optional(v.array(object({ key: text }))),
			options: v.nullish(object({})),
		}),
	),
	users: v.array(user),
	webhooks: v.array(object({ id, name: nullableText })),
	threads: v.array(object({ id, name: nullableText })),
	integrations: v.array(object({ id, name: text })),
	guild_scheduled_events: v.array(object({ id, name: text })),
	auto_moderation_rules: v.array(object({ id, name: text })),
	application_commands: v.array(object({ id, name: text })),
});

/**
 * Schema of the results of a message search. With status 202 Discord answers instead that its search index is not ready
 * yet.
 */
const search = v.union([
	object({
		messages: v.array(v.array(message)),
		total_results: number,
		threads: v.nullish(v.array(object({ id, name: nullableText }))),
	}),
	object({ code: number, retry_after: number }),
]);

const welcomeScreen = object({
	description: nullableText,
	welcome_channels: v.array(
		object({
			channel_id: id,
			description: text,
			emoji_id: v.nullish(id),
			emoji_name: nullableText,
		}),
	),
});

const onboarding = object({
	enabled: v.boolean(),
	mode: number,
	default_channel_ids: ids,
	prompts: v.array(
		object({
			id,
			title: text,
			type: number,
			single_select: v.boolean(),
			required: v.boolean(),
			in_onboarding: v.boolean(),
			options: v.array(
				object({
					id,
					title: text,
					description: nullableText,
					emoji: v.nullish(emojiOf),
					role_ids: ids,
					channel_ids: ids,
				}),
			),
		}),
	),
});

/** Schema of a guild's roles. Every guild has at least the role @everyone. */
const roles = v.pipe(v.array(role), v.minLength(1));

const schemas: Readonly<Record<string, v.GenericSchema>> = {
	"DELETE /channels/:id": withId,
	"DELETE /invites/:code": object({ code: text }),
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
	"GET /channels/:id/thread-members": v.array(object({ user_id: id, join_timestamp: text, member })),
	"GET /channels/:id/threads/archived/private": threads,
	"GET /channels/:id/threads/archived/public": threads,
	"GET /channels/:id/users/@me/threads/archived/private": threads,
	"GET /channels/:id/webhooks": webhooks,
	"GET /guilds/:id": v.intersect([guild, object({ roles, emojis: v.array(emoji) })]),
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
	"GET /guilds/:id/onboarding": onboarding,
	"GET /guilds/:id/prune": object({ pruned: number }),
	"GET /guilds/:id/roles": roles,
	"GET /guilds/:id/roles/:id": role,
	"GET /guilds/:id/scheduled-events": v.array(event),
	"GET /guilds/:id/scheduled-events/:id": event,
	"GET /guilds/:id/scheduled-events/:id/users": v.array(
		object({ user, member: v.nullish(object({ nick: nullableText })) }),
	),
	"GET /guilds/:id/threads/active": threads,
	"GET /guilds/:id/voice-states/:id": object({
		user_id: id,
		channel_id: v.nullish(id),
	}),
	"GET /guilds/:id/webhooks": webhooks,
	"GET /guilds/:id/welcome-screen": welcomeScreen,
	"GET /invites/:code": invite,
	"GET /stage-instances/:id": stage,
	"GET /users/:id": user,
	"GET /webhooks/:id": webhook,
	"GET /webhooks/:id/:token/messages/:id": message,
	"PATCH /channels/:id": channel,
	"PATCH /channels/:id/messages/:id": withId,
	"PATCH /guilds/:id": guild,
	"PATCH /guilds/:id/auto-moderation/rules/:id": rule,
	"PATCH /guilds/:id/emojis/:id": withId,
	"PATCH /guilds/:id/members/:id": member,
	"PATCH /guilds/:id/roles": roles,
	"PATCH /guilds/:id/roles/:id": role,
	"PATCH /guilds/:id/scheduled-events/:id": event,
	"PATCH /stage-instances/:id": withId,
	"PATCH /webhooks/:id": withId,
	"PATCH /webhooks/:id/:token/messages/:id": withId,
	"POST /channels/:id/invites": invite,
	"POST /channels/:id/messages": sent,
	"POST /channels/:id/messages/:id/crosspost": withId,
	"POST /channels/:id/messages/:id/threads": withId,
	"POST /channels/:id/polls/:id/expire": sent,
	"POST /channels/:id/threads": object({ id, message: v.nullish(sent) }),
	"POST /channels/:id/webhooks": object({ id, name: nullableText }),
	"POST /guilds/:id/auto-moderation/rules": rule,
	"POST /guilds/:id/bulk-ban": object({ banned_users: ids, failed_users: ids }),
	"POST /guilds/:id/channels": guildChannel,
	"POST /guilds/:id/emojis": emoji,
	"POST /guilds/:id/prune": object({ pruned: v.nullable(number) }),
	"POST /guilds/:id/roles": role,
	"POST /guilds/:id/scheduled-events": event,
	"POST /stage-instances": withId,
	"POST /users/@me/channels": withId,
	"POST /webhooks/:id/:token": sent,
	"PUT /guilds/:id/incident-actions": object({
		invites_disabled_until: v.nullable(text),
		dms_disabled_until: v.nullable(text),
	}),
};

const mayBeEmpty = new Set(["PATCH /guilds/:id/members/:id", "POST /channels/:id/invites"]);

function routePattern(path: string): string {
	return path
		.replace(/\/reactions\/.+$/, "/reactions/:emoji")
		.replace(/^(\/(?:webhooks|interactions)\/\d+)\/[^/]+/, "$1/:token")
		.replace(/^\/invites\/.+$/, "/invites/:code")
		.replace(/\/answers\/\d+$/, "/answers/:answer")
		.replaceAll(/\/\d{15,20}(?=\/|$)/g, "/:id");
}

/**
 * Checks a 2xx response of Discord's REST API. Returns what is wrong with the response, as a text for an error message;
 * undefined if the response is valid.
 */
export function findResponseProblem(method: string, path: string, status: number, body: unknown): string | undefined {
	const route = `${method} ${routePattern(path)}`;
	const schema = schemas[route];
	if (status !== 200 && status !== 201 && status !== 204 && schema !== search)
		return `the response has the status ${status}, which Discord does not document for this request`;
	// discord.js returns an ArrayBuffer if the body is not JSON.
	if (body instanceof ArrayBuffer && body.byteLength > 0)
		return `the response (HTTP ${status}) is not JSON: it comes from something in front of Discord's API`;
	const isEmpty = body instanceof ArrayBuffer;
	if (!schema && method !== "GET") return undefined;
	if (status === 204 && mayBeEmpty.has(route)) return undefined;
	const withoutJson = `the response (HTTP ${status}) does not contain the documented JSON`;
	if (isEmpty) return withoutJson;
	if (!schema) return undefined;
	const { issues } = v.safeParse(schema, body, { abortEarly: true });
	if (!issues) return undefined;
	const at = v.getDotPath(issues[0]);
	return at === null
		? withoutJson
		: `in the response (HTTP ${status}), the field "${at}" is missing or not as Discord documents it`;
}
