// The latest tool calls, for the console, and the latest that reached no bot. They are kept in memory only, without arguments
// and results.

import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import type { Backend } from "../backends/backend.ts";
import { type CallOutcome, kinds, unreached } from "./metrics.ts";

/** Number of calls, and of those that reached no bot. */
export const maxRecentCalls = 500;
const maxNameLength = 100;
const maxErrorLength = 2_000;

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
	/** The gateway's own error. */
	error: string | undefined;
	/** Number of calls of bots that it became. Their ids are the request id with ".1" and so on; of all bots, the same. */
	parts: number;
	principal: Principal | undefined;
	/** As the client names itself. */
	client: string | undefined;
	/** Milliseconds since 1970. */
	endedAt: number;
	ms: number;
}

/** As the console shows it. */
export type RecentCall = ReturnType<typeof toRecentCall>;

/** At most `maxRecentCalls`. */
export class RecentCalls {
	readonly #calls: CallRecord[] = [];
	readonly #unreached: CallRecord[] = [];
	/** The `seq` of the next call. */
	next = 0;
	/** Changes when a call begins to wait for approval, or somebody decides in the console. */
	approvalChanges = 0;

	/** Drops the oldest one if there are too many. */
	add(call: CallRecord): void {
		this.next++;
		if (this.#calls.push(call) > maxRecentCalls) this.#calls.shift();
		if (call.parts === 0) this.addPart(call);
	}

	/** A part of a call that became several. Kept only if it reached no bot. */
	addPart(call: CallRecord): void {
		if (unreached.has(call.outcome) && this.#unreached.push(call) > maxRecentCalls) this.#unreached.shift();
	}

	/** Calls that are in no bot's audit log, oldest first. */
	unreached(): RecentCall[] {
		return this.#unreached.map(toRecentCall);
	}

	/** The last kept call with this very object as `principal`. */
	of(principal: Principal): RecentCall | undefined {
		const at = this.#calls.findLastIndex((call) => call.principal === principal);
		return at < 0 ? undefined : this.since(this.next - this.#calls.length + at)[0];
	}

	/** Calls with a number of at least `from`, oldest first. */
	since(from: number): RecentCall[] {
		const first = this.next - this.#calls.length;
		return this.#calls
			.slice(Math.max(0, from - first))
			.map((call, at) => toRecentCall(call, Math.max(from, first) + at));
	}
}

/** `seq` increases by 1 with each call. `at` is its arrival, in milliseconds since 1970. */
function toRecentCall(call: CallRecord, seq: number) {
	const { requestId, tool, guild = "", backend, outcome, error, parts, principal } = call;
	const { person, client } = describePrincipal(principal);
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
		kind: kinds.get(outcome),
		error: error?.slice(0, maxErrorLength) ?? null,
		parts,
		// The id of the key or grant, as in the bot's audit log.
		key: principal && principal.id !== rootPrincipal.id ? principal.id : null,
		person: person ?? null,
		client: (call.client ?? client)?.slice(0, maxNameLength) ?? null,
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
