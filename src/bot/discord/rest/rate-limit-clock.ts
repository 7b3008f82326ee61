// The waits of discord.js's request queues, by a clock that never jumps. It keeps the end of a rate limit as a time of the
// wall clock: set back by an hour, that would hold up every request of the route for an hour; set forward, none.

import type { REST } from "discord.js";

/** Has all rate limits of `rest` end when they should, however the wall clock is set meanwhile. */
export function followMonotonicClock(rest: REST): void {
	keepMonotonic(rest, "globalReset");
	const { handlers } = rest;
	const set = handlers.set.bind(handlers);
	handlers.set = (id, handler) => {
		// The queue of an interaction's callback has no limit, and no such time.
		if ("reset" in handler && typeof handler.reset === "number")
			keepMonotonic(handler as { reset: number }, "reset");
		return set(id, handler);
	};
}

/** `owner[key]` is set and read as a time of the wall clock, and kept as one of the monotonic clock. */
function keepMonotonic<Key extends string>(
	owner: Record<Key, number>,
	key: Key,
): void {
	const offsetMs = () => performance.now() - Date.now();
	let at = owner[key] + offsetMs();
	Object.defineProperty(owner, key, {
		get: () => at - offsetMs(),
		set: (time: number) => {
			at = time + offsetMs();
		},
	});
}
