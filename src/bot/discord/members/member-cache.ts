// discord.js's caches of members, each with an index of their names. The index lives and dies with its cache, which
// discord.js empties and fills as Discord's Gateway tells it; what people are called it changes in place.

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

	// What is made from it, as by filter(), needs no index.
	static override get [Symbol.species]() {
		return Collection;
	}

	override set(id: string, member: GuildMember): this {
		this.#note(id, member);
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

	/** Looks again what someone is called. */
	reread(id: string): void {
		const member = this.get(id);
		if (member) this.#note(id, member);
	}

	#note(id: string, { nickname, user }: GuildMember): void {
		const { globalName, username } = user;
		this.index.set(id, { nickname, globalName, username });
	}
}

const makeDefault = Options.cacheWithLimits({
	...Options.DefaultMakeCacheSettings,
	// Who is banned is asked for when it matters: of the events alone there would be a list that only grows.
	GuildBanManager: 0,
});

/** The option of a client that has its members indexed. */
export const makeCache: typeof makeDefault = (...args) =>
	args[2] === GuildMemberManager ? new MemberCache() : makeDefault(...args);

/** The index of a guild's members, as far as they are known. */
export function memberIndex(guild: Guild): MemberIndex {
	return cacheOf(guild).index;
}

/** The members with these ids. */
export function membersOf(
	{ members }: Guild,
	ids: readonly string[],
): GuildMember[] {
	return ids
		.map((id) => members.cache.get(id))
		.filter((member) => member !== undefined);
}

/** Keeps the indexes of a client that was made with `makeCache` up to date. */
export function followNames(client: Client): void {
	const reread = ({ id }: { id: string }) => {
		for (const guild of client.guilds.cache.values()) cacheOf(guild).reread(id);
	};
	client.on(Events.GuildMemberUpdate, (_, member) => reread(member));
	client.on(Events.UserUpdate, (_, user) => reread(user));
	client.on(Events.GuildMembersChunk, (members, guild) => {
		for (const id of members.keys()) cacheOf(guild).reread(id);
	});
}

/**
 * Updates the index with the name of the member that an event is about, after discord.js has read the event. discord.js emits
 * nothing when it already learned the new name from a message or a response.
 */
export function rereadName(
	client: Client,
	{ t: type, d }: { t: string; d: unknown },
): void {
	if (!tellsOfNames.has(type) || !isObject(d) || !isObject(d.user)) return;
	const { id } = d.user;
	if (typeof id !== "string") return;
	for (const guild of client.guilds.cache.values()) cacheOf(guild).reread(id);
}

const tellsOfNames = new Set<string>([
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberUpdate,
]);

function cacheOf(guild: Guild): MemberCache {
	const { cache } = guild.members;
	if (cache instanceof MemberCache) return cache;
	throw new TypeError("the client was not made with makeCache");
}
