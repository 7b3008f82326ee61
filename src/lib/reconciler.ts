// Brings Discord or another system in line with a store: scans for steps that are due, runs them, and scans again until
// none is due. A step looks first, acts, then records, so that repeating it after a kill is harmless. Jumps of the wall
// clock start a scan, because they may make work due.

import { AsyncLocalStorage } from "node:async_hooks";
import { backOffMs } from "./back-off.ts";
import { clockWatch } from "./clock-watch.ts";
import { within } from "./wait.ts";

/**
 * Thrown when work cannot be done for now for a reason outside the program, such as a lost connection. The work is
 * retried and does not count as failed.
 */
export class NotNow extends Error {
	override name = "NotNow";
}

/** One unit of work, such as lifting one expired ban. It is retried until it succeeds. */
export interface Step {
	/**
	 * Identifies what this unit of work changes, such as the roles of a member. Work with the same key never runs at the
	 * same time.
	 */
	key: string;
	/**
	 * Name of a group of work, such as all work for one guild. Each group has its own limit of concurrent work, so that
	 * slow work in one group does not delay the others.
	 */
	lane?: string;
	/** Does the work. Reports errors itself. Rejects if the work failed and must be retried. */
	run(): Promise<void>;
}

export interface ReconcilerOptions {
	/**
	 * Finds the work that is due, most urgent first, and the milliseconds until more work is due. `running` contains the
	 * keys of the work that is running now; such work is not started again, even if the result contains it.
	 */
	scan(running: ReadonlySet<string>): Promise<{ due: readonly Step[]; nextMs?: number }>;
	/** Called with the error when the search for due work (`scan`) fails. The search is then repeated with back-off. */
	onScanFailure(error: unknown): void;
	maxConcurrent: number;
	/**
	 * Two times in milliseconds: the wait before the first retry of failed work, and the maximum wait before later
	 * retries.
	 */
	backOffMs: readonly [number, number];
}

export interface Reconciler {
	/**
	 * Searches for due work now, or again after the current search if one is in progress. The work does not run in the
	 * caller's async context: it must not end with the caller's deadline, nor act with the caller's rights.
	 */
	wake(): void;
	/** Searches for due work now and retries all failed work at once, for example when a lost connection is restored. */
	retryAll(): void;
	/** Starts no more work. Resolves when all running work has ended, after `graceMs` milliseconds at the latest. */
	close(graceMs: number): Promise<void>;
}

interface Attempt {
	lane: string | undefined;
	failures: number;
	retryAt: number;
	running: Promise<void> | undefined;
}

const maxScanBackOffMs = 30_000;

export function createReconciler(options: ReconcilerOptions): Reconciler {
	const attempts = new Map<string, Attempt>();
	let isClosed = false;
	let mustScan = false;
	let scanning: Promise<void> | undefined;
	let failedScans = 0;
	let timer: Timer | undefined;
	let unwatchClock: (() => void) | undefined;
	const inOwnContext = AsyncLocalStorage.snapshot();

	function wake(): void {
		mustScan = true;
		if (isClosed) return;
		unwatchClock ??= clockWatch.subscribe(wake);
		scanning ??= inOwnContext(scan).finally(() => {
			scanning = undefined;
			// `wake` was called after the last scan had begun.
			if (mustScan) wake();
		});
	}

	async function scan(): Promise<void> {
		while (mustScan && !isClosed) {
			mustScan = false;
			clearTimeout(timer);
			const sleepMs = await scanOnce();
			if (Number.isFinite(sleepMs) && !isClosed) timer = setTimeout(wake, Math.max(Math.ceil(sleepMs), 0));
		}
	}

	async function scanOnce(): Promise<number> {
		const active = [...attempts].filter(([, attempt]) => attempt.running);
		const running = new Set(active.map(([key]) => key));
		try {
			const { due, nextMs = Infinity } = await options.scan(running);
			failedScans = 0;
			const now = performance.now();
			for (const step of due) if (!running.has(step.key)) start(step, now);
			const keys = new Set(due.map(({ key }) => key));
			let sleepMs = nextMs;
			for (const [key, attempt] of attempts)
				if (!attempt.running && !keys.has(key)) attempts.delete(key);
				else if (attempt.retryAt > now) sleepMs = Math.min(sleepMs, attempt.retryAt - now);
			return sleepMs;
		} catch (error) {
			options.onScanFailure(error);
			return backOffMs(failedScans++, [options.backOffMs[0], maxScanBackOffMs]);
		}
	}

	function start(step: Step, now: number): void {
		const { key, lane } = step;
		const attempt = attempts.get(key) ?? {
			lane,
			failures: 0,
			retryAt: 0,
			running: undefined,
		};
		if (isClosed || attempt.running || attempt.retryAt > now) return;
		const active = attempts.values().filter((other) => other.running && other.lane === lane);
		// The step stays due: the end of another one starts the next scan.
		if ([...active].length >= options.maxConcurrent) return;
		attempts.set(key, attempt);
		attempt.running = run(step, attempt);
	}

	/** Runs one unit of work and, if it fails, records when to retry it. Never rejects. */
	async function run({ key, run }: Step, attempt: Attempt): Promise<void> {
		try {
			await run();
			attempts.delete(key);
		} catch {
			// The step has reported the error.
			const ms = backOffMs(attempt.failures++, options.backOffMs);
			attempt.retryAt = performance.now() + ms;
		}
		attempt.running = undefined;
		wake();
	}

	return {
		wake,
		retryAll() {
			for (const attempt of attempts.values()) attempt.retryAt = 0;
			wake();
		},
		async close(graceMs) {
			isClosed = true;
			clearTimeout(timer);
			unwatchClock?.();
			const steps = [...attempts.values()].map(({ running }) => running);
			await within(graceMs, Promise.all([scanning, ...steps]));
		},
	};
}
