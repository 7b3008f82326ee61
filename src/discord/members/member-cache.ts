// discord.js's caches, as the bot keeps them.

import { Collection, type GuildMember, Options } from "discord.js";
import { isObject } from "../../lib/json.ts";

export class MemberCache extends Collection<string, GuildMember> {
	/**
	 * discord.js clears the cache when a guild arrives again, after a new session or an outage. The bot keeps the
	 * members until all are loaded again, and then removes those who left.
	 */
	override clear(): void {}
}

export const defaultCaches = Options.cacheWithLimits({
	...Options.DefaultMakeCacheSettings,
	// Bans are fetched when needed. The events alone would give a cache that only grows.
	GuildBanManager: 0,
});

/**
 * discord.js keeps the old value of a field that is missing, which may have changed while the bot was disconnected.
 * For GUILD_CREATE and GUILD_MEMBERS_CHUNK.
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
