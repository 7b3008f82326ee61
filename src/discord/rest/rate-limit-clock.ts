// discord.js stores the ends of rate limits as wall clock time: a clock set back by an hour would block a route for an
// hour.

import type { REST } from "discord.js";

export function followMonotonicClock(rest: REST): void {
	keepMonotonic(rest, "globalReset");
	const { handlers } = rest;
	const set = handlers.set.bind(handlers);
	handlers.set = (id, handler) => {
		// The queue for interaction callbacks has no rate limit.
		if ("reset" in handler && typeof handler.reset === "number") keepMonotonic(handler as { reset: number }, "reset");
		return set(id, handler);
	};
}

/** Shifts this time, in epoch milliseconds, with the system clock. */
function keepMonotonic<Key extends string>(target: Record<Key, number>, key: Key): void {
	const offsetMs = () => performance.now() - Date.now();
	let at = target[key] + offsetMs();
	Object.defineProperty(target, key, {
		get: () => at - offsetMs(),
		set: (time: number) => {
			at = time + offsetMs();
		},
	});
}
