// Counts and logs Gateway events that could not be read, by type. Their contents are never logged.

import { GatewayDispatchEvents } from "discord.js";
import type { Log } from "../../../lib/log.ts";

/**
 * Minimum time between two log lines about dropped Gateway events of the same type, so that a flood of events does not
 * fill the log.
 */
const logEveryMs = 60_000;
const maxFrames = 4;

const knownTypes = new Set<unknown>(Object.values(GatewayDispatchEvents));

interface Dropped {
	count: number;
	logged: number;
	loggedAt: number;
}

export class DroppedEvents {
	readonly #byType = new Map<string, Dropped>();

	constructor(private readonly log: Log) {}

	/** Number of dropped Gateway events by event type. Types that discord.js does not list count as "other". */
	get counts(): ReadonlyMap<string, Readonly<Dropped>> {
		return this.#byType;
	}

	/**
	 * Calls `read`, which handles a Gateway event of the event type `type`. If `read` throws, counts the event as dropped
	 * and returns false; otherwise returns true.
	 */
	attempt(type: unknown, read: () => void): boolean {
		try {
			read();
			return true;
		} catch (error) {
			this.note(type, error);
			return false;
		}
	}

	/** Counts a Gateway event that could not be read. Logs the error at most once a minute per event type. */
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
		this.log.warn("dropped events from Discord's Gateway: could not parse them", {
			type: label,
			events: dropped.count - dropped.logged,
			...errorFields(error),
		});
		dropped.logged = dropped.count;
		dropped.loggedAt = now;
	}
}

/**
 * Returns log fields with the name of an error and where it was thrown. The error's message is left out, because it may
 * quote user content.
 */
function errorFields(error: unknown): { error: string; at?: string } {
	if (!(error instanceof Error)) return { error: typeof error };
	const frames = (error.stack ?? "").match(/^\s*at .+$/gm) ?? [];
	const at = frames.slice(0, maxFrames).map((frame) => frame.trim());
	return { error: error.name, at: at.join(" < ") };
}
