// The latest tool calls, for the console. They are kept in memory only, without arguments and results.

import type { Principal } from "../../lib/principal.ts";
import type { Backend } from "../backends/backend.ts";
import type { CallOutcome } from "./metrics.ts";

/** Maximum number of tool calls that are kept. */
export const maxRecentCalls = 500;
const maxNameLength = 100;

/** What the gateway records about a tool call, without its arguments: for its log, its metrics and the console. */
export interface CallRecord {
	/** Id of the tool call in the logs of the gateway and of the bot. */
	requestId: string;
	/** Name of the tool. After the call has ended, an unknown name is shortened and escaped. */
	tool: string;
	/** The argument `guild_id`, as the client sent it; undefined if it is too long to be an id. */
	guild: string | undefined;
	backend: Pick<Backend, "name"> | undefined;
	outcome: CallOutcome;
	principal: Principal | undefined;
	/** When the tool call ended, in milliseconds since 1970. */
	endedAt: number;
	/** How many milliseconds the tool call took. */
	ms: number;
}

/** A finished tool call, as the console shows it. */
export interface RecentCall {
	id: string;
	/** Number of the tool call, which increases by 1 with each. */
	seq: number;
	/** When the tool call arrived, in milliseconds since 1970, and how long it took in `ms` milliseconds. */
	at: number;
	ms: number;
	/** Name of the bot that got the tool call; null if no bot was selected. */
	instance: string | null;
	tool: string;
	guild: string | null;
	outcome: CallOutcome;
	/**
	 * Kind of the token of the call: the root key, a key, or the grant of a person. The next fields are the key's name,
	 * the person's id and the client's name, each null if unknown.
	 */
	by: "root" | "key" | "person";
	key: string | null;
	person: string | null;
	client: string | null;
}

/** Keeps the last finished tool calls, at most `maxRecentCalls`. */
export class RecentCalls {
	readonly #calls: CallRecord[] = [];
	#count = 0;
	/** Changes when a tool call begins to wait for a person's approval, or when somebody decides in the console. */
	approvalChanges = 0;

	/** The number of the next tool call. */
	get next(): number {
		return this.#count;
	}

	/** Keeps a finished tool call, in place of the oldest one if there are too many. */
	add(call: CallRecord): void {
		this.#calls[this.#count % maxRecentCalls] = call;
		this.#count++;
	}

	/** Returns the last tool call whose `principal` is this very object, if the call is still kept. */
	of(principal: Principal): RecentCall | undefined {
		for (let seq = this.#count - 1; seq >= 0; seq--) {
			if (seq < this.#count - maxRecentCalls) return undefined;
			const call = this.#calls[seq % maxRecentCalls];
			if (call?.principal === principal) return toRecentCall(call, seq);
		}
		return undefined;
	}

	/** Returns the kept tool calls whose number is at least `from`, oldest first. */
	since(from: number): RecentCall[] {
		const first = Math.max(from, this.#count - maxRecentCalls, 0);
		const calls: RecentCall[] = [];
		for (let seq = first; seq < this.#count; seq++) {
			const call = this.#calls[seq % maxRecentCalls];
			if (call) calls.push(toRecentCall(call, seq));
		}
		return calls;
	}
}

function toRecentCall(call: CallRecord, seq: number): RecentCall {
	const { requestId, tool, guild = "", backend, outcome, principal } = call;
	const { key, person, client } = describePrincipal(principal);
	const isId = /^\d{17,20}$/.test(guild);
	return {
		id: requestId,
		seq,
		at: Math.round(call.endedAt - call.ms),
		ms: Math.round(call.ms),
		instance: backend?.name ?? null,
		tool,
		guild: isId ? guild : null,
		outcome,
		by: key !== undefined ? "key" : person !== undefined ? "person" : "root",
		key: key ?? null,
		person: person ?? null,
		client: client?.slice(0, maxNameLength) ?? null,
	};
}

/**
 * Returns the caller of a tool as fields of a log line. Leaves out the name of the person in whose name the call acts,
 * because logs contain no names of people.
 */
export function describePrincipal(principal: Principal | undefined) {
	if (!principal) return {};
	const { id, name, client, person } = principal;
	return {
		key: id.startsWith("key:") ? name : undefined,
		person: person?.id,
		client: client ?? (id.startsWith("grant:") ? name : undefined),
	};
}
