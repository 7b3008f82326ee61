// The sessions of a server: opened by `initialize`, ended by DELETE, by idleness or by newer ones.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management

import { PlainSignal, type Signal } from "../lib/signal.ts";

const cancelled = new DOMException("the client cancelled it", "AbortError");

/** A session, and its requests in flight. */
export class Session {
	/** Unpredictable: a UUID from the system's random source. */
	readonly id: string = crypto.randomUUID();
	/** Milliseconds of the monotonic clock. */
	lastUsedAt = 0;

	// By the id's value. A client may use an id again while it is in flight.
	readonly #inFlight = new Map<string, Set<PlainSignal>>();

	constructor(
		readonly protocolVersion: string,
		/** What the client called itself; for logs only. */
		readonly clientName: string,
	) {}

	/** Registers a request by its id, as JSON text. The signal fires when the client cancels it; `end` removes it. */
	begin(id: string): { signal: Signal; end(): void } {
		const key = idKey(JSON.parse(id));
		const signal = new PlainSignal();
		const others = this.#inFlight.get(key) ?? new Set();
		this.#inFlight.set(key, others.add(signal));
		return {
			signal,
			end: () => {
				others.delete(signal);
				if (others.size === 0) this.#inFlight.delete(key);
			},
		};
	}

	/** Cancels the request with this id. If several have it, it is ambiguous, and none is cancelled. */
	cancel(requestId: unknown): void {
		const [request, ...others] = this.#inFlight.get(idKey(requestId)) ?? [];
		if (others.length === 0) request?.abort(cancelled);
	}
}

/** "1" and 1 are different ids. */
function idKey(id: unknown): string {
	return `${typeof id} ${id}`;
}

export interface SessionLimits {
	idleTimeoutMs: number;
	/** At this number a new session ends the least recently used one. */
	maxSessions: number;
}

/** Clients seldom end their sessions, so idle time and number are limited. */
export class Sessions {
	// In order of last use: find() moves a session to the end.
	readonly #sessions = new Map<string, Session>();
	readonly #limits: SessionLimits;
	readonly #now: () => number;

	constructor(limits: SessionLimits, now = () => performance.now()) {
		this.#limits = limits;
		this.#now = now;
	}

	get size(): number {
		this.#endIdle();
		return this.#sessions.size;
	}

	open(protocolVersion: string, clientName: string): Session {
		this.#endIdle();
		if (this.#sessions.size >= this.#limits.maxSessions) this.#endOldest();
		const session = new Session(protocolVersion, clientName);
		session.lastUsedAt = this.#now();
		this.#sessions.set(session.id, session);
		return session;
	}

	/** The session with this id, used now; undefined when there is none or it has ended. */
	find(id: string): Session | undefined {
		this.#endIdle();
		const session = this.#sessions.get(id);
		if (!session) return undefined;
		session.lastUsedAt = this.#now();
		this.#sessions.delete(id);
		this.#sessions.set(id, session);
		return session;
	}

	/** Ends a session; false when there was none. */
	end(id: string): boolean {
		this.#endIdle();
		return this.#sessions.delete(id);
	}

	#endIdle() {
		const idleSince = this.#now() - this.#limits.idleTimeoutMs;
		for (const session of this.#sessions.values()) {
			if (session.lastUsedAt > idleSince) return;
			this.#sessions.delete(session.id);
		}
	}

	#endOldest() {
		for (const id of this.#sessions.keys()) {
			this.#sessions.delete(id);
			return;
		}
	}
}
