// The states of a store and the transitions between them, without timers or I/O. A session holds the claim, so only states
// with a session can write.

export type StoreState<S> =
	| { name: "connecting"; reason: string }
	| { name: "ready"; session: S }
	/** The database refused a write: its disk is full, or it is read-only. */
	| { name: "refusing"; session: S; reason: string; refusedAt: number }
	/** Closed, or another attempt would not help. */
	| { name: "ended"; reason: string };

/** Events of an earlier connection have no effect. */
export type StoreEvent<S> =
	| { type: "opened"; session: S }
	| { type: "unavailable"; reason: string }
	| { type: "lost"; session: S; reason: string }
	/** At the time `at` of the monotonic clock, in milliseconds. */
	| { type: "refused"; session: S; reason: string; at: number }
	| { type: "written"; session: S }
	| { type: "ended"; reason: string };

/** The same object if the event has no effect. */
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

export function usableSession<S>(state: StoreState<S>): S | undefined {
	return state.name === "ready" || state.name === "refusing" ? state.session : undefined;
}

export function reasonOf<S>(state: StoreState<S>): string | undefined {
	return state.name === "ready" ? undefined : state.reason;
}
