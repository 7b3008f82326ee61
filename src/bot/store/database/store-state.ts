// The states of a store and the transitions between them, without timers or I/O. A session holds the claim, so only states
// with a session can write.

/** `S` is the type of a session that holds the claim. */
export type StoreState<S> =
	/** No session. One is being opened, or a failed attempt is repeated after a back-off. */
	| { name: "connecting"; reason: string }
	/** The session holds the claim, and the database accepts writes. */
	| { name: "ready"; session: S }
	/** The session holds the claim, but the database refused a write: its disk is full, or it is read-only. */
	| { name: "refusing"; session: S; reason: string; refusedAt: number }
	/** Closing was requested. Work that was accepted before is finished on the session, if there still is one. */
	| { name: "closing"; session: S | undefined; reason: string }
	/** Final. Another attempt would not help. */
	| { name: "failed"; reason: string }
	/** Final. */
	| { name: "closed"; reason: string };

/** Events of a session other than the current one have no effect. */
export type StoreEvent<S> =
	| { type: "opened"; session: S }
	/** An attempt to open a session failed. */
	| { type: "unavailable"; reason: string }
	| { type: "lost"; session: S; reason: string }
	/** A write was refused; `at` is in milliseconds of the monotonic clock. */
	| { type: "refused"; session: S; reason: string; at: number }
	/** A write was accepted. */
	| { type: "written"; session: S }
	| { type: "failed"; reason: string }
	| { type: "closing" }
	| { type: "closed" };

/** Returns the next state; the same object if the event has no effect. */
export function transition<S>(
	state: StoreState<S>,
	event: StoreEvent<S>,
): StoreState<S> {
	if (state.name === "failed" || state.name === "closed") return state;
	switch (event.type) {
		case "opened":
			if (state.name === "connecting")
				return { name: "ready", session: event.session };
			return state.name === "closing"
				? { ...state, session: event.session }
				: state;
		case "unavailable":
			return state.name === "connecting"
				? { name: "connecting", reason: event.reason }
				: state;
		case "lost":
			if (sessionOf(state) !== event.session) return state;
			return state.name === "closing"
				? { ...state, session: undefined }
				: { name: "connecting", reason: event.reason };
		case "refused":
			if (usableSession(state) !== event.session) return state;
			return {
				name: "refusing",
				session: event.session,
				reason: event.reason,
				refusedAt: event.at,
			};
		case "written":
			return state.name === "refusing" && state.session === event.session
				? { name: "ready", session: event.session }
				: state;
		case "failed":
			return { name: "failed", reason: event.reason };
		case "closing":
			return {
				name: "closing",
				session: sessionOf(state),
				reason: "the store is being closed",
			};
		case "closed":
			return { name: "closed", reason: "the store is closed" };
	}
}

/** The session that new work may use. */
export function usableSession<S>(state: StoreState<S>): S | undefined {
	return state.name === "ready" || state.name === "refusing"
		? state.session
		: undefined;
}

/** Why the store is not ready; undefined if it is. */
export function reasonOf<S>(state: StoreState<S>): string | undefined {
	return state.name === "ready" ? undefined : state.reason;
}

function sessionOf<S>(state: StoreState<S>): S | undefined {
	return state.name === "closing" ? state.session : usableSession(state);
}
