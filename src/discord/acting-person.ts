// The person in whose name a tool call acts; without one, as with the root key, it acts by the bot's own rights.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Guild, GuildMember } from "discord.js";
import { ToolError } from "../lib/tool-error.ts";

export interface Standing {
	member: GuildMember;
	/** Bit field of the permissions in the guild. */
	bits: bigint;
	roleIds: ReadonlySet<string>;
	/** Why the member may only read; undefined if they may do more. */
	readOnly: boolean;
}

export class ActingPerson {
	/** By guild id; only guilds in which the membership was checked. */
	readonly members = new Map<string, GuildMember>();
	/** By guild id. */
	readonly standings = new Map<string, Standing>();
	/** By thread id; only threads that were checked. */
	readonly threads = new Map<string, boolean>();

	constructor(
		readonly id: string,
		readonly isOnDiscord = false,
		/** What they may in the running call beside their permissions on Discord. */
		readonly granted: (member: GuildMember) => bigint = () => 0n,
		/** Whose messages the running call must not show, by user id. */
		readonly hidesTextsOf: (userId: string) => boolean = () => false,
	) {}
}

const storage = new AsyncLocalStorage<ActingPerson>();

/** Permission checks in `work` also check the permissions of `person`. */
export function actAs<T>(person: ActingPerson, work: () => T): T {
	return storage.run(person, work);
}

/** Like `actAs`, in the member's guild alone. */
export function actAsMember<T>(member: GuildMember, work: () => T): T {
	const person = new ActingPerson(member.id);
	person.members.set(member.guild.id, member);
	return actAs(person, work);
}

export function currentPerson(): ActingPerson | undefined {
	return storage.getStore();
}

/** Whether a person on Discord, not an MCP client, reads the result of the running call. */
export function isForPeople(): boolean {
	return storage.getStore()?.isOnDiscord ?? false;
}

/** Advice that only an assistant can use, such as on arguments; "" if a person on Discord reads the result. */
export function forClients(text: string): string {
	return isForPeople() ? "" : text;
}

/** The acting person in this guild. Throws a ToolError if they are not known to be a member. */
export function actingPerson(guild: Guild): GuildMember | undefined {
	const person = storage.getStore();
	if (!person) return undefined;
	const member = person.members.get(guild.id);
	if (!member) throw unknownGuild(guild.id);
	return member;
}

export function isKnownInThread(threadId: string): boolean {
	return storage.getStore()?.threads.get(threadId) ?? false;
}

/** Also for guilds that are hidden from the caller, so that callers cannot find out which guilds the bot is in. */
export function unknownGuild(id: string): ToolError {
	return new ToolError(`The bot is not in a guild ${id}.${forClients(" Use list_guilds to find its guilds.")}`);
}
