// discord.js's caches, as the bot keeps them.

import { Collection, type GuildMember, GuildMemberManager, Options } from "discord.js";
import { isObject } from "../../../lib/json.ts";

class MemberCache extends Collection<string, GuildMember> {
	/**
	 * Does nothing. discord.js clears the cache when a guild it knows arrives again, after a new session or an outage. The
	 * bot keeps the members it knows until all are loaded again, and then removes those who left.
	 */
	override clear(): void {}
}

const makeDefault = Options.cacheWithLimits({
	...Options.DefaultMakeCacheSettings,
	// Bans are fetched when needed. The events alone would give a cache that only grows.
	GuildBanManager: 0,
});

/** The `makeCache` option for a discord.js client. With it, the bot keeps the members it knows. */
export const makeCache: typeof makeDefault = (...args) =>
	args[2] === GuildMemberManager ? new MemberCache() : makeDefault(...args);

/**
 * Sets the optional fields that are missing from the members in the data of a Gateway event to null. discord.js keeps the
 * old value of a missing field, which may have changed while the bot was disconnected. Call this function before discord.js
 * reads a GUILD_CREATE or GUILD_MEMBERS_CHUNK event.
 * https://discord.com/developers/docs/resources/guild#guild-member-object
 */
export function completeMembers(d: unknown): void {
	if (!isObject(d) || !Array.isArray(d.members)) return;
	for (const member of d.members) {
		member.nick ??= null;
		member.avatar ??= null;
		member.premium_since ??= null;
		member.communication_disabled_until ??= null;
	}
}
