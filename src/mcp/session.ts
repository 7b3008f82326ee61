// The sessions of a server: opened by `initialize`, ended by DELETE, by idleness or by newer ones.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management

export interface Session {
	/** Unpredictable: a UUID from the system's random source. */
	id: string;
	protocolVersion: string;
	/** What the client called itself; for logs only. */
	clientName: string;
	/** Milliseconds of the monotonic clock. */
	lastUsedAt: number;
}

export interface SessionLimits {
	idleTimeoutMs: number;
	/** With this many open, a new one ends the one used least recently. */
	maxSessions: number;
}

/** Clients seldom say goodbye, so idleness and number are both bounded. */
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
		const id = crypto.randomUUID();
		const session = {
			id,
			protocolVersion,
			clientName,
			lastUsedAt: this.#now(),
		};
		this.#sessions.set(id, session);
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
