// Passes on what a bot reports of a long call, to clients that ask for progress.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress

import { parseJson } from "../../lib/json.ts";

export interface ProgressTiming {
	/** A call that takes less has no progress. */
	afterMs: number;
	/** Between two notifications. */
	everyMs: number;
}

export const progressTiming: ProgressTiming = { afterMs: 2_000, everyMs: 1_000 };

/** `from`: when the call began, by `now`. */
export function relayProgress(
	notify: (notification: string) => void,
	from: number,
	{ afterMs, everyMs }: ProgressTiming,
	now = () => performance.now(),
): (notification: string) => void {
	let next = from + afterMs;
	return (notification) => {
		const at = now();
		if (at < next || Object(parseJson(notification)).method !== "notifications/progress") return;
		next = at + everyMs;
		notify(notification);
	};
}
