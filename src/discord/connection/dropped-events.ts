// Counts and logs Gateway events that could not be read, by type. Their contents are never logged.

import { GatewayDispatchEvents } from "discord.js";
import type { Log } from "../../lib/log.ts";

/** Per type, so that a flood of events does not fill the log. */
const logEveryMs = 60_000;
const maxFrames = 4;

const knownTypes = new Set<unknown>(Object.values(GatewayDispatchEvents));

interface Dropped {
	count: number;
	logged: number;
	loggedAt: number;
}

export class DroppedEvents {
	/** By event type. Those that discord.js does not list count as "other". */
	readonly counts = new Map<string, Dropped>();

	constructor(private readonly log: Log) {}

	/** Logs at most once a minute per event type. */
	note(type: unknown, error: unknown): void {
		const label = knownTypes.has(type) ? String(type) : "other";
		const now = performance.now();
		const dropped = this.counts.getOrInsert(label, { count: 0, logged: 0, loggedAt: -Infinity });
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

/** Without the error's message, which may quote what people wrote. */
function errorFields(error: unknown) {
	if (!(error instanceof Error)) return { error: typeof error };
	const frames = (error.stack ?? "").match(/^\s*at .+$/gm) ?? [];
	const at = frames.slice(0, maxFrames).map((frame) => frame.trim());
	return { error: error.name, at: at.join(" < ") };
}
