// discord.js's member caches, each with an index of member names. discord.js changes names in place, without calling the
// cache, so the index is also updated from events.

import {
	type Client,
	Collection,
	Events,
	GatewayDispatchEvents,
	type Guild,
	type GuildMember,
	GuildMemberManager,
	Options,
} from "discord.js";
import { isObject } from "../../../mcp/json-rpc.ts";
import { MemberIndex } from "./member-index.ts";

const justIndexed = new Set<GuildMember>();

class MemberCache extends Collection<string, GuildMember> {
	readonly index = new MemberIndex();
	readonly bots = new Set<string>();

	// Collections derived from it, as by filter(), need no index.
	static override get [Symbol.species]() {
		return Collection;
	}

	override set(id: string, member: GuildMember): this {
		this.#index(id, member);
		justIndexed.add(member);
		return super.set(id, member);
	}

	override delete(id: string): boolean {
		this.index.delete(id);
		this.bots.delete(id);
		return super.delete(id);
	}

	/**
	 * Does nothing. discord.js clears the cache when a guild it knows arrives again, after a new session or an outage. The
	 * bot keeps the members it knows until all are loaded again, and then removes those who left.
	 */
	override clear(): void {}

	refresh(id: string): void {
		const member = this.get(id);
		if (member) this.#index(id, member);
	}

	#index(id: string, { nickname, user }: GuildMember): void {
		const { globalName, username, bot } = user;
		if (bot) this.bots.add(id);
		this.index.set(id, { nickname, globalName, username });
	}
}

const makeDefault = Options.cacheWithLimits({
	...Options.DefaultMakeCacheSettings,
	// Bans are fetched when needed. The events alone would give a cache that only grows.
	GuildBanManager: 0,
});

/** The `makeCache` option for a discord.js client. With it, each member cache has an index of the members' names. */
export const makeCache: typeof makeDefault = (...args) =>
	args[2] === GuildMemberManager ? new MemberCache() : makeDefault(...args);

/** Returns the index to search the cached members of a guild by name. */
export function memberIndex(guild: Guild): MemberIndex {
	return cacheOf(guild).index;
}

/** Returns the cached members of a guild that are bots. */
export function botsOf(guild: Guild): GuildMember[] {
	return membersOf(guild, [...cacheOf(guild).bots]);
}

/** Returns the cached members of a guild with these user ids. Ids without a cached member are left out. */
export function membersOf({ members }: Guild, ids: readonly string[]): GuildMember[] {
	return ids.map((id) => members.cache.get(id)).filter((member) => member !== undefined);
}

/**
 * Keeps the indexes of member names up to date when members change their names. `client` must have been created with
 * `makeCache`.
 */
export function trackNames(client: Client): void {
	const refresh = ({ id }: { id: string }) => {
		for (const guild of client.guilds.cache.values()) cacheOf(guild).refresh(id);
	};
	// discord.js emits this before it handles a Gateway event.
	client.on(Events.Raw, () => justIndexed.clear());
	client.on(Events.GuildMemberUpdate, (_, member) => refresh(member));
	client.on(Events.UserUpdate, (_, user) => refresh(user));
	client.on(Events.GuildMembersChunk, (members, guild) => {
		for (const [id, member] of members) if (!justIndexed.has(member)) cacheOf(guild).refresh(id);
	});
}

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

/**
 * Updates the indexes of member names for the member in a Gateway event. Call this function after discord.js
 * has read the event.
 */
export function refreshName(client: Client, { t: type, d }: { t: string; d: unknown }): void {
	if (!eventsWithNames.has(type) || !isObject(d) || !isObject(d.user)) return;
	const { id } = d.user;
	if (typeof id !== "string") return;
	for (const guild of client.guilds.cache.values()) cacheOf(guild).refresh(id);
}

const eventsWithNames = new Set<string>([
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberUpdate,
]);

function cacheOf(guild: Guild): MemberCache {
	const { cache } = guild.members;
	if (cache instanceof MemberCache) return cache;
	throw new TypeError("the discord.js client was created without the makeCache option");
}
