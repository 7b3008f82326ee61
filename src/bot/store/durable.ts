// Durable work: rows of the store whose next step the bot takes until none is due. A step looks first, acts, then
// records, so that repeating it after a kill is harmless. Jumps of the wall clock start a scan: they may make work due.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Guild } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { backOffMs } from "../../lib/back-off.ts";
import { clockWatch } from "../../lib/clock-watch.ts";
import type { Fields, Log } from "../../lib/log.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { within } from "../../lib/wait.ts";
import { StoreUnavailable } from "./unavailable.ts";

/** Not now, for a reason outside the program, such as a lost connection: retried, not counted as failed. */
export class NotNow extends Error {
	override name = "NotNow";
}

/** The guild of stored work. NotNow while the bot cannot act there. */
export function requireGuild(connection: Pick<Connection, "ready" | "guild">, id: string): Guild {
	const guild = connection.ready ? connection.guild(id) : undefined;
	if (!guild?.available) throw new NotNow("the bot is not connected to the guild");
	return guild;
}

const shutdownGraceMs = 3_000;
const maxScanBackOffMs = 30_000;

export interface Step {
	/** Steps with the same key, such as the roles of a member, never run at the same time. */
	key: string;
	/** Group with its own limit of steps at the same time, so that slow work does not delay other work. */
	lane?: string;
	/** Milliseconds until the step is due. Default: 0. */
	inMs?: number;
	/** What has failed when `run` rejects: the start of a log message. */
	failure: string;
	fields?: Fields;
	/** Rejects if the step must be retried. Logged, unless NotNow or StoreUnavailable. */
	run(): Promise<unknown>;
}

export interface DurableOptions {
	name: string;
	log: Log;
	/** Most urgent first. `running` has the keys of the steps that run now. */
	scan(running: ReadonlySet<string>): Promise<readonly Step[]>;
	/** For each lane. Default: 5. */
	maxConcurrent?: number;
	/** The first and the maximum wait of a failed step, in milliseconds. */
	backOffMs?: readonly [number, number] | undefined;
	/** Milliseconds between two scans. */
	maxSleepMs?: number | undefined;
}

interface Attempt {
	lane: string | undefined;
	failures: number;
	/** In milliseconds of the monotonic clock (`performance.now()`). */
	retryAt: number;
	running: Promise<void> | undefined;
}

interface Added extends Step {
	settle(): void;
}

export class Durable {
	readonly #attempts = new Map<string, Attempt>();
	readonly #added = new Map<string, Added>();
	readonly #held = new Map<Promise<unknown>, string>();
	readonly #inOwnContext = AsyncLocalStorage.snapshot();
	#isClosed = false;
	#mustScan = false;
	#scanning: Promise<void> | undefined;
	#failedScans = 0;
	#timer: Timer | undefined;
	#unwatchClock: (() => void) | undefined;

	constructor(private readonly options: DurableOptions) {}

	/** Scans now or after the current scan. Steps must not get the deadline or rights of the caller's async context. */
	readonly wake = (): void => {
		this.#mustScan = true;
		if (this.#isClosed) return;
		this.#unwatchClock ??= clockWatch.subscribe(this.wake);
		this.#scanning ??= this.#inOwnContext(() => this.#scan()).finally(() => {
			this.#scanning = undefined;
			// `wake` was called after the last scan had begun.
			if (this.#mustScan) this.wake();
		});
	};

