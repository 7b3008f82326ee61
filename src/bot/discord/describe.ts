// Names of Discord's objects in tool results: name and id.

import type { Guild, GuildBasedChannel, GuildMember, Role, User } from "discord.js";
import { isObfuscated } from "./obfuscation.ts";
import { oneField } from "./text.ts";

export function guildName({ name, id }: Pick<Guild, "name" | "id">): string {
	return `${oneField(name)} (ID: ${id})`;
}

type NamedChannel = Pick<GuildBasedChannel, "name"> & Parameters<typeof isObfuscated>[0];

export function channelName(channel: NamedChannel & Pick<GuildBasedChannel, "id">): string {
	return `${channelLabel(channel)} (ID: ${channel.id})`;
}

/** Formats a channel for a tool result without its id: "#name". */
export function channelLabel(channel: NamedChannel): string {
	return isObfuscated(channel) ? "a channel that the bot cannot see" : `#${oneField(channel.name)}`;
}

export function roleName({ name, id }: Pick<Role, "name" | "id">): string {
	// The name of @everyone includes its @.
	return `@${oneField(name).replace(/^@/, "")} (ID: ${id})`;
}

/**
 * Formats a role for a list of roles in a line of a tool result: "@name". Escapes commas, so that one name cannot look
 * like two.
 */
export function roleLabel({ name }: Pick<Role, "name">): string {
	return `@${oneField(name).replace(/^@/, "").replaceAll(",", "\\,")}`;
}

export function userName({ username, id }: Pick<User, "username" | "id">): string {
	return `@${oneField(username)} (ID: ${id})`;
}

export function memberName({ displayName, user }: GuildMember): string {
	return `${oneField(displayName)} (@${oneField(user.username)}, ID: ${user.id})`;
}

/** Formats a user for a line of a tool result: "@username | ID: id". */
export function userFields({ username, id }: Pick<User, "username" | "id">) {
	return `@${oneField(username)} | ID: ${id}`;
}

/** Formats a member's names: "display name (@username)". */
export function memberNames({ displayName, user }: GuildMember): string {
	return `${oneField(displayName)} (@${oneField(user.username)})`;
}

/** Formats a member for a line of a tool result: "display name (@username) | ID: id". */
export function memberFields(member: GuildMember): string {
	return `${memberNames(member)} | ID: ${member.id}`;
}

/**
 * Formats a user for a line of a tool result: "display name (@username) | ID: id" for a cached member of the guild;
 * "@username | ID: id" for any other user.
 */
export function personFields(guild: Guild, user: Pick<User, "username" | "id">): string {
	const member = guild.members.cache.get(user.id);
	return member ? memberFields(member) : userFields(user);
}

/**
 * Formats a user for a tool result: "display name (@username, ID: id)" for a cached member of the guild; "@username
 * (ID: id)" for any other user.
 */
export function personName(guild: Guild, user: Pick<User, "username" | "id">): string {
	const member = guild.members.cache.get(user.id);
	return member ? memberName(member) : userName(user);
}

/** Formats a user for a tool result like `personName`, by id; "ID: id" for a user who is not cached. */
export function personNameById(guild: Guild, id: string): string {
	const user = guild.client.users.cache.get(id);
	return user ? personName(guild, user) : `ID: ${id}`;
}

/** Formats a role for a line of a tool result: "@name | ID: id". */
export function roleFields({ name, id }: Pick<Role, "name" | "id">): string {
	return `@${oneField(name).replace(/^@/, "")} | ID: ${id}`;
}

/** Formats a time as ISO 8601 (UTC, to the second); "unknown" if the time is missing or invalid. */
export function time(at: Date | number | null | undefined): string {
	const date = new Date(at ?? Number.NaN);
	if (Number.isNaN(date.getTime())) return "unknown";
	return date.toISOString().replace(/\.\d+Z$/, "Z");
}

/**
 * Returns "now is 2026-01-31T12:00:00Z" with the current time. Tool results that depend on the current time contain
 * this text.
 */
export function nowIs(): string {
	return `now is ${time(Date.now())}`;
}
