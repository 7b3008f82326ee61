// Schemas of Gateway events, limited to the fields that the bot's state depends on: ids, names, permissions, positions.
// discord.js accepts any value and fails later in unrelated code.
// https://discord.com/developers/docs/events/gateway-events

import * as v from "valibot";
import { isObject } from "../../../mcp/json-rpc.ts";

const id = v.pipe(v.string(), v.regex(/^\d{1,20}$/));
const bits = v.pipe(v.string(), v.regex(/^\d+$/));

const user = v.looseObject({ id, username: v.string() });

const role = v.looseObject({
	id,
	permissions: bits,
	name: v.string(),
	position: v.number(),
	managed: v.optional(v.boolean()),
});

const member = v.looseObject({
	roles: v.array(id),
	nick: v.nullish(v.string()),
	joined_at: v.nullish(v.string()),
});

const guildMember = v.looseObject({ ...member.entries, user });

const channel = v.looseObject({
	id,
	type: v.number(),
	name: v.nullish(v.string()),
	position: v.optional(v.number()),
	parent_id: v.nullish(id),
	permission_overwrites: v.optional(v.array(v.looseObject({ id, type: v.number(), allow: bits, deny: bits }))),
});

const guild = v.looseObject({
	id,
	owner_id: id,
	name: v.string(),
	roles: v.array(role),
});

const wholeGuild = v.looseObject({
	...guild.entries,
	channels: v.array(channel),
	threads: v.optional(v.array(channel)),
	members: v.array(guildMember),
});

/**
 * Schema of a guild that is unavailable, for example during an outage. Only its id is known.
 * https://discord.com/developers/docs/resources/guild#unavailable-guild-object
 */
const unavailableGuild = v.looseObject({ id, unavailable: v.literal(true) });

const guildRole = v.looseObject({ guild_id: id, role });
const guildMemberEvent = v.looseObject({
	...guildMember.entries,
	guild_id: id,
});

/**
 * Schema of the users, members, roles and channels that an interaction or a message refers to. discord.js adds them to
 * its caches.
 */
const resolved = v.looseObject({
	users: v.optional(v.record(id, user)),
	members: v.optional(v.record(id, member)),
	roles: v.optional(v.record(id, role)),
	channels: v.optional(v.record(id, channel)),
});

const message = v.looseObject({
	id,
	channel_id: id,
	author: user,
	content: v.string(),
	member: v.optional(member),
	mentions: v.optional(v.array(user)),
	thread: v.optional(channel),
	resolved: v.optional(resolved),
});

const interaction = v.looseObject({
	id,
	application_id: id,
	token: v.string(),
	member: v.optional(guildMember),
	user: v.optional(user),
	channel: v.optional(channel),
	data: v.optional(v.looseObject({ resolved: v.optional(resolved) })),
	message: v.optional(message),
});

const invite = v.looseObject({ channel_id: id, code: v.string() });
const banEvent = v.looseObject({ guild_id: id, user });
const auditLogEntry = v.looseObject({
	guild_id: id,
	id,
	action_type: v.number(),
	user_id: v.nullish(id),
	target_id: v.nullish(v.string()),
	reason: v.nullish(v.string()),
	changes: v.nullish(v.array(v.looseObject({ key: v.string() }))),
});
const eventWithMember = v.looseObject({ member: v.optional(guildMember) });

const otherEvent = v.looseObject({
	guild_id: v.nullish(id),
	channel_id: v.nullish(id),
	user_id: v.nullish(id),
	message_id: v.nullish(id),
});

const schemas: Readonly<Record<string, v.GenericSchema>> = {
	GUILD_CREATE: v.union([unavailableGuild, wholeGuild]),
	GUILD_UPDATE: guild,
	GUILD_ROLE_CREATE: guildRole,
	GUILD_ROLE_UPDATE: guildRole,
	CHANNEL_CREATE: channel,
	CHANNEL_UPDATE: channel,
	THREAD_CREATE: channel,
	THREAD_UPDATE: channel,
	THREAD_LIST_SYNC: v.looseObject({ guild_id: id, threads: v.array(channel) }),
	GUILD_MEMBER_ADD: guildMemberEvent,
	GUILD_MEMBER_UPDATE: guildMemberEvent,
	GUILD_MEMBER_REMOVE: v.looseObject({ guild_id: id, user }),
	GUILD_MEMBERS_CHUNK: v.looseObject({
		guild_id: id,
		members: v.array(guildMember),
	}),
	USER_UPDATE: user,
	MESSAGE_CREATE: message,
	MESSAGE_UPDATE: v.partial(message, ["author", "content"]),
	INTERACTION_CREATE: interaction,
	INVITE_CREATE: invite,
	INVITE_DELETE: invite,
	GUILD_AUDIT_LOG_ENTRY_CREATE: auditLogEntry,
	GUILD_BAN_ADD: banEvent,
	GUILD_BAN_REMOVE: banEvent,
	MESSAGE_REACTION_ADD: eventWithMember,
	TYPING_START: eventWithMember,
	VOICE_STATE_UPDATE: eventWithMember,
};

/** Throws a TypeError if the data of a Gateway event does not match the schema of its event type. */
export function validateEvent(type: string, data: unknown): void {
	const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
	// RESUMED and unknown types may hold anything.
	if (!schema && !isObject(data)) return;
	const { issues } = v.safeParse(schema ?? otherEvent, data, {
		abortEarly: true,
	});
	const [issue] = issues ?? [];
	if (!issue) return;
	const path = v.getDotPath(issue);
	throw new TypeError(
		`${path === null ? "the data" : `the field ${path}`} of the Gateway event ${type} does not have the type that Discord documents`,
	);
}
