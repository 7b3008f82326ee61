// Puts the rate limits of discord.js's request queues on the monotonic clock. discord.js stores their end as wall clock
// time: setting the clock back by an hour would block the route for an hour, setting it forward would lift the limit.

import type { REST } from "discord.js";

/** Makes all rate limits of a discord.js REST client independent of changes of the system clock. */
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

/**
 * Shifts `target[key]`, a time in epoch milliseconds, whenever the system clock is set forward or back, so that the
 * time that is left until `target[key]` stays the same.
 */
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
