// The latest tool calls, for the console. They are kept in memory only, without arguments and results.

import type { Principal } from "../../lib/principal.ts";
import type { Backend } from "../backends/backend.ts";
import type { CallOutcome } from "./metrics.ts";

/** Number of calls. */
const maxRecentCalls = 500;
const maxNameLength = 100;

/** Without arguments: for the log, the metrics and the console. */
export interface CallRecord {
	/** In the logs of the gateway and of the bot. */
	requestId: string;
	/** After the call has ended, an unknown name is shortened and escaped. */
	tool: string;
	/** As the client sent it; undefined if it is too long to be an id. */
	guild: string | undefined;
	backend: Pick<Backend, "name"> | undefined;
	outcome: CallOutcome;
	principal: Principal | undefined;
	/** Milliseconds since 1970. */
	endedAt: number;
	ms: number;
}

export interface RecentCall {
	id: string;
	/** Increases by 1 with each call. */
	seq: number;
	/** Arrival, in milliseconds since 1970; `ms` is the duration. */
	at: number;
	ms: number;
	/** Null if no bot was selected. */
	instance: string | null;
	tool: string;
	guild: string | null;
	outcome: CallOutcome;
	/** The kind of the token. Then the key's name, the person's id and the client's name, each null if unknown. */
	by: "root" | "key" | "person";
	key: string | null;
	person: string | null;
	client: string | null;
}

/** At most `maxRecentCalls`. */
export class RecentCalls {
	readonly #calls: CallRecord[] = [];
	#count = 0;
	/** Changes when a call begins to wait for approval, or somebody decides in the console. */
	approvalChanges = 0;

	get next(): number {
		return this.#count;
	}

	/** Drops the oldest one if there are too many. */
	add(call: CallRecord): void {
		this.#calls[this.#count % maxRecentCalls] = call;
		this.#count++;
	}

	/** The last kept call with this very object as `principal`. */
	of(principal: Principal): RecentCall | undefined {
		for (let seq = this.#count - 1; seq >= 0; seq--) {
			if (seq < this.#count - maxRecentCalls) return undefined;
			const call = this.#calls[seq % maxRecentCalls];
			if (call?.principal === principal) return toRecentCall(call, seq);
		}
		return undefined;
	}

	/** Calls with a number of at least `from`, oldest first. */
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

/** Fields of a log line; without the person's name, because logs contain no names of people. */
export function describePrincipal(principal: Principal | undefined) {
	if (!principal) return {};
	const { id, name, client, person } = principal;
	return {
		key: id.startsWith("key:") ? name : undefined,
		person: person?.id,
		client: client ?? (id.startsWith("grant:") ? name : undefined),
	};
}