	readonly retryAll = (): void => {
		for (const attempt of this.#attempts.values()) attempt.retryAt = 0;
		this.wake();
	};

	/** Runs a step without a row until it succeeds or the bot closes. Replaces a waiting one with its key. */
	add(step: Step): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		if (this.#isClosed) resolve();
		this.#added.set(step.key, { ...step, settle: resolve });
		this.wake();
		return promise;
	}

	/** Steps added that wait. */
	get added(): number {
		return this.#added.size;
	}

	/** While `work` runs, no scanned step with this key is started. */
	async hold<T>(key: string, work: () => Promise<T>): Promise<T> {
		// A promise of its own: the work of several keys may be one promise.
		const held = work().then((result) => result);
		this.#held.set(held, key);
		try {
			return await held;
		} finally {
			this.#held.delete(held);
			if (this.#unwatchClock) this.wake();
		}
	}

	async close(graceMs = shutdownGraceMs): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		this.#unwatchClock?.();
		for (const { settle } of this.#added.values()) settle();
		const running = [...this.#attempts.values()].map((attempt) => attempt.running);
		await within(graceMs, Promise.allSettled([this.#scanning, ...running, ...this.#held.keys()]));
	}

	async #scan(): Promise<void> {
		while (this.#mustScan && !this.#isClosed) {
			this.#mustScan = false;
			clearTimeout(this.#timer);
			const sleepMs = await this.#scanOnce();
			if (!this.#isClosed) this.#timer = setTimeout(this.wake, Math.max(Math.ceil(sleepMs), 0));
		}
	}

	async #scanOnce(): Promise<number> {
		const { scan, log, name, maxSleepMs = 300_000 } = this.options;
		// One time for what is started and for what waits: a step that is due between two readings would do neither.
		const now = performance.now();
		const running = new Set([...this.#attempts].flatMap(([key, attempt]) => (attempt.running ? key : [])));
		for (const step of this.#added.values()) this.#start(step, now, true);
		// What the scan reads of these may be outdated at its end.
		const busy = new Set([...running, ...this.#added.keys(), ...this.#held.values()]);
		try {
			const steps = await scan(running);
			this.#failedScans = 0;
			const due = steps.filter(({ inMs = 0 }) => inMs <= 0);
			for (const step of due) if (!busy.has(step.key)) this.#start(step, now);
			const keys = new Set([...due.map(({ key }) => key), ...this.#added.keys()]);
			const waits = steps.flatMap(({ inMs = 0 }) => (inMs > 0 ? inMs : []));
			for (const [key, { running, retryAt }] of this.#attempts)
				if (!running && !keys.has(key)) this.#attempts.delete(key);
				else if (retryAt > now) waits.push(retryAt - now);
			return Math.min(maxSleepMs, ...waits);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not look for due work: internal error", { work: name, error });
			return backOffMs(this.#failedScans++, [this.#backOffMs[0], maxScanBackOffMs]);
		}
	}

	get #backOffMs(): readonly [number, number] {
		return this.options.backOffMs ?? [1_000, 60_000];
	}

	#start(step: Step, now: number, isAdded = false): void {
		const { key, lane } = step;
		const attempt = this.#attempts.get(key) ?? { lane, failures: 0, retryAt: 0, running: undefined };
		if (this.#isClosed || attempt.running || attempt.retryAt > now) return;
		if (!isAdded && (this.#added.has(key) || this.#held.values().some((held) => held === key))) return;
		const active = this.#attempts.values().filter((other) => other.running && other.lane === lane);
		// The step stays due: the end of another one starts the next scan.
		if ([...active].length >= (this.options.maxConcurrent ?? 5)) return;
		this.#attempts.set(key, attempt);
		const added = this.#added.get(key);
		if (added) this.#added.delete(key);
		attempt.running = this.#run(step, attempt, added);
	}

	async #run({ key, failure, fields, run }: Step, attempt: Attempt, added?: Added): Promise<void> {
		try {
			await run();
			this.#attempts.delete(key);
			added?.settle();
		} catch (error) {
			// NotNow is no failure, and the store logs that it is unavailable.
			const isExpected = error instanceof NotNow || error instanceof StoreUnavailable;
			const reason = reasonOf(error);
			if (!isExpected && reason === undefined)
				this.options.log.error(`${failure}: internal error`, { ...fields, error });
			else if (!isExpected) this.options.log.warn(`${failure}, will retry`, { ...fields, reason });
			attempt.retryAt = performance.now() + backOffMs(attempt.failures++, this.#backOffMs);
			if (added && !this.#added.has(key)) this.#added.set(key, added);
		}
		attempt.running = undefined;
		this.wake();
	}
}

/** A part of the bot whose work begins at the start, and ends when the part is closed. */
export abstract class DurablePart {
	protected abstract readonly work: Durable;

	start(): void {
		this.work.wake();
	}

	close(): Promise<void> {
		return this.work.close();
	}
}

/** For logs and operators; undefined if it is a bug. For people: `saidProblem`. */
export function reasonOf(error: unknown): string | undefined {
	if (error instanceof StoreUnavailable) return `the bot's database is unavailable`;
	return error instanceof NotNow || error instanceof ToolError ? error.message : describePlatformError(error);
}
