// The states of a store and the transitions between them, without timers or I/O. A session holds the claim, so only states
// with a session can write.

/** State of a store. `S` is the type of an open connection. */
export type StoreState<S> =
	/** No connection. The store is opening one, or waits before it tries again. */
	| { name: "connecting"; reason: string }
	/** The connection is open, and the database accepts writes. */
	| { name: "ready"; session: S }
	/** The connection is open, but the database refused a write: its disk is full, or it is read-only. */
	| { name: "refusing"; session: S; reason: string; refusedAt: number }
	/** The store accepts no more work: it was closed, or another attempt to open it would not help. */
	| { name: "ended"; reason: string };

/** Events that change the state of a store. Events of an earlier, replaced connection have no effect. */
export type StoreEvent<S> =
	| { type: "opened"; session: S }
	/** An attempt to connect to the database failed. */
	| { type: "unavailable"; reason: string }
	| { type: "lost"; session: S; reason: string }
	/** The database refused a write, at the time `at` in milliseconds of the monotonic clock. */
	| { type: "refused"; session: S; reason: string; at: number }
	/** A write succeeded, so the database accepts writes again if it refused them before. */
	| { type: "written"; session: S }
	| { type: "ended"; reason: string };

/** Returns the state after an event; the same object if the event has no effect. */
export function transition<S>(state: StoreState<S>, event: StoreEvent<S>): StoreState<S> {
	if (state.name === "ended") return state;
	switch (event.type) {
		case "opened":
			return state.name === "connecting" ? { name: "ready", session: event.session } : state;
		case "unavailable":
			return state.name === "connecting" ? { name: "connecting", reason: event.reason } : state;
		case "lost":
			return usableSession(state) === event.session ? { name: "connecting", reason: event.reason } : state;
		case "refused": {
			const { session, reason, at } = event;
			return usableSession(state) === session ? { name: "refusing", session, reason, refusedAt: at } : state;
		}
		case "written":
			return state.name === "refusing" && state.session === event.session
				? { name: "ready", session: event.session }
				: state;
		case "ended":
			return { name: "ended", reason: event.reason };
	}
}

/** Returns the connection that new SQL statements may use; undefined if there is none. */
export function usableSession<S>(state: StoreState<S>): S | undefined {
	return state.name === "ready" || state.name === "refusing" ? state.session : undefined;
}

/** Returns why the database is not ready, for the operator; undefined if it is ready. */
export function reasonOf<S>(state: StoreState<S>): string | undefined {
	return state.name === "ready" ? undefined : state.reason;
}
