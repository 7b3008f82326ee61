// Passes on what bots report of a long call, to clients that ask for progress.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress

import { parseJson } from "../../lib/json.ts";
import type { ToolCall } from "../../mcp/tool.ts";

export interface ProgressTiming {
	/** A call that takes less has no progress. */
	afterMs: number;
	/** Between two notifications. */
	everyMs: number;
}

export const progressTiming: ProgressTiming = { afterMs: 2_000, everyMs: 1_000 };

/** Passes on what has grown, and at the end of a pause the latest, until `end`. */
export function relayProgress(notify: (notification: string) => void, { afterMs, everyMs }: ProgressTiming) {
	let latest: string | undefined;
	let highest = Number.NEGATIVE_INFINITY;
	let pause: Timer | undefined = afterMs > 0 ? setTimeout(resume, afterMs) : undefined;
	function resume(): void {
		pause = latest !== undefined && everyMs > 0 ? setTimeout(resume, everyMs) : undefined;
		if (latest !== undefined) notify(latest);
		latest = undefined;
	}
	return {
		relay(notification: string): void {
			const { method, params } = Object(parseJson(notification));
			// Also if a bot is asked again.
			if (method !== "notifications/progress" || !(params?.progress > highest)) return;
			highest = params.progress;
			latest = notification;
			if (pause === undefined) resume();
		},
		end(): void {
			clearTimeout(pause);
			highest = Number.POSITIVE_INFINITY;
		},
	};
}

/** Waits for all parts of a call, and reports how many have ended. A single part reports by itself. */
export function allOf<Part>(parts: readonly Promise<Part>[], report: ToolCall["reportProgress"]): Promise<Part[]> {
	let count = 0;
	const next = () => parts.length > 1 && report(count, parts.length, `${count++} of ${parts.length} answered`);
	next();
	return Promise.all(parts.map((part) => part.finally(next)));
}
