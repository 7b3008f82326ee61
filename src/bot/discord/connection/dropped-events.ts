// Counts and logs Gateway events that could not be read, by type. Their contents are never logged.

import { GatewayDispatchEvents } from "discord.js";
import type { Log } from "../../../lib/log.ts";

/** Minimum time between two log lines of one type, so that a flood does not fill the log. */
const logEveryMs = 60_000;
/** Logged lines of a stack. */
const maxFrames = 4;

const knownTypes = new Set<unknown>(Object.values(GatewayDispatchEvents));

interface Dropped {
	count: number;
	/** Events covered by log lines so far. */
	logged: number;
	/** Time of the last log line on the monotonic clock. */
	loggedAt: number;
}

export class DroppedEvents {
	readonly #byType = new Map<string, Dropped>();

	constructor(private readonly log: Log) {}

	/** Counts by type. Types that discord.js does not list count as "other". */
	get counts(): ReadonlyMap<string, Readonly<Dropped>> {
		return this.#byType;
	}

	/** Calls `read`. Returns false and counts the event as dropped if it throws. */
	attempt(type: unknown, read: () => void): boolean {
		try {
			read();
			return true;
		} catch (error) {
			this.note(type, error);
			return false;
		}
	}

	/** Counts an event that could not be read, and logs the error. */
	note(type: unknown, error: unknown): void {
		const label = knownTypes.has(type) ? String(type) : "other";
		const now = performance.now();
		const dropped = this.#byType.get(label) ?? {
			count: 0,
			logged: 0,
			loggedAt: Number.NEGATIVE_INFINITY,
		};
		this.#byType.set(label, dropped);
		dropped.count += 1;
		if (now - dropped.loggedAt < logEveryMs) return;
		this.log.warn("dropped an unreadable Gateway event", {
			type: label,
			events: dropped.count - dropped.logged,
			...errorFields(error),
		});
		dropped.logged = dropped.count;
		dropped.loggedAt = now;
	}
}

/** The name of an error and where it was thrown. Its message may quote user content, so it is not logged. */
function errorFields(error: unknown): { error: string; at?: string } {
	if (!(error instanceof Error)) return { error: typeof error };
	const frames = (error.stack ?? "").match(/^\s*at .+$/gm) ?? [];
	const at = frames.slice(0, maxFrames).map((frame) => frame.trim());
	return { error: error.name, at: at.join(" < ") };
}
