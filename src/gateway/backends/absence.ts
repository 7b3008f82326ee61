// Holds calls to a bot that is away, which means that it was online and is restarting. For each such bot, a loop checks
// whether the bot is back.

import { Overloaded } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal } from "../../lib/wait.ts";
import { ClientError } from "../../mcp/client.ts";
import { notBegun } from "./backend-session.ts";

/** Milliseconds for which a bot that does not answer counts as away. After that time it counts as offline. */
export const maxAwayMs = 5_000;
const maxDrainMs = 30_000;
const probeIntervalMs = 100;

/**
 * State of a bot that is away, as the last check found it. "back": the bot opened an MCP session. "draining": the bot
 * is about to end. "silent": the bot cannot be reached, or another server answers at its address.
 */
export type Presence = "back" | "draining" | "silent";

/** Limits and callbacks of an Absence. */
export interface AbsenceOptions {
	/** Milliseconds until a silent bot counts as offline. 0: calls are never held. */
	awayMs: number;
	/** Maximum number of held calls. */
	maxHeld: number;
	/** Checks whether the bot is back. Never rejects. */
	ask(): Promise<Presence>;
	/** Called when the bot is back, before the held calls continue. */
	onBack(): void;
	/** Called when the bot has been silent for too long, before the held calls fail. */
	onGone(): void;
}

/** The absence of one bot: whether the bot is away, and the calls that wait for it. */
export class Absence {
	#end: PromiseWithResolvers<void> | undefined;
	#timer: Timer | undefined;
	#isSilent = false;
	#held = 0;

	constructor(private readonly options: AbsenceOptions) {}

	/** Whether the bot is away, so that its calls have to wait. */
	get isActive(): boolean {
		return this.#end !== undefined;
	}

	/** Number of calls that wait for the bot. */
	get held(): number {
		return this.#held;
	}

	/** Begins the absence, unless `awayMs` is 0. Returns whether the bot is now away. */
	begin(presence: Exclude<Presence, "back">): boolean {
		if (this.options.awayMs === 0) return false;
		if (this.#end) return true;
		const end = Promise.withResolvers<void>();
		// If no call waits, the rejection would otherwise be unhandled.
		end.promise.catch(() => {});
		this.#end = end;
		this.#expect(presence);
		void this.#watch(end);
		return true;
	}

	/**
	 * Waits until the bot is back; the call can then be sent. Rejects with a ClientError ("unsent") if the bot stays away
	 * or `signal` aborts, and with Overloaded if too many calls wait.
	 */
	async hold(signal: Signal): Promise<void> {
		const end = this.#end;
		if (!end) return;
		const { maxHeld } = this.options;
		if (this.#held >= maxHeld) throw new Overloaded(`${maxHeld} waiting while it restarts`);
		this.#held++;
		try {
			await raceSignal(end.promise, signal, notBegun);
		} finally {
			this.#held--;
		}
	}

	/** Ends the absence. Without `reason` the held calls continue; with `reason` they fail. */
	finish(reason?: string): void {
		const end = this.#end;
		this.#end = undefined;
		this.#stopTimer();
		if (reason === undefined) end?.resolve();
		else end?.reject(new ClientError(reason, "unsent"));
	}

	async #watch(end: PromiseWithResolvers<void>): Promise<void> {
		for (;;) {
			await Bun.sleep(probeIntervalMs);
			if (this.#end !== end) return;
			const presence = await this.options.ask();
			if (this.#end !== end) return;
			if (presence === "back") {
				this.options.onBack();
				return this.finish();
			}
			this.#expect(presence);
		}
	}

	#expect(presence: Exclude<Presence, "back">): void {
		const isSilent = presence === "silent";
		if (this.#timer && isSilent === this.#isSilent) return;
		this.#stopTimer();
		this.#isSilent = isSilent;
		const ms = isSilent ? this.options.awayMs : maxDrainMs;
		this.#timer = setTimeout(this.options.onGone, ms);
	}

	#stopTimer(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}
}
