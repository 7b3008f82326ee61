// The states of a store and the transitions between them, without timers or I/O. A session holds the claim, so only states
// with a session can write.

/**
 * State of a bot's connection to its database. `S` is the type of an open connection, which holds the exclusive lock.
 */
export type StoreState<S> =
	/** No database connection. The bot is opening one, or waits before it tries again. */
	| { name: "connecting"; reason: string }
	/** The database connection is open, and the database accepts writes. */
	| { name: "ready"; session: S }
	/**
	 * The database connection is open, but the database refused a write, because its disk is full or the database is
	 * read-only.
	 */
	| { name: "refusing"; session: S; reason: string; refusedAt: number }
	/**
	 * The bot is closing its database connection. SQL statements that were accepted earlier still run, unless the
	 * connection is lost.
	 */
	| { name: "closing"; session: S | undefined; reason: string }
	/** The bot cannot use its database and does not try again, because that would not help. */
	| { name: "failed"; reason: string }
	/** The bot has closed its database connection and does not open it again. */
	| { name: "closed"; reason: string };

/**
 * Events that change the state of a bot's database connection. Events of an earlier, replaced connection have no
 * effect.
 */
export type StoreEvent<S> =
	| { type: "opened"; session: S }
	/** An attempt to connect to the database failed. */
	| { type: "unavailable"; reason: string }
	| { type: "lost"; session: S; reason: string }
	/** The database refused a write, at the time `at` in milliseconds of the monotonic clock. */
	| { type: "refused"; session: S; reason: string; at: number }
	/** A write succeeded, so the database accepts writes again if it refused them before. */
	| { type: "written"; session: S }
	| { type: "failed"; reason: string }
	| { type: "closing" }
	| { type: "closed" };

/** Returns the state of the database connection after an event; the same object if the event has no effect. */
export function transition<S>(state: StoreState<S>, event: StoreEvent<S>): StoreState<S> {
	if (state.name === "failed" || state.name === "closed") return state;
	switch (event.type) {
		case "opened":
			if (state.name === "connecting") return { name: "ready", session: event.session };
			return state.name === "closing" ? { ...state, session: event.session } : state;
		case "unavailable":
			return state.name === "connecting" ? { name: "connecting", reason: event.reason } : state;
		case "lost":
			if (sessionOf(state) !== event.session) return state;
			return state.name === "closing" ? { ...state, session: undefined } : { name: "connecting", reason: event.reason };
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
				reason: "the bot's database is being closed",
			};
		case "closed":
			return { name: "closed", reason: "the bot's database is closed" };
	}
}

/** Returns the database connection that new SQL statements may use; undefined if there is none. */
export function usableSession<S>(state: StoreState<S>): S | undefined {
	return state.name === "ready" || state.name === "refusing" ? state.session : undefined;
}

/** Returns why the bot's database is not ready, for the operator; undefined if it is ready. */
export function reasonOf<S>(state: StoreState<S>): string | undefined {
	return state.name === "ready" ? undefined : state.reason;
}

function sessionOf<S>(state: StoreState<S>): S | undefined {
	return state.name === "closing" ? state.session : usableSession(state);
}
