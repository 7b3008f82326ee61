// Whether a bot is online, as far as the gateway knows, and the timer of the next probe.

import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { Absence, type Presence } from "./absence.ts";

const probeBackOffMs = [1_000, 60_000] as const;
const notYetReached = "not yet reached";

/**
 * Whether a bot is online. `since` is when the bot went online or offline, in milliseconds of the monotonic clock. With
 * `away`, the bot was online until a moment ago, and its calls wait for it.
 */
export type BackendState =
	| { online: true; since: number }
	| { online: false; since: number; reason: string; away?: boolean };

export interface BackendHealthOptions {
	/** Name of the bot in log messages. */
	name: string;
	log: Log;
	/**
	 * Called when it is time to check again whether the bot responds. This callback sends the bot a request, and reports
	 * the outcome with `probeSucceeded` or `probeFailed`.
	 */
	probe(): void;
	/** Called after the bot has come online or gone offline. */
	onChange(): void;
	/** Milliseconds for which a bot that was online and does not answer counts as away. 0: it is offline at once. */
	awayMs: number;
	/** Maximum number of calls that wait for a bot that is away. */
	maxHeld: number;
	/** Asks a bot that is away, in a new MCP session, whether it is back. Never rejects. */
	ask(): Promise<Presence>;
	/** Called when the bot was away and is back. */
	onBack(): void;
}

export class BackendHealth {
	state: BackendState = {
		online: false,
		since: performance.now(),
		reason: notYetReached,
	};
	/** Whether the last request to the bot got no response, so that the bot may be offline. */
	isDoubtful = false;
	/**
	 * The last failed request to the bot, kept after the bot has recovered. `at` is in milliseconds of the monotonic
	 * clock.
	 */
	lastError: { message: string; at: number } | undefined;
	/**
	 * When the gateway will check again whether the bot responds, in milliseconds of the monotonic clock; undefined if
	 * no check is planned.
	 */
	nextProbeAt: number | undefined;
	#failedProbes = 0;
	#timer: Timer | undefined;
	#isClosed = false;
	/** Holds the calls to the bot while it is away. */
	readonly absence: Absence;

	constructor(private readonly options: BackendHealthOptions) {
		this.absence = new Absence({
			...options,
			onBack: () => this.#setOnline(),
			onGone: () => this.#endAbsence(),
		});
	}

	/**
	 * Records that the bot has responded, so that it counts as online. Has no effect while the bot is away: it may have
	 * answered an earlier call just before it ends. Then only a new session shows that it is back.
	 */
	setOnline(): void {
		this.isDoubtful = false;
		if (this.state.online || this.absence.isActive) return;
		this.#setOnline();
	}

	#setOnline(): void {
		const wasAway = this.absence.isActive;
		this.state = { online: true, since: performance.now() };
		const { name, log, onChange } = this.options;
		log.info("bot is online", { instance: name });
		onChange();
		if (wasAway) this.options.onBack();
	}

	/**
	 * Records that the bot cannot be reached or does not work, so that it counts as offline, and schedules a check of the
	 * bot. With a `presence`, a bot that was online counts as away first, and its calls are held.
	 */
	setOffline(reason: string, presence?: Exclude<Presence, "back">): void {
		const before = this.state;
		const since = before.online ? performance.now() : before.since;
		this.noteError(reason);
		this.isDoubtful = false;
		const { name, log, onChange } = this.options;
		const isNew = !before.online && before.reason === notYetReached;
		// A draining bot was online a moment ago, even if the gateway has only just started and never reached it.
		const wasThere = before.online || (isNew && presence === "draining");
		const mayBeAway = wasThere && !this.#isClosed && presence;
		if (mayBeAway && this.absence.begin(presence)) {
			this.state = { online: false, since, reason, away: true };
			log.info("bot is away: holding its calls", { instance: name, reason });
			onChange();
			return;
		}
		// The loop in Absence already checks the bot.
		if (this.absence.isActive) return;
		this.state = { online: false, since, reason };
		this.#schedule();
		if (!before.online && before.reason !== notYetReached) return;
		log.warn("bot is offline", { instance: name, reason });
		onChange();
	}

	#endAbsence(): void {
		const { state } = this;
		const reason = this.lastError?.message ?? "no answer";
		const { name, log, onChange } = this.options;
		this.state = { online: false, since: state.since, reason };
		this.absence.finish(reason);
		this.#schedule();
		log.warn("bot is offline", { instance: name, reason });
		onChange();
	}

	/**
	 * Records that a request to the bot got no response, so that the bot may be offline. Schedules a check of the bot.
	 */
	setDoubtful(reason: string): void {
		this.isDoubtful = true;
		this.noteError(reason);
		this.#schedule();
	}

	noteError(message: string): void {
		this.lastError = { message, at: performance.now() };
	}

	/** Records that the bot has passed a check, and cancels the next check. */
	probeSucceeded(): void {
		this.#failedProbes = 0;
		this.#cancel();
	}

	/**
	 * Records that the bot has failed a check, and schedules the next check after a longer wait. Returns the number of
	 * failed checks in a row.
	 */
	probeFailed(): number {
		this.#failedProbes++;
		this.#cancel();
		this.#schedule();
		return this.#failedProbes;
	}

	/** Cancels the scheduled check of the bot, and schedules no more checks. Held calls fail. */
	close(): void {
		this.#isClosed = true;
		this.#cancel();
		this.absence.finish("the gateway is stopping");
	}

	#schedule(): void {
		if (this.#isClosed || this.#timer || this.absence.isActive) return;
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

/**
 * Milliseconds until the next check of an offline bot. Half of the wait is random, so that bots that went offline
 * together are not checked all at once.
 */
export function probeDelayMs(failures: number): number {
	return Math.max(probeBackOffMs[0], backOffMs(failures, probeBackOffMs));
}
