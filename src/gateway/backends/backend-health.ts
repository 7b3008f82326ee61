// Whether a bot is online, away or offline, as far as the gateway knows, and the timer of the next probe. A bot is away
// when it was online and restarts: its calls are held, and a loop checks whether it is back.

import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal } from "../../lib/wait.ts";
import { ClientError } from "../../mcp/client.ts";
import { notBegun } from "./backend-session.ts";

const probeBackOffMs = [1_000, 60_000] as const;
/** Milliseconds for which a bot that does not answer counts as away. After that time it counts as offline. */
export const maxAwayMs = 5_000;
/** Our bots drain for at most 27 s. */
const maxDrainMs = 30_000;
const returnIntervalMs = 100;
const notYetReached = "not yet reached";

/**
 * Whether a bot is online. `since` is when the bot went online or offline, in milliseconds of the monotonic clock. With
 * `away`, the bot was online until a moment ago, and its calls wait for it.
 */
export type BackendState =
	| { online: true; since: number }
	| { online: false; since: number; reason: string; away?: boolean };

/**
 * State of a bot that is away, as the last check found it. "back": the bot opened an MCP session. "draining": the bot
 * is about to end. "silent": the bot cannot be reached, or another server answers at its address.
 */
export type Presence = "back" | "draining" | "silent";

export interface BackendHealthOptions {
	/** Name of the bot in log messages. */
	name: string;
	log: Log;
	/** Called when it is time to probe an offline bot, which ends with `probeSucceeded` or `probeFailed`, and after an absence. */
	refresh(): void;
	/** Called after the bot has come online or gone offline. */
	onChange(): void;
	/** Milliseconds for which a bot that was online and does not answer counts as away. 0: it is offline at once. */
	awayMs: number;
	/** Maximum number of calls that wait for a bot that is away. */
	maxHeld: number;
	/** Asks a bot that is away, in a new MCP session, whether it is back. Never rejects. */
	ask(): Promise<Presence>;
}

export class BackendHealth {
	state: BackendState = { online: false, since: performance.now(), reason: notYetReached };
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
	/** Number of calls that wait because the bot is away. */
	held = 0;
	#failedProbes = 0;
	#probeTimer: Timer | undefined;
	/** The promise settles when the absence ends. Undefined while the bot is not away. */
	#absence: PromiseWithResolvers<void> | undefined;
	/** Ends the absence if the bot stays silent, or drains, for too long. */
	#absenceTimer: Timer | undefined;
	#isClosed = false;

	constructor(private readonly options: BackendHealthOptions) {}

	get isAway(): boolean {
		return this.#absence !== undefined;
	}

	/**
	 * Records that the bot has responded, so that it counts as online. Has no effect while the bot is away: it may have
	 * answered an earlier call just before it ends. Then only a new session shows that it is back.
	 */
	setOnline(): void {
		this.isDoubtful = false;
		if (!this.state.online && !this.#absence) this.#becomeOnline();
	}

	/**
	 * Records that the bot cannot be reached or does not work, so that it counts as offline, and schedules a check of the
	 * bot. With a `presence`, a bot that was online counts as away first, and its calls are held.
	 */
	setOffline(reason: string, presence?: Exclude<Presence, "back">): void {
		this.noteError(reason);
		this.isDoubtful = false;
		// The loop already checks the bot.
		if (this.#absence) return;
		const before = this.state;
		const since = before.online ? performance.now() : before.since;
		const isNew = !before.online && before.reason === notYetReached;
		// A draining bot was online a moment ago, even if the gateway has only just started and never reached it.
		const wasThere = before.online || (isNew && presence === "draining");
		if (wasThere && presence && this.options.awayMs > 0 && !this.#isClosed) this.#becomeAway(reason, since, presence);
		else this.#becomeOffline(reason, since, before.online || isNew);
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
		this.#cancelProbe();
	}

	/**
	 * Records that the bot has failed a check, and schedules the next check after a longer wait. Returns the number of
	 * failed checks in a row.
	 */
	probeFailed(): number {
		this.#failedProbes++;
		this.#cancelProbe();
		this.#schedule();
		return this.#failedProbes;
	}

	/**
	 * Waits until a bot that is away is back; the call can then be sent. Rejects with a ClientError ("unsent") if the bot
	 * stays away or `signal` aborts, and with Overloaded if too many calls wait.
	 */
	async hold(signal: Signal): Promise<void> {
		const absence = this.#absence;
		if (!absence) return;
		const { maxHeld } = this.options;
		if (this.held >= maxHeld) throw new Overloaded(`${maxHeld} waiting while it restarts`);
		this.held++;
		try {
			await raceSignal(absence.promise, signal, notBegun);
		} finally {
			this.held--;
		}
	}

	/** Cancels the scheduled check of the bot, and schedules no more checks. Held calls fail. */
	close(): void {
		this.#isClosed = true;
		this.#cancelProbe();
		this.#endAbsence()?.reject(new ClientError("the gateway is stopping", "unsent"));
	}

	#becomeOnline(): void {
		const { name, log, onChange } = this.options;
		this.state = { online: true, since: performance.now() };
		log.info("bot is online", { instance: name });
		onChange();
	}

	#becomeAway(reason: string, since: number, presence: Exclude<Presence, "back">): void {
		const { name, log, onChange } = this.options;
		this.#absence = Promise.withResolvers();
		// If no call waits, the rejection would otherwise be unhandled.
		this.#absence.promise.catch(() => {});
		this.state = { online: false, since, reason, away: true };
		log.info("bot is away: holding its calls", { instance: name, reason });
		onChange();
		void this.#awaitReturn(this.#absence, presence);
	}

	#becomeOffline(reason: string, since: number, isChange: boolean): void {
		const { name, log, onChange } = this.options;
		this.state = { online: false, since, reason };
		this.#schedule();
		if (!isChange) return;
		log.warn("bot is offline", { instance: name, reason });
		onChange();
	}

	async #awaitReturn(absence: PromiseWithResolvers<void>, first: Presence): Promise<void> {
		let before: Presence | undefined;
		for (let presence = first; presence !== "back"; presence = await this.options.ask()) {
			if (this.#absence !== absence) return;
			// A running timer for the same state continues.
			if (presence !== before) {
				clearTimeout(this.#absenceTimer);
				const ms = presence === "silent" ? this.options.awayMs : maxDrainMs;
				this.#absenceTimer = setTimeout(() => this.#giveUp(), ms);
			}
			before = presence;
			await Bun.sleep(returnIntervalMs);
			if (this.#absence !== absence) return;
		}
		if (this.#absence !== absence) return;
		this.#becomeOnline();
		this.options.refresh();
		this.#endAbsence()?.resolve();
	}

	#giveUp(): void {
		const reason = this.lastError?.message ?? "no answer";
		this.#endAbsence()?.reject(new ClientError(reason, "unsent"));
		this.#becomeOffline(reason, this.state.since, true);
	}

	#endAbsence(): PromiseWithResolvers<void> | undefined {
		const absence = this.#absence;
		this.#absence = undefined;
		clearTimeout(this.#absenceTimer);
		return absence;
	}

	#schedule(): void {
		if (this.#isClosed || this.#probeTimer || this.#absence) return;
		const ms = probeDelayMs(this.#failedProbes);
		this.nextProbeAt = performance.now() + ms;
		this.#probeTimer = setTimeout(() => {
			this.#cancelProbe();
			this.options.refresh();
		}, ms);
	}

	#cancelProbe(): void {
		clearTimeout(this.#probeTimer);
		this.#probeTimer = undefined;
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
