// The person in whose name the running tool call acts. The bot does nothing for this person that Discord would not let the
// person do by hand. A call without a person, such as one with the root key, acts by the bot's own rights.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Guild, GuildMember } from "discord.js";
import { ToolError } from "../../lib/tool-error.ts";

/** The data from which a member's permissions in the channels of a guild are computed. */
export interface Standing {
	member: GuildMember;
	/** The member's permissions in the guild as a bit field. */
	bits: bigint;
	/** The ids of the member's roles. */
	roleIds: ReadonlySet<string>;
	/** Why the member may only read in the guild; undefined if the member may do more. */
	readOnly: string | undefined;
}

/** The person in whose name a tool call acts. The call may do only what Discord would let this person do. */
export class ActingPerson {
	/** The person as a member of guilds, by guild id. Contains only guilds in which the membership was checked. */
	readonly members = new Map<string, GuildMember>();
	/**
	 * The data from which the person's permissions are computed, by guild id. Stored when it is first needed for a guild.
	 */
	readonly standings = new Map<string, Standing>();
	/** Whether the person is a member of private threads, by thread id. Contains only threads that were checked. */
	readonly threads = new Map<string, boolean>();

	constructor(
		readonly id: string,
		readonly isOnDiscord = false,
	) {}
}

const storage = new AsyncLocalStorage<ActingPerson>();

/**
 * Runs `work`, such as a tool call, in a person's name: permission checks in `work` then also check this person's
 * permissions.
 */
export function actAs<T>(person: ActingPerson, work: () => T): T {
	return storage.run(person, work);
}

/** Returns the person in whose name the running tool call acts; undefined if the call acts by the bot's own rights. */
export function currentPerson(): ActingPerson | undefined {
	return storage.getStore();
}

/** Whether a person on Discord, not an MCP client, reads the result of the running tool call. */
export function isForPeople(): boolean {
	return storage.getStore()?.isOnDiscord ?? false;
}

/**
 * Returns a part of a result or error that only an assistant can use, such as advice on tools and arguments; "" if a
 * person on Discord reads the result.
 */
export function forClients(text: string): string {
	return isForPeople() ? "" : text;
}

/**
 * Returns the guild member in whose name the running tool call acts; undefined if the call acts by the bot's own
 * rights. Throws a ToolError if the person is not known to be a member of the guild.
 */
export function actingPerson(guild: Guild): GuildMember | undefined {
	const person = storage.getStore();
	if (!person) return undefined;
	const member = person.members.get(guild.id);
	if (!member) throw unknownGuild(guild.id);
	return member;
}

/** Whether the person in whose name the running call acts is known to be a member of a private thread. */
export function isKnownInThread(threadId: string): boolean {
	return storage.getStore()?.threads.get(threadId) ?? false;
}

/**
 * The error for a guild that the bot is not in. It is also thrown for a guild that is hidden from the caller, so that
 * callers cannot find out which guilds the bot is in.
 */
export function unknownGuild(id: string): ToolError {
	return new ToolError(`The bot is not in a guild ${id}.${forClients(" Use list_guilds to find its guilds.")}`);
}
