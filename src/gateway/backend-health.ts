// Whether a bot is online, as far as the gateway knows, and the timer of the next probe.

import { backOffMs } from "../lib/back-off.ts";
import type { Log } from "../lib/log.ts";

/** First and longest wait before a probe; the wait doubles after each failed probe. */
const probeBackOffMs = [1_000, 60_000] as const;
/** Shown as the reason why a bot is offline until the first request to it has ended. */
const notYetReached = "not yet reached";

/** `since` is when the state began, in milliseconds of the monotonic clock, since the wall clock can jump. */
export type BackendState =
	| { online: true; since: number }
	| { online: false; since: number; reason: string };

export interface BackendHealthOptions {
	/** Name of the instance, for the log. */
	name: string;
	log: Log;
	/** Called when a probe is due. It sends a request to the bot and reports the result here. */
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
	/** Whether the last call got no response, so that the bot may be offline. */
	isDoubtful = false;
	/** The last failure, kept after the bot has recovered. `at` is by the monotonic clock. */
	lastError: { message: string; at: number } | undefined;
	/** When the next probe is due, by the monotonic clock; undefined if none is planned. */
	nextProbeAt: number | undefined;
	#failedProbes = 0;
	#timer: Timer | undefined;
	#isClosed = false;

	constructor(private readonly options: BackendHealthOptions) {}

	/** Records that the bot has responded. */
	setOnline(): void {
		this.isDoubtful = false;
		if (this.state.online) return;
		this.state = { online: true, since: performance.now() };
		const { name, log, onChange } = this.options;
		log.info("backend online", { instance: name });
		onChange();
	}

	/** Records that the bot cannot be reached, or does not work. Schedules a probe. */
	setOffline(reason: string): void {
		const before = this.state;
		const since = before.online ? performance.now() : before.since;
		this.noteError(reason);
		this.isDoubtful = false;
		this.state = { online: false, since, reason };
		this.#schedule();
		if (!before.online && before.reason !== notYetReached) return;
		const { name, log, onChange } = this.options;
		log.warn("backend offline", { instance: name, reason });
		onChange();
	}

	/** Records that a request got no response. Schedules a probe. */
	setDoubtful(reason: string): void {
		this.isDoubtful = true;
		this.noteError(reason);
		this.#schedule();
	}

	noteError(message: string): void {
		this.lastError = { message, at: performance.now() };
	}

	/** Records a successful probe: no further one is planned. */
	probeSucceeded(): void {
		this.#failedProbes = 0;
		this.#cancel();
	}

	/** Schedules the next probe, after a longer wait. Returns the number of failed probes in a row. */
	probeFailed(): number {
		this.#failedProbes++;
		this.#cancel();
		this.#schedule();
		return this.#failedProbes;
	}

	/** Cancels the next probe and plans no others. */
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
			this.options.probe();
		}, ms);
	}

	#cancel(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.nextProbeAt = undefined;
	}
}

/** Milliseconds to the next probe. Half of it is random, so that bots that went offline together are not probed together. */
export function probeDelayMs(failures: number): number {
	return Math.max(probeBackOffMs[0], backOffMs(failures, probeBackOffMs));
}
