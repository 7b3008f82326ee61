// Whether a bot is online, away or offline, as far as the gateway knows. A bot is away when it was online and restarts:
// its calls are held, and a loop checks whether it is back.

import type { Log } from "../../lib/log.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal } from "../../lib/wait.ts";
import { ClientError } from "../../mcp/client.ts";
import { notBegun } from "./backend-session.ts";

/** A bot that does not answer counts as away for so long (milliseconds), then as offline. */
export const maxAwayMs = 5_000;
/** Our bots drain for at most 27 s. */
const maxDrainMs = 30_000;
const returnIntervalMs = 100;
const notYetReached = "not yet reached";

/** `since`: milliseconds of the monotonic clock. `away`: online until a moment ago, so its calls wait for it. */
export type BackendState =
	| { online: true; since: number; away?: undefined }
	| { online: false; since: number; reason: string; away?: boolean };

/** What `up` says of the bot's process. No process answers while it is stopped on purpose or cannot start. */
export interface ProcessReport {
	halted?: "stopped" | "cannot start" | undefined;
	/** In the results of calls. */
	reason?: string | undefined;
	/** Only for the operator. */
	details?: string | undefined;
}

/** "back": it opened a session; "draining": it is about to end; "silent": unreachable, or another server answers. */
export type Presence = "back" | "draining" | "silent";

interface BackendHealthOptions {
	name: string;
	log: Log;
	/** Called after an absence. */
	refresh(): void;
	onChange(): void;
	/** Milliseconds for which a silent bot counts as away. 0: it is offline at once. */
	awayMs: number;
	/** Of calls that wait for a bot that is away. */
	maxHeld: number;
	/** Asks in a new MCP session. Never rejects. */
	ask(): Promise<Presence>;
}

export class BackendHealth {
	state: BackendState = { online: false, since: performance.now(), reason: notYetReached };
	/** Empty without `up`. */
	process: ProcessReport = {};
	/** What the bot lacks, such as its connection to Discord, while it is online. */
	notReady: string | undefined;
	/** The last request got no response. */
	isDoubtful = false;
	/** Kept after a recovery. `at`: milliseconds of the monotonic clock. */
	lastError: { message: string; at: number } | undefined;
	held = 0;
	/** Settles when the absence ends. Undefined while the bot is not away. */
	#absence: PromiseWithResolvers<void> | undefined;
	/** Ends the absence if the bot stays silent, or drains, for too long. */
	#absenceTimer: Timer | undefined;
	#isClosed = false;

	constructor(private readonly options: BackendHealthOptions) {}

	/** No effect while away: the bot may have answered an earlier call just before it ends. Only a new session counts. */
	setOnline(): void {
		this.isDoubtful = false;
		if (!this.state.online && !this.#absence && !this.process.halted) this.#becomeOnline();
	}

	/** With a `presence`, a bot that was online counts as away first, and its calls are held. */
	setOffline(reason: string, presence?: Exclude<Presence, "back">): void {
		this.noteError(reason);
		this.isDoubtful = false;
		// The loop already checks the bot, or there is none.
		if (this.#absence || this.process.halted) return;
		const before = this.state;
		const since = before.online ? performance.now() : before.since;
		const isNew = !before.online && before.reason === notYetReached;
		// A draining bot was online a moment ago, even if the gateway has only just started and never reached it.
		const wasThere = before.online || (isNew && presence === "draining");
		if (wasThere && presence && this.options.awayMs > 0 && !this.#isClosed) this.#becomeAway(reason, since, presence);
		else this.#becomeOffline(reason, since, before.online || isNew);
	}

	/** A request got no response. */
	setDoubtful(reason: string): void {
		this.isDoubtful = true;
		this.noteError(reason);
	}

	/** Calls to a halted bot fail at once, and nothing asks it. */
	setProcess(report: ProcessReport): void {
		const { halted, reason = "" } = report;
		const before = this.process.halted;
		this.process = report;
		if (halted === before) return;
		const since = this.state.online ? performance.now() : this.state.since;
		if (this.state.away) this.#giveUp(reason);
		else this.#becomeOffline(halted ? reason : "it is starting", since, halted !== undefined);
	}

	noteError(message: string): void {
		this.lastError = { message, at: performance.now() };
	}

	/**
	 * Waits for a bot that is away. Rejects with ClientError ("unsent") if it is halted, stays away or `signal` aborts, with
	 * Overloaded if too many wait.
	 */
	async hold(signal: Signal): Promise<void> {
		const { halted, reason = "" } = this.process;
		if (halted) throw new ClientError(reason, "unsent");
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

	/** Held calls fail. */
	close(): void {
		this.#isClosed = true;
		if (this.state.away) this.#giveUp("the gateway is stopping");
	}

	#becomeOnline(): void {
		const { name, log, onChange } = this.options;
		// What the process before it lacked.
		if (this.notReady !== undefined) this.notReady = "it has just started";
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

	#giveUp(reason = this.lastError?.message ?? "no answer"): void {
		this.#endAbsence()?.reject(new ClientError(reason, "unsent"));
		this.#becomeOffline(reason, this.state.since, true);
	}

	#endAbsence(): PromiseWithResolvers<void> | undefined {
		const absence = this.#absence;
		this.#absence = undefined;
		clearTimeout(this.#absenceTimer);
		return absence;
	}
}
