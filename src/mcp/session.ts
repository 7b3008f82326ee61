// The sessions of a server. `initialize` opens one; it ends by DELETE, by idle time, or when newer ones replace it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management

import { PlainSignal, type Signal } from "../lib/signal.ts";

const cancelled = new DOMException("the client cancelled the request", "AbortError");

/** An MCP session of one client, with the client's requests in flight. */
export class Session {
	/** The session id: a random UUID, so that nobody can guess it. */
	readonly id: string = crypto.randomUUID();
	/** When the session was last used, in milliseconds of the monotonic clock (`performance.now()`). */
	lastUsedAt = 0;

	// By id. A client may use an id again while it is in flight.
	readonly #inFlight = new Map<string, Set<PlainSignal>>();

	constructor(
		readonly protocolVersion: string,
		/** The name that the MCP client sent about itself. It is used only in logs. */
		readonly clientName: string,
	) {}

	/**
	 * Registers a request in flight under its JSON-RPC id (JSON text). The returned `signal` aborts when the client
	 * cancels the request. Call `end` when the request has ended.
	 */
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

	/**
	 * Cancels the request in flight that has this JSON-RPC id. If several requests in flight have this id, cancels none.
	 */
	cancel(requestId: unknown): void {
		const [request, ...others] = this.#inFlight.get(idKey(requestId)) ?? [];
		if (others.length === 0) request?.abort(cancelled);
	}
}

function idKey(id: unknown): string {
	return `${typeof id} ${id}`;
}

export interface SessionLimits {
	idleTimeoutMs: number;
	/** Limit of open sessions. If one more is opened, the least recently used session ends. */
	maxSessions: number;
}

/** All sessions of an MCP server. Their number and idle time are limited, since clients seldom end their sessions. */
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
		const [oldest = ""] = this.#sessions.keys();
		if (this.#sessions.size >= this.#limits.maxSessions) this.#sessions.delete(oldest);
		const session = new Session(protocolVersion, clientName);
		session.lastUsedAt = this.#now();
		this.#sessions.set(session.id, session);
		return session;
	}

	/**
	 * Returns the session with this id and records that it was used now. Returns undefined if it does not exist or has
	 * ended.
	 */
	find(id: string): Session | undefined {
		this.#endIdle();
		const session = this.#sessions.get(id);
		if (!session) return undefined;
		session.lastUsedAt = this.#now();
		this.#sessions.delete(id);
		this.#sessions.set(id, session);
		return session;
	}

	/** Ends the session with this id. Returns false if there is no such session. */
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
}
