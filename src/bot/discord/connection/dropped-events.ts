// Events of Discord's Gateway that could not be read: dropped, counted and logged by their type, never with what they hold.

import { GatewayDispatchEvents } from "discord.js";
import type { Log } from "../../../lib/log.ts";

/** Minimum time between two log lines of one type, so that a flood does not fill the log. */
const logEveryMs = 60_000;
/** How many lines of a stack are logged. */
const maxFrames = 4;

const knownTypes = new Set<unknown>(Object.values(GatewayDispatchEvents));

interface Dropped {
	count: number;
	/** How many the log has told of, and when it did last, by the monotonic clock. */
	logged: number;
	loggedAt: number;
}

export class DroppedEvents {
	readonly #log: Log;
	readonly #byType = new Map<string, Dropped>();

	constructor(log: Log) {
		this.#log = log;
	}

	/** How many there were, by type; a type that Discord does not document is "other". */
	get counts(): ReadonlyMap<string, Readonly<Dropped>> {
		return this.#byType;
	}

	/** Does `read`. Where it throws, the event is dropped, and the answer false. */
	attempt(type: unknown, read: () => void): boolean {
		try {
			read();
			return true;
		} catch (error) {
			this.note(type, error);
			return false;
		}
	}

	/** Counts an event that could not be read, and why. */
	note(type: unknown, error: unknown): void {
		const label = knownTypes.has(type) ? String(type) : "other";
		const now = performance.now();
		const one = this.#byType.get(label) ?? {
			count: 0,
			logged: 0,
			loggedAt: Number.NEGATIVE_INFINITY,
		};
		this.#byType.set(label, one);
		one.count += 1;
		if (now - one.loggedAt < logEveryMs) return;
		this.#log.warn("event dropped: it could not be read", {
			type: label,
			events: one.count - one.logged,
			...faultOf(error),
		});
		one.logged = one.count;
		one.loggedAt = now;
	}
}

/** The kind of an error, and where it was thrown. Its message may quote what people wrote. */
function faultOf(error: unknown): { error: string; at?: string } {
	if (!(error instanceof Error)) return { error: typeof error };
	const frames = (error.stack ?? "").match(/^\s*at .+$/gm) ?? [];
	const at = frames.slice(0, maxFrames).map((frame) => frame.trim());
	return { error: error.name, at: at.join(" < ") };
}
