// How things in Discord are called in results: by name, as people know them, and by id, which is what they are.

import type { GuildBasedChannel, GuildMember, Role, User } from "discord.js";
import { oneField } from "./text.ts";

export function channelName({
	name,
	id,
}: Pick<GuildBasedChannel, "name" | "id">): string {
	return `#${oneField(name)} (ID: ${id})`;
}

export function roleName({ name, id }: Role): string {
	// The role that everyone has brings its @ along.
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

/** A time as UTC in ISO 8601, to the second; "unknown" where Discord did not say, or said what is none. */
export function time(at: Date | number | null | undefined): string {
	const date = new Date(at ?? Number.NaN);
	if (Number.isNaN(date.getTime())) return "unknown";
	return date.toISOString().replace(/\.\d+Z$/, "Z");
}
