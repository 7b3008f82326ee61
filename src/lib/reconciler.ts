// Brings Discord or another system in line with a store: scans for steps that are due, runs them, and scans again until
// none is due. A step looks first, acts, then records, so that repeating it after a kill is harmless.

import { backOffMs } from "./back-off.ts";
import { within } from "./wait.ts";

/**
 * Thrown by a step that something outside the program prevents for now, such as a lost connection. The step is retried
 * and does not count as failed.
 */
export class NotNow extends Error {
	override name = "NotNow";
}

export interface Step {
	/** Identifies what the step changes, such as a member. Steps with the same key never run at the same time. */
	key: string;
	/**
	 * Name of a group of steps with its own `maxConcurrent` limit, so that one slow server does not delay the steps for
	 * another server.
	 */
	lane?: string;
	/** Runs the step. Rejects if the step failed and must be retried; the step itself reports the failure before that. */
	run(): Promise<void>;
}

export interface ReconcilerOptions {
	/**
	 * Finds the steps that are due, most urgent first, and the milliseconds until the next step is due. `running`
	 * contains the keys of running steps. Running steps are not started again, even if returned here: the scan may have
	 * read database rows from before their result.
	 */
	scan(
		running: ReadonlySet<string>,
	): Promise<{ due: readonly Step[]; nextMs?: number }>;
	/** Called with the error when `scan` fails. The scan is then repeated with back-off. */
	onScanFailure(error: unknown): void;
	maxConcurrent: number;
	/**
	 * Shortest and longest wait before a failed step is retried, in milliseconds. The first is also that of failed scans.
	 */
	backOffMs: readonly [number, number];
}

export interface Reconciler {
	/** Scans for due steps now. If a scan is in progress, another scan follows it. */
	wake(): void;
	/** Scans for due steps now and retries all failed steps at once, since what made them fail may be over. */
	retryAll(): void;
	/** Stops starting steps. Resolves when all running steps have ended, after `graceMs` milliseconds at the latest. */
	close(graceMs: number): Promise<void>;
}

/** The state of a step that is running or waits for its retry. */
interface Attempt {
	lane: string | undefined;
	failures: number;
	/** When to retry the failed step, in milliseconds of the monotonic clock (`performance.now()`). */
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

	function wake(): void {
		mustScan = true;
		if (isClosed) return;
		scanning ??= scan().finally(() => {
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
			if (Number.isFinite(sleepMs) && !isClosed)
				timer = setTimeout(wake, Math.max(Math.ceil(sleepMs), 0));
		}
	}

	/** Scans for due steps once and starts them. Returns the milliseconds until the next scan. */
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
				else if (attempt.retryAt > now)
					sleepMs = Math.min(sleepMs, attempt.retryAt - now);
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
		const active = attempts
			.values()
			.filter((other) => other.running && other.lane === lane);
		// The step stays due: the end of another one starts the next scan.
		if ([...active].length >= options.maxConcurrent) return;
		attempts.set(key, attempt);
		attempt.running = run(step, attempt);
	}

	/** Runs a step and, if it fails, records when to retry it. Never rejects. */
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
			const steps = [...attempts.values()].map(({ running }) => running);
			await within(graceMs, Promise.all([scanning, ...steps]));
		},
	};
}
