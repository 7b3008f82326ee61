// The sessions of a server. `initialize` opens one; it ends by DELETE, by idle time, or when newer ones replace it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management

import { PlainSignal } from "../lib/signal.ts";

const cancelled = new DOMException("the client cancelled the request", "AbortError");

export class Session {
	/** Random, so that nobody can guess it. */
	readonly id: string = crypto.randomUUID();
	/** Milliseconds of the monotonic clock (`performance.now()`). */
	lastUsedAt = 0;

	readonly requests = new RequestsInFlight();

	constructor(
		readonly protocolVersion: string,
		/** Only for logs. */
		readonly clientName: string,
	) {}
}

/** By id. A client may use an id again while it is in flight. */
export class RequestsInFlight {
	readonly #signals = new Map<string, Set<PlainSignal>>();
	/** Keys of requests that have ended, since the last change of these sets and before it. */
	#ended = new Set<string>();
	#endedBefore = new Set<string>();
	#changedAt = 0;

	/** `doubtMs`: so long after the end of a request, none with the same id is cancelled. */
	constructor(private readonly doubtMs = 0) {}

	/** `id` is JSON text. `signal` aborts when the client cancels; call `end` when the request has ended. */
	begin(id: string, sender = "", signal = new PlainSignal()) {
		const key = keyOf(sender, JSON.parse(id));
		const others = this.#signals.get(key) ?? new Set();
		this.#signals.set(key, others.add(signal));
		return {
			signal,
			end: () => {
				others.delete(signal);
				if (others.size === 0) this.#signals.delete(key);
				if (this.doubtMs > 0) this.#noteEnd(key);
			},
		};
	}

	/** Cancels none if several requests have this id. */
	cancel(requestId: unknown, sender = ""): void {
		const key = keyOf(sender, requestId);
		const [request, ...others] = this.#signals.get(key) ?? [];
		const isClear = others.length === 0 && !this.#ended.has(key) && !this.#endedBefore.has(key);
		if (isClear) request?.abort(cancelled);
	}

	#noteEnd(key: string): void {
		const now = performance.now();
		if (now - this.#changedAt > this.doubtMs) {
			this.#changedAt = now;
			this.#endedBefore = this.#ended;
			this.#ended = new Set();
		}
		this.#ended.add(key);
	}
}

function keyOf(sender: string, id: unknown): string {
	return `${sender} ${typeof id} ${id}`;
}

interface SessionLimits {
	idleTimeoutMs: number;
	/** One more ends the least recently used session. */
	maxSessions: number;
}

/** Limited in number and idle time, since clients seldom end their sessions. */
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

	/** Counts as use. Undefined if the session does not exist or has ended. */
	find(id: string): Session | undefined {
		this.#endIdle();
		const session = this.#sessions.get(id);
		if (!session) return undefined;
		session.lastUsedAt = this.#now();
		this.#sessions.delete(id);
		this.#sessions.set(id, session);
		return session;
	}

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
