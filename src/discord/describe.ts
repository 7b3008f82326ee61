// Names of Discord's objects in tool results: name and id.

import type { Guild, GuildBasedChannel, GuildMember, Role, User } from "discord.js";
import { isObfuscated } from "./obfuscation.ts";
import { oneField } from "./text.ts";

/** Of an unavailable guild, Discord sends only the id. */
export function guildName({ name = "(unavailable)", id }: Pick<Guild, "name" | "id">): string {
	return `${oneField(name)} (ID: ${id})`;
}

type NamedChannel = Pick<GuildBasedChannel, "name"> & Parameters<typeof isObfuscated>[0];

export function channelName(channel: NamedChannel & Pick<GuildBasedChannel, "id">): string {
	return `${channelLabel(channel)} (ID: ${channel.id})`;
}

/** "#name". */
export function channelLabel(channel: NamedChannel): string {
	return isObfuscated(channel) ? "a channel that the bot cannot see" : `#${oneField(channel.name)}`;
}

export function roleName({ name, id }: Pick<Role, "name" | "id">): string {
	// The name of @everyone includes its @.
	return `@${oneField(name).replace(/^@/, "")} (ID: ${id})`;
}

/** "@name". Commas are escaped, so that one name cannot look like two. */
export function roleLabel({ name }: Pick<Role, "name">): string {
	return `@${oneField(name).replace(/^@/, "").replaceAll(",", "\\,")}`;
}

/** "@username". */
export const userLabel = ({ username }: Pick<User, "username">) => `@${oneField(username)}`;

export const userName = (user: Pick<User, "username" | "id">) => `${userLabel(user)} (ID: ${user.id})`;

export function memberName({ displayName, user }: GuildMember): string {
	if (displayName === user.username) return userName(user);
	return `${oneField(displayName)} (${userLabel(user)}, ID: ${user.id})`;
}

/** "@username | ID: id". */
export const userFields = (user: Pick<User, "username" | "id">) => `${userLabel(user)} | ID: ${user.id}`;

/** "display name (@username) | ID: id", or "@username | ID: id" for who has no other name. */
export function memberFields({ displayName, user }: GuildMember): string {
	if (displayName === user.username) return userFields(user);
	return `${oneField(displayName)} (${userLabel(user)}) | ID: ${user.id}`;
}

/** Like `memberFields` for a cached member, otherwise like `userFields`. */
export function personFields(guild: Guild, user: Pick<User, "username" | "id">): string {
	const member = guild.members.cache.get(user.id);
	return member ? memberFields(member) : userFields(user);
}

/** "display name (@username, ID: id)" for a cached member of the guild; "@username (ID: id)" for any other user. */
export function personName(guild: Guild, user: Pick<User, "username" | "id">): string {
	const member = guild.members.cache.get(user.id);
	return member ? memberName(member) : userName(user);
}

/** Like `personName`; "ID: id" for a user who is not cached. */
export function personNameById(guild: Guild, id: string): string {
	const user = guild.client.users.cache.get(id);
	return user ? personName(guild, user) : `ID: ${id}`;
}

/** "@name | ID: id". */
export function roleFields({ name, id }: Pick<Role, "name" | "id">): string {
	return `@${oneField(name).replace(/^@/, "")} | ID: ${id}`;
}

/** ISO 8601 in UTC, to the second; "unknown" if the time is missing or invalid. */
export function time(at: Date | number | null | undefined): string {
	const date = new Date(at ?? Number.NaN);
	if (Number.isNaN(date.getTime())) return "unknown";
	return date.toISOString().replace(/\.\d+Z$/, "Z");
}

/** "now is 2026-01-31T12:00:00Z", for results that depend on the current time. */
export function nowIs(): string {
	return `now is ${time(Date.now())}`;
}
