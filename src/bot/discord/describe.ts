// Names of Discord's objects in tool results: name and id.

import type { GuildBasedChannel, GuildMember, Role, User } from "discord.js";
import { oneField } from "./text.ts";

export function channelName({
	name,
	id,
}: Pick<GuildBasedChannel, "name" | "id">): string {
	return `#${oneField(name)} (ID: ${id})`;
}

export function roleName({ name, id }: Role): string {
	// The name of @everyone includes its @.
	return `@${oneField(name).replace(/^@/, "")} (ID: ${id})`;
}

export function userName({
	username,
	id,
}: Pick<User, "username" | "id">): string {
	return `@${oneField(username)} (ID: ${id})`;
}

export function memberName({ displayName, user }: GuildMember): string {
	return `${oneField(displayName)} (@${oneField(user.username)}, ID: ${user.id})`;
}

/** A user as fields of a line. */
export function userFields({ username, id }: Pick<User, "username" | "id">) {
	return `@${oneField(username)} | ID: ${id}`;
}

/** A member as fields of a line. */
export function memberFields({ displayName, user, id }: GuildMember): string {
	return `${oneField(displayName)} (@${oneField(user.username)}) | ID: ${id}`;
}

/** A role as fields of a line. */
export function roleFields({ name, id }: Pick<Role, "name" | "id">): string {
	return `@${oneField(name).replace(/^@/, "")} | ID: ${id}`;
}

/** A time in ISO 8601 (UTC, to the second); "unknown" if it is missing or invalid. */
export function time(at: Date | number | null | undefined): string {
	const date = new Date(at ?? Number.NaN);
	if (Number.isNaN(date.getTime())) return "unknown";
	return date.toISOString().replace(/\.\d+Z$/, "Z");
}
