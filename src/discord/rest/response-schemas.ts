// Schemas of Discord's responses by route: their kind, and of their fields those on which the bot decides something.
// https://docs.discord.com/developers/reference

import * as v from "valibot";

const text = v.string();
const id = v.string();
const number = v.number();
const ids = v.array(id);
const object = v.looseObject;

const withId = object({ id });
const listed = v.array(withId);

const user = object({ id, username: text });
const member = object({ user, roles: ids });
const overwrite = object({ id, type: number, allow: text, deny: text });
const channel = object({ id, type: number, permission_overwrites: v.optional(v.array(overwrite)) });
const threads = object({ threads: v.array(channel), has_more: v.optional(v.boolean()) });
const message = object({ id, author: user, type: number, content: text, timestamp: text });
const role = object({ id, permissions: text, position: number });
const guild = object({ id, owner_id: id, features: v.array(text) });
const webhook = object({ id, type: number });
const invite = object({ code: text });
const event = object({ id, status: number, entity_type: number });
const ban = object({ user });

const rule = object({
	id,
	trigger_type: number,
	enabled: v.boolean(),
	trigger_metadata: object({}),
	actions: v.array(object({ type: number })),
	exempt_roles: ids,
	exempt_channels: ids,
});

const entry = object({ id, action_type: number, user_id: v.nullable(id), target_id: v.nullable(id) });

/** With status 202 Discord answers that its index is not ready yet. */
export const searchRoute = "GET /guilds/:id/messages/search";

const search = v.union([
	object({ messages: v.array(v.array(message)), total_results: number }),
	object({ code: number, retry_after: number }),
]);

const onboarding = object({
	enabled: v.boolean(),
	mode: number,
	default_channel_ids: ids,
	prompts: v.array(object({ id, options: v.array(object({ id, role_ids: ids, channel_ids: ids })) })),
});

/** Every guild has at least the role @everyone. */
const roles = v.pipe(v.array(role), v.minLength(1));

export const responseSchemas: Readonly<Record<string, v.GenericSchema>> = {
	"DELETE /channels/:id": withId,
	"DELETE /invites/:code": invite,
	"GET /channels/:id": channel,
	"GET /channels/:id/invites": v.array(invite),
	"GET /channels/:id/messages": v.array(message),
	"GET /channels/:id/messages/:id": message,
	"GET /channels/:id/messages/:id/reactions/:emoji": v.array(user),
	"GET /channels/:id/messages/pins": object({
		items: v.array(object({ pinned_at: text, message })),
		has_more: v.boolean(),
	}),
	"GET /channels/:id/polls/:id/answers/:answer": object({ users: v.array(user) }),
	"GET /channels/:id/thread-members": v.array(object({ user_id: id, member })),
	"GET /channels/:id/threads/archived/private": threads,
	"GET /channels/:id/threads/archived/public": threads,
	"GET /channels/:id/users/@me/threads/archived/private": threads,
	"GET /channels/:id/webhooks": v.array(webhook),
	"GET /guilds/:id": v.intersect([guild, object({ roles, emojis: listed })]),
	"GET /guilds/:id/audit-logs": object({ audit_log_entries: v.array(entry) }),
	"GET /guilds/:id/auto-moderation/rules": v.array(rule),
	"GET /guilds/:id/auto-moderation/rules/:id": rule,
	"GET /guilds/:id/bans": v.array(ban),
	"GET /guilds/:id/bans/:id": ban,
	"GET /guilds/:id/channels": v.array(channel),
	"GET /guilds/:id/emojis": listed,
	"GET /guilds/:id/invites": v.array(invite),
	"GET /guilds/:id/members/:id": member,
	[searchRoute]: search,
	"GET /guilds/:id/onboarding": onboarding,
	"GET /guilds/:id/prune": object({ pruned: number }),
	"GET /guilds/:id/roles": roles,
	"GET /guilds/:id/roles/:id": role,
	"GET /guilds/:id/scheduled-events": v.array(event),
	"GET /guilds/:id/scheduled-events/:id": event,
	"GET /guilds/:id/scheduled-events/:id/users": v.array(object({ user })),
	"GET /guilds/:id/threads/active": threads,
	"GET /guilds/:id/voice-states/:id": object({ user_id: id }),
	"GET /guilds/:id/webhooks": v.array(webhook),
	"GET /guilds/:id/welcome-screen": object({ welcome_channels: v.array(object({ channel_id: id })) }),
	"GET /invites/:code": invite,
	"GET /stage-instances/:id": withId,
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
	"POST /channels/:id/messages": withId,
	"POST /channels/:id/messages/:id/crosspost": withId,
	"POST /channels/:id/messages/:id/threads": withId,
	"POST /channels/:id/polls/:id/expire": withId,
	"POST /channels/:id/threads": withId,
	"POST /channels/:id/webhooks": withId,
	"POST /guilds/:id/auto-moderation/rules": rule,
	"POST /guilds/:id/bulk-ban": object({ banned_users: ids, failed_users: ids }),
	"POST /guilds/:id/channels": channel,
	"POST /guilds/:id/emojis": withId,
	"POST /guilds/:id/prune": object({ pruned: v.nullable(number) }),
	"POST /guilds/:id/roles": role,
	"POST /guilds/:id/scheduled-events": event,
	"POST /stage-instances": withId,
	"POST /users/@me/channels": withId,
	"POST /webhooks/:id/:token": withId,
	"PUT /guilds/:id/incident-actions": object({
		invites_disabled_until: v.nullable(text),
		dms_disabled_until: v.nullable(text),
	}),
};

export const mayBeEmpty = new Set(["PATCH /guilds/:id/members/:id", "POST /channels/:id/invites"]);
