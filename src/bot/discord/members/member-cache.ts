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

class MemberCache extends Collection<string, GuildMember> {
	readonly index = new MemberIndex();

	// Collections derived from it, as by filter(), need no index.
	static override get [Symbol.species]() {
		return Collection;
	}

	override set(id: string, member: GuildMember): this {
		this.#index(id, member);
		return super.set(id, member);
	}

	override delete(id: string): boolean {
		this.index.delete(id);
		return super.delete(id);
	}

	override clear(): void {
		this.index.clear();
		super.clear();
	}

	/** Updates the name index with the current names of the cached member with this id. */
	refresh(id: string): void {
		const member = this.get(id);
		if (member) this.#index(id, member);
	}

	#index(id: string, { nickname, user }: GuildMember): void {
		const { globalName, username } = user;
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

/** Returns the cached members of a guild with these user ids. Ids without a cached member are left out. */
export function membersOf(
	{ members }: Guild,
	ids: readonly string[],
): GuildMember[] {
	return ids
		.map((id) => members.cache.get(id))
		.filter((member) => member !== undefined);
}

/**
 * Keeps the indexes of member names up to date when members change their names. `client` must have been created with
 * `makeCache`.
 */
export function trackNames(client: Client): void {
	const refresh = ({ id }: { id: string }) => {
		for (const guild of client.guilds.cache.values())
			cacheOf(guild).refresh(id);
	};
	client.on(Events.GuildMemberUpdate, (_, member) => refresh(member));
	client.on(Events.UserUpdate, (_, user) => refresh(user));
	client.on(Events.GuildMembersChunk, (members, guild) => {
		for (const id of members.keys()) cacheOf(guild).refresh(id);
	});
}

/**
 * Updates the indexes of member names for the member in a Gateway event. Call this function after discord.js
 * has read the event.
 */
export function refreshName(
	client: Client,
	{ t: type, d }: { t: string; d: unknown },
): void {
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
	throw new TypeError(
		"the discord.js client was created without the makeCache option",
	);
}
