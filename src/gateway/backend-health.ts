// Whether a bot is online, as far as is known, and the timer of the next probe.

import { backOffMs } from "../lib/back-off.ts";
import type { Log } from "../lib/log.ts";

/** Waits between probes: doubled after each failure, from the first to the second. */
const probeBackOffMs = [1_000, 60_000] as const;
/** The reason of a bot that was never asked. */
const notYetReached = "not yet reached";

/** `since` is when the state began, in milliseconds of the monotonic clock: the wall clock jumps. */
export type BackendState =
	| { online: true; since: number }
	| { online: false; since: number; reason: string };

export interface BackendHealthOptions {
	/** The instance, for the log. */
	name: string;
	log: Log;
	/** Asks the bot again; called when a probe is due. */
	probe(): void;
	/** Called after the bot came online or went offline. */
	onChange(): void;
}

export class BackendHealth {
	state: BackendState = {
		online: false,
		since: performance.now(),
		reason: notYetReached,
	};
	/** Whether the last call brought no answer: then nobody knows whether the bot is there. */
	isDoubtful = false;
	/** The last failure, even if all is well by now. */
	lastError: { message: string; at: number } | undefined;
	/** When the next probe is due; undefined while all is well. */
	nextProbeAt: number | undefined;
	readonly #options: BackendHealthOptions;
	#failedProbes = 0;
	#timer: Timer | undefined;
	#isClosed = false;

	constructor(options: BackendHealthOptions) {
		this.#options = options;
	}

	/** The bot has answered. */
	setOnline(): void {
		this.isDoubtful = false;
		if (this.state.online) return;
		this.state = { online: true, since: performance.now() };
		const { name, log, onChange } = this.#options;
		log.info("backend online", { instance: name });
		onChange();
	}

	/** The bot cannot be reached, or does not work. A probe follows. */
	setOffline(reason: string): void {
		const before = this.state;
		const since = before.online ? performance.now() : before.since;
		this.noteError(reason);
		this.isDoubtful = false;
		this.state = { online: false, since, reason };
		this.#schedule();
		if (!before.online && before.reason !== notYetReached) return;
		const { name, log, onChange } = this.#options;
		log.warn("backend offline", { instance: name, reason });
		onChange();
	}

	/** A request was lost, and perhaps the bot with it. A probe follows. */
	setDoubtful(reason: string): void {
		this.isDoubtful = true;
		this.noteError(reason);
		this.#schedule();
	}

	noteError(message: string): void {
		this.lastError = { message, at: performance.now() };
	}

	/** All is well: no probe is needed. */
	probeSucceeded(): void {
		this.#failedProbes = 0;
		this.#cancel();
	}

	/** The next probe comes later than the last one. Returns how many have failed in a row. */
	probeFailed(): number {
		this.#failedProbes++;
		this.#cancel();
		this.#schedule();
		return this.#failedProbes;
	}

	/** No more probes. */
	close(): void {
		this.#isClosed = true;
		this.#cancel();
	}

	#schedule(): void {
		if (this.#isClosed || this.#timer) return;
		const ms = probeDelayMs(this.#failedProbes);
		this.nextProbeAt = performance.now() + ms;
		this.#timer = setTimeout(() => {
			this.#cancel();
			this.#options.probe();
		}, ms);
	}

	#cancel(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.nextProbeAt = undefined;
	}
}

/** How long to wait for the next probe. Half of it is random: bots that went away together are not probed together. */
export function probeDelayMs(failures: number): number {
	return Math.max(probeBackOffMs[0], backOffMs(failures, probeBackOffMs));
}
