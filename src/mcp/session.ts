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

/** Hashes of ids. A collision only keeps a request from being cancelled. */
const endedSlots = 2 ** 16;

/** By id. A client may use an id again while it is in flight. */
export class RequestsInFlight {
	readonly #signals = new Map<string, PlainSignal | Set<PlainSignal>>();
	/** When a request with such an id has last ended, by the hash of its key. */
	readonly #endedAt: Float64Array | undefined;

	/** `doubtMs`: so long after the end of a request, none with the same id is cancelled. */
	constructor(private readonly doubtMs = 0) {
		if (doubtMs > 0) this.#endedAt = new Float64Array(endedSlots).fill(-Infinity);
	}

	/** `id` is JSON text. `signal` aborts when the client cancels; call `end` when the request has ended. */
	begin(id: string, sender = "", signal = new PlainSignal()) {
		// Most ids have one text only.
		const key = `${sender} ${/^(?:\d{1,15}|"[^\\]*")$/.test(id) ? id : JSON.stringify(JSON.parse(id))}`;
		const other = this.#signals.get(key);
		if (other instanceof Set) other.add(signal);
		else this.#signals.set(key, other ? new Set([other, signal]) : signal);
		return { signal, end: () => this.#end(key, signal) };
	}

	/** Cancels none if several requests have this id. */
	cancel(requestId: unknown, sender = ""): void {
		const key = `${sender} ${JSON.stringify(requestId)}`;
		const found = this.#signals.get(key);
		const [request, ...others] = found instanceof Set ? found : [found];
		const endedAt = this.#endedAt?.[slotOf(key)] ?? -Infinity;
		if (others.length === 0 && performance.now() - endedAt > this.doubtMs) request?.abort(cancelled);
	}

	#end(key: string, signal: PlainSignal): void {
		const found = this.#signals.get(key);
		if (found instanceof Set) found.delete(signal);
		if (!(found instanceof Set) || found.size === 0) this.#signals.delete(key);
		if (this.#endedAt) this.#endedAt[slotOf(key)] = performance.now();
	}
}

const slotOf = (key: string) => Number(Bun.hash.crc32(key)) % endedSlots;

interface SessionLimits {
	idleTimeoutMs: number;
	/** One more ends the least recently used session. */
	maxSessions: number;
}

/** Limited in number and idle time, since clients seldom end their sessions. */
export class Sessions {
	// In order of last use: find() moves a session to the end.
	readonly #sessions = new Map<string, Session>();

	constructor(
		private readonly limits: SessionLimits,
		private readonly now = () => performance.now(),
	) {}

	get size(): number {
		this.#endIdle();
		return this.#sessions.size;
	}

	open(protocolVersion: string, clientName: string): Session {
		this.#endIdle();
		const [oldest = ""] = this.#sessions.keys();
		if (this.#sessions.size >= this.limits.maxSessions) this.#sessions.delete(oldest);
		const session = new Session(protocolVersion, clientName);
		session.lastUsedAt = this.now();
		this.#sessions.set(session.id, session);
		return session;
	}

	/** Counts as use. Undefined if the session does not exist or has ended. */
	find(id: string): Session | undefined {
		this.#endIdle();
		const session = this.#sessions.get(id);
		if (!session) return undefined;
		session.lastUsedAt = this.now();
		this.#sessions.delete(id);
		this.#sessions.set(id, session);
		return session;
	}

	end(id: string): boolean {
		this.#endIdle();
		return this.#sessions.delete(id);
	}

	#endIdle() {
		const idleSince = this.now() - this.limits.idleTimeoutMs;
		for (const session of this.#sessions.values()) {
			if (session.lastUsedAt > idleSince) return;
			this.#sessions.delete(session.id);
		}
	}
}
