// Schemas of Gateway events, limited to the fields of discord.js's caches on which the bot decides something or by which it
// sorts and finds. discord.js takes any value. An event that it cannot read itself is dropped without a schema.
// https://discord.com/developers/docs/events/gateway-events

import * as v from "valibot";

const id = v.pipe(v.string(), v.regex(/^\d{1,20}$/));
const bits = v.pipe(v.string(), v.regex(/^\d+$/));
const object = v.looseObject;

const user = object({ id, username: v.string() });
const role = object({ id, permissions: bits, name: v.string(), position: v.number() });
const member = object({ roles: v.array(id), nick: v.nullish(v.string()) });
const guildMember = object({ ...member.entries, user });
const memberEvent = object({ ...guildMember.entries, guild_id: id });
const roleEvent = object({ guild_id: id, role });
const invite = object({ channel_id: id });
const withMember = object({ member: v.optional(guildMember) });

const channel = object({
	id,
	type: v.number(),
	name: v.nullish(v.string()),
	position: v.optional(v.number()),
	parent_id: v.nullish(id),
	permission_overwrites: v.optional(v.array(object({ id, type: v.number(), allow: bits, deny: bits }))),
});

const guild = object({ id, owner_id: id, name: v.string(), roles: v.array(role) });

const wholeGuild = object({
	...guild.entries,
	channels: v.array(channel),
	threads: v.optional(v.array(channel)),
	members: v.array(guildMember),
});

/** discord.js puts what an interaction or a message refers to into its caches. */
const resolved = object({
	users: v.optional(v.record(id, user)),
	members: v.optional(v.record(id, member)),
	roles: v.optional(v.record(id, role)),
	channels: v.optional(v.record(id, channel)),
});

const message = object({
	id,
	channel_id: id,
	author: user,
	member: v.optional(member),
	mentions: v.optional(v.array(user)),
	thread: v.optional(channel),
	resolved: v.optional(resolved),
});

const interaction = object({
	id,
	token: v.string(),
	member: v.optional(guildMember),
	user: v.optional(user),
	channel: v.optional(channel),
	data: v.optional(object({ resolved: v.optional(resolved) })),
	message: v.optional(message),
});

/** Only the id of a guild is known during an outage. */
const unavailableGuild = object({ id, unavailable: v.literal(true) });

export const eventSchemas: Readonly<Partial<Record<string, v.GenericSchema>>> = {
	GUILD_CREATE: v.union([unavailableGuild, wholeGuild]),
	GUILD_UPDATE: guild,
	GUILD_ROLE_CREATE: roleEvent,
	GUILD_ROLE_UPDATE: roleEvent,
	CHANNEL_CREATE: channel,
	CHANNEL_UPDATE: channel,
	THREAD_CREATE: channel,
	THREAD_UPDATE: channel,
	THREAD_LIST_SYNC: object({ guild_id: id, threads: v.array(channel) }),
	THREAD_MEMBERS_UPDATE: object({ added_members: v.optional(v.array(withMember)) }),
	GUILD_MEMBER_ADD: memberEvent,
	GUILD_MEMBER_UPDATE: memberEvent,
	GUILD_MEMBER_REMOVE: object({ guild_id: id, user }),
	GUILD_MEMBERS_CHUNK: object({ guild_id: id, members: v.array(guildMember) }),
	USER_UPDATE: user,
	MESSAGE_CREATE: message,
	MESSAGE_UPDATE: v.partial(message, ["author"]),
	PRESENCE_UPDATE: object({ user: object({ id }) }),
	INTERACTION_CREATE: interaction,
	INVITE_CREATE: invite,
	INVITE_DELETE: invite,
	MESSAGE_REACTION_ADD: withMember,
	TYPING_START: withMember,
	VOICE_STATE_UPDATE: withMember,
};
