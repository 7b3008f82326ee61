// Timeouts of a streaming request: total and idle.

import { AiError } from "./error.ts";

export interface TimeoutLimits {
	/** For the whole answer. */
	timeoutMs: number;
	/** Between two chunks, and before the first. */
	idleTimeoutMs: number;
}

export interface Timeouts {
	/** Aborts on timeout, when the caller aborts, and on `end`. */
	signal: AbortSignal;
	/**
	 * Waits for `work`. Rejects with an AiError on timeout, with the caller's reason when it aborts, and with the result of
	 * `explain` when `work` rejects.
	 */
	within<T>(work: Promise<T>, explain: (cause: unknown) => Error): Promise<T>;
	/** Clears the timers and aborts the request. */
	end(): void;
}

/** Starts the total timeout. `caller` may abort earlier. */
export function createTimeouts(
	{ timeoutMs, idleTimeoutMs }: TimeoutLimits,
	caller: AbortSignal | undefined,
): Timeouts {
	const controller = new AbortController();
	const { promise: stopped, reject } = Promise.withResolvers<never>();
	// It may reject while nothing awaits it.
	stopped.catch(() => {});
	let reason: unknown;
	const stop = (cause: unknown) => {
		reason ??= cause;
		reject(cause);
		controller.abort(cause);
	};
	const failWithTimeout = (ms: number, text: string) =>
		stop(new AiError("timeout", { detail: `${text} ${ms / 1_000} seconds` }));
	const onCallerAbort = () => stop(caller?.reason);
	caller?.addEventListener("abort", onCallerAbort, { once: true });
	const total = setTimeout(
		failWithTimeout,
		timeoutMs,
		timeoutMs,
		"no complete answer within",
	);
	return {
		signal: controller.signal,
		async within(work, explain) {
			const timer = setTimeout(
				failWithTimeout,
				idleTimeoutMs,
				idleTimeoutMs,
				"no data for",
			);
			try {
				return await Promise.race([work, stopped]);
			} catch (cause) {
				throw reason ?? explain(cause);
			} finally {
				clearTimeout(timer);
			}
		},
		end() {
			clearTimeout(total);
			caller?.removeEventListener("abort", onCallerAbort);
			controller.abort();
		},
	};
}
